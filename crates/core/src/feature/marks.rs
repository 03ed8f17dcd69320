//! Marks: small durable facts of a session, one JSON object a line.
//!
//! Each room has its own ([`RoomMarks`]); here they are one file. Every mark is set-once or latest-wins, but for the few that
//! a mark of the session voids, so a long file can be rewritten as a short one ([`Marks::lines`]) at any time. Hooks run in
//! parallel: what must not be decided by whose line comes last is decided under the session's lock.

use std::borrow::Cow;

use serde::Serialize;

use crate::feature::mark_names::has_variant;

pub use crate::feature::session::marks::{Mark as SessionMark, Marks as SessionMarks, Note, UNTIL_BOUNDARY};

/// The marks of one room, folded.
pub trait RoomMarks {
    /// One mark, as it is written: tagged with its name, which no other room uses.
    type Mark;

    /// Takes one more.
    fn apply(&mut self, mark: Self::Mark);

    /// Takes what a mark of the session means here. `_session` is as it was before.
    fn hear(&mut self, _mark: &SessionMark, _session: &SessionMarks) {}

    /// Marks of a short file that have to stand before those of the session.
    fn opening(&self) -> Vec<Self::Mark> {
        Vec::new()
    }

    /// All others: the fewest that, read after those of the session, come to the same.
    fn short(&self) -> Vec<Self::Mark>;
}

macro_rules! aggregate {
    (session Session; $($room:ident $Room:ident;)*) => {
        /// One mark. A mark of a newer version is kept as it is and otherwise passed over.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Mark {
            /// Of the session itself.
            Session(SessionMark),
            $(
                #[doc = concat!("Of the room `", stringify!($room), "`.")]
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
            /// The session itself.
            pub session: SessionMarks,
            $(
                #[doc = concat!("What the room `", stringify!($room), "` remembers.")]
                pub $room: crate::feature::$room::marks::Marks,
            )*
            /// Lines we could not read: torn, or of a newer version.
            pub unread: Vec<String>,
        }

        impl Mark {
            /// Reads a line, as the room that knows its name does.
            pub fn read(line: &str) -> Option<Mark> {
                let name = name(line)?;
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
            /// Takes one more mark.
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

            /// The fewest marks that come to the same.
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

            /// Any mark of any room.
            pub(super) fn mark() -> impl Strategy<Value = Mark> {
                Union::new([
                    crate::feature::session::marks::tests::mark().prop_map(Mark::from).boxed(),
                    $(crate::feature::$room::marks::tests::mark().prop_map(Mark::from).boxed(),)*
                ])
            }

            /// How many rooms know a name.
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

/// The name of a mark in its line: `{"name":…}`, or `"name"` where there is no more to it.
fn name(line: &str) -> Option<&str> {
    // Bytes: a name is found some dozen times in a run, and looking for a character costs thrice as much.
    let mut quotes = line.bytes().enumerate().filter(|(_, byte)| *byte == b'"').map(|(at, _)| at);
    line.get(quotes.next()? + 1..quotes.next()?)
}

/// Enough for the marks of any version; more is damage and not worth carrying along.
const UNREAD_KEPT: usize = 64;

impl Marks {
    /// Reads a marks file.
    pub fn fold(bytes: &[u8]) -> Marks {
        let mut marks = Marks::default();
        // Once for the whole file, instead of for every string in it.
        let whole = str::from_utf8(bytes);
        let text = whole.map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        for line in text.split('\n').filter(|line| !line.trim_ascii().is_empty()) {
            // A line that was not text is not read: its mark would say something else than was written.
            let is_text = whole.is_ok() || !line.contains(char::REPLACEMENT_CHARACTER);
            match Some(line).filter(|_| is_text).and_then(Mark::read) {
                Some(mark) => marks.apply(mark),
                None if marks.unread.len() < UNREAD_KEPT => marks.unread.push(line.to_owned()),
                None => {}
            }
        }
        marks
    }

    /// The shortest file that reads back the same.
    pub fn lines(&self) -> String {
        let mut lines = write_lines(&self.short());
        for line in &self.unread {
            lines.push_str(line);
            lines.push('\n');
        }
        lines
    }
}

/// Marks as they are appended to the file.
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
            prop_assert_eq!(&Marks::fold(long.lines().as_bytes()), &long);
            prop_assert!(long.lines().len() < 10 * 1024);
        }

        #[test]
        fn a_name_belongs_to_one_room(mark in of_all_rooms::mark()) {
            let line = write_lines(&[mark]);
            prop_assert_eq!(of_all_rooms::knowing(name(&line).unwrap()), 1);
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
        assert!(marks.lines().contains("something-new"));
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
