//! Facts about the person's installation, read when a session starts.

/// A text that a person gets once, whatever the number of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Conversations are recorded. `init` says so, too; teammates and plugin users did not run it.
    Recording,
    /// The status line is missing, which a plugin cannot bring.
    StatusLine,
}

impl Told {
    pub const ALL: [Told; 2] = [Told::Recording, Told::StatusLine];

    /// The name of its file in private state.
    pub fn name(self) -> &'static str {
        match self {
            Told::Recording => "recording",
            Told::StatusLine => "status-line",
        }
    }
}

/// Empty unless a session starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFacts {
    /// Skills of Tidegate that have the longer name here, because theirs was taken. `None` if not looked for.
    pub renamed: Option<Vec<String>>,
    /// Due now and not told yet.
    pub untold: Vec<Told>,
}
