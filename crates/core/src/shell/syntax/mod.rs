//! The grammar of a command line: quoting, expansions, lists, pipes, compound commands, here-documents.
//!
//! A parser of its own, because a word's meaning matters as much as its end, and because depth and length have to be
//! bounded: a release build does not unwind, and a deep nest must not end the process. A line that is not understood fails
//! as a whole: half a line is never judged.

mod compound;
mod simple;
mod tree;
mod word;

pub(super) use tree::{
    Body, Command, Document, Item, Joint, List, Parsed, Part, Parts, Pipeline, Redirect, RedirectKind,
    as_written,
};

/// Deepest nesting of groups, substitutions and compound commands.
pub(super) const DEEPEST: usize = 40;

/// Most pipelines joined by `&&` and `||`: each costs a level of recursion.
const LONGEST_CHAIN: usize = 256;

/// Parses all of `text`.
pub(super) fn parse(text: &str) -> Option<Parsed> {
    let mut parser = Parser { text, at: 0, depth: 0, documents: Vec::new(), pending: Vec::new() };
    let list = parser.parse_list(&[])?;
    parser.skip_blanks();
    parser.read_documents();
    (parser.at == text.len()).then_some(Parsed { list, documents: parser.documents })
}

struct Pending {
    number: usize,
    end: String,
    tabs: bool,
    literal: bool,
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    documents: Vec<Document>,
    pending: Vec<Pending>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek_byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn peek_byte_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn eat(&mut self, what: &str) -> bool {
        let found = self.rest().starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Blanks, continued lines and a comment, up to the end of the line.
    fn skip_blanks(&mut self) {
        let start = self.at;
        loop {
            match self.peek_byte() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.peek_byte_at(1) == Some(b'\n') => self.at += 2,
                Some(b'#') if self.at == 0 || self.at > start || self.after_delimiter() => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                _ => return,
            }
        }
    }

    fn after_delimiter(&self) -> bool {
        self.text.as_bytes()[..self.at].last().is_some_and(|byte| b" \t\n;&|()`".contains(byte))
    }

    /// Blanks and newlines.
    fn skip_space(&mut self) {
        loop {
            self.skip_blanks();
            if !self.skip_newline() {
                return;
            }
        }
    }

    fn skip_newline(&mut self) -> bool {
        if self.peek_byte() != Some(b'\n') {
            return false;
        }
        self.at += 1;
        self.read_documents();
        true
    }

    fn read_documents(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            loop {
                if self.at >= self.text.len() {
                    break;
                }
                let line_end = self.rest().find('\n').map_or(self.text.len(), |end| self.at + end);
                let mut line = &self.text[self.at..line_end];
                if pending.tabs {
                    line = line.trim_start_matches('\t');
                }
                self.at = (line_end + 1).min(self.text.len());
                if line == pending.end {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            let literal = pending.literal || !text.contains(['$', '`', '\\']);
            self.documents[pending.number] = Document { text, literal };
        }
    }

    /// Commands up to one of the words, or up to a closing parenthesis or `;;`, or the end.
    fn parse_list(&mut self, ends: &[&str]) -> Option<List> {
        let mut items = Vec::new();
        loop {
            self.skip_space();
            let rest = self.rest();
            if rest.is_empty() || rest.starts_with(')') || rest.starts_with(";;") || rest.starts_with(";&") {
                break;
            }
            if self.peek_word().is_some_and(|word| ends.contains(&word)) {
                break;
            }
            let mut item = self.parse_item()?;
            self.skip_blanks();
            if self.rest().starts_with(";;") || self.rest().starts_with(";&") {
                items.push(item);
                break;
            }
            let separated = if self.eat(";") {
                true
            } else if self.peek_byte() == Some(b'&') && !matches!(self.peek_byte_at(1), Some(b'&' | b'>')) {
                self.at += 1;
                item.background = true;
                true
            } else {
                self.skip_newline()
            };
            items.push(item);
            if !separated {
                break;
            }
        }
        Some(List(items))
    }

    /// As [`Parser::parse_list`], with at least one command.
    fn parse_commands(&mut self, ends: &[&str]) -> Option<List> {
        self.deeper(|parser| parser.parse_list(ends)).filter(|list| !list.0.is_empty())
    }

    fn parse_item(&mut self) -> Option<Item> {
        let first = self.parse_pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let joint = if self.eat("&&") {
                Joint::And
            } else if self.eat("||") {
                Joint::Or
            } else {
                return Some(Item { first, rest, background: false });
            };
            self.skip_space();
            rest.push((joint, self.parse_pipeline()?));
            if rest.len() > LONGEST_CHAIN {
                return None;
            }
        }
    }

    fn parse_pipeline(&mut self) -> Option<Pipeline> {
        let mut negated = false;
        loop {
            self.skip_blanks();
            match self.peek_word() {
                Some("!") => {
                    self.at += 1;
                    negated = !negated;
                }
                Some("time") => {
                    self.at += 4;
                    self.skip_blanks();
                    if self.peek_word() == Some("-p") {
                        self.at += 2;
                    }
                }
                _ => break,
            }
        }
        let mut stages = vec![self.parse_command()?];
        loop {
            self.skip_blanks();
            if self.rest().starts_with("||") || !self.eat("|") {
                return Some(Pipeline { negated, stages });
            }
            self.eat("&");
            self.skip_space();
            stages.push(self.parse_command()?);
        }
    }

    /// The word that begins here, unless it has quotes or expansions.
    fn peek_word(&self) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.bytes().position(|byte| b" \t\r\n;&|()<>".contains(&byte)).unwrap_or(rest.len());
        let word = &rest[..end];
        (!word.is_empty() && !word.contains(['\'', '"', '\\', '$', '`'])).then_some(word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == Some(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn parse_command(&mut self) -> Option<Command> {
        let Some(body) = self.parse_compound()? else { return self.parse_simple() };
        let redirects =
            if matches!(body, Body::Function { .. }) { Vec::new() } else { self.parse_redirects()? };
        Some(Command { body, redirects })
    }

    fn parse_redirects(&mut self) -> Option<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.parse_redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Some(redirects),
            }
        }
    }
}
