//! Facts about an event: plain data, gathered by the hook or written by hand in a test. Facts of a single
//! room are in that room's own `Facts`.
//!
//! Absent, stale and broken are values ([`Known`], [`Meter`]): a policy cannot take a number without seeing
//! how far it can be trusted. Time is a fact like any other.

use std::borrow::Cow;

use crate::event::Event;
use crate::feature::Feature;
use crate::feature::activity::begun_phase;
use crate::feature::activity::classifier::Phase;
use crate::feature::config::Config;
use crate::feature::marks::Marks;
pub use crate::feature::session::facts::Told;
use crate::file_class::FileClass;
use crate::host::person::{CallingClient, Person};
use crate::host::window::HostSettings;
use crate::meter::forecast::{self, Forecast};
use crate::meter::{Meter, NoReading};
use crate::text::fnv;
use crate::text::lang::Lang;
use crate::time::Millis;

/// A fact that may be missing, and why, so that a policy has to handle each case. A fact can also be stale; for the
/// meter that is part of its own type ([`Meter`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Known<T> {
    Value(T),
    /// Missing without a fault.
    #[default]
    Absent,
    /// Unreadable, and why.
    Broken(String),
}

impl<T> Known<T> {
    pub fn value(&self) -> Option<&T> {
        match self {
            Known::Value(value) => Some(value),
            Known::Absent | Known::Broken(_) => None,
        }
    }
}

/// Questions that several policies may ask at once.
pub trait JoinNeeds: Copy + Default + PartialEq {
    /// The union of both.
    #[must_use]
    fn and(self, other: Self) -> Self;
}

impl JoinNeeds for () {
    fn and(self, (): ()) {}
}

impl JoinNeeds for bool {
    fn and(self, other: bool) -> bool {
        self || other
    }
}

/// Defines a room's questions, one flag each.
macro_rules! needs {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $question:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* pub $question: bool,)*
        }

        impl $crate::feature::facts::JoinNeeds for $name {
            fn and(self, other: $name) -> $name {
                $name { $($question: self.$question || other.$question,)* }
            }
        }
    };
}
pub(crate) use needs;

/// A file that a call is about to write or has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// As the call names it.
    pub path: String,
    /// Path below the project's root, or the full path in another folder of the project; `None` outside.
    pub inside: Option<String>,
    /// Path below the root or that other folder, matched by patterns; empty outside.
    pub below: String,
    pub class: FileClass,
    /// Index of the shell step that wrote it; `None` for an editing tool.
    pub step: Option<usize>,
    /// It was there before the session and is gone now.
    pub removed: bool,
}

/// Work in steps, such as a cycle or a workflow, for a handoff.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// Name and state of the work as a whole.
    pub of: String,
    /// Name and state of each step.
    pub steps: Vec<(String, String)>,
}

macro_rules! facts {
    ($($room:ident $variant:ident;)*) => {
        /// The whole truth about reading: a fact that is not requested here is not read.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct Needs {
            pub host_settings: bool,
            /// The context meter: the bridge and the end of the transcript.
            pub meter: bool,
            /// The meter of this very request: worth a short wait.
            pub current: bool,
            /// Input and output of the tool.
            pub tool: bool,
            /// Proof that the client itself called.
            pub client: bool,
            $(
                pub $room: <crate::feature::$room::Room as Feature>::Needs,
            )*
        }

        impl Needs {
            /// The union of both.
            #[must_use]
            pub fn and(self, other: Needs) -> Needs {
                Needs {
                    host_settings: self.host_settings || other.host_settings,
                    meter: self.meter || other.meter,
                    current: self.current || other.current,
                    tool: self.tool || other.tool,
                    client: self.client || other.client,
                    $($room: JoinNeeds::and(self.$room, other.$room),)*
                }
            }
        }

        /// Everything a policy may look at.
        #[derive(Clone, Debug)]
        pub struct Facts<'a> {
            pub now: Millis,
            pub event: &'a Event<'a>,
            pub marks: Known<Marks>,
            /// The session's project.
            pub root: Option<Cow<'a, str>>,
            /// Only when read at this event.
            pub host: Option<HostSettings>,
            pub meter: Meter,
            pub person: Person,
            /// The verified client. Determined only for a person's answer while an approval is pending.
            pub client: CallingClient,
            pub lang: Lang,
            /// An agent or the project wrote the prompt. Determined only where a person's words would change something.
            pub scripted: bool,
            /// JSON; empty unless a policy needs it.
            pub tool_input: &'a str,
            /// JSON; empty unless a policy needs it.
            pub tool_response: &'a str,
            $(
                pub $room: <crate::feature::$room::Room as Feature>::Facts,
            )*
        }

        impl<'a> Facts<'a> {
            /// All other facts are absent.
            pub fn of(event: &'a Event<'a>, now: Millis) -> Facts<'a> {
                Facts {
                    now,
                    event,
                    marks: Known::Absent,
                    root: None,
                    host: None,
                    meter: Meter::Unknown(NoReading::NotNeeded),
                    person: Person::default(),
                    client: CallingClient::Unknown,
                    lang: Lang::default(),
                    scripted: false,
                    tool_input: "",
                    tool_response: "",
                    $($room: Default::default(),)*
                }
            }
        }
    };
}
rooms!(all, facts);

impl Facts<'_> {
    /// The activity that this event starts or repeats without a classifier.
    pub fn told_phase(&self, config: &Config) -> Option<Phase> {
        begun_phase::event_phase(self, config).ok()
    }

    /// The prompt that a person typed. One that the model scheduled in this session looks the same to a hook.
    pub fn typed_prompt(&self) -> Option<Cow<'_, str>> {
        let scheduled =
            self.marks.value().map(|marks| marks.session.scheduled.as_slice()).unwrap_or_default();
        let is_scheduled =
            |prompt: &str| !scheduled.is_empty() && scheduled.contains(&fnv::hash(prompt.trim().bytes()));
        self.event.human_prompt().filter(|prompt| !self.scripted && !is_scheduled(prompt))
    }

    /// `None` until the session is old enough to tell.
    pub fn forecast(&self) -> Option<Forecast> {
        let left = self.meter.reading()?.left()?;
        forecast::forecast(&self.marks.value()?.session.relays, left)
    }
}
