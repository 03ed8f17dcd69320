//! The grammar of a command line: quoting, expansions, lists, pipes, compound commands, here-documents.
//!
//! A parser of our own, because what a word means matters as much as where it ends, and because depth and length have to
//! be bounded: a release build does not unwind, and a deep nest must not end the process. Whatever is not understood
//! fails as a whole: no half of a line is ever judged.

use crate::shell::{Words, among};

/// Deepest nesting of groups, substitutions and compound commands.
pub(super) const DEEPEST: usize = 40;

/// Most pipelines that are joined by `&&` and `||`: they are gone through one within the other.
const LONGEST_CHAIN: usize = 256;

/// Commands one after the other or in the background.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct List(pub Vec<Item>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub first: Pipeline,
    pub rest: Vec<(Joint, Pipeline)>,
    pub background: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    And,
    Or,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pipeline {
    pub negated: bool,
    pub stages: Vec<Command>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub body: Body,
    pub redirects: Vec<Redirect>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Simple {
        assigned: Vec<(String, Parts)>,
        words: Vec<Parts>,
    },
    Group(List),
    Subshell(List),
    If {
        arms: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    While {
        condition: List,
        body: List,
    },
    For {
        name: String,
        values: Option<Vec<Parts>>,
        body: List,
    },
    Case {
        arms: Vec<List>,
    },
    Function {
        name: String,
        body: Box<Command>,
    },
    /// `[[ … ]]` and `(( … ))`.
    Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    pub kind: RedirectKind,
    pub target: Parts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectKind {
    /// `>`, `>>`, `>|`, `&>`, `&>>`, `<>`.
    Write,
    /// `>&` and `<&`: a file only where the target is no descriptor.
    Duplicate,
    Read,
    /// The number of the document in [`Parsed::documents`].
    Document(usize),
    /// `<<<`.
    Text,
}

/// A word in pieces, as written.
pub(super) type Parts = Vec<Part>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Without quotes and without a meaning of its own.
    Plain(String),
    /// Quoted or escaped.
    Quoted(String),
    /// `*`, `?`, `[`.
    Pattern(char),
    Variable {
        name: String,
        quoted: bool,
    },
    Commands {
        list: List,
        raw: String,
    },
    /// Any other expansion, as written.
    Other(String),
}

/// The text of a here-document, and whether the shell leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Document {
    pub text: String,
    pub literal: bool,
}

/// A whole line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    pub list: List,
    pub documents: Vec<Document>,
}

/// Parses all of `text`.
pub(super) fn parse(text: &str) -> Option<Parsed> {
    let mut parser = Parser { text, at: 0, depth: 0, documents: Vec::new(), pending: Vec::new() };
    let list = parser.list(&[])?;
    parser.blanks();
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

const RESERVED: Words = "then elif else fi do done esac } in if for while until case select";

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn byte_at(&self, ahead: usize) -> Option<u8> {
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
    fn blanks(&mut self) {
        let start = self.at;
        loop {
            match self.byte() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.byte_at(1) == Some(b'\n') => self.at += 2,
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
    fn space(&mut self) {
        loop {
            self.blanks();
            if !self.newline() {
                return;
            }
        }
    }

    fn newline(&mut self) -> bool {
        if self.byte() != Some(b'\n') {
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
    fn list(&mut self, ends: &[&str]) -> Option<List> {
        let mut items = Vec::new();
        loop {
            self.space();
            let rest = self.rest();
            if rest.is_empty() || rest.starts_with(')') || rest.starts_with(";;") || rest.starts_with(";&") {
                break;
            }
            if self.peek_word().is_some_and(|word| ends.contains(&word)) {
                break;
            }
            let mut item = self.item()?;
            self.blanks();
            if self.rest().starts_with(";;") || self.rest().starts_with(";&") {
                items.push(item);
                break;
            }
            let separated = if self.eat(";") {
                true
            } else if self.byte() == Some(b'&') && !matches!(self.byte_at(1), Some(b'&' | b'>')) {
                self.at += 1;
                item.background = true;
                true
            } else {
                self.newline()
            };
            items.push(item);
            if !separated {
                break;
            }
        }
        Some(List(items))
    }

    /// As [`Parser::list`], with at least one command.
    fn commands(&mut self, ends: &[&str]) -> Option<List> {
        self.deeper(|parser| parser.list(ends)).filter(|list| !list.0.is_empty())
    }

    fn item(&mut self) -> Option<Item> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let joint = if self.eat("&&") {
                Joint::And
            } else if self.eat("||") {
                Joint::Or
            } else {
                return Some(Item { first, rest, background: false });
            };
            self.space();
            rest.push((joint, self.pipeline()?));
            if rest.len() > LONGEST_CHAIN {
                return None;
            }
        }
    }

    fn pipeline(&mut self) -> Option<Pipeline> {
        let mut negated = false;
        loop {
            self.blanks();
            match self.peek_word() {
                Some("!") => {
                    self.at += 1;
                    negated = !negated;
                }
                Some("time") => {
                    self.at += 4;
                    self.blanks();
                    if self.peek_word() == Some("-p") {
                        self.at += 2;
                    }
                }
                _ => break,
            }
        }
        let mut stages = vec![self.command()?];
        loop {
            self.blanks();
            if self.rest().starts_with("||") || !self.eat("|") {
                return Some(Pipeline { negated, stages });
            }
            self.eat("&");
            self.space();
            stages.push(self.command()?);
        }
    }

    /// The word that begins here, where it stands there without quotes and expansions.
    fn peek_word(&self) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.bytes().position(|byte| b" \t\r\n;&|()<>".contains(&byte)).unwrap_or(rest.len());
        let word = &rest[..end];
        (!word.is_empty() && !word.contains(['\'', '"', '\\', '$', '`'])).then_some(word)
    }

    fn word_is(&mut self, word: &str) -> bool {
        let found = self.peek_word() == Some(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn command(&mut self) -> Option<Command> {
        let Some(body) = self.compound()? else { return self.simple() };
        let redirects = if matches!(body, Body::Function { .. }) { Vec::new() } else { self.redirects()? };
        Some(Command { body, redirects })
    }

    fn redirects(&mut self) -> Option<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Some(redirects),
            }
        }
    }

    /// A command that is more than words; inside, `None` for a simple one.
    #[expect(clippy::option_option, reason = "outer: not understood; inner: not compound")]
    fn compound(&mut self) -> Option<Option<Body>> {
        self.blanks();
        if self.rest().starts_with("((")
            && let Some(end) = self.arithmetic_end(self.at + 2)
        {
            self.at = end;
            return Some(Some(Body::Test));
        }
        if self.eat("(") {
            let list = self.commands(&[])?;
            return self.eat(")").then_some(Some(Body::Subshell(list)));
        }
        let Some(word) = self.peek_word() else { return Some(None) };
        let body = match word {
            "{" => {
                self.at += 1;
                let list = self.commands(&["}"])?;
                self.word_is("}").then_some(Body::Group(list))?
            }
            "[[" => {
                self.at += 2;
                self.test_end()?;
                Body::Test
            }
            "if" => {
                self.at += 2;
                self.if_clause()?
            }
            "while" | "until" => {
                self.at += 5;
                let condition = self.commands(&["do"])?;
                Body::While { condition, body: self.do_group()? }
            }
            "for" | "select" => {
                self.at += word.len();
                self.for_clause()?
            }
            "case" => {
                self.at += 4;
                self.case_clause()?
            }
            "function" => {
                self.at += 8;
                self.blanks();
                let name = self.peek_word()?.to_owned();
                self.at += name.len();
                self.blanks();
                if self.eat("(") {
                    self.blanks();
                    self.eat(")").then_some(())?;
                }
                self.function(name)?
            }
            "coproc" => return None,
            word if among(RESERVED, word) => return None,
            word => {
                let name = word.to_owned();
                let start = self.at;
                self.at += name.len();
                self.blanks();
                if !self.eat("(") {
                    self.at = start;
                    return Some(None);
                }
                self.blanks();
                // `a=(…)` is an array; anything else with a parenthesis here is an error.
                if name.ends_with('=') {
                    self.at = start;
                    return Some(None);
                }
                self.eat(")").then_some(())?;
                self.function(name)?
            }
        };
        Some(Some(body))
    }

    fn function(&mut self, name: String) -> Option<Body> {
        self.space();
        let body = self.deeper(Parser::command)?;
        let compound = !matches!(body.body, Body::Simple { .. } | Body::Function { .. });
        compound.then(|| Body::Function { name, body: Box::new(body) })
    }

    fn if_clause(&mut self) -> Option<Body> {
        let mut arms = Vec::new();
        loop {
            let condition = self.commands(&["then"])?;
            self.word_is("then").then_some(())?;
            arms.push((condition, self.commands(&["elif", "else", "fi"])?));
            if self.word_is("fi") {
                return Some(Body::If { arms, otherwise: None });
            }
            if self.word_is("else") {
                let otherwise = Some(self.commands(&["fi"])?);
                return self.word_is("fi").then_some(Body::If { arms, otherwise });
            }
            self.word_is("elif").then_some(())?;
        }
    }

    fn do_group(&mut self) -> Option<List> {
        self.space();
        if self.word_is("{") {
            let body = self.commands(&["}"])?;
            return self.word_is("}").then_some(body);
        }
        self.word_is("do").then_some(())?;
        let body = self.commands(&["done"])?;
        self.word_is("done").then_some(body)
    }

    fn for_clause(&mut self) -> Option<Body> {
        self.blanks();
        if self.rest().starts_with("((") {
            self.at = self.arithmetic_end(self.at + 2)?;
            self.blanks();
            self.eat(";");
            return Some(Body::For { name: String::new(), values: None, body: self.do_group()? });
        }
        let name = self.peek_word().filter(|name| is_name(name))?.to_owned();
        self.at += name.len();
        self.space();
        let mut values = None;
        if self.word_is("in") {
            let words = values.insert(Vec::new());
            loop {
                self.blanks();
                if matches!(self.byte(), None | Some(b';' | b'\n')) {
                    break;
                }
                words.push(self.word()?);
            }
        }
        self.blanks();
        self.eat(";");
        Some(Body::For { name, values, body: self.do_group()? })
    }

    fn case_clause(&mut self) -> Option<Body> {
        self.blanks();
        self.word()?;
        self.space();
        self.word_is("in").then_some(())?;
        let mut arms = Vec::new();
        loop {
            self.space();
            if self.word_is("esac") {
                return Some(Body::Case { arms });
            }
            self.eat("(");
            loop {
                self.blanks();
                self.word()?;
                self.blanks();
                if self.eat(")") {
                    break;
                }
                self.eat("|").then_some(())?;
            }
            arms.push(self.deeper(|parser| parser.list(&["esac"]))?);
            self.space();
            if !(self.eat(";;&") || self.eat(";;") || self.eat(";&")) {
                self.space();
                return self.word_is("esac").then_some(Body::Case { arms });
            }
        }
    }

    /// Behind the `]]` that ends a test.
    fn test_end(&mut self) -> Option<()> {
        loop {
            self.space();
            if self.word_is("]]") {
                return Some(());
            }
            match self.byte()? {
                b'(' | b')' | b'<' | b'>' | b'&' | b'|' | b';' => self.at += 1,
                _ => {
                    self.word()?;
                }
            }
        }
    }

    /// Where `((` that began before `from` ends, if it ends in `))`.
    fn arithmetic_end(&self, from: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let (mut open, mut at) = (0_usize, from);
        loop {
            match bytes.get(at)? {
                b'(' => open += 1,
                b')' if open == 0 => return (bytes.get(at + 1) == Some(&b')')).then_some(at + 2),
                b')' => open -= 1,
                b'\\' => at += 1,
                _ => {}
            }
            at += 1;
        }
    }

    fn simple(&mut self) -> Option<Command> {
        let (mut assigned, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if matches!(self.byte(), None | Some(b'\n' | b';' | b'&' | b'|' | b')')) {
                break;
            }
            let mut parts = self.word()?;
            if self.byte() == Some(b'(') {
                // An array; anything else cannot be followed by a parenthesis.
                let name = matches!(parts.as_slice(), [Part::Plain(text)] if text.ends_with('='));
                name.then_some(())?;
                self.array()?;
                parts.push(Part::Other("(…)".into()));
            }
            match assignment(&parts) {
                Some(assignment) if words.is_empty() => assigned.push(assignment),
                _ => words.push(parts),
            }
        }
        let something = !(assigned.is_empty() && words.is_empty() && redirects.is_empty());
        something.then_some(Command { body: Body::Simple { assigned, words }, redirects })
    }

    fn array(&mut self) -> Option<()> {
        self.eat("(");
        loop {
            self.space();
            if self.eat(")") {
                return Some(());
            }
            self.word()?;
        }
    }

    #[expect(clippy::option_option, reason = "outer: not understood; inner: no redirection here")]
    fn redirect(&mut self) -> Option<Option<Redirect>> {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let name = rest.strip_prefix('{').unwrap_or_default();
        let length = name.bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count();
        let named = match &name.as_bytes()[length..] {
            [b'}', b'<' | b'>', ..] if is_name(&name[..length]) => length + 2,
            _ => 0,
        };
        let operator = &rest[digits.max(named)..];
        let (kind, length) = match operator.as_bytes() {
            [b'&', b'>', b'>', ..] if digits == 0 => (RedirectKind::Write, 3),
            [b'&', b'>', ..] if digits == 0 => (RedirectKind::Write, 2),
            [b'>', b'>' | b'|', ..] => (RedirectKind::Write, 2),
            [b'>' | b'<', b'&', ..] => (RedirectKind::Duplicate, 2),
            [b'>' | b'<', b'(', ..] => return Some(None),
            [b'<', b'<', b'<', ..] => (RedirectKind::Text, 3),
            [b'<', b'<', ..] => (RedirectKind::Document(self.documents.len()), 2),
            [b'<', b'>', ..] => (RedirectKind::Write, 2),
            [b'>', ..] => (RedirectKind::Write, 1),
            [b'<', ..] => (RedirectKind::Read, 1),
            _ => return Some(None),
        };
        self.at += digits.max(named) + length;
        let tabs = matches!(kind, RedirectKind::Document(_)) && self.eat("-");
        self.blanks();
        let target = self.word()?;
        if let RedirectKind::Document(number) = kind {
            let literal = target.iter().any(|part| matches!(part, Part::Quoted(_)));
            self.documents.push(Document::default());
            self.pending.push(Pending { number, end: as_written(&target), tabs, literal });
        }
        Some(Some(Redirect { kind, target }))
    }

    /// One word; not understood where there is none.
    fn word(&mut self) -> Option<Parts> {
        let start = self.at;
        let mut parts = Parts::new();
        while let Some(byte) = self.byte() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => break,
                b'<' | b'>' if self.byte_at(1) == Some(b'(') && (self.at == start || byte == b'<') => {
                    self.at += 2;
                    let commands = self.substitution(self.at - 2)?;
                    parts.push(commands);
                }
                b'<' | b'>' => break,
                b'\\' if self.byte_at(1) == Some(b'\n') => self.at += 2,
                b'\\' => {
                    self.at += 1;
                    let character = self.rest().chars().next()?;
                    self.at += character.len_utf8();
                    quoted(&mut parts, character.encode_utf8(&mut [0; 4]));
                }
                b'\'' => {
                    let end = self.rest()[1..].find('\'')?;
                    let text = self.rest()[1..=end].to_owned();
                    self.at += end + 2;
                    quoted(&mut parts, &text);
                }
                b'"' => {
                    self.at += 1;
                    self.double_quoted(&mut parts)?;
                }
                b'$' | b'`' => self.expansion(&mut parts, false)?,
                b'*' | b'?' | b'[' => {
                    self.at += 1;
                    parts.push(Part::Pattern(char::from(byte)));
                }
                _ => {
                    let rest = self.rest();
                    let end = rest.bytes().position(|byte| b" \t\r\n;&|()<>\\'\"$`*?[".contains(&byte));
                    let text = &rest[..end.unwrap_or(rest.len())];
                    self.at += text.len();
                    match parts.last_mut() {
                        Some(Part::Plain(before)) => before.push_str(text),
                        _ => parts.push(Part::Plain(text.to_owned())),
                    }
                }
            }
        }
        (self.at > start && !parts.is_empty()).then_some(parts)
    }

    fn double_quoted(&mut self, parts: &mut Parts) -> Option<()> {
        quoted(parts, "");
        loop {
            match self.byte()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => match self.byte_at(1)? {
                    b'\n' => self.at += 2,
                    byte @ (b'$' | b'`' | b'"' | b'\\') => {
                        self.at += 2;
                        quoted(parts, char::from(byte).encode_utf8(&mut [0; 4]));
                    }
                    _ => {
                        self.at += 1;
                        quoted(parts, "\\");
                    }
                },
                b'$' | b'`' => self.expansion(parts, true)?,
                _ => {
                    let end = self.rest().find(['"', '\\', '$', '`'])?;
                    let text = self.rest()[..end].to_owned();
                    self.at += end;
                    quoted(parts, &text);
                }
            }
        }
    }

    fn expansion(&mut self, parts: &mut Parts, in_quotes: bool) -> Option<()> {
        let start = self.at;
        if self.eat("`") {
            let mut inner = String::new();
            loop {
                let character = self.rest().chars().next()?;
                self.at += character.len_utf8();
                match character {
                    '`' => break,
                    '\\' if matches!(self.byte(), Some(b'`' | b'\\' | b'$')) => {
                        inner.push(char::from(self.byte()?));
                        self.at += 1;
                    }
                    other => inner.push(other),
                }
            }
            let depth = self.depth;
            let list = self.deeper(|_| {
                let mut parser = Parser {
                    text: &inner,
                    at: 0,
                    depth: depth + 1,
                    documents: Vec::new(),
                    pending: Vec::new(),
                };
                let list = parser.list(&[])?;
                // A document in here would be numbered apart from the others.
                (parser.at == inner.len() && parser.documents.is_empty()).then_some(list)
            })?;
            parts.push(Part::Commands { list, raw: self.text[start..self.at].to_owned() });
            return Some(());
        }
        self.at += 1;
        match self.byte() {
            Some(b'(') if self.byte_at(1) == Some(b'(') && self.arithmetic_end(self.at + 2).is_some() => {
                self.at = self.arithmetic_end(self.at + 2)?;
                parts.push(Part::Other(self.text[start..self.at].to_owned()));
            }
            Some(b'(') => {
                self.at += 1;
                let commands = self.substitution(start)?;
                parts.push(commands);
            }
            Some(b'{') => {
                self.at += 1;
                let name = self.rest().split('}').next().filter(|name| is_name(name)).map(str::to_owned);
                self.deeper(Parser::parameter_end)?;
                parts.push(match name {
                    Some(name) => Part::Variable { name, quoted: in_quotes },
                    None => Part::Other(self.text[start..self.at].to_owned()),
                });
            }
            Some(b'\'') if !in_quotes => {
                self.at += 1;
                let text = self.ansi_quoted()?;
                quoted(parts, &text);
            }
            Some(b'"') if !in_quotes => {
                self.at += 1;
                self.double_quoted(parts)?;
            }
            Some(byte) if byte == b'_' || byte.is_ascii_alphabetic() => {
                let rest = self.rest();
                let length =
                    rest.bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count();
                let name = rest[..length].to_owned();
                self.at += length;
                parts.push(Part::Variable { name, quoted: in_quotes });
            }
            Some(byte) if b"?$!#@*-0123456789".contains(&byte) => {
                self.at += 1;
                let name = char::from(byte).to_string();
                parts.push(Part::Variable { name, quoted: in_quotes });
            }
            _ if in_quotes => quoted(parts, "$"),
            _ => parts.push(Part::Plain("$".into())),
        }
        Some(())
    }

    /// Commands up to the parenthesis that closes them, of a word that has `start` before them.
    fn substitution(&mut self, start: usize) -> Option<Part> {
        let list = self.deeper(|parser| parser.list(&[]))?;
        self.space();
        let closed = self.eat(")");
        closed.then(|| Part::Commands { list, raw: self.text[start..self.at].to_owned() })
    }

    /// Behind the brace that ends `${…`.
    fn parameter_end(&mut self) -> Option<()> {
        let mut ignored = Parts::new();
        loop {
            match self.byte()? {
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.at += 1 + self.rest()[1..].chars().next()?.len_utf8(),
                b'\'' => self.at += self.rest()[1..].find('\'')? + 2,
                b'"' => {
                    self.at += 1;
                    self.double_quoted(&mut ignored)?;
                }
                b'$' | b'`' => self.expansion(&mut ignored, false)?,
                _ => self.at += self.rest().chars().next()?.len_utf8(),
            }
        }
    }

    fn ansi_quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        loop {
            let character = self.rest().chars().next()?;
            self.at += character.len_utf8();
            match character {
                '\'' => return Some(text),
                '\\' => {
                    let escaped = self.rest().chars().next()?;
                    self.at += escaped.len_utf8();
                    match escaped {
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        'r' => text.push('\r'),
                        '\\' | '\'' | '"' | '?' => text.push(escaped),
                        // Numbers and control characters: nothing that a command or a path needs.
                        other => text.extend(['\\', other]),
                    }
                }
                other => text.push(other),
            }
        }
    }
}

fn quoted(parts: &mut Parts, text: &str) {
    match parts.last_mut() {
        Some(Part::Quoted(before)) => before.push_str(text),
        _ => parts.push(Part::Quoted(text.to_owned())),
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// `NAME=value`, as name and value.
fn assignment(parts: &Parts) -> Option<(String, Parts)> {
    let Some(Part::Plain(first)) = parts.first() else { return None };
    let (name, value) = first.split_once('=')?;
    let appended = name.strip_suffix('+');
    let name = appended.unwrap_or(name);
    if !is_name(name) {
        return None;
    }
    let mut parts = parts.clone();
    match &mut parts[0] {
        Part::Plain(first) if !value.is_empty() => value.clone_into(first),
        _ => drop(parts.remove(0)),
    }
    if appended.is_some() {
        parts.insert(0, Part::Variable { name: name.to_owned(), quoted: true });
    }
    Some((name.to_owned(), parts))
}

/// A word as somebody wrote it, without its quotes.
pub(super) fn as_written(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Plain(plain) | Part::Quoted(plain) => text.push_str(plain),
            Part::Pattern(pattern) => text.push(*pattern),
            Part::Variable { name, .. } => {
                text.push('$');
                text.push_str(name);
            }
            Part::Commands { raw, .. } | Part::Other(raw) => text.push_str(raw),
        }
    }
    text
}
