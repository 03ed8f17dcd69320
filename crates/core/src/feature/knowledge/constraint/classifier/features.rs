//! Features as hashes: what is joined, and of which kind it is.

use super::{Place, english, japanese};
use crate::feature::knowledge::constraint::is_japanese;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    English,
    Japanese,
}

pub const LANGUAGES: [Language; 2] = [Language::English, Language::Japanese];

/// The features of a sentence, repeated as often as they occur.
#[derive(Debug, PartialEq, Eq)]
pub struct Features {
    pub language: Language,
    pub hashes: Vec<u32>,
}

/// The same words at the end of a clause are another feature.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Row,
    Classes,
    Pair,
    ClauseStart,
    FirstStart,
    ClauseEnd,
    End,
    Run,
    RunAndEnd,
    Word,
    Before,
    After,
    First,
    Last,
    Only,
    Asks,
    Length,
    LeadAndLength,
    LeadAndPlace,
    LeadAndLast,
    LeadAndForm,
    LeadFormAndPlace,
    Mood,
    MoodAndLength,
    MoodAndPlace,
    Frame,
    WholeFrame,
    WholeFrameAndPlace,
}

/// Features as they are collected.
pub(super) struct Collected(Vec<u32>);

impl Collected {
    pub(super) fn add(&mut self, kind: Kind, joined: u64) {
        let mixed = (joined ^ (kind as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.0.push((mixed >> 32) as u32);
    }
}

/// Depends on the order.
pub(super) fn join(joined: u64, next: u32) -> u64 {
    (joined.rotate_left(23) ^ u64::from(next)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

pub(super) fn join_all<'a>(codes: impl IntoIterator<Item = &'a u32>) -> u64 {
    codes.into_iter().fold(0, |joined, code| join(joined, *code))
}

impl Features {
    pub fn of(place: Place<'_>) -> Features {
        let language = if is_japanese(place.sentence) { Language::Japanese } else { Language::English };
        let mut collected = Collected(Vec::with_capacity(256));
        let length = match language {
            Language::English => english::collect(place, &mut collected) / 3,
            Language::Japanese => japanese::collect(place, &mut collected) / 8,
        };
        collected.add(Kind::Length, length.min(8) as u64);
        for (kind, is_so) in [
            (Kind::First, place.before.is_none()),
            (Kind::Last, place.after.is_none()),
            (Kind::Only, place.before.is_none() && place.after.is_none()),
        ] {
            if is_so {
                collected.add(kind, 0);
            }
        }
        Features { language, hashes: collected.0 }
    }
}
