//! Verifying commands as data: each row has the command, its verb and the kinds that its success proves.

use crate::shell::Word;
use crate::text::word_list::{Words, among};

use crate::feature::verification::checks::kind::Kinds;

/// One way to call a tool.
pub(super) struct Tool {
    pub name: &'static str,
    /// Possible first operands; empty for a tool without verbs.
    pub verbs: Words,
    /// The kinds that success proves.
    pub gives: Kinds,
    /// If not empty, one of these options must be present.
    pub needs: Words,
    /// With one of these options it only lists, prints or plans.
    pub unless: Words,
    /// Options before the verb that take the next word as a value.
    pub valued: Words,
}

pub(super) const fn tool(name: &'static str, verbs: Words, gives: Kinds) -> Tool {
    Tool { name, verbs, gives, needs: "", unless: "", valued: "" }
}

impl Tool {
    pub(super) const fn unless(self, unless: Words) -> Tool {
        Tool { unless, ..self }
    }

    pub(super) const fn needs(self, needs: Words) -> Tool {
        Tool { needs, ..self }
    }

    pub(super) const fn valued(self, valued: Words) -> Tool {
        Tool { valued, ..self }
    }

    fn gives(&self, arguments: &[Word]) -> Option<Kinds> {
        if !self.verbs.is_empty()
            && !operands(arguments, self.valued).next().is_some_and(|verb| among(self.verbs, verb))
        {
            return None;
        }
        if !self.needs.is_empty() && !has_option(arguments, self.needs) {
            return None;
        }
        Some(if has_option(arguments, self.unless) { Kinds::NONE } else { self.gives })
    }
}

/// By the first row that fits.
pub(super) fn judge_tool(tools: &[Tool], name: &str, arguments: &[Word]) -> Option<Kinds> {
    tools.iter().filter(|tool| tool.name == name).find_map(|tool| tool.gives(arguments))
}

/// Alone or with `=`. Options after `--` count too: they usually reach the tool.
pub(super) fn has_option(arguments: &[Word], options: Words) -> bool {
    arguments.iter().any(|word| {
        let text = word.text.split('=').next().unwrap_or_default();
        among(options, text) || among(options, &word.text)
    })
}

/// Arguments that are not options.
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

pub(super) fn option_value(arguments: &[Word], options: Words) -> Option<&Word> {
    arguments.iter().position(|word| among(options, &word.text)).and_then(|at| arguments.get(at + 1))
}

/// The next word, or the text after `=`.
pub(super) fn option_text(arguments: &[Word], options: Words) -> Option<&str> {
    if let Some(word) = option_value(arguments, options) {
        return word.known();
    }
    arguments.iter().find_map(|word| {
        let (option, value) = word.known()?.split_once('=')?;
        among(options, option).then_some(value)
    })
}
