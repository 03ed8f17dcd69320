//! The hosts, by name. What they send and expect is in [`crate::host`].

/// The list: a host, its name in records, its name for people, its folder in `host/`; in the order in which their signs
/// count. A hook that is called by a host of `unknown` records the call and answers nothing. Gives the list to another macro,
/// since the layers that need it differ.
macro_rules! hosts {
    ($then:ident) => {
        $then! {
            /// Claude Code.
            #[default]
            ClaudeCode, "claude-code", "Claude Code" => claude_code;
            /// Cursor.
            Cursor, "cursor", "Cursor" => unknown;
            /// OpenAI's Codex.
            Codex, "codex", "Codex" => unknown;
            /// GitHub's Copilot CLI.
            Copilot, "copilot", "Copilot CLI" => unknown;
            /// Qwen Code. Before Gemini CLI, whose variables it sets, too.
            Qwen, "qwen", "Qwen Code" => unknown;
            /// Google's Gemini CLI.
            Gemini, "gemini", "Gemini CLI" => unknown;
            /// Factory's droid.
            Factory, "factory", "Factory's droid" => unknown;
            /// Not Claude Code, by its payload, which tells no more.
            Unknown, "unknown", "An unknown agent" => unknown;
        }
    };
}
pub(crate) use hosts;

macro_rules! declare {
    ($($(#[$meta:meta])* $host:ident, $name:literal, $title:literal => $folder:ident;)*) => {
        /// A host.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum Host {
            $($(#[$meta])* $host,)*
        }

        impl Host {
            /// Every host, in the order of the list.
            pub const ALL: &[Host] = &[$(Host::$host,)*];

            /// The name in records.
            pub fn name(self) -> &'static str {
                match self { $(Host::$host => $name,)* }
            }

            /// How people call a host, by its name in records.
            pub fn title(name: &str) -> &str {
                match name {
                    $($name => $title,)*
                    _ => Host::title(Host::Unknown.name()),
                }
            }
        }
    };
}

hosts!(declare);
