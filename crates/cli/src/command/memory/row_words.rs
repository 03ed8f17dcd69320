//! Rows of the memory, as people read them.

use tidegate_core::feature::memory::said::shorten_decision;
use tidegate_core::text::short_id::short_id;
use tidegate_core::time::Millis;
use tidegate_memory::act::{DecisionStatus, Standing, author_of_decision, author_of_log, author_of_teammate};
use tidegate_memory::record::{TopicStatus, is_earlier_wording};
use tidegate_memory::team::has_folder;
use tidegate_memory::text::one_line as line;
use tidegate_memory::view::{Decision, Log, MemoryProject, Topic};

use crate::bilingual::{Bilingual, both, count_en};
use crate::local_time::LocalClock;
use crate::print::text::{Text, data};

/// An id and a title, with details that stand below or behind them.
pub(crate) struct ShownRow {
    id: String,
    pub(crate) title: String,
    details: Vec<Bilingual>,
}

impl ShownRow {
    /// For a list: the id, and next to it the title above the details.
    pub(super) fn pair(&self) -> (Text, Text) {
        let details = Text::from(self.details()).dim();
        (data(&self.id).strong(), data(&self.title) + data("\n") + details)
    }

    pub(crate) fn details(&self) -> Bilingual {
        dotted(&self.details)
    }

    /// For a question.
    pub(super) fn line(&self) -> Bilingual {
        let ShownRow { id, title, details } = self;
        let Bilingual { en, ja } = dotted(details);
        both!("  {id}  {title} ({en})", "  {id}  {title}（{ja}）")
    }
}

pub(super) fn dotted(parts: &[Bilingual]) -> Bilingual {
    let join = |texts: Vec<&str>| texts.join(" · ");
    Bilingual {
        en: join(parts.iter().map(|part| part.en.as_str()).collect()),
        ja: join(parts.iter().map(|part| part.ja.as_str()).collect()),
    }
}

pub(crate) fn topic_row(clock: &LocalClock, topic: &Topic) -> ShownRow {
    let mut details = vec![
        Bilingual::data(line(&topic.in_project.name, 40)),
        describe_counts(topic.decisions, topic.logs),
        Bilingual::data(clock.dated_minute(topic.active)),
    ];
    if topic.row.status == TopicStatus::Closed {
        details.push(both!("closed", "終了"));
    }
    if topic.row.automatic.is_some() {
        details.push(both!("automatic", "自動"));
    }
    details.extend(topic.author.as_ref().map(|name| describe_author(&author_of_teammate(name))));
    ShownRow { id: topic.id.to_string(), title: line(&topic.row.title, 120), details }
}

pub(crate) fn log_row(clock: &LocalClock, log: &Log) -> ShownRow {
    let details = vec![
        topic_of(&log.in_project.name, &log.in_topic.name),
        Bilingual::data(clock.dated_minute(log.row.at)),
        describe_author(&author_of_log(log)),
    ];
    ShownRow { id: short_uid(&log.row.uid), title: line(&log.row.title, 120), details }
}

pub(crate) fn decision_row(clock: &LocalClock, decision: &Decision) -> ShownRow {
    let mut details = vec![
        topic_of(&decision.in_project.name, &decision.in_topic.name),
        Bilingual::data(clock.dated_minute(decision.row.created)),
        describe_author(&author_of_decision(decision)),
    ];
    details.extend(if is_earlier_wording(&decision.row.uid) {
        Some(both!("earlier wording", "変更前の内容"))
    } else {
        describe_end(&Standing::of(decision))
    });
    ShownRow { id: decision.id.to_string(), title: shorten_decision(&decision.row.text, 160), details }
}

pub(super) fn project_row(project: &MemoryProject) -> ShownRow {
    let topics = project.topics;
    let Bilingual { en, ja } = describe_counts(project.decisions, project.logs);
    let counts = both!("{n}, {en}", "トピック{topics}件、{ja}", n = count_en(topics as usize, "topic"));
    let details = vec![counts, project_folder(project)];
    ShownRow { id: project.id.to_string(), title: line(&project.row.name, 40), details }
}

/// Why a decision no longer counts, or what contradicts it.
pub(super) fn describe_end(standing: &Standing) -> Option<Bilingual> {
    match (standing.status, standing.superseded_by) {
        (DecisionStatus::Retracted, _) => Some(both!("taken back", "取り消し済み")),
        (_, Some(by)) => Some(both!("replaced by decision {by}", "決定{by}に置き換え済み")),
        _ if !standing.conflicts.is_empty() => {
            let ids: Vec<String> = standing.conflicts.iter().map(ToString::to_string).collect();
            let ids = ids.join(", ");
            Some(both!("in conflict with decision {ids}", "決定{ids}と食い違っています"))
        }
        _ => None,
    }
}

pub(super) fn describe_counts(decisions: u64, logs: u64) -> Bilingual {
    both!(
        "{d}, {l}",
        "決定{decisions}件、ログ{logs}件",
        d = count_en(decisions as usize, "decision"),
        l = count_en(logs as usize, "log")
    )
}

/// Project and topic of a row.
pub(super) fn topic_of(project: &str, topic: &str) -> Bilingual {
    Bilingual::data(format!("{}: {}", line(project, 40), line(topic, 60)))
}

/// On this machine.
pub(super) fn project_folder(project: &MemoryProject) -> Bilingual {
    match &project.row.key {
        Some(key) if has_folder(key) => Bilingual::data(line(key.strip_suffix("/.git").unwrap_or(key), 300)),
        _ => both!("no folder on this machine", "このマシンにフォルダはありません"),
    }
}

/// `by` as JSON has it.
pub(super) fn describe_author(by: &str) -> Bilingual {
    if let Some(session) = by.strip_prefix("agent, session ") {
        return both!("agent, session {session}", "エージェント、セッション {session}");
    }
    if let Some(session) = by.strip_prefix("conversation, session ") {
        return both!("session {session}", "セッション {session}");
    }
    if let Some(session) = by.strip_prefix("the person, session ") {
        return both!("you, session {session}", "あなた、セッション {session}");
    }
    if let Some(name) = by.strip_prefix("agent of teammate ") {
        let name = line(name, 40);
        return both!("agent of teammate {name}", "チームの {name} のエージェント");
    }
    if let Some(name) = by.strip_prefix("teammate ") {
        let name = line(name, 40);
        return both!("teammate {name}", "チームの {name}");
    }
    match by {
        "author not recorded" => both!("author not recorded", "記入者の記録なし"),
        "a file of the project" => both!("file of the project", "プロジェクトのファイル"),
        _ => Bilingual::data(line(by, 80)),
    }
}

/// The beginning of a log's id is enough to name it.
pub(super) fn short_uid(uid: &str) -> String {
    line(short_id(uid), 20)
}

/// `at` as JSON has it.
pub(super) fn local_minute(clock: &LocalClock, at: &str) -> Bilingual {
    Bilingual::data(Millis::from_iso(at).map_or_else(|| line(at, 40), |at| clock.dated_minute(at)))
}
