//! Marks: small durable facts of a session, one JSON object per line.
//!
//! Each room defines its own ([`RoomMarks`]); together they form one file. A line is read by the one room
//! that knows its name. A mark is set once or replaced by a later one, except for a few that a session mark
//! voids. So a long file can be rewritten as a short one at any time ([`Marks::to_lines`]). Hooks run in
//! parallel: decisions that must not depend on the order of lines are made under the session's lock.
//!
//! Rooms do not see each other's marks, but all of them hear the session's ([`RoomMarks::hear`]): a boundary
//! takes back context warnings, the skill of a stage ends the stage. The order in a short file follows from
//! that. The session's marks come before those of the rooms, and before them only those that a session mark
//! has to find ([`RoomMarks::opening`]).
//!
//! Lines that no room can read stay in the file: a newer version may have written them.

use std::borrow::Cow;

use serde::Serialize;

use crate::feature::mark_names::has_variant;

pub use crate::feature::session::marks::{
    ClientProcess, Mark as SessionMark, Marks as SessionMarks, Note, UNTIL_BOUNDARY,
};

/// The folded marks of one room.
pub trait RoomMarks {
    /// Serialized with a tag that is unique across rooms.
    type Mark;

    fn apply(&mut self, mark: Self::Mark);

    /// Applies the effect of a session mark on this room. `_session` is the state before that mark.
    fn hear(&mut self, _mark: &SessionMark, _session: &SessionMarks) {}

    /// Marks that a shortened file must contain before the session's own.
    fn opening(&self) -> Vec<Self::Mark> {
        Vec::new()
    }

    /// All other marks: the fewest that fold to the same state when read after the session's.
    fn short(&self) -> Vec<Self::Mark>;
}

macro_rules! aggregate {
    (session Session; $($room:ident $Room:ident;)*) => {
        /// Marks of newer versions are kept verbatim and otherwise ignored.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Mark {
            Session(SessionMark),
            $(
                $Room(crate::feature::$room::marks::Mark),
            )*
        }

        impl From<SessionMark> for Mark {
            fn from(mark: SessionMark) -> Mark {
                Mark::Session(mark)
            }
        }

        $(
            impl From<crate::feature::$room::marks::Mark> for Mark {
                fn from(mark: crate::feature::$room::marks::Mark) -> Mark {
                    Mark::$Room(mark)
                }
            }
        )*

        /// All marks of a session, folded.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Marks {
            pub session: SessionMarks,
            $(
                pub $room: crate::feature::$room::marks::Marks,
            )*
            /// Unreadable lines: torn, or written by a newer version.
            pub unread: Vec<String>,
        }

        impl Mark {
            pub fn read(line: &str) -> Option<Mark> {
                let name = mark_name(line)?;
                if has_variant::<SessionMark>(name) {
                    return serde_json::from_str(line).ok().map(Mark::Session);
                }
                $(
                    if has_variant::<crate::feature::$room::marks::Mark>(name) {
                        return serde_json::from_str(line).ok().map(Mark::$Room);
                    }
                )*
                None
            }
        }

        impl Marks {
            pub fn apply(&mut self, mark: impl Into<Mark>) {
                match mark.into() {
                    Mark::Session(mark) => {
                        if matches!(mark, SessionMark::Began { .. }) {
                            *self = Marks::default();
                        }
                        $(self.$room.hear(&mark, &self.session);)*
                        self.session.apply(mark);
                    }
                    $(Mark::$Room(mark) => self.$room.apply(mark),)*
                }
            }

            /// The fewest marks that fold to the same state.
            fn short(&self) -> Vec<Mark> {
                let mut marks = Vec::new();
                marks.extend(self.session.opening().into_iter().map(Mark::from));
                $(marks.extend(self.$room.opening().into_iter().map(Mark::from));)*
                marks.extend(self.session.short().into_iter().map(Mark::from));
                $(marks.extend(self.$room.short().into_iter().map(Mark::from));)*
                marks
            }
        }

        #[cfg(test)]
        mod of_all_rooms {
            use super::*;
            use proptest::prelude::*;
            use proptest::strategy::Union;

            pub(super) fn mark() -> impl Strategy<Value = Mark> {
                Union::new([
                    crate::feature::session::marks::tests::mark().prop_map(Mark::from).boxed(),
                    $(crate::feature::$room::marks::tests::mark().prop_map(Mark::from).boxed(),)*
                ])
            }

            pub(super) fn knowing(name: &str) -> usize {
                [
                    has_variant::<SessionMark>(name),
                    $(has_variant::<crate::feature::$room::marks::Mark>(name),)*
                ]
                .into_iter()
                .filter(|knows| *knows)
                .count()
            }
        }
    };
}

rooms!(marks, aggregate);

/// Fewer new entries are not worth another reminder.
const MANY_MORE: usize = 5;

impl Mark {
    /// It stands for words of a person: a prompt that an agent or the host wrote does not leave it.
    pub fn needs_person(&self) -> bool {
        use crate::feature::cycle::marks::Mark as Cycle;
        use crate::feature::knowledge::marks::Mark as Knowledge;
        matches!(
            self,
            Mark::Knowledge(
                Knowledge::ConstraintSaid { .. } | Knowledge::ConstraintLifted(_) | Knowledge::Reserved(_)
            ) | Mark::Cycle(Cycle::GoAhead | Cycle::Ordered(_))
        )
    }
}

impl Marks {
    /// Whether a person should hear of so many unpromoted entries: the first time in a session, and when there are
    /// many more than they know of.
    pub fn are_news(&self, entries: usize) -> bool {
        let told = self.knowledge.nudge.map_or(0, |nudge| nudge.entries).max(self.pressure.said.notes);
        entries > 0 && (told == 0 || entries >= (told * 2).max(told + MANY_MORE))
    }
}

/// The name of a mark in its line: `{"name":…}`, or `"name"` for a mark without content.
fn mark_name(line: &str) -> Option<&str> {
    // Bytes: this runs dozens of times per hook, and a search by character costs three times as much.
    let mut quotes = line.bytes().enumerate().filter(|(_, byte)| *byte == b'"').map(|(at, _)| at);
    line.get(quotes.next()? + 1..quotes.next()?)
}

/// Enough for the marks of any version; more than this is damage.
const MAX_UNREAD: usize = 64;

impl Marks {
    /// Parses a marks file.
    pub fn fold(bytes: &[u8]) -> Marks {
        let mut marks = Marks::default();
        // Validated once for the whole file instead of for every string in it.
        let whole = str::from_utf8(bytes);
        let text = whole.map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        for line in text.split('\n').filter(|line| !line.trim_ascii().is_empty()) {
            // A line that was not valid UTF-8 is not parsed: its mark would differ from the original.
            let is_text = whole.is_ok() || !line.contains(char::REPLACEMENT_CHARACTER);
            match Some(line).filter(|_| is_text).and_then(Mark::read) {
                Some(mark) => marks.apply(mark),
                None if marks.unread.len() < MAX_UNREAD => marks.unread.push(line.to_owned()),
                None => {}
            }
        }
        marks
    }

    /// The shortest file that reads back the same.
    pub fn to_lines(&self) -> String {
        let mut lines = write_lines(&self.short());
        for line in &self.unread {
            lines.push_str(line);
            lines.push('\n');
        }
        lines
    }
}

pub fn write_lines(marks: &[Mark]) -> String {
    let mut lines = String::new();
    for mark in marks {
        lines.push_str(&serde_json::to_string(mark).expect("marks have no maps with other keys than text"));
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Millis;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_short_file_reads_back_the_same(
            marks in proptest::collection::vec(of_all_rooms::mark(), 0..200),
        ) {
            let long = Marks::fold(write_lines(&marks).as_bytes());
            prop_assert!(long.unread.is_empty());
            prop_assert_eq!(&Marks::fold(long.to_lines().as_bytes()), &long);
            prop_assert!(long.to_lines().len() < 10 * 1024);
        }

        #[test]
        fn a_name_belongs_to_one_room(mark in of_all_rooms::mark()) {
            let line = write_lines(&[mark]);
            prop_assert_eq!(of_all_rooms::knowing(mark_name(&line).unwrap()), 1);
        }

        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Marks::fold(&bytes);
        }
    }

    #[test]
    fn a_torn_line_and_a_newer_mark_are_passed_over_and_kept() {
        let marks = Marks::fold(b"{\"relay\":5}\n{\"something-new\":{\"x\":1}}\n{\"rel");
        assert_eq!(marks.session.relays, [5]);
        assert_eq!(marks.unread.len(), 2);
        assert!(marks.to_lines().contains("something-new"));
    }

    #[test]
    fn a_new_beginning_forgets() {
        let long = b"{\"relay\":5}\n{\"pressure\":{\"level\":\"info\"}}\n{\"rel\n{\"began\":{\"at\":7}}\n";
        let began = SessionMark::Began { at: Millis(7) };
        let mut new = Marks::default();
        new.apply(began);
        assert_eq!(Marks::fold(long), new);
        assert_eq!(new.session.began, Some(Millis(7)));
    }
}
