//! A parsed command line.

/// Commands one after the other or in the background.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::shell) struct List(pub Vec<Item>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::shell) struct Item {
    pub first: Pipeline,
    pub rest: Vec<(Joint, Pipeline)>,
    pub background: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::shell) enum Joint {
    And,
    Or,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::shell) struct Pipeline {
    pub negated: bool,
    pub stages: Vec<Command>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::shell) struct Command {
    pub body: Body,
    pub redirects: Vec<Redirect>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::shell) enum Body {
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
pub(in crate::shell) struct Redirect {
    pub kind: RedirectKind,
    pub target: Parts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::shell) enum RedirectKind {
    /// `>`, `>>`, `>|`, `&>`, `&>>`, `<>`.
    Write,
    /// `>&` and `<&`: a file only where the target is not a descriptor.
    Duplicate,
    Read,
    /// The number of the document in [`Parsed::documents`].
    Document(usize),
    /// `<<<`.
    Text,
}

/// A word in pieces, as written.
pub(in crate::shell) type Parts = Vec<Part>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::shell) enum Part {
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

/// A here-document. `literal`: the shell expands nothing in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::shell) struct Document {
    pub text: String,
    pub literal: bool,
}

/// A whole line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::shell) struct Parsed {
    pub list: List,
    pub documents: Vec<Document>,
}

/// A word as written, without its quotes.
pub(in crate::shell) fn as_written(parts: &[Part]) -> String {
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
