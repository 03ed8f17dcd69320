//! Commands that verify by themselves, as data: a row names the command, its verb and what its success tells.

use crate::shell::Word;
use crate::text::word_list::{Words, among};

use crate::feature::verification::checks::kind::Kinds;

/// One way to call a tool.
pub(super) struct Tool {
    /// The command.
    pub name: &'static str,
    /// The first of its words that are no options; any of these, none for a tool without verbs.
    pub verbs: Words,
    /// What success tells.
    pub gives: Kinds,
    /// One of these has to be there, if any.
    pub needs: Words,
    /// With one of these it only lists, prints or plans.
    pub unless: Words,
    /// Options before the verb whose value is the next word.
    pub valued: Words,
}

/// A row without options of its own.
pub(super) const fn tool(name: &'static str, verbs: Words, gives: Kinds) -> Tool {
    Tool { name, verbs, gives, needs: "", unless: "", valued: "" }
}

impl Tool {
    /// With options that make it no verification.
    pub(super) const fn unless(self, unless: Words) -> Tool {
        Tool { unless, ..self }
    }

    /// With options of which one is needed.
    pub(super) const fn needs(self, needs: Words) -> Tool {
        Tool { needs, ..self }
    }

    /// With options before the verb that take a word.
    pub(super) const fn valued(self, valued: Words) -> Tool {
        Tool { valued, ..self }
    }

    fn gives(&self, arguments: &[Word]) -> Option<Kinds> {
        if !self.verbs.is_empty()
            && !operands(arguments, self.valued).next().is_some_and(|verb| among(self.verbs, verb))
        {
            return None;
        }
        if !self.needs.is_empty() && !has(arguments, self.needs) {
            return None;
        }
        Some(if has(arguments, self.unless) { Kinds::NONE } else { self.gives })
    }
}

/// What the first fitting row gives.
pub(super) fn judge(tools: &[Tool], name: &str, arguments: &[Word]) -> Option<Kinds> {
    tools.iter().filter(|tool| tool.name == name).find_map(|tool| tool.gives(arguments))
}

/// Whether one of the options is among the arguments, alone or with `=`. Behind `--` they mean something to somebody.
pub(super) fn has(arguments: &[Word], options: Words) -> bool {
    arguments.iter().any(|word| {
        let text = word.text.split('=').next().unwrap_or_default();
        among(options, text) || among(options, &word.text)
    })
}

/// The arguments that are no options.
pub(super) fn operands(arguments: &[Word], valued: Words) -> impl Iterator<Item = &str> {
    let mut skip = false;
    arguments.iter().filter_map(move |word| {
        if std::mem::take(&mut skip) {
            return None;
        }
        let text = word.text.as_str();
        skip = among(valued, text);
        (!text.starts_with(['-', '+']) && !text.is_empty()).then_some(text)
    })
}

/// The value of an option: the next word, or what stands behind `=`.
pub(super) fn value_of(arguments: &[Word], options: Words) -> Option<&Word> {
    arguments.iter().position(|word| among(options, &word.text)).and_then(|at| arguments.get(at + 1))
}

/// The text of an option's value, in either form.
pub(super) fn text_of(arguments: &[Word], options: Words) -> Option<&str> {
    if let Some(word) = value_of(arguments, options) {
        return word.known();
    }
    arguments.iter().find_map(|word| {
        let (option, value) = word.known()?.split_once('=')?;
        among(options, option).then_some(value)
    })
}
