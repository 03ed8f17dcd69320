//! The hosts, by name. Their protocols are in [`crate::host`].

/// One line per host: variant, name in records, name for people, folder in `host/`. The order decides which
/// host's signs are checked first. Hooks called by a host of the folder `unknown`, or of one that builds on it,
/// record the call and answer nothing. Another macro takes the list, because several layers need it.
macro_rules! hosts {
    ($then:ident) => {
        $then! {
            #[default]
            ClaudeCode, "claude-code", "Claude Code" => claude_code;
            Cursor, "cursor", "Cursor" => unknown;
            /// Before Codex, whose tool for patches it has, too.
            OpenCode, "opencode", "opencode" => opencode;
            Codex, "codex", "Codex" => codex;
            Copilot, "copilot", "Copilot CLI" => copilot;
            /// Before Gemini CLI, because it also sets that host's variables.
            Qwen, "qwen", "Qwen Code" => qwen;
            Gemini, "gemini", "Gemini CLI" => unknown;
            /// Before Factory, whose payloads have the same members and more.
            VsCode, "vscode", "VS Code" => unknown;
            Factory, "factory", "Factory's droid" => unknown;
            /// The payload shows only that it is not Claude Code.
            Unknown, "unknown", "An unknown agent" => unknown;
        }
    };
}
pub(crate) use hosts;

macro_rules! declare {
    ($($(#[$meta:meta])* $host:ident, $name:literal, $title:literal => $folder:ident;)*) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum Host {
            $($(#[$meta])* $host,)*
        }

        impl Host {
            /// In the order of the list.
            pub const ALL: &[Host] = &[$(Host::$host,)*];

            pub fn name(self) -> &'static str {
                match self { $(Host::$host => $name,)* }
            }

            /// From its name in records.
            pub fn from_name(name: &str) -> Host {
                match name {
                    $($name => Host::$host,)*
                    _ => Host::Unknown,
                }
            }

            /// From the name that a person or a registration gives it.
            pub fn named(name: &str) -> Option<Host> {
                let host = Host::from_name(name);
                (host != Host::Unknown).then_some(host)
            }

            /// The host's name for people, from its name in records.
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
