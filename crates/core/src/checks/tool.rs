//! Commands that verify by themselves, as data: a row names the command, its verb and what its success tells.

use crate::shell::Word;

use super::kind::Kinds;

/// One way to call a tool.
pub(super) struct Tool {
    /// The command.
    pub name: &'static str,
    /// The first of its words that are no options; any of these, none for a tool without verbs.
    pub verbs: &'static [&'static str],
    /// What success tells.
    pub gives: Kinds,
    /// One of these has to be there, if any.
    pub needs: &'static [&'static str],
    /// With one of these it only lists, prints or plans.
    pub unless: &'static [&'static str],
    /// Options before the verb whose value is the next word.
    pub valued: &'static [&'static str],
}

/// A row without options of its own.
pub(super) const fn tool(name: &'static str, verbs: &'static [&'static str], gives: Kinds) -> Tool {
    Tool { name, verbs, gives, needs: &[], unless: &[], valued: &[] }
}

impl Tool {
    /// With options that make it no verification.
    pub(super) const fn unless(self, unless: &'static [&'static str]) -> Tool {
        Tool { unless, ..self }
    }

    /// With options of which one is needed.
    pub(super) const fn needs(self, needs: &'static [&'static str]) -> Tool {
        Tool { needs, ..self }
    }

    /// With options before the verb that take a word.
    pub(super) const fn valued(self, valued: &'static [&'static str]) -> Tool {
        Tool { valued, ..self }
    }

    fn gives(&self, arguments: &[Word]) -> Option<Kinds> {
        if !self.verbs.is_empty()
            && !operands(arguments, self.valued).next().is_some_and(|verb| self.verbs.contains(&verb))
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
pub(super) fn has(arguments: &[Word], options: &[&str]) -> bool {
    arguments.iter().any(|word| {
        let text = word.text.split('=').next().unwrap_or_default();
        options.contains(&text) || options.contains(&word.text.as_str())
    })
}

/// The arguments that are no options.
pub(super) fn operands<'a>(
    arguments: &'a [Word],
    valued: &'static [&'static str],
) -> impl Iterator<Item = &'a str> {
    let mut skip = false;
    arguments.iter().filter_map(move |word| {
        if std::mem::take(&mut skip) {
            return None;
        }
        let text = word.text.as_str();
        skip = valued.contains(&text);
        (!text.starts_with(['-', '+']) && !text.is_empty()).then_some(text)
    })
}

/// The value of an option: the next word, or what stands behind `=`.
pub(super) fn value_of<'a>(arguments: &'a [Word], options: &[&str]) -> Option<&'a Word> {
    arguments
        .iter()
        .position(|word| options.contains(&word.text.as_str()))
        .and_then(|at| arguments.get(at + 1))
}

/// The text of an option's value, in either form.
pub(super) fn text_of<'a>(arguments: &'a [Word], options: &[&str]) -> Option<&'a str> {
    if let Some(word) = value_of(arguments, options) {
        return word.known();
    }
    arguments.iter().find_map(|word| {
        let (option, value) = word.known()?.split_once('=')?;
        options.contains(&option).then_some(value)
    })
}
