//! Sections: each is declared once, with its keys, their defaults and the rights of a project. Reading, the
//! schema, the reference and `config show` all come from that declaration, and so do the values of a preset.
//!
//! A project's file can do one of three things with a key ([`Project`]): tighten it, set it once a person
//! trusts the file, or nothing. The type of a value knows which of two values is stricter: of required items
//! the union counts, of exempted ones only a shorter list ([`list`](crate::settings::list)).

use crate::settings::preset::Preset;
use crate::settings::setting::{Setting, Shape};
use crate::settings::value::Value;
use crate::text::glob;

/// The rights of a project's own file over a key before a person trusted that file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Project {
    /// Make it stricter, and nothing else.
    Tightens,
    /// Nothing: the value waits for `tidegate trust`.
    WithTrust,
    /// Nothing, trusted or not: only the user's own config file counts, and no variable either, since an agent can set
    /// one for a command it calls.
    Never,
}

/// One key of a section.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name in the section.
    pub name: &'static str,
    /// Its description in the reference.
    pub doc: &'static str,
    /// The values it takes.
    pub shape: Shape,
    /// The rights of a project's file over it.
    pub project: Project,
}

/// Keys that are not declared one by one: path patterns.
#[derive(Clone, Copy, Debug)]
pub struct Patterns {
    /// Their description in the reference.
    pub doc: &'static str,
    /// The values that each takes.
    pub shape: Shape,
    /// The rights of a project's file over each.
    pub project: Project,
}

/// Keys with names of the user's choice.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// Their description in the reference.
    pub doc: &'static str,
    /// A noun for such a key.
    pub what: &'static str,
    /// The values that each takes, in a few words.
    pub takes: &'static str,
    /// The rights of a project's file over each.
    pub project: Project,
    /// The values that each takes, as a JSON schema.
    pub schema: fn() -> serde_json::Value,
}

/// The source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// The user's own config file.
    User,
    /// The environment.
    Environment,
    /// A project's file that a person trusted as it is.
    Trusted,
    /// A project's file as it came.
    Untrusted,
}

/// The outcome of setting a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// It counts.
    Taken,
    /// Its stricter part counts; the rest waits for trust.
    TakenInPart,
    /// It equals the value that was there.
    Kept,
    /// It waits until a person trusts the file.
    Waits,
    /// It never counts from there.
    Refused,
}

/// The reason that a value cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// There is no such key.
    Unknown,
    /// The key does not take this.
    Value(String),
}

/// A section of the config.
pub trait Section {
    /// Its name in brackets; empty for the keys above all sections.
    fn name(&self) -> &'static str;
    /// Its declared keys.
    fn keys(&self) -> &'static [Key];
    /// Path patterns as keys.
    fn patterns(&self) -> Option<Patterns> {
        None
    }
    /// Chosen names as keys.
    fn named(&self) -> Option<Named> {
        None
    }
    /// All keys that have a value: the declared ones, then patterns and names.
    fn names(&self) -> Vec<&str> {
        self.keys().iter().map(|key| key.name).collect()
    }
    /// The rights of a project's file over a key; `None` if there is no such key.
    fn project(&self, name: &str) -> Option<Project> {
        let declared = self.keys().iter().find(|key| key.name == name).map(|key| key.project);
        let pattern = || self.patterns().filter(|_| glob::looks_like_one(name)).map(|keys| keys.project);
        declared.or_else(pattern)
    }
    /// The sections within it.
    fn nested(&self) -> Vec<&dyn Section> {
        Vec::new()
    }
    /// The same, to be changed.
    fn nested_mut(&mut self) -> Vec<&mut dyn Section> {
        Vec::new()
    }
    /// The keys that a preset sets, with their values. In `guide` those are the defaults.
    fn preset(&self, _: Preset) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
    /// A key's value.
    fn get(&self, key: &str) -> Value;
    /// A value from a file as it may be shown: without secrets.
    fn shown(&self, key: &str, value: &Value) -> Value {
        let is_secret = self.keys().iter().any(|declared| declared.name == key && declared.shape.is_secret());
        if is_secret { Value::Other("not shown") } else { value.clone() }
    }
    /// Checks that a key takes this value.
    fn check(&self, key: &str, value: &Value) -> Result<(), Wrong>;
    /// Sets a key, as far as this voice may.
    fn put(&mut self, key: &str, value: &Value, voice: Voice) -> Put;
}

/// Sets one value.
pub fn put<T: Setting>(slot: &mut T, value: &Value, project: Project, voice: Voice) -> Put {
    let Ok(new) = T::read(value) else { return Put::Kept };
    match (voice, project) {
        (Voice::User, _) | (Voice::Environment | Voice::Trusted, Project::Tightens | Project::WithTrust) => {}
        (_, Project::Never) => return Put::Refused,
        (Voice::Untrusted, _) if new == *slot => return Put::Kept,
        (Voice::Untrusted, Project::Tightens) => return slot.tighten(new),
        (Voice::Untrusted, Project::WithTrust) => return Put::Waits,
    }
    *slot = new;
    Put::Taken
}

/// Declares a section: its keys, then the values of keys in the presets `observe` and `strict` (in `guide` it is the default),
/// then the keys that are path patterns, then the sections within it.
macro_rules! section {
    (
        $(#[doc = $section_doc:literal])*
        $type:ident $name:literal {
            $(
                $(#[doc = $doc:literal])+
                $key:ident: $setting:ty = $default:expr, $project:ident;
            )+
        }
        $(presets {
            $($preset_key:ident: $observe:expr, $strict:expr;)+
        })?
        $(patterns {
            $(#[doc = $patterns_doc:literal])+
            $patterns:ident: $patterns_setting:ty, $patterns_project:ident;
        })?
        $(sections {
            $(
                $(#[doc = $nested_doc:literal])+
                $nested:ident: $nested_type:ty = $nested_default:expr;
            )+
        })?
    ) => {
        $(#[doc = $section_doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $type {
            $($(#[doc = $doc])+ pub $key: $setting,)+
            $($(#[doc = $patterns_doc])+ pub $patterns: $crate::settings::by_path::ByPath<$patterns_setting>,)?
            $($($(#[doc = $nested_doc])+ pub $nested: $nested_type,)+)?
        }

        impl Default for $type {
            fn default() -> Self {
                $type {
                    $($key: $default,)+
                    $($patterns: Default::default(),)?
                    $($($nested: $nested_default,)+)?
                }
            }
        }

        impl $crate::settings::section::Section for $type {
            fn name(&self) -> &'static str {
                $name
            }

            fn keys(&self) -> &'static [$crate::settings::section::Key] {
                use $crate::settings::section::{Key, Project};
                const KEYS: &[Key] = &[$(Key {
                    name: stringify!($key),
                    doc: concat!($($doc),+),
                    shape: <$setting as $crate::settings::setting::Setting>::SHAPE,
                    project: Project::$project,
                }),+];
                KEYS
            }

            $(
                fn patterns(&self) -> Option<$crate::settings::section::Patterns> {
                    Some($crate::settings::section::Patterns {
                        doc: concat!($($patterns_doc),+),
                        shape: <$patterns_setting as $crate::settings::setting::Setting>::SHAPE,
                        project: $crate::settings::section::Project::$patterns_project,
                    })
                }

                fn names(&self) -> Vec<&str> {
                    let declared = self.keys().iter().map(|key| key.name);
                    declared.chain(self.$patterns.names()).collect()
                }
            )?

            $(
                fn nested(&self) -> Vec<&dyn $crate::settings::section::Section> {
                    vec![$(&self.$nested,)+]
                }

                fn nested_mut(&mut self) -> Vec<&mut dyn $crate::settings::section::Section> {
                    vec![$(&mut self.$nested,)+]
                }
            )?

            $(
                fn preset(
                    &self,
                    preset: $crate::settings::preset::Preset,
                ) -> Vec<(&'static str, $crate::settings::value::Value)> {
                    use $crate::settings::preset::Preset;
                    let mut section = $type::default();
                    match preset {
                        Preset::Observe => {
                            $(section.$preset_key = $observe;)+
                        }
                        Preset::Guide => {}
                        Preset::Strict => {
                            $(section.$preset_key = $strict;)+
                        }
                    }
                    vec![$((
                        stringify!($preset_key),
                        $crate::settings::setting::Setting::to_value(&section.$preset_key),
                    ),)+]
                }
            )?

            fn get(&self, key: &str) -> $crate::settings::value::Value {
                match key {
                    $(stringify!($key) => $crate::settings::setting::Setting::to_value(&self.$key),)+
                    $(key if $crate::text::glob::looks_like_one(key) => self.$patterns.get(key),)?
                    _ => $crate::settings::value::Value::Nothing,
                }
            }

            fn check(
                &self,
                key: &str,
                value: &$crate::settings::value::Value,
            ) -> Result<(), $crate::settings::section::Wrong> {
                use $crate::settings::section::Wrong;
                use $crate::settings::setting::Setting;
                match key {
                    $(stringify!($key) => <$setting as Setting>::read(value).map(drop).map_err(Wrong::Value),)+
                    $(
                        key if $crate::text::glob::looks_like_one(key) => {
                            $crate::settings::by_path::ByPath::<$patterns_setting>::check(key, value)
                        }
                    )?
                    _ => Err(Wrong::Unknown),
                }
            }

            fn put(
                &mut self,
                key: &str,
                value: &$crate::settings::value::Value,
                voice: $crate::settings::section::Voice,
            ) -> $crate::settings::section::Put {
                use $crate::settings::section::{Project, Put, put};
                match key {
                    $(stringify!($key) => put(&mut self.$key, value, Project::$project, voice),)+
                    $(
                        key if $crate::text::glob::looks_like_one(key) => {
                            self.$patterns.put(key, value, Project::$patterns_project, voice)
                        }
                    )?
                    _ => Put::Kept,
                }
            }
        }
    };
}
pub(crate) use section;
