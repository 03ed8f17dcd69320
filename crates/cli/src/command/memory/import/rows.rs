//! Imports rows that `export` printed: all of them, or none.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, IsTerminal as _, Read as _};
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::Value;
use tidegate_core::redact::redact_in_place;
use tidegate_core::time::Millis;
use tidegate_hook::process::is_agent_at_work;
use tidegate_memory::act;
use tidegate_memory::record::{Record, Uid};
use tidegate_memory::store::{Put, Store};
use tidegate_state::file::bounded;

use super::super::{Opened, line};
use crate::approval;
use crate::bilingual::{Bilingual, both, count_en};
use crate::command::Outcome;
use crate::error::CliError;
use crate::print;
use crate::print::page::Page;
use crate::sessions::Here;

/// In `[approval] unattended`.
const NAME: &str = "memory import";

/// Limit for bad lines in an error, and for rows in a question.
const NAMED: usize = 10;

/// Characters of a text in a question.
const SHOWN: usize = 70;

/// How much is read, in bytes: all rows are held at once, and a device or a pipe may never end.
#[derive(Clone, Copy)]
struct Limits {
    all: u64,
    /// Texts of a row are 64 KiB, and JSON may write each byte as six.
    line: u64,
}

const LIMITS: Limits = Limits { all: 512 * 1024 * 1024, line: 4 * 1024 * 1024 };

#[derive(Serialize)]
struct Imported {
    new: usize,
    changed: usize,
    kept: usize,
    forgotten: usize,
    /// Rows left out: they would replace or supersede a row here, and no person agreed.
    left: usize,
}

/// From stdin without a file.
pub(super) fn run(file: Option<&Path>, as_json: bool) -> Outcome {
    let (records, bad) = match file {
        None => read_rows(&mut io::stdin().lock(), LIMITS)?,
        Some(file) => {
            let opened = bounded::open(file).map_err(|error| {
                let file = file.display();
                CliError::new(both!("cannot read {file}: {error}", "{file} を読めません: {error}")).hint(both!(
                    "name a transcript, a folder with transcripts, or a file that `tidegate memory export` wrote",
                    "会話のファイルかフォルダ、または `tidegate memory export` で書いたファイルを指定してください"
                ))
            })?;
            read_rows(&mut BufReader::new(opened), LIMITS)?
        }
    };
    if bad.count > 0 {
        return Err(bad_lines(&bad));
    }
    let mut opened = Opened::to_write()?;
    let records = in_order(records);
    check_own(&mut opened, &records)?;
    let (records, left) = keep_agreed(&mut opened, records)?;
    let puts = opened.memory.put(&records).map_err(|error| {
        CliError::from(error).prefixed(&both!("nothing was imported", "何も取り込みませんでした"))
    })?;
    let count = |wanted: Put| puts.iter().filter(|put| **put == wanted).count();
    let imported = Imported {
        new: count(Put::New),
        changed: count(Put::Changed),
        kept: count(Put::Kept),
        forgotten: count(Put::Forgotten),
        left,
    };
    if as_json {
        print::json(&imported);
    } else {
        import_page(&imported, is_asked(&opened)).print();
    }
    Ok(ExitCode::SUCCESS)
}

fn import_page(imported: &Imported, is_asked: bool) -> Page {
    let Imported { new, changed, kept, forgotten, left } = *imported;
    let mut page = Page::of(both!(
        "Imported {n}; {changed} changed, {kept} already here, {forgotten} left out because you deleted them.",
        "新しく{new}行を取り込みました。変更{changed}行、既存{kept}行、以前に削除したため除いたもの{forgotten}行です。",
        n = count_en(new, "new row")
    ));
    match (left, is_asked) {
        (0, _) => {}
        (_, true) => page.paragraph(both!(
            "Left {n} out: the rows here stay as they are.",
            "{left}行を除きました。ここにある行はそのままです。",
            n = count_en(left, "row")
        )),
        (_, false) => page.paragraph(both!(
            "Left {n} out: to replace a row here, a person has to agree. Run `tidegate memory import FILE` yourself at a terminal to be asked.",
            "{left}行を除きました。ここにある行を置き換えるには人の同意が必要です。端末で `tidegate memory import ファイル名` を実行すると確認できます。",
            n = count_en(left, "row")
        )),
    }
    page
}

fn bad_lines(bad: &Bad) -> CliError {
    let more = bad.count - bad.first.len();
    let mut listed: Vec<Bilingual> = vec![both!("nothing was imported", "何も取り込んでいません")];
    listed.extend(
        bad.first
            .iter()
            .map(|(number, Bilingual { en, ja })| both!("  line {number}: {en}", "  {number}行目: {ja}")),
    );
    listed.extend((more > 0).then(|| both!("  and {more} more", "  ほか{more}行")));
    let (en, ja): (Vec<String>, Vec<String>) = listed.into_iter().map(|text| (text.en, text.ja)).unzip();
    CliError::new(Bilingual { en: en.join("\n"), ja: ja.join("\n") }).hint(both!(
        "correct or remove these lines and import the file again; rows that are already here stay",
        "これらの行を直すか除いて、もう一度取り込んでください。すでにある行はそのままです"
    ))
}

/// Only at a terminal, and not through an agent.
fn is_asked(opened: &Opened) -> bool {
    !approval::is_by_agent(&opened.here.env) && approval::is_at_terminal()
}

/// Identifies a row everywhere.
type Name = (&'static str, Uid);

fn row_name(record: &Record) -> Name {
    (record.kind(), record.uid().to_owned())
}

/// An agent can leave its own processes behind: while one works on this machine, a terminal or the person's config has to
/// speak for the person. A pipe of rows is no terminal, so only the other end counts.
fn may_be_agent(here: &Here) -> bool {
    approval::is_by_agent(&here.env)
        || !io::stderr().is_terminal()
            && is_agent_at_work(None)
            && !approval::is_at_terminal_or_allowed(here, NAME)
}

/// Refuses new rows of other projects if an agent may import them, as every command that writes does. New versions of
/// existing rows are left to [`keep_agreed`]: no agent gets a yes there.
fn check_own(opened: &mut Opened, records: &[Record]) -> Result<(), CliError> {
    if !may_be_agent(&opened.here) {
        return Ok(());
    }
    let own = opened.own.as_ref();
    let own_key =
        |key: Option<&String>| key.filter(|key| own.is_some_and(|own| act::is_own_key(own, key))).cloned();
    let mut named_by_key: BTreeMap<String, String> = BTreeMap::new();
    let mut projects: BTreeSet<Uid> = BTreeSet::new();
    let mut topics: BTreeSet<Uid> = BTreeSet::new();
    let mut here: BTreeSet<Name> = BTreeSet::new();
    opened.memory.for_each_record(&mut |record| {
        here.insert(row_name(&record));
        match record {
            Record::Project(row) => {
                if let Some(key) = own_key(row.key.as_ref()) {
                    named_by_key.insert(key, row.name);
                    projects.insert(row.uid);
                }
            }
            Record::Topic(row) if projects.contains(&row.project) => {
                topics.insert(row.uid);
            }
            _ => {}
        }
        Ok(())
    })?;
    let mut foreign: Vec<Bilingual> = Vec::new();
    for record in records.iter().filter(|record| !here.contains(&row_name(record))) {
        let is_own = match record {
            // A second project with the key of another would lose its folder.
            Record::Project(row) => own_key(row.key.as_ref())
                .is_some_and(|key| *named_by_key.entry(key).or_insert_with(|| row.name.clone()) == row.name),
            Record::Topic(row) => {
                projects.contains(&row.project)
                    && row.parent.as_ref().is_none_or(|parent| topics.contains(parent))
            }
            Record::Session(row) => projects.contains(&row.project),
            Record::Log(row) => topics.contains(&row.topic),
            Record::Decision(row) => topics.contains(&row.topic),
        };
        match record {
            _ if !is_own => {
                foreign.push(Bilingual::data(format!(
                    "  {} {}: {}",
                    record.kind(),
                    line(record.uid(), 40),
                    row_text(record)
                )));
            }
            Record::Project(row) => {
                projects.insert(row.uid.clone());
            }
            Record::Topic(row) => {
                topics.insert(row.uid.clone());
            }
            _ => {}
        }
    }
    if foreign.is_empty() {
        return Ok(());
    }
    let ours = line(own.map_or("-", |own| own.name.as_str()), 40);
    let (en, ja): (Vec<String>, Vec<String>) =
        first_lines(&foreign).into_iter().map(|text| (text.en, text.ja)).unzip();
    let (en, ja) = (en.join("\n"), ja.join("\n"));
    Err(CliError::new(both!(
        "nothing was imported: new rows belong to other projects than this session's ({ours})\n{en}",
        "何も取り込んでいません。このセッションのプロジェクト（{ours}）以外の行があります\n{ja}"
    ))
    .hint(both!(
        "remove these rows, or ask the person to import them at a terminal: an agent imports only rows of its own project",
        "これらの行を除くか、人に端末で取り込んでもらってください。エージェントが取り込めるのは自分のプロジェクトの行だけです"
    )))
}

/// With the number of the others.
fn first_lines(lines: &[Bilingual]) -> Vec<Bilingual> {
    let mut first: Vec<Bilingual> = lines.iter().take(NAMED).cloned().collect();
    let more = lines.len().saturating_sub(NAMED);
    first.extend((more > 0).then(|| both!("  and {more} more", "  ほか{more}行")));
    first
}

/// Leaves out rows that would replace or supersede one here, unless a person agrees; returns their number. Anyone who
/// can write a file could otherwise change a decision.
fn keep_agreed(opened: &mut Opened, records: Vec<Record>) -> Result<(Vec<Record>, usize), CliError> {
    let named: BTreeMap<Name, &Record> = records.iter().map(|record| (row_name(record), record)).collect();
    let mut superseding: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in &records {
        if let Some(older) = superseded_row(record) {
            superseding.entry(older).or_default().push(record);
        }
    }
    let mut here: BTreeSet<Name> = BTreeSet::new();
    let mut replaced: Vec<(Name, Bilingual)> = Vec::new();
    let mut superseded: Vec<(Name, Bilingual)> = Vec::new();
    opened.memory.for_each_record(&mut |old| {
        if let Some(new) = named.get(&row_name(&old)) {
            here.insert(row_name(&old));
            if **new != old && row_times(new)[1] > row_times(&old)[1] {
                replaced.push((row_name(&old), Bilingual::data(describe_change(&old, new))));
            }
        }
        if let Record::Decision(row) = &old {
            for new in superseding.get(row.uid.as_str()).into_iter().flatten() {
                let shown = both!(
                    "  {row}: {was} → {is} (a new decision)",
                    "  {row}: {was} → {is}（新しい決定）",
                    row = describe_row(&old),
                    was = row_text(&old),
                    is = row_text(new)
                );
                superseded.push((row_name(new), shown));
            }
        }
        Ok(())
    })?;
    superseded.retain(|(new, _)| !here.contains(new));
    // Decisions first: a long list of other rows must not hide them.
    superseded.extend(replaced);
    superseded.sort_by_key(|((kind, _), _)| *kind != "decision");
    if superseded.is_empty() {
        return Ok((records, 0));
    }
    let many = superseded.len();
    let mut would = vec![both!(
        "The import replaces {n} here:",
        "取り込むと、ここにある{many}行を置き換えます:",
        n = count_en(many, "row")
    )];
    let (names, shown): (BTreeSet<Name>, Vec<Bilingual>) = superseded.into_iter().unzip();
    would.extend(first_lines(&shown));
    if approval::is_agreed(&opened.here, NAME, &would)? {
        return Ok((records, 0));
    }
    let mut left = names;
    // A decision that supersedes a row that is left out has nothing to refer to.
    for record in &records {
        let older = superseded_row(record).map(|older| ("decision", older.to_owned()));
        if older.is_some_and(|older| left.contains(&older) && !here.contains(&older))
            && !here.contains(&row_name(record))
        {
            left.insert(row_name(record));
        }
    }
    let kept = records.into_iter().filter(|record| !left.contains(&row_name(record)));
    Ok((kept.collect(), left.len()))
}

fn superseded_row(record: &Record) -> Option<&str> {
    match record {
        Record::Decision(row) => row.supersedes.as_deref(),
        _ => None,
    }
}

/// By its kind and the id that lists show.
fn describe_row(record: &Record) -> String {
    let number = match record {
        Record::Project(row) => row.id,
        Record::Topic(row) => row.id,
        Record::Decision(row) => row.id,
        Record::Session(_) | Record::Log(_) => None,
    };
    let id = number.map_or_else(|| record.uid().chars().take(8).collect(), |number| number.to_string());
    format!("{} {}", record.kind(), line(&id, 20))
}

/// The text by which people know a row, shortened.
fn row_text(record: &Record) -> String {
    let text = match record {
        Record::Project(row) => &row.name,
        Record::Topic(row) => &row.title,
        Record::Session(row) => &row.root,
        Record::Log(row) => &row.title,
        Record::Decision(row) => &row.text,
    };
    line(text, SHOWN)
}

/// Shortens both so that the difference stays visible.
fn shorten_apart(old: &str, new: &str) -> (String, String) {
    let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
    let from = if same < SHOWN / 2 { 0 } else { same - SHOWN / 4 };
    let cut = |text: &str| {
        let rest: String = text.chars().skip(from).collect();
        format!("{}{}", if from > 0 { "…" } else { "" }, line(&rest, SHOWN))
    };
    (cut(old), cut(new))
}

/// Members whose change matters most, first.
const TELLING: [&str; 7] = ["text", "reason", "retracted", "supersedes", "status", "topic", "project"];

/// In one line.
fn describe_change(old: &Record, new: &Record) -> String {
    let members = |record: &Record| match serde_json::to_value(record) {
        Ok(Value::Object(members)) => members,
        _ => serde_json::Map::new(),
    };
    let (was, is) = (members(old), members(new));
    let mut changed: Vec<&String> =
        was.keys().chain(is.keys().filter(|key| !was.contains_key(*key))).collect();
    changed.retain(|key| !["id", "updated"].contains(&key.as_str()) && was.get(*key) != is.get(*key));
    changed.sort_by_key(|key| TELLING.iter().position(|telling| telling == key).unwrap_or(TELLING.len()));
    let (old_text, new_text) = (row_text(old), row_text(new));
    let mut shown = format!("  {}: {old_text}", describe_row(old));
    if old_text != new_text {
        let _ = write!(shown, " → {new_text}");
    } else if !changed.is_empty() {
        let key = changed.remove(0);
        let value = |members: &serde_json::Map<String, Value>| match members.get(key) {
            None => "nothing".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let (was, is) = shorten_apart(&value(&was), &value(&is));
        let _ = write!(shown, "; {key}: {was} → {is}");
    }
    if !changed.is_empty() {
        let names: Vec<&str> = changed.into_iter().map(String::as_str).collect();
        let _ = write!(shown, " ({})", names.join(", "));
    }
    shown
}

/// Lines that are not rows.
#[derive(Debug, Default)]
struct Bad {
    count: usize,
    /// The first few: their numbers, and why.
    first: Vec<(usize, Bilingual)>,
}

impl Bad {
    fn push(&mut self, (number, why): (usize, Bilingual)) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push((number, why));
        }
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes / 1024 / 1024)
}

fn read_rows(from: &mut impl BufRead, limits: Limits) -> Result<(Vec<Record>, Bad), CliError> {
    let mut records = Vec::new();
    let mut bad = Bad::default();
    let mut bytes = Vec::new();
    let mut all = 0;
    let mut lines: BTreeMap<Name, usize> = BTreeMap::new();
    for number in 1.. {
        bytes.clear();
        let length = from.by_ref().take(limits.line + 1).read_until(b'\n', &mut bytes).map_err(|error| {
            CliError::new(both!(
                "nothing was imported: cannot read line {number}: {error}",
                "何も取り込んでいません。{number}行目を読めません: {error}"
            ))
            .hint(both!("check the file and try again", "ファイルを確認して、もう一度実行してください"))
        })? as u64;
        if length == 0 {
            break;
        }
        all += length;
        if length > limits.line {
            return Err(CliError::new(both!(
                "nothing was imported: line {number} is longer than {most}",
                "何も取り込んでいません。{number}行目が{most}を超えています",
                most = mebibytes(limits.line)
            ))
            .hint(both!(
                "use a file of `tidegate memory export`: one JSON object a line",
                "1行に1つの JSON がある、`tidegate memory export` のファイルを使ってください"
            )));
        }
        if all > limits.all {
            return Err(CliError::new(both!(
                "nothing was imported: there is more than {most} to read",
                "何も取り込んでいません。{most}を超えています",
                most = mebibytes(limits.all)
            ))
            .hint(both!(
                "import it in parts, in their order: `split -C 400m memory.jsonl part-`",
                "分割して、順番に取り込んでください: `split -C 400m memory.jsonl part-`"
            )));
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Record>(&bytes) {
            Ok(record) if !is_named(&record) => {
                bad.push((number, both!("the uid is empty or too long", "uid が空か、長すぎます")));
            }
            Ok(record) if row_times(&record).into_iter().any(|at| at > LATEST) => {
                bad.push((
                    number,
                    both!("a time is thousands of years from now", "時刻が何千年も先になっています"),
                ));
            }
            Ok(mut record) => match lines.entry(row_name(&record)) {
                // Of two versions in one file only one would be compared with the existing row.
                Entry::Occupied(line) => {
                    let first = line.get();
                    bad.push((
                        number,
                        both!(
                            "the row is there twice, first in line {first}",
                            "同じ行が2回あります（最初は{first}行目）"
                        ),
                    ));
                }
                Entry::Vacant(line) => {
                    line.insert(number);
                    redact_row(&mut record);
                    records.push(record);
                }
            },
            Err(error) => bad.push((number, Bilingual::data(line(&error.to_string(), 200)))),
        }
    }
    Ok((records, bad))
}

/// The end of the year 9999. The later of two versions counts, so a row with a later time could never be changed.
const LATEST: Millis = Millis(253_402_300_799_999);

fn row_times(record: &Record) -> [Millis; 3] {
    match record {
        Record::Project(row) => [row.created, row.updated, row.updated],
        Record::Topic(row) => [row.created, row.updated, row.offered_at.unwrap_or_default()],
        Record::Session(row) => [row.created, row.updated, row.updated],
        Record::Log(row) => [row.at, row.updated, row.updated],
        Record::Decision(row) => [row.created, row.updated, row.retracted.unwrap_or_default()],
    }
}

/// In bytes. A transcript may name its prompts and sessions by anything of up to a kilobyte.
const LONGEST_UID: usize = 1100;

fn is_named(record: &Record) -> bool {
    (1..=LONGEST_UID).contains(&record.uid().len())
}

/// Rows from elsewhere may hold secrets.
fn redact_row(record: &mut Record) {
    let mut found = tidegate_core::redact::Found::default();
    match record {
        Record::Topic(row) => redact_in_place(&mut row.title, &mut found),
        Record::Decision(row) => {
            redact_in_place(&mut row.text, &mut found);
            redact_in_place(&mut row.reason, &mut found);
        }
        Record::Log(row) => {
            for text in [&mut row.title, &mut row.text, &mut row.prompt, &mut row.answer] {
                redact_in_place(text, &mut found);
            }
            for (kind, count) in found.iter() {
                *row.redacted.entry(kind.name().to_owned()).or_default() += count;
            }
        }
        Record::Project(_) | Record::Session(_) => {}
    }
}

/// References come first, whatever order the lines had.
fn in_order(records: Vec<Record>) -> Vec<Record> {
    let kinds = ["project", "topic", "session", "log", "decision"];
    let mut by_kind: [Vec<Record>; 5] = Default::default();
    for record in records {
        let place = kinds.iter().position(|kind| *kind == record.kind()).unwrap_or_default();
        by_kind[place].push(record);
    }
    let [projects, topics, sessions, logs, decisions] = by_kind;
    let topics = after_others(topics, |record| match record {
        Record::Topic(row) => row.parent.as_deref(),
        _ => None,
    });
    let decisions = after_others(decisions, |record| match record {
        Record::Decision(row) => row.supersedes.as_deref(),
        _ => None,
    });
    [projects, topics, sessions, logs, decisions].into_iter().flatten().collect()
}

/// Each row after the one that it refers to, if that is among them.
fn after_others(mut rows: Vec<Record>, refers: fn(&Record) -> Option<&str>) -> Vec<Record> {
    let mut waiting: BTreeSet<String> = rows.iter().map(|row| row.uid().to_owned()).collect();
    let mut ordered = Vec::with_capacity(rows.len());
    while !rows.is_empty() {
        let (ready, rest): (Vec<Record>, Vec<Record>) =
            rows.into_iter().partition(|row| refers(row).is_none_or(|uid| !waiting.contains(uid)));
        rows = rest;
        if ready.is_empty() {
            // A circle of references: the store refuses it and says so.
            ordered.append(&mut rows);
        }
        for row in &ready {
            waiting.remove(row.uid());
        }
        ordered.extend(ready);
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::looks::assert_looks;

    fn line(uid: usize) -> String {
        format!(r#"{{"kind":"project","uid":"{uid}","name":"n","created":1,"updated":1}}"#) + "\n"
    }

    #[test]
    fn what_has_no_end_is_not_read_to_it() {
        let limits = Limits { all: 4 * 1024 * 1024, line: 1024 * 1024 };
        let fails = |from: &mut dyn BufRead| match read_rows(&mut &mut *from, limits) {
            Ok(_) => panic!("it was read"),
            Err(error) => error.message().to_owned(),
        };
        let zeros = fails(&mut BufReader::new(io::repeat(0)));
        assert_eq!(zeros, "nothing was imported: line 1 is longer than 1 MiB");
        let breaks = fails(&mut BufReader::new(io::repeat(b'\n')));
        assert_eq!(breaks, "nothing was imported: there is more than 4 MiB to read");
        let rows: String = (0..70_000).map(line).collect();
        assert_eq!(fails(&mut rows.as_bytes()), breaks);
    }

    #[test]
    fn an_import_looks_well() {
        let imported = Imported { new: 7, changed: 1, kept: 2, forgotten: 0, left: 3 };
        assert_looks("imported", &import_page(&imported, true));
        assert_looks("imported-unasked", &import_page(&imported, false));
    }

    #[test]
    fn bad_lines_are_counted_and_the_first_are_named() {
        let text = format!("{}{}", line(1), "x\n".repeat(1000));
        let Ok((records, bad)) = read_rows(&mut text.as_bytes(), LIMITS) else { panic!("it is short") };
        assert_eq!((records.len(), bad.count, bad.first.len(), bad.first[0].0), (1, 1000, NAMED, 2));
    }
}
