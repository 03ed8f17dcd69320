//! Secrets taken out of a text before it is stored or leaves the process. The table `redact.md` has every
//! form that is found or left.
//!
//! Five passes, each over the result of the one before: texts marked as private, key blocks, tokens known by
//! their own form, values known by the name before them, and values known by their command, sentence or
//! table. A later pass leaves values with a marker alone, so a second run finds nothing more. Every pass is
//! linear: it looks a bounded way ahead and back, and further only into a secret that it takes out. One look
//! over the bytes decides which passes run; most texts need none.
//!
//! A new form is one more anchor of a pass (an operator, a name, a script's letter, the rule below a table's
//! header), never a pass of its own. The journal has one way in, which redacts. Names by which records are
//! found again (session, project, agent, tool) stay as they are.

mod card;
mod command;
mod header;
mod keyword;
mod kind;
mod looks;
mod pair;
mod pem;
mod private;
mod sentence;
mod table;
mod token;
mod url;
mod value;

use std::borrow::Cow;
use std::ops::Range;

pub use kind::{Found, Kind};

use crate::text::search;

/// A text without its secrets, and their kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// With a marker such as `[redacted:jwt]` in place of each secret; the text itself where there is none.
    pub text: Cow<'a, str>,
    /// The number of each kind.
    pub found: Found,
}

/// A secret and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    kind: Kind,
    at: Range<usize>,
}

/// Takes the secrets out of a text.
pub fn redact(text: &str) -> Redacted<'_> {
    let mut redacted = Redacted { text: Cow::Borrowed(text), found: Found::default() };
    let seen = Glance::at(text.as_bytes());
    if seen.private {
        redacted.replace(private::find);
    }
    if seen.keys {
        redacted.replace(pem::find);
    }
    if seen.tokens {
        redacted.replace(token::find);
    }
    if seen.values {
        redacted.replace(value::find);
    }
    if seen.commands {
        redacted.replace(command::find);
    }
    redacted
}

/// As [`redact`], in the same text.
pub fn redact_in_place(text: &mut String, found: &mut Found) {
    let redacted = redact(text);
    if let Cow::Owned(clean) = redacted.text {
        found.merge(&redacted.found);
        *text = clean;
    }
}

impl Redacted<'_> {
    /// Replaces the findings of a pass with markers.
    fn replace(&mut self, find: fn(&str) -> Vec<Finding>) {
        let findings = find(&self.text);
        if findings.is_empty() {
            return;
        }
        let mut clean = String::with_capacity(self.text.len());
        let mut from = 0;
        for Finding { kind, at } in findings {
            clean.push_str(&self.text[from..at.start]);
            clean.push_str(kind::MARKER);
            clean.push_str(kind.name());
            clean.push(']');
            from = at.end;
            self.found.add(kind);
        }
        clean.push_str(&self.text[from..]);
        self.text = Cow::Owned(clean);
    }
}

/// A byte of names and tokens: letters, digits, `_` and `-`.
const WORD: u8 = 1;
/// A digit or a capital letter.
const MIXED: u8 = 2;
/// May come between a name and its value: `:`, `=`, `>`, `@`, and the first bytes of `：`, `→`, `は`, and of the last letters of
/// `密码` and `비밀번호`. ` is ` is looked for by its blank.
const OPERATOR: u8 = 4;
/// `<`.
const OPENS: u8 = 8;
/// `-`.
const DASH: u8 = 16;
/// A blank.
const BLANK: u8 = 32;
/// A letter or `_`.
const LETTER: u8 = 64;
/// `|`.
const BAR: u8 = 128;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let it = byte as u8;
        classes[byte] = match it {
            b'0'..=b'9' => WORD | MIXED,
            b'A'..=b'Z' => WORD | MIXED | LETTER,
            b'a'..=b'z' | b'_' => WORD | LETTER,
            b'-' => WORD | DASH,
            b':' | b'=' | b'>' | b'@' | 0xe2 | 0xe3 | 0xe4 | 0xe7 | 0xeb | 0xed | 0xef => OPERATOR,
            b'<' => OPENS,
            b' ' => BLANK,
            b'|' => BAR,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

fn is_word(byte: u8) -> bool {
    class(byte) & WORD != 0
}

/// The shortest run of word bytes in a token that is known by its form.
const SHORTEST_TOKEN: usize = 16;

/// A run of word bytes that could be a token or the number of a card.
fn could_be_token(run: usize, of_run: u8) -> bool {
    run >= card::SHORTEST && of_run & MIXED != 0 && (run >= SHORTEST_TOKEN || of_run & LETTER == 0)
}

/// The passes that could find something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each pass")]
struct Glance {
    private: bool,
    keys: bool,
    tokens: bool,
    values: bool,
    commands: bool,
}

impl Glance {
    /// One look at every byte. Most texts have nothing for any pass and cost no more than this.
    fn at(bytes: &[u8]) -> Glance {
        let (mut tokens, mut values, mut commands) = (false, false, false);
        let (mut at, mut others) = (0, 0);
        while let Some(byte) = bytes.get(at) {
            let mut of_run = class(*byte);
            at += 1;
            if of_run & WORD == 0 {
                others |= of_run;
                continue;
            }
            let start = at - 1;
            while let Some(class) = bytes.get(at).map(|byte| class(*byte)).filter(|class| class & WORD != 0) {
                of_run |= class;
                at += 1;
            }
            let word = &bytes[start..at];
            if word.len() >= command::SHORTEST_NAME {
                tokens |= could_be_token(word.len(), of_run);
                commands |= command::could_be_name(word);
            } else if word.len() == 2 {
                values |= word == b"is";
            } else if of_run & LETTER == 0 {
                tokens |= card::could_begin(&bytes[start..]);
            } else if word.len() == command::SHORT_NAME {
                commands |= command::is_short_name(word);
            } else {
                commands |= command::is_token(word);
            }
            if of_run & DASH != 0 {
                others |= DASH;
                values |= word.starts_with(b"--");
                commands |= command::is_flag(word) || table::is_rule(bytes, start, at);
            }
        }
        let keys = others & DASH != 0 && search::find(bytes, b"-----").is_some();
        values |= others & OPERATOR != 0;
        commands |= others & BAR != 0 && table::has_row(bytes);
        Glance { private: others & OPENS != 0, keys, tokens, values, commands }
    }
}
