//! Texts are written for Claude Code. On another host, those for the person name the agent instead, and all of them its
//! commands.
//!
//! Only Tidegate's own words change: what a text quotes stays as it was said. That is everything in quotation marks or
//! backticks, and each line of a list, which gives back what others wrote.

use crate::feature::verdict::{Audience, Call, Verdict};
use crate::host::Host;

pub(super) fn name_host(verdict: &mut Verdict, host: Host) {
    let says = verdict.says.iter_mut().map(|say| (say.to == Audience::User, &mut say.text));
    // The person reads the reason of a question.
    let reason = verdict.reason.iter_mut().map(|reason| (verdict.call == Call::Ask, reason));
    for (is_for_person, text) in says.chain(reason) {
        let named = text_for(text, host, is_for_person);
        *text = named;
    }
}

/// A text that was written for Claude Code, for the person on another host.
pub fn name_agent(text: &str, host: Host) -> String {
    if host == Host::ClaudeCode { text.to_owned() } else { text_for(text, host, true) }
}

fn text_for(text: &str, host: Host, is_for_person: bool) -> String {
    let mut named = String::with_capacity(text.len());
    for part in parts(text) {
        match part {
            Part::Own(words) if is_for_person => name_in(words, Host::title(host.name()), &mut named),
            Part::Own(words) | Part::Quoted(words) => named.push_str(words),
            Part::Code(code) => {
                named.push('`');
                named.push_str(&own_command(code, host).unwrap_or_else(|| code.to_owned()));
                named.push('`');
            }
        }
    }
    named
}

/// A word in backticks that is one of these commands and nothing else.
fn own_command(code: &str, host: Host) -> Option<String> {
    match code {
        "/compact" => Some(host.compact_command().to_owned()),
        "/compound" | "/dev-cycle" => Some(format!("{}{}", host.skill_prefix(), &code[1..])),
        _ => None,
    }
}

/// A file or a word with that name in it stays.
fn name_in(mut words: &str, title: &str, named: &mut String) {
    const WRITTEN: [&str; 2] = ["Claude Code", "Claude"];
    while let Some(at) = words.find(WRITTEN[1]) {
        let (before, from) = words.split_at(at);
        let length = WRITTEN.iter().find(|name| from.starts_with(**name)).map_or(0, |name| name.len());
        let (name, after) = from.split_at(length);
        let joins = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/');
        let is_part = before.ends_with(joins) || after.starts_with(joins) || after.starts_with(".md");
        named.push_str(before);
        named.push_str(if is_part { name } else { title });
        words = after;
    }
    named.push_str(words);
}

enum Part<'a> {
    Own(&'a str),
    /// With its marks.
    Quoted(&'a str),
    /// Without its backticks.
    Code(&'a str),
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with("- ") {
            parts.push(Part::Quoted(line));
            continue;
        }
        let mut rest = line;
        while let Some(at) = rest.find(['`', '"', '“', '「']) {
            let (own, from) = rest.split_at(at);
            parts.push(Part::Own(own));
            let mark = from.chars().next().map_or(1, char::len_utf8);
            let (open, inside) = from.split_at(mark);
            let Some(end) = find_end(open, inside) else {
                // It opens nothing.
                parts.push(Part::Quoted(open));
                rest = inside;
                continue;
            };
            if open == "`" {
                parts.push(Part::Code(&inside[..end]));
                rest = &inside[end + 1..];
            } else {
                let close = inside[end..].chars().next().map_or(1, char::len_utf8);
                let (quote, after) = from.split_at(mark + end + close);
                parts.push(Part::Quoted(quote));
                rest = after;
            }
        }
        parts.push(Part::Own(rest));
    }
    parts
}

/// The mark that ends a quotation; one in it may have marks of its own.
fn find_end(open: &str, inside: &str) -> Option<usize> {
    if open == "`" {
        return inside.find('`');
    }
    let (mut depth, mut before, mut last) = (1, None, None);
    let mut chars = inside.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let opens = match c {
            '"' if open == "\"" => {
                before.is_some_and(|c: char| c.is_whitespace() || c == '(')
                    && next.is_some_and(|c| !c.is_whitespace())
            }
            '“' if open == "“" => true,
            '「' if open == "「" => true,
            '”' if open == "“" => false,
            '」' if open == "「" => false,
            _ => {
                before = Some(c);
                continue;
            }
        };
        before = Some(c);
        if opens {
            depth += 1;
            continue;
        }
        last = Some(at);
        depth -= 1;
        if depth == 0 {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_names_the_agent_that_reads_it() {
        for (text, named) in [
            ("Claude will load it. Claude Code asks.", "Codex will load it. Codex asks."),
            ("Claude が実行した Claude Code のフック", "Codex が実行した Codex のフック"),
            (
                "Claude's edit of Claude.md, docs/Claude and Claudette",
                "Codex's edit of Claude.md, docs/Claude and Claudette",
            ),
            ("no name", "no name"),
            // What somebody said stays.
            (
                "Given back to Claude: \"Claude asks first\". Claude",
                "Given back to Codex: \"Claude asks first\". Codex",
            ),
            ("Claude: \"say \"hi\" to Claude\", Claude", "Codex: \"say \"hi\" to Claude\", Codex"),
            ("Tidegate paused \"done\": a \" in Claude", "Tidegate paused \"done\": a \" in Codex"),
            ("Claude に戻した事実: 「Claude は「待つ」」", "Codex に戻した事実: 「Claude は「待つ」」"),
            ("`echo Claude` by Claude\n- Claude\n", "`echo Claude` by Codex\n- Claude\n"),
        ] {
            assert_eq!(name_agent(text, Host::Codex), named);
        }
    }

    #[test]
    fn a_text_names_commands_as_the_host_has_them() {
        for (text, named) in [
            ("`/compound` now, then `/dev-cycle`.", "`$compound` now, then `$dev-cycle`."),
            ("いま`/compound`を実行", "いま`$compound`を実行"),
            ("`/compact` again", "`/compact` again"),
            // A command line, and the person's words.
            ("Run `npm test -- -t /compound` on its own.", "Run `npm test -- -t /compound` on its own."),
            ("`echo `/compound`` and `/compound`", "`echo `/compound`` and `$compound`"),
            (
                "Decisions:\n- call `/compound` last\nThen `/compound`",
                "Decisions:\n- call `/compound` last\nThen `$compound`",
            ),
            ("\"never `/compound`\"", "\"never `/compound`\""),
            ("docs/compound, /compound", "docs/compound, /compound"),
        ] {
            assert_eq!(text_for(text, Host::Codex, false), named);
        }
        assert_eq!(text_for("`/compact` now", Host::Qwen, false), "`/compress` now");
    }

    proptest! {
        #[test]
        fn a_text_without_names_stays(text in "[ab`\"「」“”\n/ -]{0,40}") {
            prop_assert_eq!(name_agent(&text, Host::Codex), text);
        }
    }
}
