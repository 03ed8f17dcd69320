//! The checks of a command line, each by itself: as a person would type it, without what hides its exit status.
//!
//! The text comes from the line, not from its parsed words: those have no wrappers (`npx`, `timeout 60`), and a check without
//! them may be another program.

use crate::feature::verification::checks::LineProof;
use crate::shell::{Script, Spot, Status, Step, Why};
use crate::text::word_list::{Words, among};

/// A check of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCheck {
    /// Index of the step in the line.
    pub step: usize,
    pub text: String,
    /// The reason that the line does not show its status.
    pub hidden: Option<Why>,
}

/// `moved`: the shell stays in the folder that the line changed to.
pub fn name_checks(line: &str, script: &Script, checks: &LineProof, moved: bool) -> Vec<NamedCheck> {
    let found = checks.visible.iter().chain(&checks.hidden).filter(|found| !found.by_output);
    let parts = split_line(line);
    let name = |number: usize| {
        let step = script.steps.get(number)?;
        let mut text = text_of(step, &parts);
        if let Spot::Start(folder) | Spot::Absolute(folder) = &step.folder
            && !folder.is_empty()
            && !moved
        {
            text = format!("cd {} && {text}", quote(folder));
        }
        let hidden = match step.status {
            Status::Hidden(why) => Some(why),
            Status::Decides => None,
        };
        Some(NamedCheck { step: number, text, hidden })
    };
    found.filter_map(|found| name(found.step)).collect()
}

fn text_of(step: &Step, parts: &[Vec<Token>]) -> String {
    let words: Vec<&str> = step.words.iter().map(|word| word.text.as_str()).collect();
    let is_step = |part: &&Vec<Token>| {
        part.len() >= words.len()
            && part[part.len() - words.len()..]
                .iter()
                .map(|token| token.plain.as_str())
                .eq(words.iter().copied())
    };
    match parts.iter().find(is_step) {
        Some(part) => part.iter().map(|token| token.raw.as_str()).collect::<Vec<_>>().join(" "),
        // In an inner shell, or with variables that were resolved.
        None => words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" "),
    }
}

fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%~$*".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A word of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Token {
    /// As written.
    raw: String,
    /// Without quotes.
    plain: String,
}

/// Words before a command that are not part of it.
const BEFORE: Words = "! if then elif else while until do time { (";

/// The simple commands of a line, without redirections, assignments and reserved words before them. Only texts that are
/// compared with a parsed step: a wrong split is found by no step.
fn split_line(line: &str) -> Vec<Vec<Token>> {
    let mut parts: Vec<Vec<Token>> = vec![Vec::new()];
    let mut token = Token::default();
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => {
                quote = None;
                token.raw.push(c);
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                token.raw.push(c);
            }
            (None | Some('"'), '\\') => {
                token.raw.push(c);
                if let Some(next) = chars.next() {
                    token.raw.push(next);
                    token.plain.push(next);
                }
            }
            (Some(_), c) => {
                token.raw.push(c);
                token.plain.push(c);
            }
            (None, ' ' | '\t') => end_token(&mut parts, &mut token),
            // `2>&1` and `&>log` are redirections.
            (None, '&') if token.raw.ends_with(['>', '<']) || chars.peek() == Some(&'>') => token.raw.push(c),
            (None, '|') if token.raw.ends_with('>') => token.raw.push(c),
            (None, '|' | '&' | ';' | '\n' | '(' | ')') => {
                end_token(&mut parts, &mut token);
                parts.push(Vec::new());
            }
            (None, c) => {
                token.raw.push(c);
                token.plain.push(c);
            }
        }
    }
    end_token(&mut parts, &mut token);
    parts.into_iter().map(without_extras).filter(|part| !part.is_empty()).collect()
}

fn end_token(parts: &mut [Vec<Token>], token: &mut Token) {
    let token = std::mem::take(token);
    if let Some(part) = parts.last_mut().filter(|_| !token.raw.is_empty()) {
        part.push(token);
    }
}

fn without_extras(part: Vec<Token>) -> Vec<Token> {
    let mut kept: Vec<Token> = Vec::new();
    let mut tokens = part.into_iter();
    while let Some(token) = tokens.next() {
        let operator = token.raw.trim_start_matches(|c: char| c.is_ascii_digit());
        let redirects = operator.starts_with(['>', '<']) || operator.starts_with("&>");
        if redirects {
            // The file may be the next word.
            if operator.ends_with(['>', '<', '|']) {
                tokens.next();
            }
            continue;
        }
        let is_before = among(BEFORE, &token.raw) || is_assignment(&token.raw);
        if !(kept.is_empty() && is_before) {
            kept.push(token);
        }
    }
    kept
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.starts_with(|c: char| c.is_ascii_digit())
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}
