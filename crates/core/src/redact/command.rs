//! Secrets that are known by the command, the statement or the table they stand in, without an operator: `sshpass -p …`,
//! `login me password …`, `IDENTIFIED BY '…'`, `| password | … |`.

use crate::redact::keyword;
use crate::redact::keyword::Weight;
use crate::redact::kind::MARKER;
use crate::redact::looks::{Style, ends_line, is_mixed, is_placeholder, is_wordy};
use crate::redact::value::Scan;
use crate::redact::{Finding, Kind, is_word, table};
use crate::text::word_list::among;

/// Distance before a name in which its words are looked for.
const WORDS_BEFORE: usize = 256;

/// The way a program takes a password behind a flag of a letter or two.
#[derive(Clone, Copy)]
struct Taking {
    flag: &'static [u8],
    /// `-pX`.
    touching: bool,
    /// `-p X`.
    apart: bool,
    /// Only for `login`.
    login: bool,
}

/// Matches the first letter first: most words are none of these programs.
fn find_program(program: &[u8]) -> Option<Taking> {
    let by = |flag, touching, apart| Some(Taking { flag, touching, apart, login: false });
    let login = Some(Taking { flag: b"p", touching: true, apart: true, login: true });
    match (program.first()?, program) {
        (b's', b"sshpass") => by(b"p", true, true),
        (b's', b"sqlcmd") => by(b"P", true, true),
        (b's', b"skopeo") => login,
        (b'm', _) => match program {
            b"mysql" | b"mysqldump" | b"mysqladmin" | b"mysqlimport" | b"mariadb" | b"mariadb-dump" => {
                by(b"p", true, false)
            }
            b"mongo" | b"mongosh" | b"mongodump" | b"mongorestore" | b"mongoexport" | b"mongoimport" => {
                by(b"p", false, true)
            }
            _ => None,
        },
        (b'7', b"7z" | b"7za" | b"7zz") | (b'r', b"rar") | (b'u', b"unrar") => by(b"p", true, false),
        (b'b', b"bcp") | (b'z', b"zip") | (b'u', b"unzip") => by(b"P", true, true),
        (b'r', b"redis-cli") => by(b"a", false, true),
        (b'l', b"ldapsearch" | b"ldapadd" | b"ldapmodify" | b"ldapdelete" | b"ldapwhoami") => {
            by(b"w", false, true)
        }
        (b'p', b"plink" | b"pscp" | b"psftp") => by(b"pw", false, true),
        (b'd', b"docker") | (b'p', b"podman") | (b'n', b"nerdctl") | (b'b', b"buildah") => login,
        (b'h', b"helm") | (b'o', b"oras") | (b'a', b"az") | (b'c', b"cf") => login,
        _ => None,
    }
}

/// The shortest word that a secret follows behind a blank.
pub(super) const SHORTEST_NAME: usize = 8;

/// The length of the two shorter ones: `passwd` and `secret`.
pub(super) const SHORT_NAME: usize = 6;

/// It is one of them.
#[inline]
pub(super) fn is_short_name(word: &[u8]) -> bool {
    match word[SHORT_NAME - 1] | 0x20 {
        b'd' => word.eq_ignore_ascii_case(b"passwd"),
        b't' => word.eq_ignore_ascii_case(b"secret"),
        _ => false,
    }
}

/// `token`, which counts only where one takes the place of another.
#[inline]
pub(super) fn is_token(word: &[u8]) -> bool {
    word.len() == 5 && word.eq_ignore_ascii_case(b"token")
}

/// It could be such a word; for the glance at every long word of a text.
#[inline]
pub(super) fn could_be_name(word: &[u8]) -> bool {
    let (first, last) = (word[0] | 0x20, word[word.len() - 1] | 0x20);
    match word[word.len() - 4] | 0x20 {
        // `password`, `Datenbankpasswort`.
        b'w' => return matches!(last, b'd' | b't'),
        // `client_secret`.
        b'c' if last == b't' => return word[word.len() - 6] | 0x20 == b's',
        _ => {}
    }
    match word.len() {
        // `contraseña`, as far as it is ASCII.
        8 => (first, last) == (b'c', b'e') && word[5] | 0x20 == b'a',
        10 => match (first, last) {
            (b'i', b'd') => true,
            // `passphrase`.
            (b'p', b'e') => word[4] | 0x20 == b'p',
            // `_authToken`: no letter gives this with the bit of small ones.
            (first, last) => (first, last) == (b'_' | 0x20, b'n'),
        },
        21 => (first, last) == (b'a', b'y'),
        _ => false,
    }
}

/// The contexts in which a secret follows a word.
#[derive(Clone, Copy, PartialEq)]
enum Named {
    /// Behind a blank, in a command or a statement.
    Alone,
    /// Only in a sentence.
    Sentence,
    /// Only in `from … to …`.
    Exchange,
    /// Behind a blank, if the value looks like nothing else.
    Label,
}

fn find_name(word: &[u8]) -> Option<Named> {
    let ends =
        |name: &[u8]| word.len() > name.len() && word[word.len() - name.len()..].eq_ignore_ascii_case(name);
    let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
    let in_a_command = is(b"identified") || matches!(word, b"_authToken" | b"aws_secret_access_key");
    if in_a_command || is(b"password") || is(b"passwort") || is(b"kennwort") || is(b"contrase") {
        Some(Named::Alone)
    } else if is(b"passwd") || is(b"secret") || ends(b"secret") {
        Some(Named::Label)
    } else if is_token(word) {
        Some(Named::Exchange)
    } else if is(b"passphrase") {
        Some(Named::Sentence)
    } else {
        (ends(b"password") || ends(b"passwort") || ends(b"kennwort")).then_some(Named::Sentence)
    }
}

/// A run of word bytes that begins with `-` and could be a flag before a secret.
#[inline]
pub(super) fn is_flag(run: &[u8]) -> bool {
    match run {
        [b'-', b'p' | b'P', ..] | [b'-', b'a' | b'w'] => true,
        [b'-', next, ..] => run.len() >= 8 && *next != b'-',
        _ => false,
    }
}

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut scan = Scan::new(text);
    // The program of the current command, and whether `login` follows it.
    let (mut program, mut login): (Option<Taking>, bool) = (None, false);
    let mut at = 0;
    // The end of the last table or list, and whether the line is a row of one.
    let (mut header, mut in_row) = (0, table::begins_row(text.as_bytes()));
    while let Some(byte) = scan.bytes.get(at) {
        if !is_word(*byte) {
            if matches!(byte, b'|' | b';' | b'&' | b'\n') {
                if *byte != b'\n' || at == 0 || scan.bytes[at - 1] != b'\\' {
                    (program, login) = (None, false);
                }
                if *byte == b'\n' {
                    in_row = table::begins_row(&scan.bytes[at + 1..]);
                } else if *byte == b'|' {
                    scan.read_label(at, in_row);
                    at = at.max(scan.from.saturating_sub(1));
                }
            }
            at += 1;
            continue;
        }
        let run = scan.bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
        let word = &scan.bytes[at..at + run];
        let before = if at == 0 { b' ' } else { scan.bytes[at - 1] };
        if is_flag(word) && is_gap(before) {
            scan.read_short_flag(at, run, program.filter(|taking| login || !taking.login));
        } else if (run >= SHORTEST_NAME && could_be_name(word)
            || run == SHORT_NAME && is_short_name(word)
            || is_token(word))
            && let Some(named) = find_name(word)
        {
            let next = scan.bytes.get(at + run);
            if at >= header && matches!(next, Some(b',' | b';' | b'\t' | b'\n' | b'\r' | b'"')) {
                header = scan.read_list(at).unwrap_or(header);
            }
            if at >= scan.from {
                scan.read_name(at, run, named);
            }
        } else if at >= header && table::is_rule(scan.bytes, at, at + run) {
            header = scan.below_header(at).unwrap_or(header);
        } else if is_gap(before) || matches!(before, b'(' | b'/') {
            if let Some(taking) = find_program(word) {
                (program, login) = (Some(taking), false);
            }
            login |= word == b"login";
        }
        at = (at + run).max(scan.from);
    }
    table::merge_findings(scan)
}

fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`')
}

impl Scan<'_> {
    /// `-pX`, `-p X`, `-storepass X`.
    fn read_short_flag(&mut self, at: usize, run: usize, program: Option<Taking>) {
        let name = &self.bytes[at + 1..at + run];
        if let Some(taking) = program
            && let Some(rest) = name.strip_prefix(taking.flag)
        {
            // A quote or a sign may follow the letter at once.
            let next = self.bytes.get(at + run).copied().unwrap_or(b' ');
            let touches = !rest.is_empty() || !next.is_ascii_whitespace();
            if if touches { taking.touching } else { taking.apart } {
                return self.read_behind_flag(at, at + 1 + taking.flag.len(), touches);
            }
        }
        self.read_long_flag(at, run);
    }

    fn read_behind_flag(&mut self, at: usize, start: usize, touches: bool) {
        let Some(value) = self.value_at(start, Style::Flag) else { return };
        let text = &self.text[value.at.clone()];
        let number = text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.'));
        // A number is a port, unless it follows `sshpass`, which has no such flag.
        let number = number && !self.bytes[..at].trim_ascii_end().ends_with(b"sshpass");
        let fits =
            text.len() >= if touches { 3 } else { 4 } && (value.quote.is_some() || !text.starts_with('-'));
        if fits && !number && !is_placeholder(text) && !text.contains(MARKER) {
            let end = self.end_of(&value);
            self.take(Kind::Password, value.at.start..end);
        }
    }

    /// `keytool -storepass X`, `openssl -passin pass:X`.
    fn read_long_flag(&mut self, at: usize, run: usize) {
        let name = &self.bytes[at + 1..at + run];
        if run < 5 || !matches!(self.bytes.get(at + run), Some(b' ' | b'\t')) {
            return;
        }
        let passing = matches!(name, b"pass" | b"passin" | b"passout");
        let keyword = if passing { keyword::read_name(b"password") } else { keyword::read_name(name) };
        let Some(keyword) = keyword.filter(|keyword| keyword.weight == Weight::Sure) else { return };
        let Some(mut value) = self.value_at(at + run, Style::Flag) else { return };
        if passing {
            if !self.bytes[value.at.clone()].starts_with(b"pass:") {
                return;
            }
            value.at.start += b"pass:".len();
        }
        if value.at.is_empty() || self.bytes[value.at.start] == b'-' {
            return;
        }
        self.judge_value(&value, keyword);
    }

    /// `client_secret X`, `AWS secret X`, `passwd X`. Behind the short ones stand names of users and secrets, too.
    fn read_labelled(&mut self, at: usize, after: usize) {
        let name = &self.bytes[at..after];
        let before = &self.bytes[self.from..at];
        let of_aws = before.len() >= 4 && before[before.len() - 4..].eq_ignore_ascii_case(b"aws ");
        let of_client = before.len() >= 7 && before[before.len() - 7..].eq_ignore_ascii_case(b"client ");
        let keyword = if of_aws { keyword::read_name(b"aws_secret") } else { keyword::read_name(name) };
        let Some(keyword) = keyword.filter(|_| !before.ends_with(b"etc/")) else { return };
        let Some(mut value) = self.value_at(after, Style::Prose) else { return };
        let text = &self.text[value.at.clone()];
        // Names of users have no such signs.
        let is_sign = |byte: u8| matches!(byte, b'!' | b'#' | b'%' | b'&' | b'*' | b'^' | b'+' | b'?' | b'~');
        let is_short =
            keyword.kind == Kind::Password && name.len() == SHORT_NAME && (5..8).contains(&text.len());
        if is_short && is_mixed(text) && text.bytes().any(is_sign) && value.quote.is_none() {
            let end = self.end_of(&value);
            return self.take(keyword.kind, value.at.start..end);
        }
        let fits = match name.len() {
            SHORT_NAME if keyword.kind == Kind::Password => text.len() >= 8 && is_mixed(text),
            SHORT_NAME if of_client => text.len() >= 8,
            SHORT_NAME => text.len() >= 16 && is_mixed(text) && !is_wordy(text),
            _ => text.len() >= 8,
        };
        value.style = Style::Prose;
        if fits && !text.starts_with('-') {
            self.judge_value(&value, keyword);
        }
    }

    /// A name that a secret follows behind a blank.
    fn read_name(&mut self, at: usize, run: usize, named: Named) {
        let mut name = &self.bytes[at..at + run];
        let mut after = at + run;
        if name.eq_ignore_ascii_case(b"contrase") {
            after += "ña".len();
            let Some(rest) =
                self.bytes.get(at..after).filter(|rest| keyword::read_foreign_name(rest).is_some())
            else {
                return;
            };
            name = rest;
        }
        let Some(b' ' | b'\t' | b'\n') = self.bytes.get(after) else { return };
        if named == Named::Label {
            return self.read_labelled(at, after);
        }
        let mut keyword = keyword::read_name(name).or_else(|| keyword::read_foreign_name(name));
        if named == Named::Exchange {
            if let Some(keyword) = keyword {
                self.read_exchanged(after, keyword);
            }
            return;
        }
        if let Some(keyword) = keyword
            && self.read_sentence(after, keyword)
        {
            return;
        }
        if named == Named::Sentence {
            // `passphrase "correct horse battery staple"`
            if let Some(keyword) = keyword.filter(|keyword| keyword.phrase)
                && let Some(value) =
                    self.value_at(after, Style::Prose).filter(|value| value.style == Style::Quoted)
            {
                self.judge_value(&value, keyword);
            }
            return;
        }
        if name.eq_ignore_ascii_case(b"identified") {
            let rest = self.bytes.get(after..after + 4).unwrap_or_default();
            if !rest.eq_ignore_ascii_case(b" by ") {
                return;
            }
            after += rest.len();
            keyword = keyword::read_name(b"password");
        }
        let Some(keyword) = keyword else { return };
        let first = self.text.ceil_char_boundary(self.from.max(at.saturating_sub(WORDS_BEFORE)));
        let before = self.text.get(first..at).unwrap_or_default();
        let mut words = before.split_ascii_whitespace().rev();
        // A taken value does not count as a word.
        let last =
            words.next().filter(|word| !word.contains(MARKER)).unwrap_or_default().to_ascii_lowercase();
        let Some(mut value) = self.value_at(after, Style::Prose) else { return };
        let rest = &self.bytes[value.at.end..];
        value.style = match value.quote {
            // `WITH PASSWORD '…'`.
            Some((b'\'', _)) if keyword.capitals || after > at + run || among("with encrypted", &last) => {
                Style::Quoted
            }
            // `machine x login me password …`.
            None if keyword.weight == Weight::Sure
                && words.next().is_some_and(|word| among("login user username account machine", word))
                && !last.is_empty()
                && !among("and or the a an name with then for is", &last)
                && ends_line(rest) =>
            {
                Style::Flag
            }
            _ => Style::Prose,
        };
        if value.style != Style::Prose || value.at.len() >= if value.quote.is_some() { 6 } else { 8 } {
            self.judge_value(&value, keyword);
        }
    }
}
