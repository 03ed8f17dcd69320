//! Presets: one word for the values of many keys. Which values is declared with each section.

use crate::settings::setting::choices;

/// How much Tidegate does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// Decides and writes down what it would have done, says and blocks nothing.
    Observe,
    /// Blocks where it has a fact, advises where it is asked for.
    #[default]
    Guide,
    /// Everything, to the letter.
    Strict,
}

choices!(Preset { "observe" => Preset::Observe, "guide" => Preset::Guide, "strict" => Preset::Strict });
