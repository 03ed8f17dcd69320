//! The events of the host, by name.

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident,)*) => {
        /// Named as the host names them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventKind {
            $($(#[$doc])* $kind,)*
            /// An event of a newer host. Accepted, recorded, never answered.
            Other,
        }

        impl EventKind {
            /// All but [`EventKind::Other`].
            pub const ALL: &[EventKind] = &[$(EventKind::$kind,)*];

            pub fn name(self) -> &'static str {
                match self {
                    $(EventKind::$kind => stringify!($kind),)*
                    EventKind::Other => "Other",
                }
            }

            /// Never fails: an unknown name is an unknown event.
            pub fn from_name(name: &str) -> EventKind {
                match name {
                    $(stringify!($kind) => EventKind::$kind,)*
                    _ => EventKind::Other,
                }
            }
        }
    };
}

kinds! {
    /// A tool is about to run.
    PreToolUse,
    /// A tool succeeded.
    PostToolUse,
    /// A tool started and failed.
    PostToolUseFailure,
    /// All tool calls of one model answer are through.
    PostToolBatch,
    /// The host shows a notification.
    Notification,
    /// A prompt was submitted, by a person or by the host itself.
    UserPromptSubmit,
    /// A typed skill or command expands.
    UserPromptExpansion,
    /// A session starts, resumes, was cleared, compacted or forked.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The main thread is about to end its turn.
    Stop,
    /// A turn ended on an API error.
    StopFailure,
    /// A subagent starts.
    SubagentStart,
    /// A subagent is about to end.
    SubagentStop,
    /// The conversation is about to be compacted.
    PreCompact,
    /// The conversation was compacted.
    PostCompact,
    /// The model is about to change.
    PreModelSwitch,
    /// The model changed.
    PostModelSwitch,
    /// A permission prompt would be shown.
    PermissionRequest,
    /// The host denied a call by itself.
    PermissionDenied,
    /// The host runs its set-up.
    Setup,
    /// A teammate is about to idle.
    TeammateIdle,
    /// A task was created.
    TaskCreated,
    /// A task is about to be completed.
    TaskCompleted,
    /// An MCP server asks the user.
    Elicitation,
    /// The user answered an MCP server.
    ElicitationResult,
    /// A settings or skills file changed.
    ConfigChange,
    /// A worktree is to be made.
    WorktreeCreate,
    /// A worktree is removed.
    WorktreeRemove,
    /// An instructions file was loaded.
    InstructionsLoaded,
    /// The working directory changed.
    CwdChanged,
    /// A watched file changed.
    FileChanged,
    /// A directory was added to the session.
    DirectoryAdded,
    /// Assistant text is rendered.
    MessageDisplay,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_round() {
        assert_eq!(EventKind::ALL.len(), 33);
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_name(kind.name()), *kind);
        }
        assert_eq!(EventKind::from_name("SomethingNew"), EventKind::Other);
    }
}
