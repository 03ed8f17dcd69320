//! Words of time in a question: "last week", "in March", 三日前, 先月末.

use std::cell::Cell;

use tidegate_core::text::fold::narrow;
use tidegate_core::time::Millis;

use crate::view::LocalTime;

const DAY: i64 = 86_400_000;

/// What a question says about the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimeWish {
    pub(super) since: Millis,
    /// Exclusive.
    pub(super) until: Millis,
    /// The same of earlier years, the last one first, if the year was not said.
    pub(super) earlier: Vec<(Millis, Millis)>,
    /// Byte ranges of the words, in order.
    pub(super) words: Vec<(usize, usize)>,
}

/// How many years before the last one a month or a date without a year may mean.
const EARLIER: i64 = 3;

/// Days from 1970-01-01, the last one included.
type Days = (i64, i64);

pub(super) fn find_time(text: &str, local: &LocalTime) -> Option<TimeWish> {
    let today = local.day(local.now);
    let calendar = Calendar { today, years_back: 0, asked_year: Cell::new(false) };
    let wish = find_time_in(text, local, &calendar)?;
    if !calendar.asked_year.get() {
        return Some(wish);
    }
    let of_year = |years_back| {
        let calendar = Calendar { today, years_back, asked_year: Cell::new(false) };
        find_time_in(text, local, &calendar).map(|wish| (wish.since, wish.until))
    };
    Some(TimeWish { earlier: (1..=EARLIER).filter_map(of_year).collect(), ..wish })
}

fn find_time_in(text: &str, local: &LocalTime, calendar: &Calendar) -> Option<TimeWish> {
    let today = calendar.today;
    let mut found = find_english(text, calendar);
    found.extend(find_japanese(text, calendar));
    found.sort_by_key(|(words, _)| *words);
    let (from, to) =
        found.iter().map(|(_, days)| *days).reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
    Some(TimeWish {
        since: local.begin_of(from),
        until: local.begin_of(to.min(today + 1) + 1),
        earlier: Vec::new(),
        words: found.into_iter().map(|(words, _)| words).collect(),
    })
}

impl LocalTime {
    /// Minutes that local time is ahead of UTC.
    fn offset(&self, at: i64) -> i64 {
        let since = |(from, _): &&(Millis, i32)| i64::try_from(from.0).unwrap_or(i64::MAX) <= at;
        let found = self.offsets.iter().find(since).or(self.offsets.last());
        found.map_or(0, |(_, minutes)| i64::from(*minutes))
    }

    fn day(&self, at: Millis) -> i64 {
        let at = i64::try_from(at.0).unwrap_or(i64::MAX / 2);
        (at + self.offset(at) * 60_000).div_euclid(DAY)
    }

    fn begin_of(&self, day: i64) -> Millis {
        let guess = day.saturating_mul(DAY);
        let begin = guess - self.offset(guess - self.offset(guess) * 60_000) * 60_000;
        Millis(u64::try_from(begin).unwrap_or_default())
    }
}

struct Calendar {
    today: i64,
    /// For a month without a year: how many years before the last one.
    years_back: i64,
    /// Whether there was such a month.
    asked_year: Cell<bool>,
}

#[derive(Clone, Copy)]
enum Unit {
    Day,
    Week,
    Month,
    Year,
}

/// A part of a month.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PartOfMonth {
    Whole,
    Early,
    Middle,
    Late,
    FirstHalf,
    SecondHalf,
    End,
}

impl Calendar {
    /// Year and month of a day.
    fn month_of(day: i64) -> (i64, i64) {
        let text = Millis(u64::try_from(day * DAY).unwrap_or_default()).day();
        let mut parts = text.split('-').map(|part| part.parse::<i64>().unwrap_or(1));
        (parts.next().unwrap_or(1970), parts.next().unwrap_or(1))
    }

    fn first_of(year: i64, month: i64) -> i64 {
        let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
        let found = Millis::of_day(u64::try_from(year).unwrap_or(1970), month.unsigned_abs(), 1);
        found.map_or(0, |at| (at.0 / DAY.unsigned_abs()).cast_signed())
    }

    fn month(year: i64, month: i64, part: PartOfMonth) -> Days {
        let (first, next) = (Calendar::first_of(year, month), Calendar::first_of(year, month + 1));
        match part {
            PartOfMonth::Whole => (first, next - 1),
            PartOfMonth::Early => (first, first + 9),
            PartOfMonth::Middle => (first + 9, first + 20),
            PartOfMonth::Late => (first + 19, next - 1),
            PartOfMonth::FirstHalf => (first, first + 15),
            PartOfMonth::SecondHalf => (first + 15, next - 1),
            PartOfMonth::End => (next - 9, next - 1),
        }
    }

    /// The last month of this number that has begun.
    fn named_month(&self, month: i64, year: Option<i64>, part: PartOfMonth) -> Days {
        let (this_year, this_month) = Calendar::month_of(self.today);
        let year = year.unwrap_or_else(|| {
            self.asked_year.set(true);
            this_year - i64::from(month > this_month) - self.years_back
        });
        Calendar::month(year, month, part)
    }

    fn months_ago(&self, ago: i64, part: PartOfMonth) -> Days {
        let (year, month) = Calendar::month_of(self.today);
        Calendar::month(year, month - ago, part)
    }

    /// Weeks begin on Monday.
    fn weeks_ago(&self, ago: i64) -> Days {
        let monday = self.today - Calendar::weekday(self.today) - 7 * ago;
        (monday, monday + 6)
    }

    fn years_ago(&self, ago: i64) -> Days {
        let year = Calendar::month_of(self.today).0 - ago;
        (Calendar::first_of(year, 1), Calendar::first_of(year + 1, 1) - 1)
    }

    /// 0 is Monday; 1970-01-01 was a Thursday.
    fn weekday(day: i64) -> i64 {
        (day + 3).rem_euclid(7)
    }

    /// The last such day before today.
    fn last_weekday(&self, weekday: i64) -> Days {
        let back = (Calendar::weekday(self.today) - weekday - 1).rem_euclid(7) + 1;
        (self.today - back, self.today - back)
    }

    fn ago(&self, number: i64, unit: Unit) -> Days {
        let number = number.min(10_000);
        let (days, about) = match unit {
            Unit::Day => (number, 0),
            Unit::Week => (number * 7, if number == 1 { 1 } else { 3 }),
            Unit::Month => (number * 30, 15),
            Unit::Year => (number * 365, 90),
        };
        (self.today - days - about, (self.today - days + about).min(self.today))
    }

    fn within(&self, number: i64, unit: Unit) -> Days {
        let days = number.min(10_000)
            * match unit {
                Unit::Day => 1,
                Unit::Week => 7,
                Unit::Month => 31,
                Unit::Year => 366,
            };
        (self.today - days, self.today)
    }

    /// The last one that has begun.
    fn season(&self, first_month: i64) -> Days {
        let (year, month) = Calendar::month_of(self.today);
        let year = if first_month <= month { year } else { year - 1 };
        (Calendar::first_of(year, first_month), Calendar::first_of(year, first_month + 3) - 1)
    }

    fn date(&self, year: Option<i64>, month: i64, day: i64, about: i64) -> Option<Days> {
        let first = self.named_month(month, year, PartOfMonth::Whole);
        let at = first.0 + day - 1;
        (day >= 1 && at <= first.1).then_some((at - about, at + about))
    }
}

type FoundTime = ((usize, usize), Days);

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

fn find_english(text: &str, calendar: &Calendar) -> Vec<FoundTime> {
    let lower = text.to_ascii_lowercase();
    let mut words: Vec<(&str, usize, usize)> = Vec::new();
    let mut start = None;
    for (at, c) in lower.char_indices().chain([(lower.len(), ' ')]) {
        match (c.is_ascii_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((&lower[from..at], from, at));
                start = None;
            }
            _ => {}
        }
    }
    let plain: Vec<&str> = words.iter().map(|(word, ..)| *word).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < plain.len() {
        if let Some((length, days)) =
            english_at(&plain[at..], at.checked_sub(1).map(|at| plain[at]), calendar)
        {
            found.push(((words[at].1, words[at + length - 1].2), days));
            at += length;
        } else {
            at += 1;
        }
    }
    found
}

fn english_at(words: &[&str], before: Option<&str>, calendar: &Calendar) -> Option<(usize, Days)> {
    let today = calendar.today;
    let day = |ago: i64| (today - ago, today - ago);
    let skip = |words: &[&str], small: &[&str]| words.iter().take_while(|word| small.contains(word)).count();
    // Numbers of a unit.
    let amount = |words: &[&str]| -> Option<(usize, i64, Unit)> {
        let (length, number) = match words {
            ["a", "couple", "of", ..] => (3, 2),
            ["couple", "of", ..] | ["a", "few", ..] => (2, 3),
            ["few", ..] => (1, 3),
            [one, ..] => (1, english_number(one)?),
            [] => return None,
        };
        Some((length + 1, number, english_unit(words.get(length)?)?))
    };
    match words {
        ["the", "day", "before", "yesterday", ..] => return Some((4, day(2))),
        ["day", "before", "yesterday", ..] => return Some((3, day(2))),
        ["yesterday", ..] => return Some((1, day(1))),
        ["last", "night", ..] => return Some((2, day(1))),
        ["today" | "tonight", ..] => return Some((1, day(0))),
        ["this", "morning" | "afternoon" | "evening", ..] => return Some((2, day(0))),
        ["recently" | "lately", ..] => return Some((1, (today - 21, today))),
        ["week", "before", "last", ..] => return Some((3, calendar.weeks_ago(2))),
        ["this", "week", ..] => return Some((2, calendar.weeks_ago(0))),
        ["last" | "previous", "week", ..] => return Some((2, calendar.weeks_ago(1))),
        ["last", "weekend", ..] => {
            let (monday, _) = calendar.weeks_ago(1);
            return Some((2, (monday + 5, monday + 6)));
        }
        ["this", "year", ..] => return Some((2, calendar.years_ago(0))),
        ["last", "year", ..] => return Some((2, calendar.years_ago(1))),
        ["last" | "this", name, ..] if WEEKDAYS.contains(name) => {
            let weekday = WEEKDAYS.iter().position(|one| one == name).unwrap_or_default();
            return Some((2, calendar.last_weekday(weekday.cast_signed() as i64)));
        }
        ["last" | "this", season, ..] if english_season(season).is_some() => {
            return english_season(season).map(|month| (2, calendar.season(month)));
        }
        ["the", season, ..] | [season, ..]
            if before.is_some_and(|word| matches!(word, "in" | "during" | "over" | "since")) =>
        {
            if let Some(month) = english_season(season) {
                return Some((if words[0] == "the" { 2 } else { 1 }, calendar.season(month)));
            }
        }
        [year, month, date, ..] if year.len() == 4 && month.len() == 2 && date.len() == 2 => {
            let number = |text: &str| text.parse::<i64>().ok();
            if let (Some(year @ 1970..=2200), Some(month @ 1..=12), Some(date)) =
                (number(year), number(month), number(date))
            {
                return Some((3, calendar.date(Some(year), month, date, 0)?));
            }
        }
        _ => {}
    }
    // A part of a month, this one, the last one or a named one.
    let (front, part) = match words {
        ["start" | "beginning", "of", ..] => (2, PartOfMonth::Early),
        ["first", "week", "of", ..] => (3, PartOfMonth::Early),
        ["first", "half", "of", ..] => (3, PartOfMonth::FirstHalf),
        ["second", "half", "of", ..] => (3, PartOfMonth::SecondHalf),
        ["end", "of", ..] => (2, PartOfMonth::End),
        ["early", ..] => (1, PartOfMonth::Early),
        ["mid" | "middle", ..] => (1, PartOfMonth::Middle),
        ["late", ..] => (1, PartOfMonth::Late),
        _ => (0, PartOfMonth::Whole),
    };
    let front = front + skip(&words[front..], if front > 0 { &["the", "of", "in"] } else { &[] });
    match &words[front..] {
        ["this", "month", ..] => return Some((front + 2, calendar.months_ago(0, part))),
        ["month", ..] if front > 0 => return Some((front + 1, calendar.months_ago(0, part))),
        ["last" | "previous", "month", ..] => return Some((front + 2, calendar.months_ago(1, part))),
        ["last", name, rest @ ..] | [name, rest @ ..] if month_number(name).is_some() => {
            let number = month_number(name).unwrap_or(1);
            let length = front + words.len() - front - rest.len();
            let year = rest.first().filter(|word| word.len() == 4).and_then(|word| word.parse().ok());
            let is_date = |word: &&&str| {
                word.trim_end_matches(['s', 't', 'n', 'd', 'r', 'h'])
                    .parse::<i64>()
                    .is_ok_and(|day| (1..=31).contains(&day))
            };
            // These are ordinary words as well.
            let is_month = !matches!(*name, "may" | "march" | "mar" | "sep" | "dec" | "jan" | "oct")
                || front > 0
                || year.is_some()
                || rest.first().as_ref().is_some_and(&is_date)
                || before.is_some_and(|word| {
                    matches!(word, "in" | "since" | "during" | "until" | "last" | "from" | "of")
                });
            if is_month {
                if let Some(day) = rest.first().filter(|word| is_date(word) && word.len() <= 4)
                    && let Ok(day) = day.trim_end_matches(['s', 't', 'n', 'd', 'r', 'h']).parse()
                    && let Some(days) =
                        calendar.date(None, number, day, i64::from(before == Some("around")) * 2)
                {
                    return Some((length + 1, days));
                }
                let of_last_year =
                    rest.starts_with(&["last", "year"]) || rest.starts_with(&["of", "last", "year"]);
                if of_last_year {
                    let year = Calendar::month_of(today).0 - 1;
                    let words = rest.iter().position(|word| *word == "year").unwrap_or_default() + 1;
                    return Some((length + words, calendar.named_month(number, Some(year), part)));
                }
                let days = calendar.named_month(number, year, part);
                let days = if before == Some("since") { (days.0, calendar.today) } else { days };
                return Some((length + usize::from(year.is_some()), days));
            }
        }
        _ => {}
    }
    if let Some((length, number, unit)) = amount(words)
        && words.get(length) == Some(&"ago")
    {
        return Some((length + 1, calendar.ago(number, unit)));
    }
    if let ["last" | "past" | "within", rest @ ..] = words {
        let small = skip(rest, &["the", "last", "past"]);
        if let Some((length, number, unit)) = amount(&rest[small..]) {
            return Some((1 + small + length, calendar.within(number, unit)));
        }
    }
    // Black Friday is no day of this week.
    let weekday = WEEKDAYS.iter().position(|one| Some(one) == words.first())?;
    let is_day =
        before.is_none_or(|word| matches!(word, "on" | "since" | "until" | "from" | "by" | "of" | "s"));
    is_day.then(|| (1, calendar.last_weekday(weekday.cast_signed() as i64)))
}

fn english_number(word: &str) -> Option<i64> {
    const NUMBERS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    if matches!(word, "a" | "an") {
        return Some(1);
    }
    let named = NUMBERS.iter().position(|one| *one == word).map(|place| place.cast_signed() as i64);
    named.or_else(|| word.parse().ok().filter(|number| (0..=1000).contains(number)))
}

fn english_unit(word: &str) -> Option<Unit> {
    Some(match word {
        "day" | "days" => Unit::Day,
        "week" | "weeks" => Unit::Week,
        "month" | "months" => Unit::Month,
        "year" | "years" => Unit::Year,
        _ => return None,
    })
}

fn english_season(word: &str) -> Option<i64> {
    Some(match word {
        "spring" => 3,
        "summer" => 6,
        "autumn" | "fall" => 9,
        "winter" => 12,
        _ => return None,
    })
}

fn month_number(word: &str) -> Option<i64> {
    let named = |month: &&str| *month == word || word.len() == 3 && month.starts_with(word);
    MONTHS.iter().position(named).map(|place| place.cast_signed() as i64 + 1)
}

fn find_japanese(text: &str, calendar: &Calendar) -> Vec<FoundTime> {
    let chars: Vec<(usize, char)> = text.char_indices().map(|(at, c)| (at, narrow(c))).collect();
    let plain: Vec<char> = chars.iter().map(|(_, c)| *c).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < plain.len() {
        if let Some((length, days)) =
            japanese_at(&plain[at..], at.checked_sub(1).map(|at| plain[at]), calendar)
        {
            let end = chars.get(at + length).map_or(text.len(), |(end, _)| *end);
            found.push(((chars[at].0, end), days));
            at += length;
        } else {
            at += 1;
        }
    }
    found
}

fn begins(text: &[char], word: &str) -> Option<usize> {
    let length = word.chars().count();
    (text.len() >= length && word.chars().zip(text).all(|(one, other)| one == *other)).then_some(length)
}

fn begins_any(text: &[char], words: &[&str]) -> Option<usize> {
    words.iter().filter_map(|word| begins(text, word)).max()
}

/// The length, and the part of the month that is named behind it.
fn part_of_month(text: &[char]) -> (usize, PartOfMonth) {
    let no = usize::from(text.first() == Some(&'の'));
    for (words, part) in [
        (&["上旬", "初め", "はじめ", "始め", "頭", "初旬"][..], PartOfMonth::Early),
        (&["中旬", "半ば"], PartOfMonth::Middle),
        (&["下旬"], PartOfMonth::Late),
        (&["前半"], PartOfMonth::FirstHalf),
        (&["後半"], PartOfMonth::SecondHalf),
        (&["末", "終わり", "おわり"], PartOfMonth::End),
    ] {
        if let Some(length) = begins_any(&text[no..], words) {
            return (no + length, part);
        }
    }
    (0, PartOfMonth::Whole)
}

fn japanese_weekday(text: &[char]) -> Option<(usize, i64)> {
    let weekday = "月火水木金土日".chars().position(|day| text.first() == Some(&day))?;
    let length = begins_any(&text[1..], &["曜日", "曜"])?;
    Some((1 + length, weekday.cast_signed() as i64))
}

fn japanese_number(text: &[char]) -> Option<(usize, i64)> {
    let digits = text.iter().take_while(|c| c.is_ascii_digit()).count();
    if digits > 0 {
        let number: String = text[..digits].iter().collect();
        return number.parse().ok().filter(|number| *number <= 9999).map(|number| (digits, number));
    }
    let value = |c: char| {
        "〇一二三四五六七八九".chars().position(|one| one == c).map(|place| place.cast_signed() as i64)
    };
    match text {
        ['数', ..] => Some((1, 4)),
        ['十', c, ..] if value(*c).is_some() => Some((2, 10 + value(*c)?)),
        ['十', ..] => Some((1, 10)),
        [ten, '十', c, ..] if value(*ten).is_some() && value(*c).is_some() => {
            Some((3, value(*ten)? * 10 + value(*c)?))
        }
        [ten, '十', ..] if value(*ten).is_some() => Some((2, value(*ten)? * 10)),
        [c, ..] => Some((1, value(*c)?)),
        [] => None,
    }
}

fn japanese_unit(text: &[char]) -> Option<(usize, Unit)> {
    if let Some(length) = begins_any(text, &["週間", "週"]) {
        return Some((length, Unit::Week));
    }
    if let Some(length) = begins_any(text, &["か月", "ヶ月", "カ月", "ヵ月", "ケ月", "箇月"]) {
        return Some((length, Unit::Month));
    }
    match text.first()? {
        '日' => Some((1, Unit::Day)),
        '年' => Some((1, Unit::Year)),
        _ => None,
    }
}

fn japanese_at(text: &[char], before: Option<char>, calendar: &Calendar) -> Option<(usize, Days)> {
    let today = calendar.today;
    let day = |ago: i64| (today - ago, today - ago);
    for (words, ago) in [(&["一昨年", "おととし"][..], 2), (&["昨年", "去年"], 1), (&["今年"], 0)]
    {
        let Some(length) = begins_any(text, words) else { continue };
        let no = usize::from(text.get(length) == Some(&'の'));
        let rest = &text[length + no..];
        if let Some((digits, month @ 1..=12)) = japanese_number(rest)
            && rest.get(digits) == Some(&'月')
        {
            let (more, part) = part_of_month(&rest[digits + 1..]);
            let year = Calendar::month_of(today).0 - ago;
            return Some((length + no + digits + 1 + more, calendar.named_month(month, Some(year), part)));
        }
        return Some((length, calendar.years_ago(ago)));
    }
    for (words, days) in [
        (&["今日", "本日", "今朝", "さっき"][..], day(0)),
        (&["一昨日", "おととい", "おとつい"], day(2)),
        (&["昨日", "きのう", "昨晩", "昨夜"], day(1)),
        (&["先々週"], calendar.weeks_ago(2)),
        (&["今週"], calendar.weeks_ago(0)),
        (&["半年前"], (today - 220, today - 140)),
        (&["ここ数日"], (today - 5, today)),
        (&["最近", "このところ"], (today - 21, today)),
        (&["この夏", "夏に", "夏の", "夏頃", "昨夏"], calendar.season(6)),
        (&["この春", "春に", "春先", "春頃"], calendar.season(3)),
        (&["この秋", "秋に", "秋頃"], calendar.season(9)),
        (&["この冬", "冬に", "冬頃"], calendar.season(12)),
    ] {
        if let Some(length) = begins_any(text, words) {
            return Some((length, days));
        }
    }
    if let Some(length) = begins(text, "先週") {
        let no = usize::from(text.get(length) == Some(&'の'));
        let monday = calendar.weeks_ago(1).0;
        if let Some((more, weekday)) = japanese_weekday(&text[length + no..]) {
            return Some((length + no + more, (monday + weekday, monday + weekday)));
        }
        if let Some(end) = begins(&text[length..], "末") {
            return Some((length + end, (monday + 5, monday + 6)));
        }
        return Some((length, calendar.weeks_ago(1)));
    }
    for (word, ago) in [("先々月", 2), ("先月", 1), ("今月", 0)] {
        if let Some(length) = begins(text, word) {
            let (more, part) = part_of_month(&text[length..]);
            return Some((length + more, calendar.months_ago(ago, part)));
        }
    }
    if let Some((length, weekday)) = japanese_weekday(text)
        && !before.is_some_and(|c| matches!(c, '0'..='9' | '毎' | '隔'))
    {
        return Some((length, calendar.last_weekday(weekday)));
    }
    if before.is_some_and(|c| c.is_ascii_digit()) {
        return None;
    }
    let within = begins_any(text, &["ここ", "この", "直近", "過去"]).unwrap_or_default();
    let (digits, number) = japanese_number(&text[within..])?;
    let rest = &text[within + digits..];
    if let Some((length, unit)) = japanese_unit(rest) {
        let length = within + digits + length;
        let about =
            begins_any(&text[length..], &["くらい", "ぐらい", "ほど", "ごろ", "頃"]).unwrap_or_default();
        if text.get(length + about) == Some(&'前') {
            let days = match (text[within], unit) {
                ('数', Unit::Day) => (today - 6, today - 2),
                (_, Unit::Day) if about > 0 => (today - number - 1, today - number + 1),
                _ => calendar.ago(number, unit),
            };
            return Some((length + about + 1, days));
        }
        if let Some(more) = begins(&text[length..], "以内") {
            return Some((length + more, calendar.within(number, unit)));
        }
        return (within > 0).then(|| (length, calendar.within(number, unit)));
    }
    // A year may stand in front.
    let (year, digits, month, rest) = match rest {
        ['年', more @ ..] if number >= 1970 => {
            let (length, month) = japanese_number(more)?;
            (Some(number), digits + 1 + length, month, &more[length..])
        }
        _ => (None, digits, number, rest),
    };
    if within > 0 || !(1..=12).contains(&month) || rest.first() != Some(&'月') {
        return None;
    }
    let rest = &rest[1..];
    // 9月分 and the like say what, not when.
    if rest.first().is_some_and(|c| "分度号期締".contains(*c)) {
        return None;
    }
    if let Some((length, date)) = japanese_number(rest)
        && rest.get(length) == Some(&'日')
    {
        let about = begins_any(&rest[length + 1..], &["頃", "ごろ", "あたり", "前後"]).unwrap_or_default();
        let days = calendar.date(year, month, date, if about > 0 { 2 } else { 0 })?;
        return Some((digits + 1 + length + 1 + about, days));
    }
    let (more, part) = part_of_month(rest);
    Some((digits + 1 + more, calendar.named_month(month, year, part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-18T09:00, a Wednesday.
    const NOW: Millis = Millis(1_794_992_400_000);

    fn days_ago(text: &str) -> Option<(i64, i64)> {
        let local = LocalTime { now: NOW, offsets: Vec::new() };
        let today = local.day(NOW);
        let wish = find_time(text, &local)?;
        Some((today - local.day(Millis(wish.until.0 - 1)), today - local.day(wish.since)))
    }

    #[test]
    fn words_of_time() {
        for (text, expected) in [
            ("retries last week", (3, 9)),
            ("yesterday's outage", (1, 1)),
            ("the day before yesterday", (2, 2)),
            ("three days ago", (3, 3)),
            ("two weeks ago", (11, 17)),
            ("a week ago", (6, 8)),
            ("on Sunday", (3, 3)),
            ("on Monday", (2, 2)),
            ("this week", (-1, 2)),
            ("last month", (18, 48)),
            ("in March", (232, 262)),
            ("since March", (-1, 262)),
            ("october", (18, 48)),
            ("end of October", (18, 26)),
            ("early November", (8, 17)),
            ("start of the month", (8, 17)),
            ("in May", (171, 201)),
            ("the last two weeks", (0, 14)),
            ("in the past 3 days", (0, 3)),
            ("in summer", (79, 170)),
            ("2026-11-03", (15, 15)),
            ("October 5th", (44, 44)),
            ("三日前", (3, 3)),
            ("3日前のエラー", (3, 3)),
            ("先週の障害", (3, 9)),
            ("先々週", (10, 16)),
            ("先週か先々週", (3, 16)),
            ("先週月曜", (9, 9)),
            ("おととい", (2, 2)),
            ("昨日", (1, 1)),
            ("先月末", (18, 26)),
            ("先月", (18, 48)),
            ("今月初め", (8, 17)),
            ("二週間くらい前", (11, 17)),
            ("二週間以内", (0, 14)),
            ("10月後半", (18, 33)),
            ("９月", (49, 78)),
            ("去年の10月", (383, 413)),
            ("October last year", (383, 413)),
            ("一昨年", (687, 1052)),
            ("9月20日頃", (57, 61)),
            ("夏に", (79, 170)),
            ("月曜の会議", (2, 2)),
        ] {
            let found = days_ago(text);
            assert!(
                found.is_some_and(|found| found.1 == expected.1 && found.0 <= expected.0.max(0)),
                "{text}: {found:?}"
            );
            assert!(found.is_some_and(|found| expected.0 < 1 || found.0 == expected.0), "{text}: {found:?}");
        }
    }

    #[test]
    fn a_month_without_a_year_may_be_of_an_earlier_one() {
        let local = LocalTime { now: NOW, offsets: Vec::new() };
        let years = |text: &str| -> Vec<String> {
            let wish = find_time(text, &local).unwrap();
            let all = std::iter::once((wish.since, wish.until)).chain(wish.earlier);
            all.map(|(since, _)| since.day()).collect()
        };
        let october = ["2026-10-01", "2025-10-01", "2024-10-01", "2023-10-01"];
        assert_eq!(years("october"), october);
        assert_eq!(years("10月の不具合"), october);
        assert_eq!(years("October 2025"), ["2025-10-01"]);
        assert_eq!(years("last week").len(), 1);
    }

    #[test]
    fn other_words() {
        for text in [
            "may fail",
            "march through the list",
            "the last one",
            "9月分の請求",
            "parser",
            "毎日曜の処理",
            "3日",
            "weekly report",
            "day",
            "the Black Friday plan",
            "一覧",
            "10日分",
            "second half",
            "the fall back path",
            "mid level",
        ] {
            assert_eq!(days_ago(text), None, "{text}");
        }
    }

    #[test]
    fn a_day_begins_at_local_midnight() {
        let hour = 3_600_000;
        let local = LocalTime { now: NOW, offsets: vec![(Millis(0), 9 * 60)] };
        let wish = find_time("昨日", &local).unwrap();
        assert_eq!(wish.until, Millis(NOW.0 - 18 * hour));
        assert_eq!(wish.until.since(wish.since), 24 * hour);
        // The clock was put back an hour yesterday.
        let change = Millis(NOW.0 - 20 * hour);
        let local = LocalTime { now: NOW, offsets: vec![(change, 0), (Millis(0), 60)] };
        let wish = find_time("yesterday", &local).unwrap();
        assert_eq!(wish.until.since(wish.since), 25 * hour);
    }
}
