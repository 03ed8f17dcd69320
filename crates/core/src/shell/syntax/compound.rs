//! Commands that contain others: groups, conditions, loops, functions.

use super::Parser;
use super::tree::{Body, List};
use super::word::is_name;
use crate::text::word_list::{Words, among};

const RESERVED: Words = "then elif else fi do done esac } in if for while until case select";

impl Parser<'_> {
    /// A compound command; the inner `None` for a simple one.
    #[expect(clippy::option_option, reason = "outer: not understood; inner: not compound")]
    pub(super) fn parse_compound(&mut self) -> Option<Option<Body>> {
        self.skip_blanks();
        if self.rest().starts_with("((")
            && let Some(end) = self.arithmetic_end(self.at + 2)
        {
            self.at = end;
            return Some(Some(Body::Test));
        }
        if self.eat("(") {
            let list = self.parse_commands(&[])?;
            return self.eat(")").then_some(Some(Body::Subshell(list)));
        }
        let Some(word) = self.peek_word() else { return Some(None) };
        let body = match word {
            "{" => {
                self.at += 1;
                let list = self.parse_commands(&["}"])?;
                self.eat_word("}").then_some(Body::Group(list))?
            }
            "[[" => {
                self.at += 2;
                self.skip_test()?;
                Body::Test
            }
            "if" => {
                self.at += 2;
                self.parse_if()?
            }
            "while" | "until" => {
                self.at += 5;
                let condition = self.parse_commands(&["do"])?;
                Body::While { condition, body: self.parse_do_group()? }
            }
            "for" | "select" => {
                self.at += word.len();
                self.parse_for()?
            }
            "case" => {
                self.at += 4;
                self.parse_case()?
            }
            "function" => {
                self.at += 8;
                self.skip_blanks();
                let name = self.peek_word()?.to_owned();
                self.at += name.len();
                self.skip_blanks();
                if self.eat("(") {
                    self.skip_blanks();
                    self.eat(")").then_some(())?;
                }
                self.parse_function(name)?
            }
            "coproc" => return None,
            word if among(RESERVED, word) => return None,
            word => {
                let name = word.to_owned();
                let start = self.at;
                self.at += name.len();
                self.skip_blanks();
                if !self.eat("(") {
                    self.at = start;
                    return Some(None);
                }
                self.skip_blanks();
                // `a=(…)` is an array; anything else with a parenthesis here is an error.
                if name.ends_with('=') {
                    self.at = start;
                    return Some(None);
                }
                self.eat(")").then_some(())?;
                self.parse_function(name)?
            }
        };
        Some(Some(body))
    }

    fn parse_function(&mut self, name: String) -> Option<Body> {
        self.skip_space();
        let body = self.deeper(Parser::parse_command)?;
        let compound = !matches!(body.body, Body::Simple { .. } | Body::Function { .. });
        compound.then(|| Body::Function { name, body: Box::new(body) })
    }

    fn parse_if(&mut self) -> Option<Body> {
        let mut arms = Vec::new();
        loop {
            let condition = self.parse_commands(&["then"])?;
            self.eat_word("then").then_some(())?;
            arms.push((condition, self.parse_commands(&["elif", "else", "fi"])?));
            if self.eat_word("fi") {
                return Some(Body::If { arms, otherwise: None });
            }
            if self.eat_word("else") {
                let otherwise = Some(self.parse_commands(&["fi"])?);
                return self.eat_word("fi").then_some(Body::If { arms, otherwise });
            }
            self.eat_word("elif").then_some(())?;
        }
    }

    fn parse_do_group(&mut self) -> Option<List> {
        self.skip_space();
        if self.eat_word("{") {
            let body = self.parse_commands(&["}"])?;
            return self.eat_word("}").then_some(body);
        }
        self.eat_word("do").then_some(())?;
        let body = self.parse_commands(&["done"])?;
        self.eat_word("done").then_some(body)
    }

    fn parse_for(&mut self) -> Option<Body> {
        self.skip_blanks();
        if self.rest().starts_with("((") {
            self.at = self.arithmetic_end(self.at + 2)?;
            self.skip_blanks();
            self.eat(";");
            return Some(Body::For { name: String::new(), values: None, body: self.parse_do_group()? });
        }
        let name = self.peek_word().filter(|name| is_name(name))?.to_owned();
        self.at += name.len();
        self.skip_space();
        let mut values = None;
        if self.eat_word("in") {
            let words = values.insert(Vec::new());
            loop {
                self.skip_blanks();
                if matches!(self.peek_byte(), None | Some(b';' | b'\n')) {
                    break;
                }
                words.push(self.parse_word()?);
            }
        }
        self.skip_blanks();
        self.eat(";");
        Some(Body::For { name, values, body: self.parse_do_group()? })
    }

    fn parse_case(&mut self) -> Option<Body> {
        self.skip_blanks();
        self.parse_word()?;
        self.skip_space();
        self.eat_word("in").then_some(())?;
        let mut arms = Vec::new();
        loop {
            self.skip_space();
            if self.eat_word("esac") {
                return Some(Body::Case { arms });
            }
            self.eat("(");
            loop {
                self.skip_blanks();
                self.parse_word()?;
                self.skip_blanks();
                if self.eat(")") {
                    break;
                }
                self.eat("|").then_some(())?;
            }
            arms.push(self.deeper(|parser| parser.parse_list(&["esac"]))?);
            self.skip_space();
            if !(self.eat(";;&") || self.eat(";;") || self.eat(";&")) {
                self.skip_space();
                return self.eat_word("esac").then_some(Body::Case { arms });
            }
        }
    }

    /// Skips to behind the `]]` of a test.
    fn skip_test(&mut self) -> Option<()> {
        loop {
            self.skip_space();
            if self.eat_word("]]") {
                return Some(());
            }
            match self.peek_byte()? {
                b'(' | b')' | b'<' | b'>' | b'&' | b'|' | b';' => self.at += 1,
                _ => {
                    self.parse_word()?;
                }
            }
        }
    }

    /// The end of the `((` that began before `from`, if it ends in `))`.
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
