//! Secrets in sentences and behind arrows: `changed the password to …`, `from … to …`, `パスワードを「…」に変更した`,
//! `password -> …`.

use crate::redact::keyword;
use crate::redact::keyword::{Keyword, Weight};
use crate::redact::looks::Style;
use crate::redact::value::{Scan, trim_blanks};
use crate::text::cut::first_bytes;
use crate::text::word_list::{Words, among};

/// Words between a name and its value, of which the last has to be one of [`LEADING`].
static BETWEEN: Words = "has have been was is got now again just changed updated reset rotated set back to as into wurde wird \
    ist jetzt nun neu auf geändert gesetzt zurückgesetzt lautet heißt es fue ha sido ahora cambiada cambiado cambió actualizada a por como";

/// Words right before a value.
static LEADING: Words = "to as is into auf lautet heißt ist es a por como now jetzt ahora";

/// Words before the owner of a password, and verbs behind it.
static OF: Words = "for of on für vom von des der am beim del de para en";
static VERBS: Words = "is ist lautet heißt es";

/// Words before a value that is replaced, and between it and the one that takes its place.
static FROM: Words = "from von de desde";
static TO: Words = "to auf zu a por";

/// The same behind the value, in other scripts.
static BEHIND: [&str; 3] = ["から", "에서", "부터"];

/// The longest name of an owner.
const LONGEST_OWNER: usize = 64;

/// More words than this do not belong to the name.
const MOST_WORDS: usize = 5;

impl Scan<'_> {
    /// A sign of another script that may stand behind a name.
    pub(super) fn read_foreign_sign(&mut self, at: usize) {
        let Some(sign) = self.bytes.get(at..at + 3) else { return };
        match [sign[0], sign[1], sign[2]] {
            // `→`
            [0xe2, 0x86, 0x92] => self.read_arrow(at, 3),
            // `は`, `に`, `を`, and `「`, `『`, `【` right behind a name.
            [0xe3, 0x81, 0xab] if self.bytes[at..].starts_with("には".as_bytes()) => self.read_prose(at, 6),
            [0xe3, 0x81, 0xaf | 0xab] | [0xe3, 0x82, 0x92] => self.read_prose(at, 3),
            [0xe3, 0x80, 0x8c | 0x8e | 0x90] => self.read_prose(at, 0),
            // `パスワード hunter2`, `ﾊﾟｽﾜｰﾄﾞ hunter2`
            [0xe3, 0x83, 0x89] | [0xef, 0xbe, 0x9e] if self.bytes.get(at + 3) == Some(&b' ') => {
                self.read_prose(at + 3, 1);
            }
            // `：`, `＝`, `﹕`
            [0xef, 0xbc, 0x9a | 0x9d] | [0xef, 0xb9, 0x95] => {
                let wide = self.bytes[at + 3..].starts_with("　".as_bytes());
                self.read_operator(at, if wide { 6 } else { 3 });
            }
            // `码`, `碼`, `令`, `호`, `드`, `번`
            [0xe7, 0xa0, 0x81]
            | [0xe7, 0xa2, 0xbc]
            | [0xe4, 0xbb, 0xa4]
            | [0xed, 0x98, 0xb8]
            | [0xeb, 0x93, 0x9c]
            | [0xeb, 0xb2, 0x88] => self.read_joined(at + 3),
            _ => {}
        }
    }

    /// `the password is …`, `パスワードは…`.
    pub(super) fn read_prose(&mut self, at: usize, length: usize) {
        let before = &self.bytes[self.from..at];
        let keyword = match before.last() {
            Some(0x80..) => None,
            _ => self.name_before(at).and_then(|(name, _)| keyword::read_name(&self.bytes[name])),
        };
        if let Some(keyword) = keyword.or_else(|| keyword::read_foreign_name(before)) {
            self.prose_value(at + length, keyword);
        }
    }

    /// A value behind a Chinese or Korean name and its particle.
    fn read_joined(&mut self, after: usize) {
        let Some(keyword) = keyword::read_foreign_name(&self.bytes[self.from..after]) else { return };
        let mut at = after;
        let mut joined = false;
        for c in self.text[after..].chars().take(MOST_WORDS + 2) {
            match c {
                '是' | '为' | '為' | '成' | '는' | '은' | '를' | '을' | '가' | '이' => {
                    joined = true;
                }
                '从' | '從' => return self.read_replaced(at + c.len_utf8(), keyword),
                '已' | '被' | '更' | '修' | '改' | '变' | '變' | '设' | '設' | '置' | '重' | '换' | '換'
                | '就' | '了' => {}
                ' ' | '：' | ':' if at > after => {}
                _ => break,
            }
            at += c.len_utf8();
        }
        // `密码 hunter2`
        if joined || self.bytes.get(after) == Some(&b' ') {
            self.prose_value(at, keyword);
        }
    }

    /// The value before `改为`, and the one behind it.
    fn read_replaced(&mut self, after: usize, keyword: Keyword) {
        let Some(end) = self.value_at(after, Style::Prose).map(|value| value.at.end) else { return };
        self.prose_value(after, keyword);
        let mut at = self.behind_value(end);
        let mut joined = false;
        for c in self.text[at..].chars().take(MOST_WORDS) {
            match c {
                '为' | '為' | '成' | '到' | '至' => joined = true,
                '更' | '修' | '改' | '变' | '變' | '换' | '換' | '了' | ' ' => {}
                _ => break,
            }
            at += c.len_utf8();
        }
        if joined {
            self.prose_value(at, keyword);
        }
    }

    /// Behind a value, what closes it and blanks.
    fn behind_value(&self, end: usize) -> usize {
        let is_close = |c: &char| {
            matches!(c, '!' | ']' | '"' | '\'' | '`' | '”' | '“' | '’' | '»' | '」' | '』' | '】' | ' ')
        };
        end + self.text[end..].chars().take(4).take_while(is_close).map(char::len_utf8).sum::<usize>()
    }

    /// `password -> …`.
    pub(super) fn read_arrow(&mut self, at: usize, length: usize) {
        let after = at + length;
        let before = trim_blanks(&self.bytes[self.from..at]);
        let next = self.bytes.get(after).copied().unwrap_or_default();
        // Lines of files are shown with their numbers and an arrow; `a->b` is code.
        if before.last().is_none_or(u8::is_ascii_digit)
            || length == 2 && !matches!(next, b' ' | b'"' | b'\'' | 0x80..)
        {
            return;
        }
        let name = self.name_before(at).filter(|(_, tight)| !tight || length == 3).map(|(name, _)| name);
        let keyword = match name {
            // `email -> password -> step2`
            Some(name) if ends_with_arrow(trim_blanks(&self.bytes[self.from..name.start])) => None,
            Some(name) => keyword::read_name(&self.bytes[name]),
            None => None,
        };
        if let Some(keyword) = keyword.or_else(|| keyword::read_foreign_name(before)) {
            self.prose_value(after, keyword);
        }
    }

    /// A name in a sentence and its value some words later. Returns whether there are such words.
    pub(super) fn read_sentence(&mut self, name: usize, keyword: Keyword) -> bool {
        let mut at = name + self.whose(name);
        let mut leads = at > name && matches!(self.bytes.get(at), Some(b':'));
        if at == name && self.read_exchange(name, keyword) {
            return true;
        }
        for _ in 0..=MOST_WORDS {
            let start = at + self.count_blanks(at);
            let word = self.text[start..].split([' ', '\t', '\n', ':', ',', '.']).next().unwrap_or_default();
            if start == at || word.len() > 20 || !among(BETWEEN, word) {
                break;
            }
            leads = among(LEADING, word);
            at = start + word.len();
            if self.read_exchange(at, keyword) {
                return true;
            }
        }
        if !leads {
            return at > name;
        }
        // `changed to: …`
        let colon = usize::from(self.bytes.get(at) == Some(&b':'));
        self.prose_value(at + colon, keyword);
        true
    }

    /// `from … to …`, perhaps behind a verb: `was rotated from … to …`.
    pub(super) fn read_exchanged(&mut self, name: usize, keyword: Keyword) {
        let mut at = name;
        for _ in 0..MOST_WORDS {
            if self.read_exchange(at, keyword) {
                return;
            }
            match self.behind_word(at, BETWEEN) {
                Some(next) => at = next,
                None => return,
            }
        }
    }

    /// `from … to …`. Returns whether it says that.
    fn read_exchange(&mut self, at: usize, keyword: Keyword) -> bool {
        let Some(old) = self.behind_word(at, FROM) else { return false };
        let Some(end) = self.value_at(old, Style::Prose).map(|value| value.at.end) else { return false };
        let behind = self.behind_value(end);
        let Some(new) = self.behind_word(behind.max(1) - 1, TO) else { return false };
        self.prose_value(old, keyword);
        self.prose_value(new, keyword);
        true
    }

    /// Behind blanks and one of these words.
    fn behind_word(&self, at: usize, words: Words) -> Option<usize> {
        let start = at + self.count_blanks(at);
        let word = self.text.get(start..)?.split([' ', '\t', '\n', ':', ',', '.']).next().unwrap_or_default();
        (start > at && !word.is_empty() && word.len() < 8 && among(words, word)).then(|| start + word.len())
    }

    /// The length of words for the owner of a password: ` for the server`, before `:` or a verb.
    fn whose(&self, name: usize) -> usize {
        let window = self.text.get(name..).unwrap_or_default();
        let window = first_bytes(window, LONGEST_OWNER);
        let mut words = window.split_inclusive(' ');
        let mut length = words.next().filter(|first| *first == " ").map_or(0, str::len);
        let Some(first) = words.next().filter(|word| length > 0 && among(OF, word.trim_end())) else {
            return 0;
        };
        length += first.len();
        for word in words.take(MOST_WORDS) {
            if let Some(end) = word.find([':', '\n', '"', '(', '=']) {
                return if word[end..].starts_with(": ") { length + end } else { 0 };
            }
            if among(VERBS, word.trim_end()) {
                return length - 1;
            }
            length += word.len();
        }
        0
    }

    /// The value behind the words that lead to it.
    fn prose_value(&mut self, after: usize, keyword: Keyword) {
        if let Some(mut value) = self.value_at(after, Style::Prose) {
            let end = value.at.end;
            if value.style != Style::Quoted || keyword.weight != Weight::Sure {
                value.style = Style::Prose;
            }
            // `password -> step2 -> …`
            let rest = &self.bytes[value.at.end..];
            let rest = &rest[rest.iter().take_while(|byte| **byte == b' ').count()..];
            if !rest.starts_with(b"->") && !rest.starts_with("→".as_bytes()) {
                self.judge_value(&value, keyword);
            }
            // `パスワードを…から…に`
            let behind = self.behind_value(end);
            if let Some(word) = BEHIND.iter().find(|word| self.text[behind..].starts_with(**word)) {
                let next = behind + word.len();
                if let Some(mut value) = self.value_at(next, Style::Prose) {
                    if value.style != Style::Quoted || keyword.weight != Weight::Sure {
                        value.style = Style::Prose;
                    }
                    self.judge_value(&value, keyword);
                }
            }
        } else {
            self.read_foreign(after, keyword, true);
        }
    }
}

fn ends_with_arrow(text: &[u8]) -> bool {
    text.ends_with(b"->") || text.ends_with("→".as_bytes())
}
