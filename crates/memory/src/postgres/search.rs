//! Searches the team's store: the same tokens as in the embedded store in a `tsvector`, the newest matches
//! as candidates, ranked by the same code. Only the newest of them come over the network.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use tidegate_core::time::Millis;
use tokio_postgres::{Row, Transaction};

use super::link::TransactionError;
use super::read::time_value;
use super::row::{get_column, get_time, to_number};
use super::statement::{Statement, without_nul};
use crate::record::{Record, Uid};
use crate::text::{self, Document, Question, QuestionPart, Weights};
use crate::view::{Hit, HitKind, Query};

/// Limits on the newest texts to fetch over the network: logs by title, logs, and decisions and topics
/// separately, because there is a topic per session.
const BY_TITLE: i64 = 50;
const LOGS: i64 = 200;
const OTHERS: i64 = 100;

/// In characters, per text.
const LOOKED_AT: i64 = 4000;

/// A word in this many texts is not counted further.
const COUNTED: i64 = 2000;

/// The assumed number of texts: counting them all would be too slow.
const ASSUMED_TEXTS: f64 = 10_000.0;

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
fn tsquery(parts: &[QuestionPart], in_title: bool) -> String {
    let part = |part: &QuestionPart| {
        let token = |token: &String| quote_token(&if in_title { title_token(token) } else { token.clone() });
        let tokens: Vec<String> = part.tokens.iter().map(token).collect();
        format!("({})", tokens.join(if part.any { " | " } else { " & " }))
    };
    parts.iter().filter(|part| !part.tokens.is_empty()).map(part).collect::<Vec<_>>().join(" & ")
}

pub(super) async fn search_all(
    transaction: &Transaction<'_>,
    query: &Query,
) -> Result<Vec<Hit>, TransactionError> {
    search_in(transaction, query, None).await
}

pub(super) async fn search_in(
    transaction: &Transaction<'_>,
    query: &Query,
    projects: Option<&[Uid]>,
) -> Result<Vec<Hit>, TransactionError> {
    let question = Question::parse(&query.text);
    if question.is_empty() || tsquery(&question.parts, false).is_empty() {
        return Ok(Vec::new());
    }
    let counts = count_texts(transaction, &question.parts).await?;
    let newest = Statement::new("SELECT max(at) AS at FROM log").row(transaction).await?;
    let newest = newest.as_ref().and_then(|row| get_time(row, "at").ok()).unwrap_or_default();
    let limit = query.limit();
    let search = ServerSearch { transaction, query, projects, limit, newest };
    search.run(question, counts).await
}

struct ServerSearch<'a> {
    transaction: &'a Transaction<'a>,
    query: &'a Query,
    projects: Option<&'a [Uid]>,
    limit: usize,
    newest: Millis,
}

impl ServerSearch<'_> {
    /// First the literal reading, then by parts, then with fewer parts.
    async fn run(&self, mut question: Question, mut counts: Vec<f64>) -> Result<Vec<Hit>, TransactionError> {
        let mut hits = Vec::new();
        if !question.strict.is_empty() {
            let strict = question.strict.clone();
            self.gather(&question, &counts, &strict, &mut hits).await?;
        }
        if hits.len() < self.limit {
            let parts = question.parts.clone();
            self.gather(&question, &counts, &parts, &mut hits).await?;
        }
        if hits.is_empty() {
            self.relax_question(&mut question.parts, &mut counts).await?;
            let counted = question.parts.iter().cloned().zip(counts.iter().copied());
            let mut known: Vec<(QuestionPart, f64)> = counted.filter(|(_, count)| *count > 0.0).collect();
            known.sort_by(|one, other| one.1.total_cmp(&other.1));
            let mut known: Vec<QuestionPart> = known.into_iter().map(|(part, _)| part).collect();
            while !known.is_empty() && hits.is_empty() {
                self.gather(&question, &counts, &known, &mut hits).await?;
                known.pop();
            }
        }
        hits.sort_by(|one, other| other.score.total_cmp(&one.score).then_with(|| other.at.cmp(&one.at)));
        hits.truncate(self.limit);
        Ok(hits)
    }

    /// Tries a last word without matches as a prefix, and a name as part of a longer one.
    async fn relax_question(
        &self,
        parts: &mut [QuestionPart],
        known: &mut [f64],
    ) -> Result<(), TransactionError> {
        let mut others = Vec::new();
        if let ([.., last], [.., 0.0]) = (&*parts, &*known) {
            others.extend(self.completions(last).await?.map(|completions| (parts.len() - 1, completions)));
        }
        let unknown = parts.iter().enumerate().filter(|(place, _)| known[*place] == 0.0);
        others.extend(unknown.filter_map(|(place, part)| Some((place, part.in_pieces()?))));
        let (places, others): (Vec<usize>, Vec<QuestionPart>) = others.into_iter().unzip();
        let found = count_texts(self.transaction, &others).await?;
        for ((place, other), count) in places.into_iter().zip(others).zip(found) {
            if known[place] == 0.0 && count > 0.0 {
                (parts[place], known[place]) = (other, count);
            }
        }
        Ok(())
    }

    async fn gather(
        &self,
        question: &Question,
        counts: &[f64],
        parts: &[QuestionPart],
        hits: &mut Vec<Hit>,
    ) -> Result<(), TransactionError> {
        let (anywhere, in_title) = (tsquery(parts, false), tsquery(parts, true));
        let weights = Weights::of(counts, ASSUMED_TEXTS);
        for row in self.candidates(&anywhere, &in_title).await? {
            let uid: Uid = get_column(&row, "uid")?;
            if hits.iter().any(|hit| hit.uid == uid) {
                continue;
            }
            let loaded = LoadedRow::of(&row)?;
            let texts: Vec<&str> = loaded.texts.iter().map(String::as_str).collect();
            let document = Document { title: &loaded.title, texts: &texts };
            let Some(score) = text::score_document(question, &weights, parts, &document) else { continue };
            hits.push(Hit {
                kind: loaded.kind,
                id: loaded.id,
                snippet: text::make_snippet(question, &document),
                title: text::one_line(&loaded.title, 200),
                project: Some(get_column(&row, "project_name")?),
                topic: Some(get_column(&row, "topic_title")?),
                at: loaded.at.iso(),
                score: score * text::freshness(loaded.at, self.newest) * loaded.worth,
                uid,
            });
        }
        Ok(())
    }

    async fn candidates(&self, anywhere: &str, in_title: &str) -> Result<Vec<Row>, TransactionError> {
        let mut statement = Statement::new(
            "SELECT d.uid, d.kind, d.at, t.id AS topic_id, t.title AS topic_title, t.automatic, p.name AS project_name, \
             c.id AS decision_id, l.title AS log_title, coalesce(l.files, '[]') AS files, \
             (c.retracted IS NOT NULL OR EXISTS (SELECT 1 FROM decision s WHERE s.supersedes = c.uid AND s.retracted IS NULL)) \
             AS fallen, ",
        );
        statement.add(
            "left(coalesce(l.text, c.text, ''), ?::int) AS text, left(coalesce(l.prompt, c.reason, ''), ?::int) AS prompt, \
             left(coalesce(l.answer, ''), ?::int) AS answer FROM (",
            [LOOKED_AT.into(), LOOKED_AT.into(), LOOKED_AT.into()],
        );
        let sets = [
            (in_title, "log", BY_TITLE),
            (anywhere, "log", LOGS),
            (anywhere, "decision", OTHERS),
            (anywhere, "topic", OTHERS),
        ];
        for (place, (words, kind, limit)) in sets.into_iter().enumerate() {
            let union = if place == 0 { "" } else { " UNION " };
            let text = format!(
                "{union}(SELECT d.uid, d.kind, d.at, d.topic FROM document d JOIN topic t ON d.topic = t.uid \
                 WHERE d.words @@ ?::tsquery AND d.kind = '{kind}'"
            );
            statement.add(&text, [words.into()]);
            add_filter(&mut statement, self.query);
            if let Some(projects) = self.projects {
                statement.add(" AND t.project = ANY(?)", [projects.to_vec().into()]);
            }
            statement.add(" ORDER BY d.at DESC, d.uid DESC LIMIT ?)", [limit.into()]);
        }
        statement.add(
            ") d JOIN topic t ON d.topic = t.uid JOIN project p ON t.project = p.uid \
             LEFT JOIN log l ON d.kind = 'log' AND l.uid = d.uid \
             LEFT JOIN decision c ON d.kind = 'decision' AND c.uid = d.uid",
            [],
        );
        statement.rows(self.transaction).await
    }

    /// Words of the newest texts with this prefix, also as an inflected form.
    async fn completions(&self, part: &QuestionPart) -> Result<Option<QuestionPart>, TransactionError> {
        let Some(prefix) = part.prefix.as_deref().filter(|word| word.chars().count() >= 3) else {
            return Ok(None);
        };
        let words = format!("{}:*", quote_token(prefix));
        let mut tokens = BTreeSet::new();
        for row in self.candidates(&words, &words).await? {
            let loaded = LoadedRow::of(&row)?;
            for part in loaded.texts.iter().chain([&loaded.title]) {
                text::collect_tokens(part, &mut tokens);
            }
        }
        let begin_so = tokens.into_iter().filter(|token| token.starts_with(prefix));
        let tokens: Vec<String> =
            begin_so.take(text::MOST_COMPLETIONS.into()).chain(text::unfinished_stems(prefix)).collect();
        Ok((!tokens.is_empty()).then(|| QuestionPart::any_of(tokens)))
    }
}

struct LoadedRow {
    kind: HitKind,
    id: String,
    title: String,
    texts: Vec<String>,
    at: Millis,
    /// A factor for its kind and state.
    worth: f64,
}

impl LoadedRow {
    fn of(row: &Row) -> Result<LoadedRow, TransactionError> {
        let (first, second): (String, String) = (get_column(row, "text")?, get_column(row, "prompt")?);
        let at = get_time(row, "at")?;
        Ok(match get_column(row, "kind")? {
            "log" => {
                let files: Vec<String> = serde_json::from_str(get_column(row, "files")?).unwrap_or_default();
                LoadedRow {
                    kind: HitKind::Log,
                    id: get_column(row, "uid")?,
                    title: get_column(row, "log_title")?,
                    texts: vec![first, second, get_column(row, "answer")?, files.join(" ")],
                    at,
                    worth: 1.0,
                }
            }
            "decision" => LoadedRow {
                kind: HitKind::Decision,
                id: get_column::<i64>(row, "decision_id")?.to_string(),
                title: first.lines().next().unwrap_or_default().to_owned(),
                texts: vec![first, second],
                at,
                worth: if get_column(row, "fallen")? { 0.5 } else { 1.3 },
            },
            _ => {
                let title: String = get_column(row, "topic_title")?;
                LoadedRow {
                    kind: HitKind::Topic,
                    id: get_column::<i64>(row, "topic_id")?.to_string(),
                    texts: vec![title.clone()],
                    title,
                    at,
                    worth: if get_column::<Option<String>>(row, "automatic")?.is_some() { 0.5 } else { 1.0 },
                }
            }
        })
    }
}

async fn count_texts(
    transaction: &Transaction<'_>,
    parts: &[QuestionPart],
) -> Result<Vec<f64>, TransactionError> {
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = Statement::new("SELECT ARRAY[");
    for (place, part) in parts.iter().enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        let text = format!(
            "{comma}(SELECT count(*) FROM (SELECT 1 FROM document WHERE words @@ ?::tsquery LIMIT ?) AS counted)"
        );
        statement.add(&text, [tsquery(std::slice::from_ref(part), false).as_str().into(), COUNTED.into()]);
    }
    statement.add("] AS counts", []);
    let row = statement.row(transaction).await?;
    let counts: Vec<i64> = row.as_ref().map(|row| get_column(row, "counts")).transpose()?.unwrap_or_default();
    Ok(counts.into_iter().map(|count| count as f64).collect())
}

fn add_filter(statement: &mut Statement, query: &Query) {
    let filter = &query.filter;
    if !query.kinds.is_empty() {
        let kinds = query.kinds.iter().map(|kind| match kind {
            HitKind::Log => "log".to_owned(),
            HitKind::Decision => "decision".to_owned(),
            HitKind::Topic => "topic".to_owned(),
            // Notes are only on the machine of their project.
            HitKind::Stock | HitKind::Progress => "none".to_owned(),
        });
        statement.add(" AND d.kind = ANY(?)", [kinds.collect::<Vec<_>>().into()]);
    }
    if let Some(project) = filter.project {
        statement.add(" AND t.project = (SELECT uid FROM project WHERE id = ?)", [project.into()]);
    }
    if let Some(topic) = filter.topic {
        statement.add(" AND t.id = ?", [topic.into()]);
    }
    if let Some(session) = &filter.session {
        statement.add(" AND d.session = ?", [session.as_str().into()]);
    }
    if let Some(since) = filter.since {
        statement.add(" AND d.at >= ?", [time_value(since)]);
    }
    if let Some(until) = filter.until {
        statement.add(" AND d.at < ?", [time_value(until)]);
    }
}
