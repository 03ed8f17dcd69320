//! What is known about an event: plain data, gathered by the hook or written by hand in a test. What only one room looks for
//! is in that room's own `Facts`.

use std::borrow::Cow;

use crate::event::Event;
use crate::feature::Feature;
use crate::feature::activity::begun_phase;
use crate::feature::activity::classifier::Phase;
use crate::feature::config::Config;
use crate::feature::marks::Marks;
use crate::file_class::FileClass;
use crate::host::person::{CallingClient, Person};
use crate::host::window::HostSettings;
use crate::meter::forecast::{self, Forecast};
use crate::meter::{Meter, NoReading};
use crate::text::lang::Lang;
use crate::time::Millis;

/// A fact that may be missing, and why. A policy has to say what it does in each case; a fact can also be
/// stale, which for the meter is part of its own type ([`Meter`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Known<T> {
    /// Known.
    Value(T),
    /// There is none, and that is no fault.
    #[default]
    Absent,
    /// It could not be read.
    Broken(String),
}

impl<T> Known<T> {
    /// The value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Known::Value(value) => Some(value),
            Known::Absent | Known::Broken(_) => None,
        }
    }
}

/// Questions of one room that may be asked twice.
pub trait Join: Copy + Default + PartialEq {
    /// What either of them asks.
    #[must_use]
    fn and(self, other: Self) -> Self;
}

/// A room that looks for nothing.
impl Join for () {
    fn and(self, (): ()) {}
}

/// A room with one question.
impl Join for bool {
    fn and(self, other: bool) -> bool {
        self || other
    }
}

/// The questions of a room, each asked or not.
macro_rules! needs {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $question:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* pub $question: bool,)*
        }

        impl $crate::feature::facts::Join for $name {
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
    /// Where it is, as the call names it.
    pub path: String,
    /// Its path below the project's root, or whole where it is in another folder that belongs to the project; `None`
    /// outside.
    pub inside: Option<String>,
    /// Its path below the root or that other folder, as patterns see it; empty outside.
    pub below: String,
    /// What it is for.
    pub class: FileClass,
    /// Which step of the command line wrote it; `None` for an editing tool.
    pub step: Option<usize>,
}

/// Work in steps, such as a cycle or a workflow, for a handoff.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The work's name and its state as a whole.
    pub of: String,
    /// Each step's name and state.
    pub steps: Vec<(String, String)>,
}

macro_rules! facts {
    ($($room:ident $variant:ident;)*) => {
        /// What has to be known. Nothing else is read.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct Needs {
            /// The host's settings files.
            pub host_settings: bool,
            /// The context meter: the bridge and the end of the transcript.
            pub meter: bool,
            /// The meter of this very request: worth a short wait.
            pub current: bool,
            /// What the tool was given and gave back.
            pub tool: bool,
            /// Whether the client itself calls.
            pub client: bool,
            $(
                #[doc = concat!("Questions of the room `", stringify!($room), "`.")]
                pub $room: <crate::feature::$room::Room as Feature>::Needs,
            )*
        }

        impl Needs {
            /// What either of them needs.
            #[must_use]
            pub fn and(self, other: Needs) -> Needs {
                Needs {
                    host_settings: self.host_settings || other.host_settings,
                    meter: self.meter || other.meter,
                    current: self.current || other.current,
                    tool: self.tool || other.tool,
                    client: self.client || other.client,
                    $($room: Join::and(self.$room, other.$room),)*
                }
            }
        }

        /// Everything a policy may look at.
        #[derive(Clone, Debug)]
        pub struct Facts<'a> {
            /// When the hook was called.
            pub now: Millis,
            /// What happened.
            pub event: &'a Event<'a>,
            /// What this session did so far.
            pub marks: Known<Marks>,
            /// The session's project.
            pub root: Option<Cow<'a, str>>,
            /// What the host's settings say, where they were read anew.
            pub host: Option<HostSettings>,
            /// How full the context is.
            pub meter: Meter,
            /// Whether a person is there.
            pub person: Person,
            /// The client, where it is sure that it called. Known only at a person's answer while an approval is asked for.
            pub client: CallingClient,
            /// The language for people.
            pub lang: Lang,
            /// JSON of what the tool was given; empty where no policy needs it.
            pub tool_input: &'a str,
            /// JSON of what the tool gave back; empty where no policy needs it.
            pub tool_response: &'a str,
            $(
                #[doc = concat!("What the room `", stringify!($room), "` looked for.")]
                pub $room: <crate::feature::$room::Room as Feature>::Facts,
            )*
        }

        impl<'a> Facts<'a> {
            /// An event of which nothing else is known.
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
    /// The phase of work that this event begins or repeats by itself.
    pub fn told_phase(&self, config: &Config) -> Option<Phase> {
        begun_phase::event_phase(self, config).ok()
    }

    /// Turns left, if the session is old enough to tell.
    pub fn forecast(&self) -> Option<Forecast> {
        let left = self.meter.reading()?.left()?;
        forecast::forecast(&self.marks.value()?.session.relays, left)
    }
}
