//! Searches the embedded store: the best among the newest texts that have any of the words.
//!
//! The index returns the texts of a reading in the order of time, so the work is bounded however common it is. For
//! each reading of the question it gives its newest texts: all of them if it is rare. Where some words are common, it also
//! gives the newest texts that have several of them. Those with the most weight are then read and scored.
//!
//! The frequency of a reading is estimated from how far back its newest texts reach.

mod load;

use std::collections::HashMap;
use std::fmt::Write as _;

use rusqlite::{Connection, params_from_iter, types::Value};
use tidegate_core::time::Millis;

use super::index::{self, LOG_INDEX, LOG_TERMS, OTHERS_INDEX, OTHERS_TERMS, TextTable};
use super::row::{LogExtras, from_ms};
use crate::answer::{self, Candidate, Identity};
use crate::error::Result;
use crate::text::{
    self, Atom, Document, NamedProject, Question, ReadingOf, Scorer, Seen, Surroundings, Wishes,
};
use crate::view::{Found, Hit, HitKind, Query};
use load::load_text;

/// The newest texts of a reading: of a word of the question, and of one that the thesaurus has for it.
const OWN: usize = 500;
const EXPANDED: usize = 150;

/// The same of a word of the same matter.
const ASSOCIATED: usize = 100;

/// The newest texts other than logs, and of each sort if there are more.
const OTHERS: usize = 120;
const OF_SORT: usize = 60;

/// The newest logs with several words, and those with them in the title.
const TOGETHER: usize = 120;
const BY_TITLE: usize = 60;

/// The index entries that may be read to find logs with several words.
const ENTRIES: f64 = 100_000.0;

/// A store of more texts is asked for fewer words that the thesaurus has, and once only if anything was found: each word
/// costs time there.
const LARGE: f64 = 100_000.0;
const EXPANDED_IN_LARGE: usize = 32;

/// The texts to read: logs, and others.
const READ_LOGS: usize = 200;
const READ_OTHERS: usize = 120;

/// More if a phrase has to be found among its words.
const READ_FOR_PHRASE: usize = 400;

/// The sample that estimates the frequency of a reading where the lists are filtered.
const SAMPLE: usize = 64;

/// The newest texts of a project and a time that a question names, behind those that fit better.
const NEWEST: usize = 5;

/// The projects whose names are known, last active first.
const PROJECTS: usize = 500;

pub(super) fn search_store(store: &Connection, query: &Query) -> Result<Found> {
    let Some(scope) = Scope::of(query) else { return Ok(Found::default()) };
    let projects = if query.filter.project.is_none() { named_projects(store)? } else { Vec::new() };
    let around = Surroundings { local: query.local.as_ref(), projects: &projects };
    let mut question = Question::parse(&query.text, around);
    if question.is_empty() {
        return Ok(Found::default());
    }
    let limit = query.limit();
    for question in question.with_wishes() {
        let wished = scope.with_wishes(&question);
        let newest = Question { wishes: question.wishes.clone(), ..Question::default() };
        let (has_words, is_exact) = (!question.slots.is_empty(), question.wishes.is_exact());
        let mut found = StoreSearch::new(store, question, wished.clone(), limit)?.run()?;
        if has_words && is_exact {
            let more = StoreSearch::new(store, newest, wished, NEWEST)?.run()?;
            found = found.followed_by(more, limit);
        }
        if !found.hits.is_empty() {
            return Ok(found);
        }
    }
    if question.slots.is_empty() {
        return Ok(Found::default());
    }
    let unfulfilled = std::mem::take(&mut question.wishes).typed;
    let mut found = StoreSearch::new(store, question.clone(), scope.clone(), limit)?.run()?;
    let of_name = question.projects_of_name(&projects);
    if !of_name.is_empty() {
        let wishes = Wishes { projects: of_name, ..Wishes::default() };
        let newest = Question { wishes, ..Question::default() };
        let scope = scope.with_wishes(&newest);
        return Ok(found.followed_by(StoreSearch::new(store, newest, scope, limit)?.run()?, limit));
    }
    if found.is_poor() && (found.hits.is_empty() || !is_large(count_all(store)?)) {
        question.widen();
        found = StoreSearch::new(store, question, scope, limit)?.run()?;
    }
    if !found.hits.is_empty() {
        found.without.extend(unfulfilled);
    }
    Ok(found)
}

fn count_all(store: &Connection) -> Result<f64> {
    Ok((index::count_texts(store, LOG_INDEX)? + index::count_texts(store, OTHERS_INDEX)?) as f64)
}

fn is_large(texts: f64) -> bool {
    texts > LARGE
}

fn named_projects(store: &Connection) -> Result<Vec<NamedProject>> {
    let mut projects =
        store.prepare_cached("SELECT id, name FROM project ORDER BY active DESC, id DESC LIMIT ?1")?;
    let rows = projects
        .query_map([PROJECTS.cast_signed() as i64], |row| {
            Ok(NamedProject { id: row.get(0)?, name: row.get(1)? })
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(rows)
}

#[derive(Clone)]
struct Scope {
    /// Expressions of the index that have to hold.
    conditions: Vec<String>,
    logs: bool,
    /// The wanted kinds other than logs, by sort.
    others: Vec<Vec<HitKind>>,
    since: Option<Millis>,
    until: Option<Millis>,
}

impl Scope {
    fn of(query: &Query) -> Option<Scope> {
        let filter = &query.filter;
        let mut tokens: Vec<String> = Vec::new();
        tokens.extend(filter.project.map(index::project_token));
        tokens.extend(filter.topic.map(index::topic_token));
        tokens.extend(filter.session.as_deref().map(index::session_token));
        let is_wanted = |kind: &HitKind| query.kinds.is_empty() || query.kinds.contains(kind);
        let others = SORTS
            .iter()
            .map(|sort| sort.iter().copied().filter(is_wanted).collect::<Vec<HitKind>>())
            .filter(|sort| !sort.is_empty())
            .collect();
        let is_possible = filter.since.zip(filter.until).is_none_or(|(since, until)| since < until);
        is_possible.then(|| Scope {
            conditions: tokens.iter().map(|token| quote_token(token)).collect(),
            logs: is_wanted(&HitKind::Log),
            others,
            since: filter.since,
            until: filter.until,
        })
    }

    /// Also with the project and the time that the question names.
    fn with_wishes(&self, question: &Question) -> Scope {
        let wishes = &question.wishes;
        let mut scope = self.clone();
        if !wishes.projects.is_empty() {
            let mut any: Vec<String> =
                wishes.projects.iter().map(|id| quote_token(&index::project_token(*id))).collect();
            any.extend(wishes.project_tokens.iter().map(|tokens| all_of(tokens, false)));
            scope.conditions.push(format!("({})", any.join(" OR ")));
        }
        if let Some((since, until)) = wishes.time {
            scope.since = Some(scope.since.map_or(since, |other| other.max(since)));
            scope.until = Some(scope.until.map_or(until, |other| other.min(until)));
        }
        scope
    }

    /// Whether all kinds other than logs are wanted.
    fn wants_all_others(&self) -> bool {
        let all: usize = SORTS.iter().map(|sort| sort.len()).sum();
        self.others.iter().map(Vec::len).sum::<usize>() == all
    }

    fn wants(&self, kind: HitKind) -> bool {
        self.others.iter().any(|sort| sort.contains(&kind))
    }

    fn is_limited(&self) -> bool {
        !self.conditions.is_empty() || self.since.is_some() || self.until.is_some()
    }

    fn has_time(&self, at: Millis) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
    }
}

/// Kinds that share a limit: there is a topic per session, but decisions are few.
const SORTS: [&[HitKind]; 3] =
    [&[HitKind::Decision], &[HitKind::Stock, HitKind::Progress], &[HitKind::Topic]];

fn kind_name(kind: HitKind) -> &'static str {
    match kind {
        HitKind::Log => "log",
        HitKind::Decision => "decision",
        HitKind::Topic => "topic",
        HitKind::Stock => "stock",
        HitKind::Progress => "progress",
    }
}

/// Tokens contain neither quotes nor spaces.
fn quote_token(token: &str) -> String {
    format!("\"{token}\"")
}

fn all_of(tokens: &[String], in_title: bool) -> String {
    let quoted =
        |token: &String| quote_token(&if in_title { index::title_token(token) } else { token.clone() });
    let tokens: Vec<String> = tokens.iter().map(quoted).collect();
    format!("({})", tokens.join(" AND "))
}

struct StoreSearch<'a> {
    store: &'a Connection,
    question: Question,
    scope: Scope,
    limit: usize,
    /// Estimates per reading.
    counts: Vec<f64>,
    /// The same per association.
    of_associations: Vec<f64>,
    /// Whether the list of a reading has only its newest logs.
    is_cut: Vec<bool>,
    /// The number of texts, and the newest one.
    all: f64,
    newest: Millis,
    /// The doc numbers of the first and the last log.
    log_ends: Option<(i64, i64)>,
    /// Per text, with the readings that brought it up.
    candidates: HashMap<i64, Vec<u16>>,
    /// A buffer for the atoms of one text.
    room: Vec<Atom>,
}

/// A text that was read and not weighed yet.
struct ReadText {
    doc: i64,
    seen: Seen,
    identity: Identity,
    /// A factor for its age, kind and state.
    worth: f64,
}

impl ReadText {
    /// `None` if it does not fit.
    fn candidate(self, scorer: &Scorer<'_>) -> Option<Candidate<i64>> {
        let fit = scorer.fit(&self.seen).filter(|fit| fit.coverage > 0.0)?.worth(self.worth);
        Some(Candidate { text: self.doc, identity: self.identity, fit })
    }
}

impl<'a> StoreSearch<'a> {
    fn new(
        store: &'a Connection,
        mut question: Question,
        mut scope: Scope,
        limit: usize,
    ) -> Result<StoreSearch<'a>> {
        // Every hit has what is quoted.
        let quoted = question.readings.iter().filter(|reading| match reading.of {
            ReadingOf::Slot(slot) => {
                question.slots[slot].required && reading.atoms.len() >= reading.tokens.len().min(2)
            }
            ReadingOf::Span(_) => false,
        });
        let mut conditions: Vec<(ReadingOf, String)> = Vec::new();
        for reading in quoted {
            match conditions.iter_mut().find(|(of, _)| *of == reading.of) {
                Some((_, any)) => {
                    let _ = write!(any, " OR {}", all_of(&reading.tokens, false));
                }
                None => conditions.push((reading.of, all_of(&reading.tokens, false))),
            }
        }
        scope.conditions.extend(conditions.into_iter().map(|(_, any)| format!("({any})")));
        let all = count_all(store)?;
        if is_large(all) {
            question.keep_expansions(EXPANDED_IN_LARGE);
        }
        let mut ends =
            store.prepare_cached("SELECT (SELECT min(doc) FROM log), (SELECT max(doc) FROM log)")?;
        let (oldest, newest): (Option<i64>, Option<i64>) =
            ends.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(StoreSearch {
            store,
            question,
            scope,
            limit,
            counts: Vec::new(),
            of_associations: Vec::new(),
            is_cut: Vec::new(),
            all: all.max(1.0),
            newest: newest.map_or(Millis(0), index::doc_time),
            log_ends: oldest.zip(newest),
            candidates: HashMap::new(),
            room: Vec::new(),
        })
    }

    fn run(mut self) -> Result<Found> {
        if self.question.slots.is_empty() {
            self.list_newest()?;
        }
        for reading in 0..self.question.readings.len() {
            self.list_reading(reading)?;
        }
        self.complete_words()?;
        self.list_together()?;
        if is_large(self.all) {
            self.question.associations.clear();
        }
        for association in 0..self.question.associations.len() {
            self.list_association(association)?;
        }
        let question = std::mem::take(&mut self.question);
        let scorer = Scorer::new(&question, &self.counts, &self.of_associations, self.all);
        let mut read = Vec::new();
        for doc in self.most_promising(&scorer) {
            read.extend(self.look_at(doc, &scorer)?);
        }
        let found = read.into_iter().filter_map(|one| one.candidate(&scorer)).collect();
        let shown =
            answer::settle(found, self.limit, &question, scorer.nowhere(), |one, other| other.cmp(one));
        let without = answer::words_without(&question, &shown);
        let coverage = answer::best_coverage(&shown);
        let mut hits = Vec::with_capacity(shown.len());
        for candidate in shown {
            hits.extend(self.hit(&question, &candidate)?);
        }
        Ok(Found { hits, without, coverage })
    }

    /// The newest texts in the scope: a question that names only a time or a project.
    fn list_newest(&mut self) -> Result<()> {
        if !self.scope.conditions.is_empty() {
            let conditions = self.scope.conditions.join(" AND ");
            let mut docs = Vec::new();
            if self.scope.logs {
                docs = self.newest_docs(LOG_INDEX, &conditions, READ_OTHERS)?;
            }
            docs.extend(self.list_others(&conditions)?);
            self.candidates.extend(docs.into_iter().map(|doc| (doc, Vec::new())));
            return Ok(());
        }
        let (from, to) = self.range();
        // Each session has a topic: they are asked for only by themselves.
        let scope = &self.scope;
        let is_chosen = |kind: HitKind| !scope.wants_all_others() && scope.wants(kind);
        let notes = is_chosen(HitKind::Stock) || is_chosen(HitKind::Progress);
        let tables = [
            ("log", scope.logs),
            ("decision", scope.wants(HitKind::Decision)),
            ("topic", is_chosen(HitKind::Topic)),
            ("note", notes),
        ];
        for (table, _) in tables.into_iter().filter(|(_, is_wanted)| *is_wanted) {
            let sql =
                format!("SELECT doc FROM {table} WHERE doc >= ?1 AND doc < ?2 ORDER BY doc DESC LIMIT ?3");
            let limit = READ_LOGS.cast_signed() as i64;
            let docs = self.query_docs(&sql, &[from.into(), to.into(), limit.into()])?;
            self.candidates.extend(docs.into_iter().map(|doc| (doc, Vec::new())));
        }
        Ok(())
    }

    fn range(&self) -> (i64, i64) {
        let from = self.scope.since.map_or(0, index::first_doc_at);
        let to = self
            .scope
            .until
            .map_or(i64::MAX, |until| index::first_doc_at(until).saturating_add(index::SLACK));
        (from, to)
    }

    /// The newest texts with this reading, and how many there are.
    fn list_reading(&mut self, reading: usize) -> Result<()> {
        let (tokens, worth) = {
            let reading = &self.question.readings[reading];
            (all_of(&reading.tokens, false), reading.worth)
        };
        let limited = self.with_conditions(&tokens);
        let most = if worth < 1.0 { EXPANDED } else { OWN };
        let mut count = 0.0;
        let mut is_cut = false;
        if self.scope.logs || !self.scope.is_limited() {
            let docs = self.newest_docs(LOG_INDEX, &limited, most)?;
            is_cut = docs.len() == most;
            count = self.estimate_count(&docs, most);
            if self.scope.logs {
                self.note(reading, &docs);
            }
        }
        let others = self.list_others(&limited)?;
        count += others.len() as f64;
        self.note(reading, &others);
        if self.scope.is_limited() {
            let docs = self.sample(LOG_INDEX, &tokens)?;
            count = self.estimate_count(&docs, SAMPLE);
            if docs.len() < SAMPLE {
                count += self.sample(OTHERS_INDEX, &tokens)?.len() as f64;
            }
        }
        self.counts.push(count);
        self.is_cut.push(is_cut);
        Ok(())
    }

    /// The newest texts with a word of the same matter, and how many there are.
    fn list_association(&mut self, association: usize) -> Result<()> {
        let word = all_of(&self.question.associations[association].word.tokens, false);
        let limited = self.with_conditions(&word);
        let number = self.question.readings.len() + association;
        let mut count = 0.0;
        if self.scope.logs {
            let docs = self.newest_docs(LOG_INDEX, &limited, ASSOCIATED)?;
            count = self.estimate_count(&docs, ASSOCIATED);
            self.note(number, &docs);
        }
        let others = self.list_others(&limited)?;
        count += others.len() as f64;
        self.note(number, &others);
        self.of_associations.push(count);
        Ok(())
    }

    fn note(&mut self, reading: usize, docs: &[i64]) {
        let reading = u16::try_from(reading).unwrap_or(u16::MAX);
        for doc in docs {
            self.candidates.entry(*doc).or_default().push(reading);
        }
    }

    fn list_others(&self, expression: &str) -> Result<Vec<i64>> {
        if self.scope.others.is_empty() {
            return Ok(Vec::new());
        }
        // One query if there are few in total, else one per sort.
        if self.scope.wants_all_others() {
            let docs = self.newest_docs(OTHERS_INDEX, expression, OTHERS)?;
            if docs.len() < OTHERS {
                return Ok(docs);
            }
        }
        let mut all = Vec::new();
        for sort in &self.scope.others {
            let kinds: Vec<String> =
                sort.iter().map(|kind| quote_token(&index::kind_token(kind_name(*kind)))).collect();
            let limited = format!("{expression} AND ({})", kinds.join(" OR "));
            all.extend(self.newest_docs(OTHERS_INDEX, &limited, OF_SORT)?);
        }
        Ok(all)
    }

    fn with_conditions(&self, expression: &str) -> String {
        let mut all = vec![expression.to_owned()];
        all.extend(self.scope.conditions.iter().cloned());
        all.join(" AND ")
    }

    /// Estimates the frequency from the age of the newest matches.
    fn estimate_count(&self, docs: &[i64], most: usize) -> f64 {
        let last = docs.last().filter(|_| docs.len() == most);
        let Some((last, (oldest, newest))) = last.zip(self.log_ends) else { return docs.len() as f64 };
        let reach = (newest - last).max(1) as f64 / (newest - oldest).max(1) as f64;
        (most as f64 / reach.clamp(1e-9, 1.0)).min(self.all)
    }

    /// The last word may be the beginning of one.
    fn complete_words(&mut self) -> Result<()> {
        let Some(last) = self.question.slots.len().checked_sub(1) else { return Ok(()) };
        let readings = self.question.readings.iter().zip(&self.counts);
        let mut of_last = readings.filter(|(reading, _)| reading.of == ReadingOf::Slot(last));
        if of_last.any(|(_, count)| *count > 0.0) {
            return Ok(());
        }
        let first = self.question.readings.len();
        self.question.add_completions(last, self.completions(last)?);
        for reading in first..self.question.readings.len() {
            self.list_reading(reading)?;
        }
        Ok(())
    }

    /// Index words with this prefix, also as an inflected form.
    fn completions(&self, slot: usize) -> Result<Vec<String>> {
        let Some(prefix) =
            self.question.slots[slot].prefix.as_deref().filter(|word| word.chars().count() >= 3)
        else {
            return Ok(Vec::new());
        };
        let mut terms = self.store.prepare_cached(&format!(
            "SELECT term FROM (SELECT term FROM {LOG_TERMS} WHERE term >= ?1 AND term < ?2 ORDER BY term LIMIT ?3)
            UNION SELECT term FROM (SELECT term FROM {OTHERS_TERMS} WHERE term >= ?1 AND term < ?2 ORDER BY term LIMIT ?3)
            ORDER BY term LIMIT ?3",
        ))?;
        let after = format!("{prefix}\u{10ffff}");
        let mut tokens = terms
            .query_map(rusqlite::params![prefix, after, text::MOST_COMPLETIONS], |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<String>>>()?;
        for stem in text::unfinished_stems(prefix) {
            let mut found = terms.query(rusqlite::params![stem, format!("{stem}\u{1}"), 1])?;
            if found.next()?.is_some() {
                tokens.push(stem);
            }
        }
        Ok(tokens)
    }

    /// Where the list of a word is cut, the newest logs that have it together with the others.
    fn list_together(&mut self) -> Result<()> {
        if !self.scope.logs || !self.is_cut.iter().any(|cut| *cut) {
            return Ok(());
        }
        // The rarest first; a word that nothing has is left out.
        let mut slots: Vec<(f64, usize)> = (0..self.question.slots.len())
            .map(|slot| (self.own_readings(slot).map(|reading| self.counts[reading]).sum::<f64>(), slot))
            .filter(|(count, slot)| *count > 0.0 && self.question.slots[*slot].says_something())
            .collect();
        slots.sort_by(|one, other| one.0.total_cmp(&other.0));
        for some in [slots.len(), 2] {
            if some > slots.len() || some == 2 && slots.len() == 2 && some != slots.len() {
                continue;
            }
            self.list_slots_together(&slots[..some], false, TOGETHER)?;
            if some <= 2 {
                break;
            }
        }
        self.list_slots_together(&slots, true, BY_TITLE)
    }

    fn own_readings(&self, slot: usize) -> impl Iterator<Item = usize> {
        let readings = self.question.readings.iter().enumerate();
        readings
            .filter(move |(_, reading)| reading.of == ReadingOf::Slot(slot) && reading.is_own())
            .map(|(number, _)| number)
    }

    fn list_slots_together(&mut self, slots: &[(f64, usize)], in_title: bool, most: usize) -> Result<()> {
        if slots.is_empty() || slots.len() == 1 && !in_title {
            return Ok(());
        }
        // Fewer if matches are rare, because the index takes long to find each.
        let likely = slots.iter().fold(self.all, |likely, (count, _)| likely * count / self.all);
        let entries: f64 = slots.iter().map(|(count, _)| count).sum();
        let most = ((likely * ENTRIES / entries.max(1.0)) as usize).clamp((2 * self.limit).min(most), most);
        let mut expressions = Vec::new();
        let mut noted = Vec::new();
        for (_, slot) in slots {
            let readings: Vec<usize> = self.own_readings(*slot).collect();
            let any: Vec<String> = readings
                .iter()
                .map(|reading| all_of(&self.question.readings[*reading].tokens, in_title))
                .collect();
            expressions.push(format!("({})", any.join(" OR ")));
            noted.extend(readings.first().copied());
        }
        let docs = self.newest_docs(LOG_INDEX, &self.with_conditions(&expressions.join(" AND ")), most)?;
        for reading in noted {
            self.note(reading, &docs);
        }
        Ok(())
    }

    /// Newest first.
    fn newest_docs(&self, index: &str, expression: &str, limit: usize) -> Result<Vec<i64>> {
        let mut sql = format!("SELECT rowid FROM {index} WHERE {index} MATCH ?");
        let mut values: Vec<Value> = vec![expression.to_owned().into()];
        if let Some(since) = self.scope.since {
            sql.push_str(" AND rowid >= ?");
            values.push(index::first_doc_at(since).into());
        }
        if let Some(until) = self.scope.until {
            sql.push_str(" AND rowid < ?");
            values.push(index::first_doc_at(until).saturating_add(index::SLACK).into());
        }
        sql.push_str(" ORDER BY rowid DESC LIMIT ?");
        values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
        self.query_docs(&sql, &values)
    }

    /// The newest texts of all times and projects.
    fn sample(&self, index: &str, expression: &str) -> Result<Vec<i64>> {
        let sql = format!("SELECT rowid FROM {index} WHERE {index} MATCH ? ORDER BY rowid DESC LIMIT ?");
        self.query_docs(&sql, &[expression.to_owned().into(), (SAMPLE.cast_signed() as i64).into()])
    }

    fn query_docs(&self, sql: &str, values: &[Value]) -> Result<Vec<i64>> {
        let mut found = self.store.prepare_cached(sql)?;
        Ok(found
            .query_map(params_from_iter(values), |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<i64>>>()?)
    }

    /// The texts to read: those with the most weight, as far as the lists tell, and the newest of equals.
    fn most_promising(&mut self, scorer: &Scorer<'_>) -> Vec<i64> {
        let mut weighed: Vec<(f64, i64)> = std::mem::take(&mut self.candidates)
            .into_iter()
            .map(|(doc, mut readings)| {
                readings.sort_unstable();
                readings.dedup();
                (scorer.promise(&readings), doc)
            })
            .collect();
        weighed.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        let logs = if scorer.has_phrase() { READ_FOR_PHRASE } else { READ_LOGS.max(self.limit + 50) };
        let (mut logs, mut others) = (logs, READ_OTHERS.max(self.limit + 50));
        let mut docs = Vec::new();
        for (_, doc) in weighed {
            let left = if TextTable::of(doc) == TextTable::Log { &mut logs } else { &mut others };
            if *left > 0 {
                *left -= 1;
                docs.push(doc);
            }
        }
        docs
    }

    /// `None` if the text is gone or is outside the time span.
    fn look_at(&mut self, doc: i64, scorer: &Scorer<'_>) -> Result<Option<ReadText>> {
        let mut room = std::mem::take(&mut self.room);
        let read = if TextTable::of(doc) == TextTable::Log {
            self.look_at_log(doc, scorer, &mut room)?
        } else {
            load_text(self.store, doc)?
                .filter(|text| self.scope.has_time(text.at) && self.scope.wants(text.kind))
                .map(|text| ReadText {
                    doc,
                    seen: text.with(|document| scorer.look(document, &mut room)),
                    identity: text.identity,
                    worth: text.worth,
                })
        };
        self.room = room;
        let age = text::freshness(index::doc_time(doc), self.newest);
        Ok(read.map(|read| ReadText { worth: read.worth * age, ..read }))
    }

    /// Copies nothing: most texts are logs, and most logs are not shown.
    fn look_at_log(&self, doc: i64, scorer: &Scorer<'_>, room: &mut Vec<Atom>) -> Result<Option<ReadText>> {
        let mut found = self.store.prepare_cached(
            "SELECT title, text, prompt, answer, more, at, uid, topic FROM log WHERE doc = ?1",
        )?;
        let mut rows = found.query([doc])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        if !self.scope.has_time(from_ms(row.get(5)?)) {
            return Ok(None);
        }
        let text = |column: usize| -> Result<&str> { Ok(row.get_ref(column)?.as_str().unwrap_or_default()) };
        let more: LogExtras = serde_json::from_str(text(4)?).unwrap_or_default();
        let files = more.files.join(" ");
        let document = Document { title: text(0)?, texts: &[text(1)?, text(2)?, text(3)?, &files] };
        let seen = scorer.look(&document, room);
        let topic: i64 = row.get(7)?;
        let identity = Identity::Log { uid: text(6)?.to_owned(), topic: topic.to_string() };
        Ok(Some(ReadText { doc, seen, identity, worth: 1.0 }))
    }

    fn hit(&self, question: &Question, candidate: &Candidate<i64>) -> Result<Option<Hit>> {
        let Some(text) = load_text(self.store, candidate.text)? else { return Ok(None) };
        let snippet = text.with(|document| text::make_snippet(question, document));
        Ok(Some(Hit {
            kind: text.kind,
            id: text.id,
            title: text::one_line(&text.title, 200),
            snippet,
            project: text.project,
            topic: text.topic,
            at: text.at.iso(),
            score: candidate.fit.score,
            uid: text.uid,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_that_nothing_is_in() {
        let mut query = Query::default();
        query.filter.since = Some(Millis(5));
        query.filter.until = Some(Millis(5));
        assert!(Scope::of(&query).is_none());
    }
}
