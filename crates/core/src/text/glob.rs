//! Patterns for paths: `*`, `**`, `?`, `[abc]` and `{a,b}`, by hand.
//!
//! A path is relative to the project's root and has `/` between its parts. A pattern without a `/` is about the file's
//! name in any folder (`*.sql`); one with a `/` counts from the root (`src/*.rs`, `/Makefile`); one that ends with a `/`
//! means everything below that folder (`src/`). There is no escape: a special character stands in brackets, `[*]`.
//!
//! A pattern becomes a small automaton whose states are followed all at once. Matching takes at most the product of both
//! lengths, for any pattern.

/// Patterns written by hand are shorter.
const LONGEST: usize = 256;

/// Deepest nesting of braces.
const DEEPEST: usize = 8;

/// A pattern that was understood.
#[derive(Clone, Debug)]
pub struct Glob {
    text: String,
    /// Only the file's name is looked at.
    name_only: bool,
    steps: Vec<Step>,
}

/// Two patterns are the same if they are written the same.
impl PartialEq for Glob {
    fn eq(&self, other: &Glob) -> bool {
        self.text == other.text
    }
}

/// One state of the automaton. The next state is the one after it, unless it says otherwise.
#[derive(Clone, Debug)]
enum Step {
    /// This character.
    Exactly(char),
    /// Any character but `/`.
    Any,
    /// Any character at all.
    AnyAndSlash,
    /// One of these ranges, or none of them; never `/`.
    Of { ranges: Vec<(char, char)>, not: bool },
    /// Both states, without a character.
    Fork(usize, usize),
    /// Another state, without a character.
    Jump(usize),
}

impl Glob {
    /// Reads a pattern, or says what is wrong with it.
    pub fn new(text: &str) -> Result<Glob, String> {
        if text.is_empty() {
            return Err("it is empty".to_owned());
        }
        if text.chars().nth(LONGEST).is_some() {
            return Err(format!("it is longer than {LONGEST} characters"));
        }
        if text.contains('\\') {
            return Err(
                "folders are separated by `/`, and a special character is written in brackets: `[*]`"
                    .to_owned(),
            );
        }
        if text.chars().any(char::is_control) {
            return Err("it has a control character in it".to_owned());
        }
        if text.split('/').any(|part| part == "." || part == "..") {
            return Err("`.` and `..` do not work here: a path counts from the project's root".to_owned());
        }
        if text.contains("//") || text == "/" {
            return Err("a folder between two slashes has no name".to_owned());
        }
        let mut pattern = text.strip_prefix('/').unwrap_or(text).to_owned();
        let name_only = !text.contains('/');
        if pattern.ends_with('/') {
            pattern.push_str("**");
        }
        let mut reader = Reader { rest: &pattern, before: None, steps: Vec::new() };
        reader.read_sequence(0)?;
        Ok(Glob { text: text.to_owned(), name_only, steps: reader.steps })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tests a path.
    pub fn matches(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let path = if self.name_only { name } else { path };
        let mut now = vec![false; self.steps.len() + 1];
        let mut pending = Vec::new();
        self.enter(0, &mut now, &mut pending);
        for c in path.chars() {
            if !now.contains(&true) {
                return false;
            }
            let mut next = vec![false; self.steps.len() + 1];
            for (at, step) in self.steps.iter().enumerate().filter(|(at, _)| now[*at]) {
                let takes = match step {
                    Step::Exactly(wanted) => c == *wanted,
                    Step::Any => c != '/',
                    Step::AnyAndSlash => true,
                    Step::Of { ranges, not } => {
                        c != '/' && ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *not
                    }
                    Step::Fork(..) | Step::Jump(_) => false,
                };
                if takes {
                    self.enter(at + 1, &mut next, &mut pending);
                }
            }
            now = next;
        }
        now[self.steps.len()]
    }

    /// Marks a state and all that can be reached from it without a character.
    fn enter(&self, at: usize, states: &mut [bool], pending: &mut Vec<usize>) {
        pending.push(at);
        while let Some(at) = pending.pop() {
            if std::mem::replace(&mut states[at], true) {
                continue;
            }
            match self.steps.get(at) {
                Some(Step::Fork(one, other)) => pending.extend([*one, *other]),
                Some(Step::Jump(to)) => pending.push(*to),
                _ => {}
            }
        }
    }
}

/// A pattern or a path, as opposed to a plain word.
pub fn looks_like_one(text: &str) -> bool {
    text.contains(['/', '*', '?', '[', '{', '.'])
}

/// Reads a pattern from left to right.
struct Reader<'a> {
    rest: &'a str,
    /// The character before `rest`.
    before: Option<char>,
    steps: Vec<Step>,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        self.before = Some(c);
        Some(c)
    }

    fn starts(&self, with: char) -> bool {
        self.rest.starts_with(with)
    }

    /// Up to the end, or inside braces up to the `,` or `}` that is next.
    fn read_sequence(&mut self, depth: usize) -> Result<(), String> {
        while !self.rest.is_empty() && !(depth > 0 && (self.starts(',') || self.starts('}'))) {
            let before = self.before;
            match self.next() {
                Some('*') if self.starts('*') => self.read_folders(before)?,
                Some('*') => self.push_many(Step::Any),
                Some('?') => self.steps.push(Step::Any),
                Some('[') => self.read_class()?,
                Some('{') => self.read_alternatives(depth + 1)?,
                Some('}') => return Err("a `}` closes nothing".to_owned()),
                Some(c) => self.steps.push(Step::Exactly(c)),
                None => {}
            }
        }
        Ok(())
    }

    /// Any number of a step.
    fn push_many(&mut self, step: Step) {
        let at = self.steps.len();
        self.steps.extend([Step::Fork(at + 1, at + 3), step, Step::Jump(at)]);
    }

    /// `**`: any number of folders, or at the end everything below.
    fn read_folders(&mut self, before: Option<char>) -> Result<(), String> {
        self.next();
        let begins = matches!(before, None | Some('/' | '{' | ','));
        let ends = self.rest.is_empty() || self.starts(',') || self.starts('}');
        if !begins || !(ends || self.starts('/')) {
            return Err("`**` stands for whole folders, between slashes: `a/**/b`".to_owned());
        }
        if ends {
            self.push_many(Step::AnyAndSlash);
        } else {
            // `**/` is also no folder at all.
            self.next();
            let at = self.steps.len();
            self.steps.push(Step::Fork(at + 1, at + 5));
            self.push_many(Step::AnyAndSlash);
            self.steps.push(Step::Exactly('/'));
        }
        Ok(())
    }

    fn read_class(&mut self) -> Result<(), String> {
        let not = self.starts('!') || self.starts('^');
        if not {
            self.next();
        }
        let mut ranges = Vec::new();
        loop {
            let from = match self.next() {
                // Right after the bracket it stands for itself.
                Some(']') if ranges.is_empty() => ']',
                Some(']') => break,
                Some('/') => return Err("a `/` cannot be in brackets".to_owned()),
                Some(c) => c,
                None => return Err("a `[` is not closed".to_owned()),
            };
            let to = if self.starts('-') && !self.rest.starts_with("-]") {
                self.next();
                self.next().filter(|to| *to != '/').ok_or("a `[` is not closed")?
            } else {
                from
            };
            if to < from {
                return Err(format!("the range `{from}-{to}` is empty"));
            }
            ranges.push((from, to));
        }
        self.steps.push(Step::Of { ranges, not });
        Ok(())
    }

    fn read_alternatives(&mut self, depth: usize) -> Result<(), String> {
        if depth > DEEPEST {
            return Err(format!("more than {DEEPEST} braces within each other"));
        }
        let mut exits = Vec::new();
        loop {
            let fork = self.steps.len();
            self.steps.push(Step::Fork(fork + 1, fork + 1));
            self.read_sequence(depth)?;
            exits.push(self.steps.len());
            self.steps.push(Step::Jump(0));
            let next = self.steps.len();
            match self.next() {
                Some(',') => self.steps[fork] = Step::Fork(fork + 1, next),
                Some('}') => break,
                _ => return Err("a `{` is not closed".to_owned()),
            }
        }
        let end = self.steps.len();
        for exit in exits {
            self.steps[exit] = Step::Jump(end);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn glob(text: &str) -> Glob {
        Glob::new(text).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    /// A pattern, paths that it means, paths that it does not mean.
    const TABLE: &[(&str, &[&str], &[&str])] = &[
        ("*.sql", &["a.sql", "db/deep/a.sql", ".sql"], &["a.sqlx", "a.sql/b"]),
        ("Makefile", &["Makefile", "sub/Makefile"], &["Makefile.am", "makefile"]),
        ("/Makefile", &["Makefile"], &["sub/Makefile"]),
        ("src/*.rs", &["src/a.rs"], &["a.rs", "src/b/a.rs", "x/src/a.rs"]),
        ("src/", &["src/a", "src/b/c.rs"], &["src", "srcs/a", "x/src/a"]),
        ("**/src/", &["src/a", "x/y/src/a/b"], &["src", "xsrc/a"]),
        ("src/**", &["src/a", "src/b/c"], &["src", "srcs/a"]),
        ("**", &["a", "a/b"], &[]),
        ("**/*.rs", &["a.rs", "x/y/a.rs"], &["a.rsx"]),
        (
            "migrations/**/*.sql",
            &["migrations/1.sql", "migrations/a/b/1.sql"],
            &["1.sql", "xmigrations/1.sql"],
        ),
        ("a/**/b/**/c", &["a/b/c", "a/x/b/y/z/c"], &["a/c", "a/b", "a/xb/c"]),
        ("?.md", &["a.md", "あ.md"], &["ab.md", ".md"]),
        ("a?b", &["axb"], &["a/b", "ab"]),
        ("{src,tests}/*.rs", &["src/a.rs", "tests/a.rs"], &["bench/a.rs", "src,tests/a.rs"]),
        ("*.{ts,tsx}", &["a.ts", "b/a.tsx"], &["a.js", "a."]),
        ("*.{c,h{,pp}}", &["a.c", "a.h", "a.hpp"], &["a.hp"]),
        ("{a,**/b}/c", &["a/c", "b/c", "x/b/c"], &["x/a/c"]),
        ("{**}", &["a"], &[]),
        ("[ab].rs", &["a.rs"], &["c.rs", "ab.rs"]),
        ("[!ab].rs", &["c.rs"], &["a.rs"]),
        ("v[0-9][^0-9]", &["v1x"], &["v11", "vx1"]),
        ("[]x-].rs", &["].rs", "-.rs", "x.rs"], &["y.rs"]),
        ("[*]", &["*"], &["a"]),
        ("x[!a]y", &["xby"], &["x/y"]),
        ("a,b", &["a,b"], &["a"]),
    ];

    #[test]
    fn what_a_pattern_means() {
        for (text, meant, others) in TABLE {
            let glob = glob(text);
            for path in *meant {
                assert!(glob.matches(path), "{text} means {path}");
            }
            for path in *others {
                assert!(!glob.matches(path), "{text} does not mean {path}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let long = "x".repeat(LONGEST + 1);
        for (text, wrong) in [
            ("", "empty"),
            (long.as_str(), "longer than 256"),
            ("src\\*.rs", "separated by `/`"),
            ("../x", "do not work here"),
            ("./x", "do not work here"),
            ("a//b", "no name"),
            ("/", "no name"),
            ("a\u{1b}", "control character"),
            ("[ab", "`[` is not closed"),
            ("[a-", "`[` is not closed"),
            ("[]", "`[` is not closed"),
            ("[z-a]", "`z-a` is empty"),
            ("[a/b]", "cannot be in brackets"),
            ("{a,b", "`{` is not closed"),
            ("a}", "closes nothing"),
            ("{{{{{{{{{a}}}}}}}}}", "more than 8 braces"),
            ("a**", "whole folders"),
            ("**a", "whole folders"),
            ("***", "whole folders"),
        ] {
            let why = Glob::new(text).expect_err(text);
            assert!(why.contains(wrong), "{text}: {why}");
        }
    }

    proptest! {
        /// A path without special characters means itself.
        #[test]
        fn a_plain_path_means_itself(path in "/?[a-z.,-]{3,8}(/[a-z-]{1,8}){0,3}", other in "[a-z/]{1,12}") {
            let plain = path.trim_start_matches('/');
            let glob = glob(&path);
            prop_assert!(glob.matches(plain));
            if path.contains('/') {
                prop_assert_eq!(glob.matches(&other), other == plain);
            }
        }

        /// Whatever is written is understood or refused, and costs the product of both lengths at most.
        #[test]
        fn nothing_blows_up(text in "[a*?/{},\\[\\]!-]{0,64}", path in "[a/,]{0,200}") {
            if let Ok(glob) = Glob::new(&text) {
                prop_assert!(glob.steps.len() <= 8 * text.len() + 8, "{}", glob.steps.len());
                glob.matches(&path);
            }
        }
    }

    #[test]
    fn many_stars_and_braces_are_followed_at_once() {
        let stars = glob(&"*a".repeat(100));
        let braces = glob(&"{a,a}".repeat(50));
        assert!(!stars.matches(&("a".repeat(5_000) + "b")));
        assert!(!braces.matches(&"a".repeat(5_000)));
        assert!(braces.matches(&"a".repeat(50)));
    }
}
