//! Secrets in addresses: passwords and tokens before a host, webhooks, connect strings of Oracle.

use std::ops::Range;

use crate::redact::kind::{MARKER, marker_at};
use crate::redact::looks::is_placeholder;
use crate::redact::value::Scan;
use crate::redact::{Kind, is_word};
use crate::text::search;

/// The longest user name and password in a URL.
const LONGEST_USER: usize = 256;

/// Distance before a connect string in which its program is looked for.
const PROGRAM_BEFORE: usize = 64;

impl Scan<'_> {
    /// `scheme://user:password@host`, and hosts whose path alone grants access.
    pub(super) fn read_url(&mut self, at: usize) {
        let start = at + 3;
        let rest = &self.bytes[start..];
        if let Some((kind, range)) = find_webhook(rest) {
            return self.take(kind, start + range.start..start + range.end);
        }
        let length = rest
            .iter()
            .take(LONGEST_USER)
            .position(|byte| ends_url(*byte) || matches!(byte, b'/' | b'?' | b'#'))
            .unwrap_or(rest.len().min(LONGEST_USER));
        let near = rest[..length].iter().rposition(|byte| *byte == b'@');
        let Some(host) = self.far_host(at, length, near).or(near) else { return };
        // A token in the user's place was taken by an earlier pass.
        let known = marker_at(rest, 0).unwrap_or(0);
        let Some(colon) = rest[..host].iter().skip(known).position(|byte| *byte == b':').map(|at| known + at)
        else {
            // Without a password the user may be a token.
            let user = self.text.get(start..start + host).unwrap_or_default();
            let digit = user.bytes().any(|byte| byte.is_ascii_digit());
            if user.len() >= 20 && digit && !user.contains(['.', '[']) && !is_variable(user) {
                self.take(Kind::UrlPassword, start..start + host);
            }
            return;
        };
        let plain =
            rest[known..colon].iter().all(|byte| is_word(*byte) || matches!(byte, b'.' | b'%' | b'+' | b'~'));
        // A user that is not a name may hold anything.
        let first = if plain { colon + 1 } else { known };
        let Some(text) = self.text.get(start + first..start + host) else { return };
        if !text.is_empty()
            && !is_variable(&text[if plain { 0 } else { colon + 1 - known }..])
            && !text.contains(MARKER)
        {
            self.take(Kind::UrlPassword, start + first..start + host);
        }
    }

    /// The `@` before the host, where a `/`, `?` or `#` in the password ends the host of a correct URL too early.
    fn far_host(&self, at: usize, length: usize, near: Option<usize>) -> Option<usize> {
        let rest = &self.bytes[at + 3..];
        matches!(rest.get(length), Some(b'/' | b'?' | b'#')).then_some(())?;
        let colon = search::first(&rest[..length], b':')?;
        let window = &rest[..rest.len().min(LONGEST_USER)];
        let end = window.iter().position(|byte| ends_url(*byte)).unwrap_or(window.len());
        let far = length + search::last(&window[length..end], b'@')?;
        let user = &rest[..colon];
        let is_user = user.iter().all(|byte| is_word(*byte) || matches!(byte, b'%' | b'+'));
        // `https://host:8080/a@b.c`, `postgres://me:one@db/app?mail=a@b.c`.
        let part = &rest[near.map_or(colon, |near| near.max(colon)) + 1..length];
        let is_host = match near {
            None => part.iter().all(u8::is_ascii_digit),
            Some(_) => {
                part.is_empty() || part.contains(&b'.') || part.contains(&b':') || part == b"localhost"
            }
        };
        let after = &window[far + 1..end];
        let name = after.iter().take_while(|byte| is_word(**byte) || **byte == b'.').count();
        let host = &after[..name];
        let top = host.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        let dotted = host.contains(&b'.') && (top.iter().all(u8::is_ascii_alphabetic) || is_ipv4(host));
        let has_port = after.get(name) == Some(&b':') && after.get(name + 1).is_some_and(u8::is_ascii_digit);
        let ends = matches!(after.get(name), None | Some(b'/' | b'?' | b',' | b')' | b';'));
        let scheme = &self.bytes[..at];
        let of_files = ["http", "https", "git", "ssh", "file", "npm", "docker", "oci"];
        let any = near.is_none() && !of_files.iter().any(|name| scheme.ends_with(name.as_bytes()));
        let is_far = name > 0 && (has_port || ends && (dotted || any || host == b"localhost"));
        (is_user && !is_host && is_far).then_some(far)
    }

    /// `scott/tiger@//db`, `sqlplus scott/tiger@db`.
    pub(super) fn read_connect_string(&mut self, at: usize) {
        let before = &self.bytes[self.from..at];
        let is_password =
            |byte: &&u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'\\');
        let password = before.iter().rev().take(LONGEST_USER).take_while(is_password).count();
        let Some(before) = before[..before.len() - password].strip_suffix(b"/") else { return };
        let user = before.iter().rev().take(LONGEST_USER).take_while(|byte| is_word(**byte)).count();
        let line = &before[..before.len() - user];
        let line = &line[line.len().saturating_sub(PROGRAM_BEFORE)..];
        // A program before a marker is not this one's.
        let line = line.rsplit(|byte| *byte == b']').next().unwrap_or_default();
        let named = ["sqlplus ", "oracle:thin:", "sqlldr ", "expdp ", "impdp ", "rman target "];
        let touches = line.last().is_some_and(|byte| matches!(byte, b'/' | b'.' | b'@'));
        if user == 0
            || touches
            || !(self.bytes[at..].starts_with(b"@//")
                && self.bytes.get(at + 3).is_some_and(u8::is_ascii_alphanumeric)
                || named.iter().any(|name| search::find(line, name.as_bytes()).is_some()))
        {
            return;
        }
        let Some(text) = self.text.get(at - password..at) else { return };
        if text.len() >= 2 && !is_variable(text) && !is_placeholder(text) && !text.contains(MARKER) {
            self.take(Kind::UrlPassword, at - password..at);
        }
    }
}

fn ends_url(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\')
}

fn is_ipv4(host: &[u8]) -> bool {
    host.split(|byte| *byte == b'.').count() == 4
        && host.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// A variable or a placeholder.
pub(super) fn is_variable(text: &str) -> bool {
    let starred = text.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.'));
    starred
        || text.starts_with(['$', '<', '{', '[', '%', '(', '…']) && !text.starts_with("%2")
        || text.contains("${")
}

/// The secret part of a webhook's address.
fn find_webhook(rest: &[u8]) -> Option<(Kind, Range<usize>)> {
    let run =
        |from: usize| from + rest[from..].iter().take_while(|byte| is_word(**byte) || **byte == b'/').count();
    for start in ["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"] {
        if rest.starts_with(start.as_bytes()) && run(start.len()) >= start.len() + 16 {
            return Some((Kind::SlackWebhook, start.len()..run(start.len())));
        }
    }
    for start in
        ["discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "ptb.discord.com/api/webhooks/"]
    {
        if rest.starts_with(start.as_bytes()) {
            let id = rest[start.len()..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let token = start.len() + id + 1;
            let fits = id > 0 && rest.get(token - 1) == Some(&b'/') && run(token) >= token + 16;
            return fits.then(|| (Kind::DiscordWebhook, token..run(token)));
        }
    }
    None
}
