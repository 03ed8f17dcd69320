//! Searches the embedded store: the best among the newest matching texts.
//!
//! The index returns texts in the order of time, so the work is bounded however common a word is. Looked at
//! are the newest logs with the words in the title, the newest logs with them anywhere, and the newest texts
//! of each other sort separately, so that none crowds out another.
//!
//! The cost of an index query grows with the frequency of its words. If the rarest words leave only few
//! texts, the search reads those texts and checks the other words there. The frequency of a word is
//! estimated from how far back its newest texts reach.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rusqlite::{Connection, params_from_iter, types::Value};
use tidegate_core::time::Millis;

use super::index::{self, LOG_INDEX, LOG_TERMS, OTHERS_INDEX, OTHERS_TERMS, TextTable};
use super::notes;
use super::row::{self, LogExtras, from_ms};
use crate::error::Result;
use crate::text::{self, Atom, Document, Fit, Question, QuestionPart, Weights};
use crate::view::{Hit, HitKind, Query};

/// Limits on the texts to read: per sort other than logs, for logs by title, and for logs.
const OTHERS: usize = 60;
const BY_TITLE: usize = 60;
const LOGS: usize = 120;

/// The index entries that may be read to find more logs than twice the limit.
const ENTRIES: f64 = 100_000.0;

/// The limit if most logs contain the words, but not in the required order.
const MOST_LOGS: usize = 3 * LOGS;

/// The sample that estimates the frequency of a word.
const SAMPLE: usize = 64;

pub(super) fn search_store(store: &Connection, query: &Query) -> Result<Vec<Hit>> {
    let question = Question::parse(&query.text);
    let limit = query.limit();
    let Some(scope) = Scope::of(query) else { return Ok(Vec::new()) };
    if question.is_empty() {
        return Ok(Vec::new());
    }
    let mut search = StoreSearch {
        store,
        question,
        scope,
        limit,
        counts: Vec::new(),
        all: 0.0,
        seen: BTreeSet::new(),
        found: Vec::new(),
        narrow: [None, None],
        room: Vec::new(),
    };
    search.run()?;
    search.into_hits()
}

struct Scope {
    tokens: Vec<String>,
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
        let logs = is_wanted(&HitKind::Log);
        let is_possible = filter.since.zip(filter.until).is_none_or(|(since, until)| since < until);
        is_possible.then_some(Scope { tokens, logs, others, since: filter.since, until: filter.until })
    }

    /// Whether all kinds other than logs are wanted.
    fn wants_all_others(&self) -> bool {
        let all: usize = SORTS.iter().map(|sort| sort.len()).sum();
        self.others.iter().map(Vec::len).sum::<usize>() == all
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

fn part_expressions(parts: &[QuestionPart], in_title: bool) -> Vec<String> {
    parts.iter().map(|part| part_expression(part, in_title)).collect()
}

fn part_expression(part: &QuestionPart, in_title: bool) -> String {
    let tokens: Vec<String> = part
        .tokens
        .iter()
        .map(|token| if in_title { quote_token(&index::title_token(token)) } else { quote_token(token) })
        .collect();
    if part.any { format!("({})", tokens.join(" OR ")) } else { tokens.join(" AND ") }
}

struct StoreSearch<'a> {
    store: &'a Connection,
    question: Question,
    scope: Scope,
    limit: usize,
    /// Estimates per part.
    counts: Vec<f64>,
    /// An estimate.
    all: f64,
    seen: BTreeSet<i64>,
    found: Vec<(f64, i64)>,
    /// Per index, all texts with some parts of the question, if there are few.
    narrow: [Option<NarrowSet>; 2],
    /// A buffer for the atoms of one text.
    room: Vec<Atom>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SearchedIndex {
    Others,
    Logs,
}

impl SearchedIndex {
    fn index(self) -> &'static str {
        match self {
            SearchedIndex::Others => OTHERS_INDEX,
            SearchedIndex::Logs => LOG_INDEX,
        }
    }

    fn most(self) -> usize {
        match self {
            SearchedIndex::Others => OTHERS,
            SearchedIndex::Logs => LOGS,
        }
    }
}

/// All texts with these parts of the question, and how well each fits the whole question.
struct NarrowSet {
    parts: Vec<usize>,
    texts: Vec<(i64, Fit)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NarrowingPlan {
    /// All parts at once, unless the rarest ones alone are likely to leave few texts.
    Likely,
    /// Known: all parts at once find nothing. Starts with the rarest parts and adds one at a time until few
    /// texts are left.
    StepByStep,
}

impl StoreSearch<'_> {
    fn run(&mut self) -> Result<()> {
        self.estimate_counts()?;
        if !self.question.strict.is_empty() {
            let strict = self.question.strict.clone();
            let weights = Weights::of(&self.counts, self.all);
            self.gather_others(&strict, &weights)?;
            self.gather_logs(&strict, &weights, LOGS)?;
        }
        if self.found.len() < self.limit {
            self.gather(&self.by_rarity(), NarrowingPlan::Likely)?;
        }
        if self.found.is_empty() {
            self.relax_question()?;
        }
        Ok(())
    }

    /// The rarest part first.
    fn by_rarity(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.question.parts.len()).collect();
        places.sort_by(|one, other| self.counts[*one].total_cmp(&self.counts[*other]));
        places
    }

    /// No text has all parts. Tries a last word without matches as a prefix, and a name as part of a longer
    /// one; then drops the most common parts one by one.
    fn relax_question(&mut self) -> Result<()> {
        let last = self.question.parts.len() - 1;
        let mut changed = false;
        if self.counts[last] == 0.0
            && let Some(completions) = self.completions(last)?
        {
            self.question.parts[last] = completions;
            self.counts[last] = self.estimate_count(last)?;
            changed = true;
        }
        for at in 0..self.question.parts.len() {
            if self.counts[at] == 0.0
                && let Some(pieces) = self.question.parts[at].in_pieces()
            {
                self.question.parts[at] = pieces;
                self.counts[at] = self.estimate_count(at)?;
                changed = true;
            }
        }
        let mut known = self.by_rarity();
        known.retain(|place| self.counts[*place] > 0.0);
        if changed {
            self.narrow = [None, None];
        } else if known.len() == self.question.parts.len() {
            // The exact question is known to find nothing.
            known.pop();
        }
        while !known.is_empty() && self.found.is_empty() {
            self.gather(&known, NarrowingPlan::StepByStep)?;
            known.pop();
        }
        Ok(())
    }

    /// Index words with this prefix, also as an inflected form.
    fn completions(&self, at: usize) -> Result<Option<QuestionPart>> {
        let Some(prefix) = self.question.parts[at].prefix.as_deref().filter(|word| word.chars().count() >= 3)
        else {
            return Ok(None);
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
        Ok((!tokens.is_empty()).then(|| QuestionPart::any_of(tokens)))
    }

    fn estimate_counts(&mut self) -> Result<()> {
        self.all = (index::count_logs(self.store)? as f64).max(1.0);
        self.counts =
            (0..self.question.parts.len()).map(|at| self.estimate_count(at)).collect::<Result<_>>()?;
        Ok(())
    }

    /// Estimates the frequency from the age of the newest matches.
    fn estimate_count(&self, at: usize) -> Result<f64> {
        let expression = part_expression(&self.question.parts[at], false);
        let docs = self.newest_docs(LOG_INDEX, &expression, SAMPLE)?;
        if docs.is_empty() {
            return Ok(self.newest_docs(OTHERS_INDEX, &expression, SAMPLE)?.len() as f64);
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

    /// Newest first.
    fn newest_docs(&self, index: &str, expression: &str, limit: usize) -> Result<Vec<i64>> {
        let (sql, values) = self.index_query(index, expression, limit, "DESC");
        self.query_docs(&sql, &values)
    }

    fn query_docs(&self, sql: &str, values: &[Value]) -> Result<Vec<i64>> {
        let mut found = self.store.prepare_cached(sql)?;
        Ok(found
            .query_map(params_from_iter(values), |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<i64>>>()?)
    }

    fn index_query(&self, index: &str, expression: &str, limit: usize, order: &str) -> (String, Vec<Value>) {
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
        let _ = write!(sql, " ORDER BY rowid {order} LIMIT ?");
        values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
        (sql, values)
    }

    /// Expects the rarest part first.
    fn gather(&mut self, places: &[usize], way: NarrowingPlan) -> Result<()> {
        let (parts, weights) = (self.parts(places), Weights::of(&self.counts, self.all));
        if !self.gather_narrow(SearchedIndex::Others, places, way, &weights)? {
            self.gather_others(&parts, &weights)?;
        }
        if !self.gather_narrow(SearchedIndex::Logs, places, way, &weights)? {
            self.gather_logs(&parts, &weights, self.logs_to_read(places))?;
        }
        Ok(())
    }

    fn parts(&self, places: &[usize]) -> Vec<QuestionPart> {
        places.iter().map(|place| self.question.parts[*place].clone()).collect()
    }

    /// Fewer if matches are rare, because the index takes long to find each.
    fn logs_to_read(&self, places: &[usize]) -> usize {
        let parts = || places.iter().map(|place| (&self.question.parts[*place], self.counts[*place]));
        let likely = parts().fold(self.all, |likely, (_, count)| likely * count / self.all);
        let entries: f64 = parts().map(|(part, count)| part.tokens.len() as f64 * count).sum();
        ((likely * ENTRIES / entries.max(1.0)) as usize).clamp((2 * self.limit).min(LOGS), LOGS)
    }

    /// Uses only the rarest parts if they leave few texts. Returns whether it did.
    fn gather_narrow(
        &mut self,
        among: SearchedIndex,
        places: &[usize],
        way: NarrowingPlan,
        weights: &Weights,
    ) -> Result<bool> {
        let is_wanted = match among {
            SearchedIndex::Others => self.scope.wants_all_others(),
            SearchedIndex::Logs => self.scope.logs,
        };
        if !is_wanted {
            return Ok(false);
        }
        let which = among as usize;
        let is_within = |narrow: &NarrowSet| narrow.parts.iter().all(|part| places.contains(part));
        if !self.narrow[which].as_ref().is_some_and(is_within) {
            self.narrow[which] = self.find_narrow_set(among, places, way, weights)?;
        }
        let Some(narrow) = &self.narrow[which] else { return Ok(false) };
        let newest = self.newest_time()?;
        let is_known = |place: &usize| {
            narrow.parts.contains(place) && self.question.parts[*place].is_where_its_tokens_are()
        };
        for (doc, fit) in &narrow.texts {
            let holds = places.iter().all(|place| fit.holds(*place) || is_known(place));
            if holds && self.seen.insert(*doc) {
                self.found.push((fit.score * text::freshness(index::doc_time(*doc), newest), *doc));
            }
        }
        Ok(true)
    }

    /// Adds one of the rarest parts at a time until few texts are left.
    fn find_narrow_set(
        &mut self,
        among: SearchedIndex,
        places: &[usize],
        way: NarrowingPlan,
        weights: &Weights,
    ) -> Result<Option<NarrowSet>> {
        let most = among.most();
        let mut likely = self.all;
        // The full set is queried anyway; a pair quickly shows whether the words meet.
        for some in 1..=(places.len() - 1).max(2).min(places.len()) {
            likely *= self.counts[places[some - 1]] / self.all;
            let is_worth_it = match way {
                // In between, the query could take long and not help. Where very many matches are likely it
                // returns at once, unless the parts never meet.
                NarrowingPlan::Likely => {
                    likely < most as f64 / 2.0 || some > 1 && likely > most as f64 * 20.0
                }
                NarrowingPlan::StepByStep => some > 1 || likely < most as f64,
            };
            if !is_worth_it {
                continue;
            }
            let parts = self.parts(&places[..some]);
            // All or none are used, so the order does not matter; ascending is faster.
            let (sql, values) = self.index_query(
                among.index(),
                &self.with_filters(part_expressions(&parts, false)),
                most,
                "ASC",
            );
            let docs = self.query_docs(&sql, &values)?;
            if docs.len() == most {
                continue;
            }
            let all = self.question.parts.clone();
            let mut texts = Vec::with_capacity(docs.len());
            for doc in docs {
                texts.extend(self.fit_doc(doc, &all, weights)?.map(|fit| (doc, fit)));
            }
            return Ok(Some(NarrowSet { parts: places[..some].to_vec(), texts }));
        }
        Ok(None)
    }

    fn with_filters(&self, mut wanted: Vec<String>) -> String {
        wanted.extend(self.scope.tokens.iter().map(|token| quote_token(token)));
        wanted.join(" AND ")
    }

    fn gather_others(&mut self, parts: &[QuestionPart], weights: &Weights) -> Result<()> {
        // One query if there are few in total, else one per sort.
        if self.scope.wants_all_others() {
            let docs =
                self.newest_docs(OTHERS_INDEX, &self.with_filters(part_expressions(parts, false)), OTHERS)?;
            if docs.len() < OTHERS {
                return self.rank_docs(&docs, parts, weights);
            }
        }
        for sort in self.scope.others.clone() {
            let kinds: Vec<String> =
                sort.iter().map(|kind| quote_token(&index::kind_token(kind_name(*kind)))).collect();
            let mut all = part_expressions(parts, false);
            all.push(format!("({})", kinds.join(" OR ")));
            let docs = self.newest_docs(OTHERS_INDEX, &self.with_filters(all), OTHERS)?;
            self.rank_docs(&docs, parts, weights)?;
        }
        Ok(())
    }

    /// By title and by any text.
    fn gather_logs(&mut self, parts: &[QuestionPart], weights: &Weights, at_once: usize) -> Result<()> {
        if !self.scope.logs {
            return Ok(());
        }
        let store = self.store;
        let (sql, values) = self.index_query(
            LOG_INDEX,
            &self.with_filters(part_expressions(parts, false)),
            MOST_LOGS,
            "DESC",
        );
        let mut asked = store.prepare_cached(&sql)?;
        // The query is lazy: rows are computed as they are taken.
        let mut more = asked.query_map(params_from_iter(&values), |row| row.get(0))?;
        let mut looked_at = 0;
        while looked_at < MOST_LOGS {
            let docs: Vec<i64> = more.by_ref().take(at_once).collect::<rusqlite::Result<_>>()?;
            self.rank_docs(&docs, parts, weights)?;
            if docs.len() < at_once {
                break;
            }
            if looked_at == 0 {
                let docs =
                    self.newest_docs(LOG_INDEX, &self.with_filters(part_expressions(parts, true)), BY_TITLE)?;
                self.rank_docs(&docs, parts, weights)?;
            }
            if self.found.len() >= self.limit {
                break;
            }
            looked_at += docs.len();
        }
        Ok(())
    }

    /// Expects texts that contain all tokens of the required parts.
    fn rank_docs(&mut self, docs: &[i64], required: &[QuestionPart], weights: &Weights) -> Result<()> {
        let newest = self.newest_time()?;
        for doc in docs {
            if self.seen.contains(doc) {
                continue;
            }
            if let Some(fit) = self.fit_doc(*doc, required, weights)?
                && fit.holds_together(required)
            {
                self.seen.insert(*doc);
                self.found.push((fit.score * text::freshness(index::doc_time(*doc), newest), *doc));
            }
        }
        Ok(())
    }

    /// `None` if the text is gone or outside the time span.
    fn fit_doc(&mut self, doc: i64, required: &[QuestionPart], weights: &Weights) -> Result<Option<Fit>> {
        let mut room = std::mem::take(&mut self.room);
        let fit = if TextTable::of(doc) == TextTable::Log {
            self.fit_log(doc, required, weights, &mut room)?
        } else {
            load_text(self.store, doc)?.and_then(|text| {
                let fit =
                    text.with(|document| self.fit_in_time(text.at, required, weights, document, &mut room))?;
                Some(fit.worth(text.worth))
            })
        };
        self.room = room;
        Ok(fit)
    }

    /// Copies nothing: most texts are logs, and most logs are not shown.
    fn fit_log(
        &self,
        doc: i64,
        required: &[QuestionPart],
        weights: &Weights,
        room: &mut Vec<Atom>,
    ) -> Result<Option<Fit>> {
        let mut found = self
            .store
            .prepare_cached("SELECT title, text, prompt, answer, more, at FROM log WHERE doc = ?1")?;
        let mut rows = found.query([doc])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let at = from_ms(row.get(5)?);
        let text = |column: usize| -> Result<&str> { Ok(row.get_ref(column)?.as_str().unwrap_or_default()) };
        let more: LogExtras = serde_json::from_str(text(4)?).unwrap_or_default();
        let files = more.files.join(" ");
        let document = Document { title: text(0)?, texts: &[text(1)?, text(2)?, text(3)?, &files] };
        Ok(self.fit_in_time(at, required, weights, &document, room))
    }

    fn fit_in_time(
        &self,
        at: Millis,
        required: &[QuestionPart],
        weights: &Weights,
        document: &Document<'_>,
        room: &mut Vec<Atom>,
    ) -> Option<Fit> {
        let in_time = self.scope.since.is_none_or(|since| at >= since)
            && self.scope.until.is_none_or(|until| at < until);
        in_time.then(|| text::fit_document(&self.question, weights, required, document, room))
    }

    fn newest_time(&self) -> Result<Millis> {
        let mut newest = self.store.prepare_cached("SELECT max(doc) FROM log")?;
        let doc: Option<i64> = newest.query_row([], |row| row.get(0))?;
        Ok(doc.map_or(Millis(0), index::doc_time))
    }

    fn into_hits(mut self) -> Result<Vec<Hit>> {
        self.found.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        self.found.truncate(self.limit);
        let mut hits = Vec::with_capacity(self.found.len());
        for (score, doc) in &self.found {
            let Some(text) = load_text(self.store, *doc)? else { continue };
            let snippet = text.with(|document| text::make_snippet(&self.question, document));
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

struct LoadedText {
    kind: HitKind,
    id: String,
    uid: String,
    title: String,
    texts: Vec<String>,
    project: Option<String>,
    topic: Option<String>,
    at: Millis,
    /// A factor for its kind and state.
    worth: f64,
}

impl LoadedText {
    fn with<T>(&self, act: impl FnOnce(&Document<'_>) -> T) -> T {
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        act(&Document { title: &self.title, texts: &texts })
    }
}

fn load_text(store: &Connection, doc: i64) -> Result<Option<LoadedText>> {
    Ok(match TextTable::of(doc) {
        TextTable::Log => {
            let mut found = store.prepare_cached(
                "SELECT log.uid, log.title, log.text, log.prompt, log.answer, log.more, log.at, topic.title, project.name
                FROM log JOIN topic ON topic.id = log.topic JOIN project ON project.id = topic.project
                WHERE log.doc = ?1",
            )?;
            let mut rows = found.query([doc])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let more: LogExtras =
                serde_json::from_str(row.get_ref(5)?.as_str().unwrap_or_default()).unwrap_or_default();
            let uid: String = row.get(0)?;
            Some(LoadedText {
                kind: HitKind::Log,
                id: uid.clone(),
                uid,
                title: row.get(1)?,
                texts: vec![row.get(2)?, row.get(3)?, row.get(4)?, more.files.join(" ")],
                project: row.get(8)?,
                topic: row.get(7)?,
                at: from_ms(row.get(6)?),
                worth: 1.0,
            })
        }
        TextTable::Decision => {
            row::find_decision(store, "decision.doc = ?1", [doc])?.map(|found| LoadedText {
                kind: HitKind::Decision,
                id: found.id.to_string(),
                uid: found.row.uid,
                title: found.row.text.lines().next().unwrap_or_default().to_owned(),
                texts: vec![found.row.text, found.row.reason],
                project: Some(found.in_project.name),
                topic: Some(found.in_topic.name),
                at: found.row.created,
                worth: if found.row.retracted.is_some() || found.superseded_by.is_some() { 0.5 } else { 1.3 },
            })
        }
        TextTable::Topic => row::find_topic(store, "topic.doc = ?1", [doc])?.map(|found| LoadedText {
            kind: HitKind::Topic,
            id: found.id.to_string(),
            uid: found.row.uid,
            title: found.row.title.clone(),
            texts: vec![found.row.title.clone()],
            project: Some(found.in_project.name),
            topic: Some(found.row.title),
            at: found.row.created,
            worth: if found.row.automatic.is_some() { 0.5 } else { 1.0 },
        }),
        TextTable::Note => {
            let mut found = store.prepare_cached(
                "SELECT note.kind, note.id, note.title, note.text, note.at, project.name
                FROM note JOIN project ON project.id = note.project WHERE note.doc = ?1",
            )?;
            let mut rows = found.query([doc])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let id: String = row.get(1)?;
            Some(LoadedText {
                kind: notes::parse_kind(row.get_ref(0)?.as_str().unwrap_or_default()),
                uid: id.clone(),
                id,
                title: row.get(2)?,
                texts: vec![row.get(3)?],
                project: row.get(5)?,
                topic: None,
                at: from_ms(row.get(4)?),
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
