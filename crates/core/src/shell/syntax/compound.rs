//! Commands with words of their own: groups, conditions, loops, functions.

use super::Parser;
use super::tree::{Body, List};
use super::word::is_name;
use crate::shell::{Words, among};

const RESERVED: Words = "then elif else fi do done esac } in if for while until case select";

impl Parser<'_> {
    /// A command that is more than words; inside, `None` for a simple one.
    #[expect(clippy::option_option, reason = "outer: not understood; inner: not compound")]
    pub(super) fn compound(&mut self) -> Option<Option<Body>> {
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
    pub(super) fn arithmetic_end(&self, from: usize) -> Option<usize> {
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
}
