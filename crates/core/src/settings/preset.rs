//! Presets: one word for the values of many keys, declared with each section.

use crate::settings::setting::choices;

/// The presets, from the mildest to the strictest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// Records its decisions, says and blocks nothing.
    Observe,
    /// Blocks where it has a fact, advises where it is asked for.
    #[default]
    Guide,
    /// Everything, to the letter.
    Strict,
}

choices!(Preset { "observe" => Preset::Observe, "guide" => Preset::Guide, "strict" => Preset::Strict });
