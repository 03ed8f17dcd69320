//! The answer to a host: the same values for all hosts, and its form on the wire.

/// Ordered: the strictest wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// No objection.
    #[default]
    Pass,
    /// A person should decide.
    Ask,
    /// Not now: deny the call, block the stop.
    Deny,
    /// End the turn.
    Halt,
}

impl Call {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Call::Pass => "pass",
            Call::Ask => "ask",
            Call::Deny => "deny",
            Call::Halt => "halt",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer<'a> {
    pub call: Call,
    /// May be empty.
    pub reason: &'a str,
    /// For the model; may be empty.
    pub context: &'a str,
    /// For the person; may be empty.
    pub user: &'a str,
}

/// The texts that an event can carry besides its call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Channels {
    /// Text for the model.
    pub context: bool,
    /// Text for the person.
    pub user: bool,
}

/// The output of the hook's process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// 0 or 2, nothing else.
    pub exit: u8,
    /// Empty, one JSON object, or (PreCompact) plain text.
    pub stdout: String,
    /// With exit 2, for the model.
    pub stderr: String,
}
