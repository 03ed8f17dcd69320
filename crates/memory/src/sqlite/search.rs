//! Search: the newest texts that hold what is asked for, the best of them first.
//!
//! The index gives texts in the order of their time, so what is looked at is bounded however common a word is: of logs the
//! newest with the words in their title, and the newest with them anywhere; of each other sort the newest by themselves, so that
//! none hides behind another.

use std::collections::BTreeSet;

use rusqlite::{Connection, params_from_iter, types::Value};
use tidegate_core::time::Millis;

use super::index::{self, Table};
use super::note;
use super::row::{self, More, of_ms};
use crate::error::Result;
use crate::text::{self, Document, Part, Question, Weights};
use crate::view::{Hit, Kind, Query};

const LOG_INDEX: &str = index::INDEXES[0];
const FEW_INDEX: &str = index::INDEXES[1];

/// How many texts are looked at: of each sort but logs, logs by their title, and logs.
const FEW: usize = 60;
const BY_TITLE: usize = 60;
const LOGS: usize = 160;

/// How often more logs are looked at where most of them held the words elsewhere than asked.
const ROUNDS: usize = 4;

/// How many texts tell how common a word is.
const SAMPLE: usize = 200;

pub(super) fn search(store: &Connection, query: &Query) -> Result<Vec<Hit>> {
    let question = Question::parse(&query.text);
    let limit = query.limit();
    let Some(scope) = Scope::of(query) else { return Ok(Vec::new()) };
    if question.is_empty() {
        return Ok(Vec::new());
    }
    let mut search = Search {
        store,
        question,
        scope,
        limit,
        counts: Vec::new(),
        all: 0.0,
        seen: BTreeSet::new(),
        found: Vec::new(),
    };
    search.run()?;
    search.hits()
}

/// What a filter leaves.
struct Scope {
    tokens: Vec<String>,
    /// Logs, too.
    logs: bool,
    /// Which others, by sorts.
    few: Vec<Vec<Kind>>,
    since: Option<Millis>,
    until: Option<Millis>,
}

impl Scope {
    fn of(query: &Query) -> Option<Scope> {
        let filter = &query.filter;
        let mut tokens: Vec<String> = Vec::new();
        tokens.extend(filter.project.map(index::of_project));
        tokens.extend(filter.topic.map(index::of_topic));
        tokens.extend(filter.session.as_deref().map(index::of_session));
        let is_wanted = |kind: &Kind| query.kinds.is_empty() || query.kinds.contains(kind);
        let few = SORTS
            .iter()
            .map(|sort| sort.iter().copied().filter(is_wanted).collect::<Vec<Kind>>())
            .filter(|sort| !sort.is_empty())
            .collect();
        let logs = is_wanted(&Kind::Log);
        let is_possible = filter.since.zip(filter.until).is_none_or(|(since, until)| since < until);
        is_possible.then_some(Scope { tokens, logs, few, since: filter.since, until: filter.until })
    }
}

/// What is looked for together: every session has a topic, while decisions are few.
const SORTS: [&[Kind]; 3] = [&[Kind::Decision], &[Kind::Stock, Kind::Progress], &[Kind::Topic]];

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Log => "log",
        Kind::Decision => "decision",
        Kind::Topic => "topic",
        Kind::Stock => "stock",
        Kind::Progress => "progress",
    }
}

/// Tokens hold neither quotes nor spaces.
fn quoted(token: &str) -> String {
    format!("\"{token}\"")
}

fn expression(part: &Part, in_title: bool) -> String {
    let tokens: Vec<String> = part
        .tokens
        .iter()
        .map(|token| if in_title { quoted(&index::of_title(token)) } else { quoted(token) })
        .collect();
    if part.any { format!("({})", tokens.join(" OR ")) } else { tokens.join(" AND ") }
}

/// One search.
struct Search<'a> {
    store: &'a Connection,
    question: Question,
    scope: Scope,
    limit: usize,
    /// How many texts hold each part, about.
    counts: Vec<f64>,
    /// How many texts there are, about.
    all: f64,
    seen: BTreeSet<i64>,
    found: Vec<(f64, i64)>,
}

impl Search<'_> {
    fn run(&mut self) -> Result<()> {
        self.count()?;
        if !self.question.strict.is_empty() {
            let strict = self.question.strict.clone();
            self.gather(&strict)?;
        }
        if self.found.len() < self.limit {
            let parts = self.question.parts.clone();
            self.gather(&parts)?;
        }
        if self.found.is_empty() {
            self.with_less()?;
        }
        Ok(())
    }

    /// Nothing has all of it. A last word that no text has may go on, and a name may be within a longer one; then what says least
    /// is left out, step by step.
    fn with_less(&mut self) -> Result<()> {
        let last = self.question.parts.len() - 1;
        let mut changed = false;
        if self.counts[last] == 0.0
            && let Some(going_on) = self.going_on(last)?
        {
            self.question.parts[last] = going_on;
            self.counts[last] = self.count_of(last)?;
            changed = true;
        }
        for at in 0..self.question.parts.len() {
            if self.counts[at] == 0.0
                && let Some(pieces) = self.question.parts[at].in_pieces()
            {
                self.question.parts[at] = pieces;
                self.counts[at] = self.count_of(at)?;
                changed = true;
            }
        }
        let counted = self.question.parts.iter().cloned().zip(self.counts.iter().copied());
        let mut known: Vec<(Part, f64)> = counted.filter(|(_, count)| *count > 0.0).collect();
        known.sort_by(|one, other| one.1.total_cmp(&other.1));
        let mut known: Vec<Part> = known.into_iter().map(|(part, _)| part).collect();
        // All of them, as they were asked for, stand together nowhere: that is known.
        if !changed && known.len() == self.question.parts.len() {
            known.pop();
        }
        while !known.is_empty() && self.found.is_empty() {
            self.gather(&known)?;
            known.pop();
        }
        Ok(())
    }

    /// Words of the index that begin like this part, or whose forms do.
    fn going_on(&self, at: usize) -> Result<Option<Part>> {
        let Some(prefix) = self.question.parts[at].prefix.as_deref().filter(|word| word.chars().count() >= 3)
        else {
            return Ok(None);
        };
        let mut terms = self.store.prepare_cached(
            "SELECT term FROM (SELECT term FROM term WHERE term >= ?1 AND term < ?2 ORDER BY term LIMIT ?3)
            UNION SELECT term FROM (SELECT term FROM few_term WHERE term >= ?1 AND term < ?2 ORDER BY term LIMIT ?3)
            ORDER BY term LIMIT ?3",
        )?;
        let after = format!("{prefix}\u{10ffff}");
        let mut tokens = terms
            .query_map(rusqlite::params![prefix, after, text::GOING_ON], |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<String>>>()?;
        for stem in text::begun(prefix) {
            let mut found = terms.query(rusqlite::params![stem, format!("{stem}\u{1}"), 1])?;
            if found.next()?.is_some() {
                tokens.push(stem);
            }
        }
        Ok((!tokens.is_empty()).then(|| Part::any_of(tokens)))
    }

    /// Finds out how common each part is.
    fn count(&mut self) -> Result<()> {
        self.all = (index::logs(self.store)? as f64).max(1.0);
        self.counts = (0..self.question.parts.len()).map(|at| self.count_of(at)).collect::<Result<_>>()?;
        Ok(())
    }

    /// From the newest texts with it: if they are many, then from how far back they reach.
    fn count_of(&self, at: usize) -> Result<f64> {
        let expression = expression(&self.question.parts[at], false);
        let docs = self.docs(LOG_INDEX, &expression, None, SAMPLE)?;
        if docs.is_empty() {
            return Ok(self.docs(FEW_INDEX, &expression, None, SAMPLE)?.len() as f64);
        }
        if docs.len() < SAMPLE {
            return Ok(docs.len() as f64);
        }
        let mut ends =
            self.store.prepare_cached("SELECT (SELECT min(doc) FROM log), (SELECT max(doc) FROM log)")?;
        let (oldest, newest): (Option<i64>, Option<i64>) =
            ends.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (Some(oldest), Some(newest), Some(last)) = (oldest, newest, docs.last()) else {
            return Ok(docs.len() as f64);
        };
        let reach = (newest - last).max(1) as f64 / (newest - oldest).max(1) as f64;
        Ok((SAMPLE as f64 / reach.clamp(1e-9, 1.0)).min(self.all))
    }

    /// The newest texts that hold what an expression says.
    fn docs(&self, index: &str, expression: &str, before: Option<i64>, limit: usize) -> Result<Vec<i64>> {
        let mut sql = format!("SELECT rowid FROM {index} WHERE {index} MATCH ?");
        let mut values: Vec<Value> = vec![expression.to_owned().into()];
        if let Some(since) = self.scope.since {
            sql.push_str(" AND rowid >= ?");
            values.push(index::first(since).into());
        }
        let until = self.scope.until.map(|until| index::first(until).saturating_add(index::SLACK));
        if let Some(before) = until.into_iter().chain(before).min() {
            sql.push_str(" AND rowid < ?");
            values.push(before.into());
        }
        sql.push_str(" ORDER BY rowid DESC LIMIT ?");
        values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
        let mut found = self.store.prepare_cached(&sql)?;
        Ok(found
            .query_map(params_from_iter(&values), |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<i64>>>()?)
    }

    /// Looks at texts that hold these parts.
    fn gather(&mut self, parts: &[Part]) -> Result<()> {
        let wanted =
            |in_title: bool| -> Vec<String> { parts.iter().map(|part| expression(part, in_title)).collect() };
        let filters: Vec<String> = self.scope.tokens.iter().map(|token| quoted(token)).collect();
        let joined = |mut all: Vec<String>| {
            all.extend(filters.iter().cloned());
            all.join(" AND ")
        };
        let weights = Weights::of(&self.counts, self.all);
        let sorts = self.scope.few.clone();
        // Where there are not many of all sorts together, that is one question instead of one for each.
        let all: usize = SORTS.iter().map(|sort| sort.len()).sum();
        let together = sorts.iter().map(Vec::len).sum::<usize>() == all;
        let few =
            if together { self.docs(FEW_INDEX, &joined(wanted(false)), None, FEW)? } else { Vec::new() };
        let alone = !together || few.len() == FEW;
        if !alone {
            self.look(&few, parts, &weights)?;
        }
        for sort in sorts.into_iter().filter(|_| alone) {
            let kinds: Vec<String> =
                sort.iter().map(|kind| quoted(&index::of_kind(kind_name(*kind)))).collect();
            let mut all = wanted(false);
            all.push(format!("({})", kinds.join(" OR ")));
            let docs = self.docs(FEW_INDEX, &joined(all), None, FEW)?;
            self.look(&docs, parts, &weights)?;
        }
        if !self.scope.logs {
            return Ok(());
        }
        let expression = joined(wanted(false));
        let mut before = None;
        for round in 0..ROUNDS {
            let docs = self.docs(LOG_INDEX, &expression, before, LOGS)?;
            self.look(&docs, parts, &weights)?;
            // All are looked at.
            if docs.len() < LOGS {
                return Ok(());
            }
            if round == 0 {
                let docs = self.docs(LOG_INDEX, &joined(wanted(true)), None, BY_TITLE)?;
                self.look(&docs, parts, &weights)?;
            }
            if self.found.len() >= self.limit {
                break;
            }
            before = docs.last().copied();
        }
        Ok(())
    }

    fn look(&mut self, docs: &[i64], required: &[Part], weights: &Weights) -> Result<()> {
        let newest = self.newest()?;
        for doc in docs {
            if self.seen.contains(doc) {
                continue;
            }
            let looked = if Table::of(*doc) == Table::Log {
                self.look_at_log(*doc, required, weights)?
            } else {
                load(self.store, *doc)?.and_then(|text| {
                    let score = text.with(|document| self.score(text.at, required, weights, document))?;
                    Some((score * text.worth, text.at))
                })
            };
            if let Some((score, at)) = looked {
                self.seen.insert(*doc);
                self.found.push((score * text::freshness(at, newest), *doc));
            }
        }
        Ok(())
    }

    /// The score of a log and its time. Most of what is looked at are logs, and most of them are not shown: nothing is copied.
    fn look_at_log(&self, doc: i64, required: &[Part], weights: &Weights) -> Result<Option<(f64, Millis)>> {
        let mut found = self
            .store
            .prepare_cached("SELECT title, text, prompt, answer, more, at FROM log WHERE doc = ?1")?;
        let mut rows = found.query([doc])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let at = of_ms(row.get(5)?);
        let text = |column: usize| -> Result<&str> { Ok(row.get_ref(column)?.as_str().unwrap_or_default()) };
        let more: More = serde_json::from_str(text(4)?).unwrap_or_default();
        let files = more.files.join(" ");
        let document = Document { title: text(0)?, texts: &[text(1)?, text(2)?, text(3)?, &files] };
        Ok(self.score(at, required, weights, &document).map(|score| (score, at)))
    }

    fn score(
        &self,
        at: Millis,
        required: &[Part],
        weights: &Weights,
        document: &Document<'_>,
    ) -> Option<f64> {
        let in_time = self.scope.since.is_none_or(|since| at >= since)
            && self.scope.until.is_none_or(|until| at < until);
        in_time.then(|| text::score(&self.question, weights, required, document)).flatten()
    }

    fn newest(&self) -> Result<Millis> {
        let mut newest = self.store.prepare_cached("SELECT max(doc) FROM log")?;
        let doc: Option<i64> = newest.query_row([], |row| row.get(0))?;
        Ok(doc.map_or(Millis(0), index::time))
    }

    fn hits(mut self) -> Result<Vec<Hit>> {
        self.found.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        self.found.truncate(self.limit);
        let mut hits = Vec::with_capacity(self.found.len());
        for (score, doc) in &self.found {
            let Some(text) = load(self.store, *doc)? else { continue };
            let snippet = text.with(|document| text::snippet(&self.question, document));
            hits.push(Hit {
                kind: text.kind,
                id: text.id,
                title: text::one_line(&text.title, 200),
                snippet,
                project: text.project,
                topic: text.topic,
                at: text.at.iso(),
                score: *score,
                uid: text.uid,
            });
        }
        Ok(hits)
    }
}

/// A text as it is looked at and shown.
struct Loaded {
    kind: Kind,
    id: String,
    uid: String,
    title: String,
    texts: Vec<String>,
    project: Option<String>,
    topic: Option<String>,
    at: Millis,
    /// What its kind, or what became of it, makes of its score.
    worth: f64,
}

impl Loaded {
    fn with<T>(&self, act: impl FnOnce(&Document<'_>) -> T) -> T {
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        act(&Document { title: &self.title, texts: &texts })
    }
}

fn load(store: &Connection, doc: i64) -> Result<Option<Loaded>> {
    Ok(match Table::of(doc) {
        Table::Log => {
            let mut found = store.prepare_cached(
                "SELECT log.uid, log.title, log.text, log.prompt, log.answer, log.more, log.at, topic.title, project.name
                FROM log JOIN topic ON topic.id = log.topic JOIN project ON project.id = topic.project
                WHERE log.doc = ?1",
            )?;
            let mut rows = found.query([doc])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let more: More =
                serde_json::from_str(row.get_ref(5)?.as_str().unwrap_or_default()).unwrap_or_default();
            let uid: String = row.get(0)?;
            Some(Loaded {
                kind: Kind::Log,
                id: uid.clone(),
                uid,
                title: row.get(1)?,
                texts: vec![row.get(2)?, row.get(3)?, row.get(4)?, more.files.join(" ")],
                project: row.get(8)?,
                topic: row.get(7)?,
                at: of_ms(row.get(6)?),
                worth: 1.0,
            })
        }
        Table::Decision => row::decision(store, "decision.doc = ?1", [doc])?.map(|found| Loaded {
            kind: Kind::Decision,
            id: found.id.to_string(),
            uid: found.row.uid,
            title: found.row.text.lines().next().unwrap_or_default().to_owned(),
            texts: vec![found.row.text, found.row.reason],
            project: Some(found.in_project.name),
            topic: Some(found.in_topic.name),
            at: found.row.created,
            worth: if found.row.retracted.is_some() || found.superseded_by.is_some() { 0.5 } else { 1.3 },
        }),
        Table::Topic => row::topic(store, "topic.doc = ?1", [doc])?.map(|found| Loaded {
            kind: Kind::Topic,
            id: found.id.to_string(),
            uid: found.row.uid,
            title: found.row.title.clone(),
            texts: vec![found.row.title.clone()],
            project: Some(found.in_project.name),
            topic: Some(found.row.title),
            at: found.row.created,
            worth: if found.row.automatic.is_some() { 0.5 } else { 1.0 },
        }),
        Table::Note => {
            let mut found = store.prepare_cached(
                "SELECT note.kind, note.id, note.title, note.text, note.at, project.name
                FROM note JOIN project ON project.id = note.project WHERE note.doc = ?1",
            )?;
            let mut rows = found.query([doc])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let id: String = row.get(1)?;
            Some(Loaded {
                kind: note::kind(row.get_ref(0)?.as_str().unwrap_or_default()),
                uid: id.clone(),
                id,
                title: row.get(2)?,
                texts: vec![row.get(3)?],
                project: row.get(5)?,
                topic: None,
                at: of_ms(row.get(4)?),
                worth: 1.1,
            })
        }
    })
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
