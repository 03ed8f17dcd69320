//! Laws about searching.

use std::cell::{Cell, RefCell};

use proptest::prelude::*;
use tidegate_memory::record::{DecisionRow, LogRow, LogSource, ProjectRow, Record, TopicRow};
use tidegate_memory::store::Store;
use tidegate_memory::text::{Question, Surroundings};
use tidegate_memory::view::{Filter, Forget, HitKind, LocalTime, Query};

use super::{Stores, filled, found, id_of_project, id_of_topic};
use crate::rows::{at, decision, log, project, session, topic};

pub(crate) fn words_are_found(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let with = |uid: &str, title: &str, text: &str| {
        Record::Log(LogRow { title: title.to_owned(), text: text.to_owned(), ..log(uid, "t1", 100) })
    };
    store
        .put(&[
            with("busy", "SQLite store", "Set the busy timeout to 5 seconds; writers wait in turn."),
            with(
                "camel",
                "Naming",
                "call readTranscriptTail() and snake_case_name from crates/memory/src/lib.rs",
            ),
            with("ja", "データベース", "ﾃﾞｰﾀﾍﾞｰｽの取り消しと、使い方。移行は一度だけ。"),
            with("wide", "ＦＵＬＬ width", "Ｃａｆé"),
        ])
        .unwrap();
    for (question, expected) in [
        ("timeout", vec!["busy"]),
        ("TIMEOUTS", vec!["busy"]),
        ("\"busy timeout\"", vec!["busy"]),
        ("\"timeout busy\"", vec![]),
        ("sqlite", vec!["busy"]),
        ("SQLite writer", vec!["busy"]),
        ("transcript", vec!["camel"]),
        ("readTranscriptTail", vec!["camel"]),
        ("snake_case_name", vec!["camel"]),
        ("src/lib.rs", vec!["camel"]),
        ("設計", vec!["l2"]),
        ("設", vec!["l2"]),
        ("二文字", vec!["l2"]),
        ("検索の設計", vec!["l2"]),
        ("設計を変えた理由", vec!["l2"]),
        ("データベース", vec!["ja"]),
        ("取り消し", vec!["ja"]),
        ("移行", vec!["ja"]),
        ("full cafe", vec!["wide"]),
        ("zebra", vec![]),
        ("設算", vec![]),
        ("timeo", vec!["busy"]),
        ("parser.rs", vec!["l1"]),
    ] {
        let mut found = found(&mut *store, question);
        assert_eq!(found.is_empty(), expected.is_empty(), "{question}: {found:?}");
        // What has only some of the words comes behind.
        found.truncate(expected.len());
        assert_eq!(found, expected, "{question}");
    }
    let query = Query { text: "設計".to_owned(), limit: 1, ..Query::default() };
    let hit = store.search(&query).unwrap().hits.remove(0);
    assert_eq!((hit.kind, hit.id.as_str(), hit.title.as_str()), (HitKind::Log, "l2", "検索の設計"));
    assert_eq!(hit.snippet, "全文検索の**設計**を変更した。二文字の単語も見つかる。");
    assert_eq!((hit.project.as_deref(), hit.topic.as_deref()), (Some("p1"), Some("Topic t2")));
    assert_eq!(hit.at, at(20).iso());
}

pub(crate) fn questions_of_any_kind_are_answered(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let long = "parser ".repeat(1500);
    let many: String = (0..2000).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    let han = "設計変更".repeat(800);
    for question in [
        "",
        " ",
        "\"",
        "\"\"",
        "*",
        "-",
        "a*",
        "^parser",
        "parser*",
        "NEAR(a b)",
        "a AND",
        "OR",
        "NOT",
        "(",
        "((parser",
        "a:b",
        "title:parser",
        "{a b}:c",
        "'; DROP TABLE log; --",
        "%",
        "_",
        "\\",
        "\0",
        "parser\0",
        "？！。、",
        "😀",
        "\u{301}",
        "🏳️‍🌈 ﷺ",
        "a|b&!c",
        "<->",
        "p:1",
        "k:few",
        "t:parser",
        &long,
        &many,
        &han,
    ] {
        let _ = found(&mut *store, question);
    }
    assert_eq!(found(&mut *store, &long), ["l1"]);
    assert_eq!(found(&mut *store, "parser*"), ["l1"]);
    assert_eq!(found(&mut *store, "((parser"), ["l1"]);
    assert!(found(&mut *store, "p:1 k:few").is_empty(), "what only the index knows is not found");
}

pub(crate) fn what_fits_better_comes_first(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let with = |uid: &str, minutes: u64, title: &str, text: &str| {
        Record::Log(LogRow { title: title.to_owned(), text: text.to_owned(), ..log(uid, "t1", minutes) })
    };
    store
        .put(&[
            with("title", 100, "Backup rotation", "Three are kept."),
            with("body", 200, "Other", "Once the word backup, among many others that say something else."),
            with("old", 100, "Cache", "eviction of the cache"),
            with("new", 100 + 60 * 24 * 90, "Cache", "eviction of the cache"),
        ])
        .unwrap();
    assert_eq!(found(&mut *store, "backup"), ["title", "body"]);
    assert_eq!(found(&mut *store, "cache eviction"), ["new", "old"]);
    assert_eq!(found(&mut *store, "eviction zebra"), ["new", "old"], "what nothing has is left out");
    assert_eq!(found(&mut *store, "decision d5")[0], "d5");
}

pub(crate) fn filters_hold_for_a_search(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let (p2, t1) = (id_of_project(&mut *store, "p2"), id_of_topic(&mut *store, "t1"));
    let search = |store: &mut dyn Store, text: &str, kinds: &[HitKind], filter: Filter| {
        let query = Query { text: text.to_owned(), kinds: kinds.to_vec(), filter, limit: 50, local: None };
        let mut uids: Vec<String> =
            store.search(&query).unwrap().hits.into_iter().map(|hit| hit.uid).collect();
        uids.sort();
        uids
    };
    let of = Filter::default;
    let store = &mut *store;
    assert_eq!(search(store, "log", &[], Filter { project: Some(p2), ..of() }), ["l4", "l8"]);
    assert_eq!(search(store, "log", &[], Filter { topic: Some(t1), ..of() }), ["l3", "l5"]);
    assert_eq!(search(store, "log", &[], Filter { session: Some("s2".to_owned()), ..of() }), ["l4", "l5"]);
    assert_eq!(search(store, "log", &[], Filter { since: Some(at(60)), ..of() }), ["l6", "l7", "l8"]);
    assert_eq!(search(store, "log", &[], Filter { until: Some(at(40)), ..of() }), ["l3"]);
    let between = Filter { since: Some(at(40)), until: Some(at(60)), project: Some(p2), ..of() };
    assert_eq!(search(store, "log", &[], between), ["l4"]);
    assert_eq!(search(store, "log", &[], Filter { project: Some(999), ..of() }), Vec::<String>::new());
    assert_eq!(search(store, "topic", &[HitKind::Topic], of()), ["t1", "t2", "t3", "t4"]);
    assert_eq!(search(store, "because", &[HitKind::Decision], of()), ["d1", "d2", "d3", "d4"]);
    assert_eq!(search(store, "because", &[HitKind::Log], of()), Vec::<String>::new());
    assert_eq!(search(store, "t4", &[HitKind::Topic, HitKind::Log], of()), ["t4"]);
    assert_eq!(search(store, "log", &[HitKind::Stock], of()), Vec::<String>::new());
    let query = Query { text: "log".to_owned(), limit: 2, ..Query::default() };
    assert_eq!(store.search(&query).unwrap().hits.len(), 2);
}

pub(crate) fn what_changed_is_found_by_what_it_is_now(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let changed = LogRow {
        text: "Now about giraffes".to_owned(),
        source: LogSource::Hand,
        updated: at(900),
        ..log("l6", "t1", 61)
    };
    store.put(&[Record::Log(changed)]).unwrap();
    assert_eq!(found(&mut *store, "giraffe"), ["l6"]);
    assert_eq!(found(&mut *store, "\"what log l6 says\""), Vec::<String>::new());
    let (t1, t2) = (store.topic_by_uid("t1").unwrap().unwrap(), store.topic_by_uid("t2").unwrap().unwrap());
    assert_eq!((t1.logs, t1.recorded, t2.logs), (4, Some(at(61)), 1));
    store
        .put(&[Record::Decision(DecisionRow {
            text: "Zebras".to_owned(),
            updated: at(900),
            ..decision("d5", "t4", 55)
        })])
        .unwrap();
    store
        .put(&[Record::Topic(TopicRow { title: "Okapis".to_owned(), updated: at(900), ..topic("t2", "p1") })])
        .unwrap();
    assert_eq!(found(&mut *store, "zebra"), ["d5"]);
    assert_eq!(found(&mut *store, "okapi"), ["t2"]);
    assert!(!found(&mut *store, "d5").contains(&"d5".to_owned()));
}

pub(crate) fn any_word_of_a_text_finds_it(stores: &mut impl Stores) {
    let store = RefCell::new(filled(stores));
    let number = Cell::new(0);
    let texts = "[a-zA-Z_ 設計のデータ変更ぱｶﾞ\u{301}.,é0-9ж\n-]{0,60}";
    let config = ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    runner
        .run(&texts, |text| {
            let mut store = store.borrow_mut();
            number.set(number.get() + 1);
            let uid = format!("any{}", number.get());
            let mut row = log(&uid, "t1", 1000 + number.get());
            row.text.clone_from(&text);
            store.put(&[Record::Log(row)]).unwrap();
            for word in text
                .split_whitespace()
                .filter(|word| !Question::parse(word, Surroundings::default()).is_empty())
            {
                let query = Query { text: word.to_owned(), limit: 200, ..Query::default() };
                let found = store.search(&query).unwrap().hits;
                prop_assert!(found.iter().any(|hit| hit.uid == uid), "{word:?} in {text:?}");
            }
            store.forget(&Forget::Log(uid.clone())).unwrap();
            for word in text.split_whitespace() {
                let query = Query { text: word.to_owned(), limit: 200, ..Query::default() };
                prop_assert!(store.search(&query).unwrap().hits.iter().all(|hit| hit.uid != uid), "{word:?}");
            }
            Ok(())
        })
        .unwrap();
}

/// Also if very many sessions have the word in their title.
pub(crate) fn decisions_are_found_among_many_topics(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let mut rows = vec![Record::Decision(DecisionRow {
        text: "The lexer is written by hand".to_owned(),
        ..decision("d9", "t1", 1)
    })];
    rows.extend((0..150).map(|n| {
        Record::Topic(TopicRow {
            title: format!("fix the lexer case {n}"),
            automatic: Some(format!("s{n}")),
            created: at(100 + n),
            updated: at(100 + n),
            ..topic(&format!("auto{n}"), "p1")
        })
    }));
    store.put(&rows).unwrap();
    for kinds in [vec![], vec![HitKind::Decision, HitKind::Topic]] {
        let query = Query { text: "lexer".to_owned(), kinds, limit: 200, ..Query::default() };
        let hits = store.search(&query).unwrap().hits;
        assert_eq!(hits.first().map(|hit| hit.uid.as_str()), Some("d9"));
        assert!(hits.len() > 50);
    }
}

/// The start of the last word suffices, also of a name and of an inflected form; of a name, some of its
/// words.
pub(crate) fn beginnings_and_parts_of_names_are_found(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let titled = |uid: &str, title: &str, minutes| {
        Record::Log(LogRow { title: title.to_owned(), ..log(uid, "t1", minutes) })
    };
    store
        .put(&[
            titled("camel", "Call readTranscriptTail", 80),
            titled("snake", "Rename snake_case_name", 81),
            titled("form", "Queries that are processed", 82),
        ])
        .unwrap();
    for (words, uid) in [
        ("readTr", "camel"),
        ("readTranscript", "camel"),
        ("readtranscriptt", "camel"),
        ("TranscriptTail", "camel"),
        ("transcript_tail call", "camel"),
        ("snake_cas", "snake"),
        ("case_name", "snake"),
        ("processi", "form"),
        ("queri", "form"),
        ("queries proce", "form"),
    ] {
        assert_eq!(found(&mut *store, words), [uid], "{words}");
    }
    assert_eq!(found(&mut *store, "TailTranscript"), Vec::<String>::new());
}

/// Among very many texts with either word, the few with both come first; if no text has all words, those with the most.
pub(crate) fn words_that_hardly_meet_are_found(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let rows: Vec<Record> = (0..700)
        .map(|n| {
            let both = n % 70 == 3;
            let words = [
                ("lantern", both || n % 2 == 0),
                ("harbour", both || n % 2 == 1),
                ("anchor", !both && n % 5 == 0),
                ("deploy", true),
            ];
            let text = words.iter().filter(|(_, is_in)| *is_in).map(|(word, _)| *word).collect::<Vec<_>>();
            Record::Log(LogRow { text: text.join(" and "), ..log(&format!("m{n}"), "t1", 100 + n) })
        })
        .collect();
    store.put(&rows).unwrap();
    let both: Vec<String> = (0..10).rev().map(|n| format!("m{}", n * 70 + 3)).collect();
    for question in ["lantern harbour", "deploy harbour lantern", "\"lantern and harbour\" deploy"] {
        let found = found(&mut *store, question);
        assert_eq!(found.get(..both.len()), Some(both.as_slice()), "{question}");
    }
    let with_anchor = found(&mut *store, "deploy harbour lantern anchor");
    let has_anchor = |uid: &String| uid[1..].parse::<u64>().is_ok_and(|n| n % 5 == 0);
    assert!(
        with_anchor.iter().take(10).all(has_anchor) && with_anchor.len() >= 10,
        "the rarest: {with_anchor:?}"
    );
}

/// Also behind many newer texts that contain the words of the compound separately.
pub(crate) fn a_compound_is_found_behind_its_words(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let with = |uid: String, text: &str, minutes| {
        Record::Log(LogRow { text: text.to_owned(), ..log(&uid, "t1", minutes) })
    };
    let mut rows = vec![with("old".to_owned(), "昨日の設計変更履歴を見た", 90)];
    rows.extend((0..500).map(|n| with(format!("m{n}"), "変更は履歴にあり、設計とは別", 100 + n)));
    store.put(&rows).unwrap();
    for question in ["設計変更", "変更履歴", "設計変更履歴"] {
        assert_eq!(found(&mut *store, question).first().map(String::as_str), Some("old"), "{question}");
    }
}

/// Words that no result has, a project and a time in which nothing fits.
pub(crate) fn words_without_a_result_are_named(stores: &mut impl Stores) {
    let mut store = filled(stores);
    store
        .put(&[
            Record::Project(project("lighthouse")),
            Record::Log(LogRow { text: "eviction of the cache".to_owned(), ..log("cache", "t1", 100) }),
            Record::Log(LogRow { text: "the lamp is dim".to_owned(), ..log("lamp", "t1", 101) }),
        ])
        .unwrap();
    for (question, uid, without) in [
        ("cache eviction", Some("cache"), vec![]),
        ("kubernetes cache eviction", Some("cache"), vec!["kubernetes"]),
        ("Why was the cache eviction in Kubernetes so slow?", Some("cache"), vec!["Kubernetes", "slow"]),
        ("lighthouse cache eviction", Some("cache"), vec!["lighthouse"]),
        ("二日前の cache eviction", Some("cache"), vec!["二日前"]),
        ("kubernetes zebra", None, vec![]),
    ] {
        let query = Query { local: Some(in_tokyo()), ..of_text(question) };
        let found = store.search(&query).unwrap();
        assert_eq!(found.hits.first().map(|hit| hit.uid.as_str()), uid, "{question}");
        assert_eq!(found.without, without, "{question}");
    }
}

/// Words of the same matter say which text is meant, if hardly any has the words of the question.
pub(crate) fn words_of_the_same_matter_are_found(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let with = |uid: &str, text: &str, minutes| {
        Record::Log(LogRow { text: text.to_owned(), ..log(uid, "t1", minutes) })
    };
    store
        .put(&[
            with("load", "the app, traffic of the campaign, and p99 of the latency", 100),
            with("icon", "the app, colour of the icon, and width of the margin", 101),
        ])
        .unwrap();
    let found = found(&mut *store, "everyone came while the app was sluggish");
    assert_eq!(found.first().map(String::as_str), Some("load"), "{found:?}");
}

/// Where something fits them; a filter of the caller comes first.
pub(crate) fn a_projects_name_and_words_of_time_limit_a_search(stores: &mut impl Stores) {
    const DAY: u64 = 24 * 60;
    let mut store = filled(stores);
    let mut rows = Vec::new();
    for name in ["lighthouse", "quay"] {
        rows.push(Record::Project(ProjectRow { name: name.to_owned(), ..project(name) }));
        rows.push(Record::Topic(topic(&format!("t-{name}"), name)));
        for (when, days) in [("old", 1), ("recent", 33)] {
            let uid = format!("{name}-{when}");
            let text = "the backup was restored".to_owned();
            rows.push(Record::Log(LogRow { text, ..log(&uid, &format!("t-{name}"), days * DAY) }));
        }
    }
    store.put(&rows).unwrap();
    let quay = id_of_project(&mut *store, "quay");
    let sorted = |mut uids: Vec<String>| {
        uids.sort();
        uids
    };
    for (question, expected) in [
        ("backup restored", vec!["lighthouse-old", "lighthouse-recent", "quay-old", "quay-recent"]),
        ("backup in lighthouse", vec!["lighthouse-old", "lighthouse-recent"]),
        ("lighthouse の backup", vec!["lighthouse-old", "lighthouse-recent"]),
        ("the backup of two days ago", vec!["lighthouse-recent", "quay-recent"]),
        ("二日前の backup", vec!["lighthouse-recent", "quay-recent"]),
        ("quay backup two days ago", vec!["quay-recent"]),
    ] {
        let query = Query { local: Some(in_tokyo()), ..of_text(question) };
        assert_eq!(sorted(uids(&mut *store, &query)), expected, "{question}");
    }
    let filter = Filter { project: Some(quay), ..Filter::default() };
    let query = Query { filter, local: Some(in_tokyo()), ..of_text("backup two days ago") };
    assert_eq!(uids(&mut *store, &query), ["quay-recent"]);
}

/// A log stands for its session's own topic and for the decisions in it; a topic by hand stands for itself.
pub(crate) fn an_exchange_is_one_result(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let title = "Move the crane to the northern quay".to_owned();
    let of_session = |row: LogRow| LogRow { session: Some("s9".to_owned()), title: title.clone(), ..row };
    store
        .put(&[
            Record::Session(session("s9", "p1")),
            Record::Topic(TopicRow {
                automatic: Some("s9".to_owned()),
                title: title.clone(),
                ..topic("own", "p1")
            }),
            Record::Log(of_session(log("exchange", "own", 100))),
            Record::Decision(DecisionRow {
                session: Some("s9".to_owned()),
                text: "Where does the crane go? To the northern quay".to_owned(),
                ..decision("exchange:0", "own", 100)
            }),
        ])
        .unwrap();
    assert_eq!(found(&mut *store, "crane northern quay"), ["exchange"]);
    assert_eq!(found(&mut *store, "move the crane"), ["exchange"]);
    store.put(&[Record::Topic(TopicRow { title, ..topic("by-hand", "p1") })]).unwrap();
    let mut both = found(&mut *store, "crane northern quay");
    both.sort();
    assert_eq!(both, ["by-hand", "exchange"]);
    store.forget(&Forget::Log("exchange".to_owned())).unwrap();
    assert!(!found(&mut *store, "crane northern quay").contains(&"exchange".to_owned()));
}

/// Whatever else a store finds behind it.
pub(crate) fn the_clear_winner_is_the_same(stores: &mut impl Stores) {
    let mut store = filled(stores);
    let texts = [
        (
            "retry",
            "Retries of the uploader",
            "The uploader waits 200 ms and tries again, at most five times.",
        ),
        ("login", "Login fails after the upgrade", "The session cookie was renamed in v2.3.1."),
        ("migrate", "Migration of order_ids", "Order ids are UUIDv7 now; the migration took 40 minutes."),
        ("cache", "Cache of thumbnails", "Thumbnails are kept for a week and made again on demand."),
        ("closing", "月次の締め処理", "締め処理は翌営業日の朝に動く。失敗したら経理に連絡する。"),
        ("server", "サーバーの切り替え", "本番のサーバを夜間に切り替えた。打ち合わせで決めた手順どおり。"),
        ("parser", "Parser in C++", "The C++ parser is faster than the one in C#, and leaks memory."),
    ];
    let rows: Vec<Record> = texts
        .iter()
        .zip(100..)
        .map(|((uid, title, text), minutes)| {
            let (title, text) = ((*title).to_owned(), (*text).to_owned());
            Record::Log(LogRow { title, text, ..log(uid, "t1", minutes) })
        })
        .collect();
    store.put(&rows).unwrap();
    for (question, uid) in [
        ("uploader retries", "retry"),
        ("How often does the uploader retry?", "retry"),
        ("200ms", "retry"),
        ("login after upgrade", "login"),
        ("2.3.1", "login"),
        ("order id migration", "migrate"),
        ("UUID v7", "migrate"),
        ("thumbnail caching", "cache"),
        ("締め処理が失敗したら", "closing"),
        ("サーバー切替", "server"),
        ("打合せ", "server"),
        ("C++", "parser"),
        ("C#", "parser"),
        ("認証 cookie", "login"),
    ] {
        let found = found(&mut *store, question);
        assert_eq!(found.first().map(String::as_str), Some(uid), "{question}: {found:?}");
    }
}

/// Five weeks after the first row.
fn in_tokyo() -> LocalTime {
    LocalTime { now: at(35 * 24 * 60), offsets: vec![(at(0), 9 * 60)] }
}

fn of_text(text: &str) -> Query {
    Query { text: text.to_owned(), limit: 100, ..Query::default() }
}

fn uids(store: &mut dyn Store, query: &Query) -> Vec<String> {
    store.search(query).unwrap().hits.into_iter().map(|hit| hit.uid).collect()
}
