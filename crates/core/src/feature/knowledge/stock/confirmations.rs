//! The `Confirmed` line of a learning.

use std::fmt::Write as _;
use std::ops::Range;

use crate::feature::knowledge::stock::LearningFault;
use crate::text::fold::narrow;
use crate::text::one_line::single_spaced;
use crate::time::Millis;

/// The content of a `Confirmed` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmations {
    pub count: u32,
    /// The last day: `2026-02-18`, a real one.
    pub date: String,
    /// May be empty.
    pub phases: Vec<String>,
}

/// How a file writes counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountForm {
    /// `4回`.
    Kai,
    /// `4 times`.
    Times,
}

pub(super) fn sum_confirmations(
    a: Option<&Confirmations>,
    b: Option<&Confirmations>,
) -> Option<Confirmations> {
    let (Some(a), Some(b)) = (a, b) else { return a.or(b).cloned() };
    let mut sum = a.clone();
    sum.count = sum.count.saturating_add(b.count);
    sum.date = sum.date.max(b.date.clone());
    for phase in &b.phases {
        sum.add_phase(Some(phase));
    }
    Some(sum)
}

impl Confirmations {
    pub(super) fn add_phase(&mut self, phase: Option<&str>) {
        // A bar or a comma would be read as its end.
        let phase = single_spaced(&phase.unwrap_or_default().replace(['|', ',', '｜', '，', '、'], " "));
        if !phase.is_empty() && !self.phases.iter().any(|known| known.to_lowercase() == phase.to_lowercase())
        {
            self.phases.push(phase);
        }
    }

    pub(super) fn to_line(&self, form: CountForm) -> String {
        let count = match (form, self.count) {
            (CountForm::Kai, count) => format!("{count}回"),
            (CountForm::Times, 1) => "1 time".into(),
            (CountForm::Times, count) => format!("{count} times"),
        };
        let mut line = format!("{count} | {}", self.date);
        if !self.phases.is_empty() {
            let _ = write!(line, " | {}", self.phases.join(", "));
        }
        line
    }

    /// Parses the text after the colon. Full-width digits, bars and commas are accepted.
    pub(super) fn parse(line: &str) -> Result<(Confirmations, CountForm), LearningFault> {
        let line: String = line.chars().map(narrow).collect();
        let mut parts = line.split('|').map(str::trim);
        let count = parts.next().unwrap_or_default();
        let digits = count.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(LearningFault::NoCount);
        }
        let form = match count[digits..].trim().to_ascii_lowercase().as_str() {
            "回" => CountForm::Kai,
            "times" | "time" => CountForm::Times,
            _ => return Err(LearningFault::NoUnit),
        };
        let count = count[..digits].parse().map_err(|_| LearningFault::CountTooLarge)?;
        let date = parts.next().filter(|date| !date.is_empty()).ok_or(LearningFault::NoDate)?;
        if !is_day(date) {
            return Err(LearningFault::NotADay);
        }
        let mut confirmed = Confirmations { count, date: date.to_owned(), phases: Vec::new() };
        for phase in parts.next().unwrap_or_default().split([',', '、']) {
            confirmed.add_phase(Some(phase));
        }
        if parts.next().is_some() { Err(LearningFault::TooManyParts) } else { Ok((confirmed, form)) }
    }
}

pub(super) fn is_day(date: &str) -> bool {
    let shape = date.len() == 10
        && date
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
    let number = |range: Range<usize>| date.get(range).and_then(|digits| digits.parse().ok()).unwrap_or(0);
    shape && Millis::of_day(number(0..4), number(5..7), number(8..10)).is_some()
}
