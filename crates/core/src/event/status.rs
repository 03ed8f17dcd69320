//! The payload of a status line.

use std::borrow::Cow;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusInput<'a> {
    /// Not checked.
    pub session: Option<Cow<'a, str>>,
    pub cwd: Option<Cow<'a, str>>,
    /// The project's folder, as the host sees it.
    pub project: Option<Cow<'a, str>>,
    pub model: Option<Cow<'a, str>>,
    /// The host's own meter.
    pub context: ContextUse,
}

/// In the host's own numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextUse {
    /// Tokens.
    pub used: Option<u64>,
    /// Tokens.
    pub window: Option<u64>,
}
