//! The payload of a status line.

use std::borrow::Cow;

/// What a host tells its status line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status<'a> {
    /// The session, unchecked.
    pub session: Option<Cow<'a, str>>,
    /// The folder that the session works in.
    pub cwd: Option<Cow<'a, str>>,
    /// The project's folder, as the host sees it.
    pub project: Option<Cow<'a, str>>,
    /// The model.
    pub model: Option<Cow<'a, str>>,
    /// The host's own meter.
    pub context: ContextUse,
}

/// How full the context is, in the host's own numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextUse {
    /// Tokens in use.
    pub used: Option<u64>,
    /// The size of the model's window.
    pub window: Option<u64>,
}
