//! Searches on the server that its limits could break.

use tidegate_memory::record::{DecisionRow, ProjectRow, Record, SessionRow, TopicRow};
use tidegate_memory::store::Store;
use tidegate_memory::view::{HitKind, Query};

use crate::rows::{decision, project, session, topic};
use crate::scene::Scene;

#[test]
fn topics_of_sessions_do_not_crowd_a_decision_out() {
    let Some(scene) = Scene::shared() else { return };
    let mut store = scene.store();
    let mut records = vec![Record::Project(ProjectRow { ..project("p") }), Record::Topic(topic("t", "p"))];
    records.push(Record::Decision(DecisionRow {
        text: "The harbour is dredged".to_owned(),
        ..decision("d", "t", 0)
    }));
    for n in 0..150 {
        let (uid, of) = (format!("t{n}"), format!("s{n}"));
        records.push(Record::Session(SessionRow { ..session(&of, "p") }));
        let newer = crate::rows::at(10 + n);
        let title = format!("harbour dredged {n}");
        let automatic = Some(of);
        records.push(Record::Topic(TopicRow {
            title,
            automatic,
            created: newer,
            updated: newer,
            ..topic(&uid, "p")
        }));
    }
    store.put(&records).unwrap();
    let query = Query { text: "harbour dredged".to_owned(), limit: 5, ..Query::default() };
    let found = store.search(&query).unwrap().hits;
    assert!(found.iter().any(|hit| hit.kind == HitKind::Decision), "{found:?}");
}
