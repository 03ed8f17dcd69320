//! Sample rows.

use tidegate_core::time::Millis;
use tidegate_memory::record::{
    DecisionRow, LogRow, LogSource, LogSummary, ProjectRow, Record, SessionRow, TopicRow, TopicStatus,
};

/// A day in 2026, so that numbers made of times have a realistic size.
pub(crate) const DAY: u64 = 1_790_000_000_000;

pub(crate) fn at(minutes: u64) -> Millis {
    Millis(DAY + minutes * 60_000)
}

pub(crate) fn project(uid: &str) -> ProjectRow {
    ProjectRow {
        uid: uid.to_owned(),
        id: None,
        key: Some(format!("/home/me/{uid}/.git")),
        name: uid.to_owned(),
        created: at(0),
        updated: at(0),
    }
}

pub(crate) fn topic(uid: &str, project: &str) -> TopicRow {
    TopicRow {
        uid: uid.to_owned(),
        id: None,
        project: project.to_owned(),
        parent: None,
        title: format!("Topic {uid}"),
        status: TopicStatus::Open,
        automatic: None,
        offered: 0,
        offered_at: None,
        created: at(0),
        updated: at(0),
    }
}

pub(crate) fn session(uid: &str, project: &str) -> SessionRow {
    SessionRow {
        uid: uid.to_owned(),
        project: project.to_owned(),
        root: format!("/home/me/{project}"),
        branch: Some("main".to_owned()),
        created: at(0),
        updated: at(0),
    }
}

pub(crate) fn log(uid: &str, topic: &str, minutes: u64) -> LogRow {
    LogRow {
        uid: uid.to_owned(),
        topic: topic.to_owned(),
        session: None,
        title: format!("Log {uid}"),
        text: format!("What log {uid} says"),
        prompt: String::new(),
        answer: String::new(),
        tools: [].into(),
        files: Vec::new(),
        source: LogSource::Relay,
        redacted: [].into(),
        notes: Vec::new(),
        summary: LogSummary::default(),
        at: at(minutes),
        updated: at(minutes),
    }
}

pub(crate) fn decision(uid: &str, topic: &str, minutes: u64) -> DecisionRow {
    DecisionRow {
        uid: uid.to_owned(),
        id: None,
        topic: topic.to_owned(),
        text: format!("Decision {uid}"),
        reason: "because".to_owned(),
        supersedes: None,
        retracted: None,
        session: None,
        taken_by: None,
        created: at(minutes),
        updated: at(minutes),
    }
}

/// Two projects, four topics, two sessions, eight logs, five decisions: every field of a row is used.
pub(crate) fn world() -> Vec<Record> {
    let full = LogRow {
        session: Some("s1".to_owned()),
        title: "Parser reads CRLF".to_owned(),
        text: "The parser reads files with CRLF.\nTwo lines.".to_owned(),
        prompt: "Why does the parser fail on Windows?".to_owned(),
        answer: "It did not know CRLF.".to_owned(),
        tools: [("Bash".to_owned(), 3), ("Edit".to_owned(), 1)].into(),
        files: vec!["src/parser.rs".to_owned(), "tests/crlf.rs".to_owned()],
        redacted: [("github-token".to_owned(), 1)].into(),
        notes: vec!["no topic has the id 99".to_owned()],
        summary: LogSummary { by: "haiku".to_owned(), again: true },
        updated: at(12),
        ..log("l1", "t1", 10)
    };
    let japanese = LogRow {
        session: Some("s1".to_owned()),
        title: "検索の設計".to_owned(),
        text: "全文検索の設計を変更した。二文字の単語も見つかる。".to_owned(),
        ..log("l2", "t2", 20)
    };
    vec![
        Record::Project(ProjectRow { id: Some(7), ..project("p1") }),
        Record::Project(ProjectRow { key: None, ..project("p2") }),
        Record::Topic(TopicRow { id: Some(40), ..topic("t1", "p1") }),
        Record::Topic(TopicRow { parent: Some("t1".to_owned()), ..topic("t2", "p1") }),
        Record::Topic(TopicRow { automatic: Some("s1".to_owned()), ..topic("t3", "p1") }),
        Record::Topic(TopicRow {
            status: TopicStatus::Closed,
            offered: 2,
            offered_at: Some(at(90)),
            ..topic("t4", "p2")
        }),
        Record::Session(session("s1", "p1")),
        Record::Session(session("s2", "p2")),
        Record::Log(full),
        Record::Log(japanese),
        Record::Log(LogRow { source: LogSource::Hand, ..log("l3", "t1", 30) }),
        Record::Log(LogRow { session: Some("s2".to_owned()), ..log("l4", "t4", 40) }),
        Record::Log(LogRow { session: Some("s2".to_owned()), ..log("l5", "t1", 50) }),
        Record::Log(log("l6", "t2", 60)),
        Record::Log(LogRow { session: Some("s1".to_owned()), ..log("l7", "t3", 70) }),
        Record::Log(log("l8", "t4", 70)),
        Record::Decision(decision("d1", "t1", 15)),
        Record::Decision(DecisionRow {
            supersedes: Some("d1".to_owned()),
            session: Some("s1".to_owned()),
            ..decision("d2", "t1", 25)
        }),
        Record::Decision(DecisionRow {
            retracted: Some(at(36)),
            updated: at(36),
            ..decision("d3", "t2", 35)
        }),
        Record::Decision(decision("d4", "t4", 45)),
        Record::Decision(DecisionRow { reason: String::new(), id: Some(12), ..decision("d5", "t4", 55) }),
    ]
}
