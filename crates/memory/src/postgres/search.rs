//! Searches the team's store: the same tokens as in the embedded store in a `tsvector`, the newest texts with any of the
//! words as candidates, ranked by the same code. Only the most promising of them come over the network.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use serde_json::{Value, json};
use tidegate_core::time::Millis;
use tokio_postgres::{Row, Transaction};

use super::link::TransactionError;
use super::read::time_value;
use super::row::{get_column, get_time, to_number};
use super::statement::{Statement, without_nul};
use crate::answer::{self, Candidate, Identity};
use crate::record::{Record, Uid};
use crate::text::{self, Document, NamedProject, Question, Reading, ReadingOf, Scorer, Surroundings, Wishes};
use crate::view::{Found, Hit, HitKind, Query};

/// Limits on the newest texts to list: logs with all words in the title, logs with a word, and decisions and topics
/// separately, because there is a topic per session.
const BY_TITLE: i64 = 50;
const LOGS: i64 = 150;
const OTHERS: i64 = 60;

/// The texts that are fetched over the network, and more if a phrase has to be found among its words.
const FETCHED: usize = 200;

/// The newest texts of a project and a time that a question names, behind those that fit better.
const NEWEST: usize = 5;

/// The projects whose names are known, last active first.
const PROJECTS: i64 = 500;

/// In characters, per text.
const LOOKED_AT: i64 = 4000;

/// A word in this many texts is common, and not counted further.
const COUNTED: i64 = 2000;

/// Texts that the index gives for a list before the newest of them are chosen: enough for all texts with a few words that are
/// not common.
const INDEXED: i64 = 2 * COUNTED;

/// The share of texts up to which a word of the same matter is rare.
const RARE: f64 = 0.02;

/// The newest texts that are looked at for common words. The index has too many of them.
const LOOKED_THROUGH: i64 = 2000;

/// The assumed number of texts, if there are not fewer: counting them all would be too slow. So would be looking for each of the
/// hundreds of words of the same matter.
const ASSUMED_TEXTS: i64 = 10_000;

/// In bytes per text: the size of a `tsvector` is limited.
const MOST_TOKENS: usize = 400_000;

pub(super) async fn index_records(
    transaction: &Transaction<'_>,
    records: impl Iterator<Item = Record>,
) -> Result<(), TransactionError> {
    let rows: Vec<Value> = records.filter_map(|record| indexed_document(&record)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let text = "INSERT INTO document (uid, kind, topic, session, at, words) \
                SELECT uid, kind, topic, session, at, words::tsvector FROM json_to_recordset(?::json) \
                AS given (uid text, kind text, topic text, session text, at bigint, words text) \
                ON CONFLICT (uid) DO UPDATE SET kind = excluded.kind, topic = excluded.topic, \
                session = excluded.session, at = excluded.at, words = excluded.words";
    Statement::of(text, [Value::from(rows).to_string().as_str().into()]).run(transaction).await?;
    Ok(())
}

fn indexed_document(record: &Record) -> Option<Value> {
    let (mut tokens, mut in_title) = (BTreeSet::new(), BTreeSet::new());
    let (kind, topic, session, at) = match record {
        Record::Project(_) | Record::Session(_) => return None,
        Record::Topic(row) => {
            text::collect_tokens(&row.title, &mut tokens);
            ("topic", &row.uid, &row.automatic, row.created)
        }
        Record::Log(row) => {
            text::collect_tokens(&row.title, &mut in_title);
            let files = row.files.join(" ");
            for part in [&row.title, &row.text, &row.prompt, &row.answer, &files] {
                text::collect_tokens(part, &mut tokens);
            }
            ("log", &row.topic, &row.session, row.at)
        }
        Record::Decision(row) => {
            for part in [&row.text, &row.reason] {
                text::collect_tokens(part, &mut tokens);
            }
            ("decision", &row.topic, &row.session, row.created)
        }
    };
    let mut words = String::new();
    for token in in_title.iter().map(|token| title_token(token)).chain(tokens) {
        if words.len() > MOST_TOKENS {
            break;
        }
        let _ = write!(words, "{} ", quote_token(&token));
    }
    Some(json!({
        "uid": without_nul(record.uid()), "kind": kind, "topic": topic, "session": session, "at": to_number(at), "words": words,
    }))
}

/// Tokens contain no colon, so this cannot clash.
fn title_token(token: &str) -> String {
    format!("t:{token}")
}

/// As a quoted lexeme.
fn quote_token(token: &str) -> String {
    format!("'{}'", without_nul(token).replace('\\', "\\\\").replace('\'', "''"))
}

/// As a `tsquery`.
fn all_of(tokens: &[String], in_title: bool) -> String {
    let token = |token: &String| quote_token(&if in_title { title_token(token) } else { token.clone() });
    format!("({})", tokens.iter().map(token).collect::<Vec<_>>().join(" & "))
}

fn any_of<'a>(readings: impl Iterator<Item = &'a Reading>, in_title: bool) -> String {
    let any: Vec<String> = readings.map(|reading| all_of(&reading.tokens, in_title)).collect();
    format!("({})", any.join(" | "))
}

/// What names a project, as a `tsquery`. A query without words finds nothing.
fn any_project(wishes: &Wishes) -> String {
    let any: Vec<String> = wishes.project_tokens.iter().map(|tokens| all_of(tokens, false)).collect();
    any.join(" | ")
}

pub(super) async fn search_all(
    transaction: &Transaction<'_>,
    query: &Query,
) -> Result<Found, TransactionError> {
    search_in(transaction, query, None).await
}

pub(super) async fn search_in(
    transaction: &Transaction<'_>,
    query: &Query,
    projects: Option<&[Uid]>,
) -> Result<Found, TransactionError> {
    let named = if query.filter.project.is_none() {
        named_projects(transaction, projects).await?
    } else {
        Vec::new()
    };
    let around = Surroundings { local: query.local.as_ref(), projects: &named };
    let mut question = Question::parse(&query.text, around);
    if question.is_empty() {
        return Ok(Found::default());
    }
    let newest = Statement::new("SELECT max(at) AS at FROM log").row(transaction).await?;
    let newest = newest.as_ref().and_then(|row| get_time(row, "at").ok()).unwrap_or_default();
    let limit = query.limit();
    let search = ServerSearch { transaction, query, projects, newest };
    for question in question.with_wishes() {
        let newest = Question { wishes: question.wishes.clone(), ..Question::default() };
        let (has_words, is_exact) = (!question.slots.is_empty(), question.wishes.is_exact());
        let mut found = search.run(question, limit).await?;
        if has_words && is_exact {
            found = found.followed_by(search.run(newest, NEWEST).await?, limit);
        }
        if !found.hits.is_empty() {
            return Ok(found);
        }
    }
    if question.slots.is_empty() {
        return Ok(Found::default());
    }
    let unfulfilled = std::mem::take(&mut question.wishes).typed;
    let mut found = search.run(question.clone(), limit).await?;
    let of_name = question.projects_of_name(&named);
    if !of_name.is_empty() {
        let wishes = Wishes { projects: of_name, ..Wishes::default() };
        let newest = Question { wishes, ..Question::default() };
        return Ok(found.followed_by(search.run(newest, limit).await?, limit));
    }
    if found.is_poor() {
        question.widen();
        found = search.run(question, limit).await?;
    }
    if !found.hits.is_empty() {
        found.without.extend(unfulfilled);
    }
    Ok(found)
}

async fn named_projects(
    transaction: &Transaction<'_>,
    projects: Option<&[Uid]>,
) -> Result<Vec<NamedProject>, TransactionError> {
    let mut statement = Statement::new("SELECT id, name FROM project WHERE true");
    if let Some(projects) = projects {
        statement.add(" AND uid = ANY(?)", [projects.to_vec().into()]);
    }
    statement.add(" ORDER BY id DESC LIMIT ?", [PROJECTS.into()]);
    let rows = statement.rows(transaction).await?;
    rows.iter()
        .map(|row| Ok(NamedProject { id: get_column(row, "id")?, name: get_column(row, "name")? }))
        .collect()
}

struct ServerSearch<'a> {
    transaction: &'a Transaction<'a>,
    query: &'a Query,
    projects: Option<&'a [Uid]>,
    newest: Millis,
}

/// A list of texts to ask the server for.
struct AskedList {
    words: String,
    kind: &'static str,
    limit: i64,
    /// The readings that it is about.
    readings: Vec<u16>,
    way: ListWay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListWay {
    /// From the index of words.
    Indexed,
    /// For common words: among the newest texts.
    LookedThrough,
    /// Without words.
    Newest,
}

impl ServerSearch<'_> {
    async fn run(&self, mut question: Question, limit: usize) -> Result<Found, TransactionError> {
        let all = Statement::of(
            "SELECT count(*) AS counted FROM (SELECT 1 FROM document LIMIT ?) AS listed",
            [ASSUMED_TEXTS.into()],
        );
        let all = all.row(self.transaction).await?;
        let all = all.as_ref().map(|row| get_column::<i64>(row, "counted")).transpose()?.unwrap_or_default();
        let mut counts = count_texts(self.transaction, question.readings.iter()).await?;
        self.complete_words(&mut question, &mut counts).await?;
        if all >= ASSUMED_TEXTS {
            question.associations.clear();
        }
        let words = question.associations.iter().map(|association| &association.word);
        let of_associations = count_texts(self.transaction, words).await?;
        let scorer = Scorer::new(&question, &counts, &of_associations, all as f64);
        let mut listed: HashMap<Uid, (i64, Vec<u16>)> = HashMap::new();
        let mut lists = asked_lists(&question, &counts, &scorer);
        lists.extend(associated_lists(&question, &of_associations, all as f64));
        lists.retain(|list| self.asks_for(list.kind));
        for row in self.list(&question, &lists).await? {
            let list = usize::try_from(get_column::<i32>(&row, "list")?).unwrap_or_default();
            let entry = listed.entry(get_column(&row, "uid")?).or_default();
            entry.0 = get_column(&row, "at")?;
            entry.1.extend(lists.get(list).into_iter().flat_map(|list| &list.readings));
        }
        let mut weighed: Vec<(f64, i64, Uid)> = listed
            .into_iter()
            .map(|(uid, (at, mut readings))| {
                readings.sort_unstable();
                readings.dedup();
                (scorer.promise(&readings), at, uid)
            })
            .collect();
        weighed.sort_by(|one, other| {
            other.0.total_cmp(&one.0).then_with(|| (other.1, &other.2).cmp(&(one.1, &one.2)))
        });
        weighed.truncate(FETCHED.max(self.query.limit() + 50) * if scorer.has_phrase() { 2 } else { 1 });
        let uids: Vec<Uid> = weighed.into_iter().map(|(_, _, uid)| uid).collect();
        let mut read = Vec::new();
        let mut room = Vec::new();
        for row in self.fetch(uids).await? {
            let loaded = LoadedRow::of(&row)?;
            let texts: Vec<&str> = loaded.texts.iter().map(String::as_str).collect();
            let seen = scorer.look(&Document { title: &loaded.title, texts: &texts }, &mut room);
            read.push((loaded, seen));
        }
        let mut found = Vec::new();
        for (loaded, seen) in read {
            if let Some(fit) = scorer.fit(&seen).filter(|fit| fit.coverage > 0.0) {
                let fit = fit.worth(text::freshness(loaded.at, self.newest) * loaded.worth);
                found.push(Candidate { identity: loaded.identity.clone(), text: loaded, fit });
            }
        }
        let newer = |one: &LoadedRow, other: &LoadedRow| (other.at, &other.uid).cmp(&(one.at, &one.uid));
        let shown = answer::settle(found, limit, &question, scorer.nowhere(), newer);
        let (without, coverage) = (answer::words_without(&question, &shown), answer::best_coverage(&shown));
        let hits =
            shown.into_iter().map(|Candidate { text, fit, .. }| text.hit(&question, fit.score)).collect();
        Ok(Found { hits, without, coverage })
    }

    fn asks_for(&self, kind: &str) -> bool {
        self.query.kinds.is_empty() || self.query.kinds.iter().any(|asked| stored_kind(*asked) == kind)
    }

    /// The last word may be the beginning of one.
    async fn complete_words(
        &self,
        question: &mut Question,
        counts: &mut Vec<f64>,
    ) -> Result<(), TransactionError> {
        let Some(last) = question.slots.len().checked_sub(1) else { return Ok(()) };
        let mut of_last =
            question.readings.iter().zip(&*counts).filter(|(one, _)| one.of == ReadingOf::Slot(last));
        if of_last.any(|(_, count)| *count > 0.0) {
            return Ok(());
        }
        let Some(prefix) = question.slots[last].prefix.clone().filter(|word| word.chars().count() >= 3)
        else {
            return Ok(());
        };
        let list = |kind, limit| AskedList {
            words: format!("{}:*", quote_token(&prefix)),
            kind,
            limit,
            readings: Vec::new(),
            way: ListWay::Indexed,
        };
        let mut lists = vec![list("log", LOGS), list("decision", OTHERS), list("topic", OTHERS)];
        lists.retain(|list| self.asks_for(list.kind));
        let rows = self.list(question, &lists).await?;
        let uids = rows.iter().map(|row| get_column(row, "uid")).collect::<Result<Vec<Uid>, _>>()?;
        let mut tokens = BTreeSet::new();
        for row in self.fetch(uids).await? {
            let loaded = LoadedRow::of(&row)?;
            for part in loaded.texts.iter().chain([&loaded.title]) {
                text::collect_tokens(part, &mut tokens);
            }
        }
        let begin_so = tokens.into_iter().filter(|token| token.starts_with(&prefix));
        let completions =
            begin_so.take(text::MOST_COMPLETIONS.into()).chain(text::unfinished_stems(&prefix)).collect();
        let first = question.readings.len();
        question.add_completions(last, completions);
        counts.extend(count_texts(self.transaction, question.readings[first..].iter()).await?);
        Ok(())
    }

    async fn list(&self, question: &Question, lists: &[AskedList]) -> Result<Vec<Row>, TransactionError> {
        if lists.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = Statement::default();
        for (place, list) in lists.iter().enumerate() {
            match list.way {
                ListWay::Indexed => self.add_indexed(&mut statement, question, place, list),
                ListWay::Newest => self.add_newest(&mut statement, question, place, list),
                ListWay::LookedThrough => {}
            }
        }
        for kind in ["log", "decision", "topic"] {
            let some: Vec<(usize, &AskedList)> = lists
                .iter()
                .enumerate()
                .filter(|(_, list)| list.way == ListWay::LookedThrough && list.kind == kind)
                .collect();
            if !some.is_empty() {
                self.add_looked_through(&mut statement, question, kind, &some);
            }
        }
        statement.rows(self.transaction).await
    }

    /// The newest of those that the index gives. Sorting all texts with a word, or looking for it in one text after the other,
    /// would take longer the more texts there are.
    fn add_indexed(&self, statement: &mut Statement, question: &Question, place: usize, list: &AskedList) {
        begin_part(statement);
        let inner =
            format!("SELECT d.uid, d.at, d.topic, d.words FROM document d WHERE d.kind = '{}'", list.kind);
        statement.add(&format!("(SELECT {place} AS list, d.uid, d.at FROM ({inner}"), []);
        statement.add(" AND d.words @@ ?::tsquery", [list.words.as_str().into()]);
        add_required(statement, "d", question);
        self.add_time_and_session(statement, question);
        statement.add(" LIMIT ?) AS d JOIN topic t ON d.topic = t.uid WHERE true", [INDEXED.into()]);
        self.add_projects(statement);
        let wishes = &question.wishes;
        if !wishes.projects.is_empty() {
            statement.add(
                " AND (t.project IN (SELECT uid FROM project WHERE id = ANY(?)) OR d.words @@ ?::tsquery)",
                [wishes.projects.clone().into(), any_project(wishes).as_str().into()],
            );
        }
        statement.add(" ORDER BY d.at DESC, d.uid DESC LIMIT ?)", [list.limit.into()]);
    }

    /// The newest, whatever words they have.
    fn add_newest(&self, statement: &mut Statement, question: &Question, place: usize, list: &AskedList) {
        begin_part(statement);
        statement.add(&format!("(SELECT {place} AS list, n.uid, n.at FROM ("), []);
        self.add_newest_texts(statement, question, list.kind, list.limit);
        statement.add(") AS n)", []);
    }

    /// One look at the words of each text decides for all of these lists.
    fn add_looked_through(
        &self,
        statement: &mut Statement,
        question: &Question,
        kind: &str,
        lists: &[(usize, &AskedList)],
    ) {
        begin_part(statement);
        let places: Vec<String> = lists.iter().map(|(place, _)| place.to_string()).collect();
        let text = format!(
            "(SELECT list, uid, at FROM (SELECT (ARRAY[{places}])[u.number] AS list, h.uid, h.at, \
             row_number() OVER (PARTITION BY u.number ORDER BY h.at DESC, h.uid DESC) AS place \
             FROM (SELECT l.uid, l.at, ARRAY[",
            places = places.join(", ")
        );
        statement.add(&text, []);
        for (number, (_, list)) in lists.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            statement.add(&format!("{comma}l.words @@ ?::tsquery"), [list.words.as_str().into()]);
        }
        // Joined with nothing, the words are unpacked, once.
        statement.add("] AS has FROM (SELECT n.uid, n.at, n.words || ''::tsvector AS words FROM (", []);
        self.add_newest_texts(statement, question, kind, LOOKED_THROUGH);
        statement.add(") AS n OFFSET 0) AS l WHERE true", []);
        add_required(statement, "l", question);
        let most = lists.iter().map(|(_, list)| list.limit).max().unwrap_or_default();
        statement.add(
            " OFFSET 0) AS h CROSS JOIN LATERAL unnest(h.has) WITH ORDINALITY AS u (is_in, number) WHERE u.is_in) AS r \
             WHERE place <= ?)",
            [most.into()],
        );
    }

    fn add_newest_texts(&self, statement: &mut Statement, question: &Question, kind: &str, limit: i64) {
        let text = format!(
            "SELECT d.uid, d.at, d.words FROM document d JOIN topic t ON d.topic = t.uid WHERE d.kind = '{kind}'"
        );
        statement.add(&text, []);
        self.add_time_and_session(statement, question);
        self.add_projects(statement);
        if !question.wishes.projects.is_empty() {
            let named = question.wishes.projects.clone();
            statement.add(" AND t.project IN (SELECT uid FROM project WHERE id = ANY(?))", [named.into()]);
        }
        statement.add(" ORDER BY d.at DESC, d.uid DESC LIMIT ?", [limit.into()]);
    }

    fn add_time_and_session(&self, statement: &mut Statement, question: &Question) {
        let filter = &self.query.filter;
        if let Some(session) = &filter.session {
            statement.add(" AND d.session = ?", [session.as_str().into()]);
        }
        let (since, until) = question.wishes.time.unzip();
        for since in [filter.since, since].into_iter().flatten() {
            statement.add(" AND d.at >= ?", [time_value(since)]);
        }
        for until in [filter.until, until].into_iter().flatten() {
            statement.add(" AND d.at < ?", [time_value(until)]);
        }
    }

    fn add_projects(&self, statement: &mut Statement) {
        let filter = &self.query.filter;
        if let Some(project) = filter.project {
            statement.add(" AND t.project = (SELECT uid FROM project WHERE id = ?)", [project.into()]);
        }
        if let Some(topic) = filter.topic {
            statement.add(" AND t.id = ?", [topic.into()]);
        }
        if let Some(projects) = self.projects {
            statement.add(" AND t.project = ANY(?)", [projects.to_vec().into()]);
        }
    }

    async fn fetch(&self, uids: Vec<Uid>) -> Result<Vec<Row>, TransactionError> {
        let mut statement = Statement::new(
            "SELECT d.uid, d.kind, d.at, t.id AS topic_id, t.title AS topic_title, t.automatic, p.name AS project_name, \
             c.id AS decision_id, l.title AS log_title, coalesce(l.files, '[]') AS files, \
             (c.retracted IS NOT NULL OR EXISTS (SELECT 1 FROM decision s WHERE s.supersedes = c.uid AND s.retracted IS NULL)) \
             AS fallen, ",
        );
        statement.add(
            "left(coalesce(l.text, c.text, ''), ?::int) AS text, left(coalesce(l.prompt, c.reason, ''), ?::int) AS prompt, \
             left(coalesce(l.answer, ''), ?::int) AS answer FROM document d \
             JOIN topic t ON d.topic = t.uid JOIN project p ON t.project = p.uid \
             LEFT JOIN log l ON d.kind = 'log' AND l.uid = d.uid \
             LEFT JOIN decision c ON d.kind = 'decision' AND c.uid = d.uid WHERE d.uid = ANY(?)",
            [LOOKED_AT.into(), LOOKED_AT.into(), LOOKED_AT.into(), uids.into()],
        );
        statement.rows(self.transaction).await
    }
}

/// Of each kind.
fn list_all(lists: &mut Vec<AskedList>, words: &str, readings: &[u16], way: ListWay) {
    for (kind, limit) in [("log", LOGS), ("decision", OTHERS), ("topic", OTHERS)] {
        lists.push(AskedList { words: words.to_owned(), kind, limit, readings: readings.to_vec(), way });
    }
}

/// Whether the index would give more texts than are looked at.
fn is_common(counts: impl Iterator<Item = f64> + Clone) -> bool {
    counts.clone().any(|count| count >= COUNTED as f64) || counts.sum::<f64>() >= INDEXED as f64
}

/// For each word the newest texts that have words of the same matter: the rare ones of these apart from the others, because
/// they say more.
fn associated_lists(question: &Question, counts: &[f64], all: f64) -> Vec<AskedList> {
    let mut lists = Vec::new();
    for slot in 0..question.slots.len() {
        let is_of_slot = |number: &usize| {
            let of = &question.associations[*number].slots;
            counts[*number] > 0.0 && of.iter().any(|(other, _)| *other == slot)
        };
        let of_slot: Vec<usize> = (0..counts.len()).filter(is_of_slot).collect();
        let (rare, others): (Vec<usize>, Vec<usize>) =
            of_slot.into_iter().partition(|number| counts[*number] <= all * RARE);
        for some in [rare, others] {
            let Some(first) = some.first() else { continue };
            let words = any_of(some.iter().map(|number| &question.associations[*number].word), false);
            let is_common = is_common(some.iter().map(|number| counts[*number]));
            let way = if is_common { ListWay::LookedThrough } else { ListWay::Indexed };
            let number = u16::try_from(question.readings.len() + first).unwrap_or(u16::MAX);
            list_all(&mut lists, &words, &[number], way);
        }
    }
    lists
}

/// For each word the newest texts that have any of its readings; of logs also those that have all words.
fn asked_lists(question: &Question, counts: &[f64], scorer: &Scorer<'_>) -> Vec<AskedList> {
    let mut lists = Vec::new();
    if question.slots.is_empty() {
        list_all(&mut lists, "", &[], ListWay::Newest);
        if !question.wishes.projects.is_empty() {
            let named = any_project(&question.wishes);
            list_all(&mut lists, &named, &[], ListWay::Indexed);
        }
        return lists;
    }
    let is_known = |number: &usize| counts[*number] > 0.0 && scorer.weight(*number) > 0.0;
    let of = |owner: ReadingOf| {
        let all = (0..question.readings.len()).filter(is_known);
        all.filter(move |number| question.readings[*number].of == owner).collect::<Vec<usize>>()
    };
    let owners =
        (0..question.slots.len()).map(ReadingOf::Slot).chain((0..question.spans.len()).map(ReadingOf::Span));
    for owner in owners {
        // What the thesaurus has is worth less, and listed apart.
        let (own, expanded): (Vec<usize>, Vec<usize>) =
            of(owner).into_iter().partition(|number| question.readings[*number].is_own());
        for some in [own, expanded] {
            if let Some(first) = some.first() {
                let words = any_of(some.iter().map(|number| &question.readings[*number]), false);
                let is_common = is_common(some.iter().map(|number| counts[*number]));
                let way = if is_common { ListWay::LookedThrough } else { ListWay::Indexed };
                list_all(&mut lists, &words, &[u16::try_from(*first).unwrap_or(u16::MAX)], way);
            }
        }
    }
    let together: Vec<Vec<usize>> = (0..question.slots.len())
        .filter(|slot| question.slots[*slot].says_something())
        .map(|slot| {
            of(ReadingOf::Slot(slot)).into_iter().filter(|one| question.readings[*one].is_own()).collect()
        })
        .filter(|readings: &Vec<usize>| !readings.is_empty())
        .collect();
    if !together.is_empty() {
        let firsts: Vec<u16> =
            together.iter().map(|some| u16::try_from(some[0]).unwrap_or(u16::MAX)).collect();
        for (in_title, limit) in [(false, LOGS), (true, BY_TITLE)] {
            let all =
                together.iter().map(|some| any_of(some.iter().map(|one| &question.readings[*one]), in_title));
            let words = all.collect::<Vec<_>>().join(" & ");
            let (readings, way) = (firsts.clone(), ListWay::Indexed);
            lists.push(AskedList { words, kind: "log", limit, readings, way });
        }
    }
    lists
}

struct LoadedRow {
    kind: HitKind,
    id: String,
    uid: Uid,
    identity: Identity,
    title: String,
    texts: Vec<String>,
    project: String,
    topic: String,
    at: Millis,
    /// A factor for its kind and state.
    worth: f64,
}

impl LoadedRow {
    fn of(row: &Row) -> Result<LoadedRow, TransactionError> {
        let (first, second): (String, String) = (get_column(row, "text")?, get_column(row, "prompt")?);
        let (at, uid): (Millis, Uid) = (get_time(row, "at")?, get_column(row, "uid")?);
        let (project, topic): (String, String) =
            (get_column(row, "project_name")?, get_column(row, "topic_title")?);
        let topic_id = get_column::<i64>(row, "topic_id")?.to_string();
        Ok(match get_column(row, "kind")? {
            "log" => {
                let files: Vec<String> = serde_json::from_str(get_column(row, "files")?).unwrap_or_default();
                LoadedRow {
                    kind: HitKind::Log,
                    id: uid.clone(),
                    identity: Identity::Log { uid: uid.clone(), topic: topic_id },
                    title: get_column(row, "log_title")?,
                    texts: vec![first, second, get_column(row, "answer")?, files.join(" ")],
                    worth: 1.0,
                    uid,
                    project,
                    topic,
                    at,
                }
            }
            "decision" => LoadedRow {
                kind: HitKind::Decision,
                id: get_column::<i64>(row, "decision_id")?.to_string(),
                identity: Identity::Decision { uid: uid.clone() },
                title: first.lines().next().unwrap_or_default().to_owned(),
                texts: vec![first, second],
                worth: if get_column(row, "fallen")? { 0.5 } else { 1.3 },
                uid,
                project,
                topic,
                at,
            },
            _ => {
                let is_automatic = get_column::<Option<String>>(row, "automatic")?.is_some();
                LoadedRow {
                    kind: HitKind::Topic,
                    identity: Identity::Topic { topic: topic_id.clone(), is_automatic },
                    id: topic_id,
                    texts: vec![topic.clone()],
                    title: topic.clone(),
                    worth: if is_automatic { 0.5 } else { 1.0 },
                    uid,
                    project,
                    topic,
                    at,
                }
            }
        })
    }

    fn hit(self, question: &Question, score: f64) -> Hit {
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        Hit {
            kind: self.kind,
            snippet: text::make_snippet(question, &Document { title: &self.title, texts: &texts }),
            title: text::one_line(&self.title, 200),
            id: self.id,
            project: Some(self.project),
            topic: Some(self.topic),
            at: self.at.iso(),
            score,
            uid: self.uid,
        }
    }
}

async fn count_texts<'a>(
    transaction: &Transaction<'_>,
    readings: impl Iterator<Item = &'a Reading>,
) -> Result<Vec<f64>, TransactionError> {
    let mut readings = readings.peekable();
    if readings.peek().is_none() {
        return Ok(Vec::new());
    }
    let mut statement = Statement::new("SELECT ARRAY[");
    for (place, reading) in readings.enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        let text = format!(
            "{comma}(SELECT count(*) FROM (SELECT 1 FROM document WHERE words @@ ?::tsquery LIMIT ?) AS counted)"
        );
        statement.add(&text, [all_of(&reading.tokens, false).as_str().into(), COUNTED.into()]);
    }
    statement.add("] AS counts", []);
    let row = statement.row(transaction).await?;
    let counts: Vec<i64> = row.as_ref().map(|row| get_column(row, "counts")).transpose()?.unwrap_or_default();
    Ok(counts.into_iter().map(|count| count as f64).collect())
}

fn begin_part(statement: &mut Statement) {
    if !statement.is_empty() {
        statement.add(" UNION ALL ", []);
    }
}

/// What is quoted.
fn add_required(statement: &mut Statement, table: &str, question: &Question) {
    for slot in (0..question.slots.len()).filter(|slot| question.slots[*slot].required) {
        let readings = question.readings.iter().filter(|reading| reading.of == ReadingOf::Slot(slot));
        statement
            .add(&format!(" AND {table}.words @@ ?::tsquery"), [any_of(readings, false).as_str().into()]);
    }
}

/// In the column of kinds.
fn stored_kind(kind: HitKind) -> &'static str {
    match kind {
        HitKind::Log => "log",
        HitKind::Decision => "decision",
        HitKind::Topic => "topic",
        // Notes are only on the machine of their project.
        HitKind::Stock | HitKind::Progress => "none",
    }
}
