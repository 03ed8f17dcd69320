//! Decisions that the worker finds in a conversation.

use serde_json::json;
use tidegate_core::time::Millis;
use tidegate_memory::act;
use tidegate_memory::record::TakenBy;
use tidegate_memory::store::Store as _;
use tidegate_memory::view::{Decision, Filter, Forget, Page};

use crate::world::{NOW, World, said, user};

fn asks(world: &mut World, call: &str, question: &str, answer: &str) {
    let asked = json!({"questions": [{"question": question}]});
    let block = json!({"type": "tool_use", "id": call, "name": "AskUserQuestion", "input": asked});
    let asked = json!({"type": "assistant", "message": {"id": call, "content": [block]}});
    world.say(&format!("{asked}\n"));
    let result = json!({"type": "tool_result", "tool_use_id": call, "content": "answered"});
    let output = json!({"questions": [], "answers": {question: answer}});
    let answered = json!({"type": "user", "toolUseResult": output, "message": {"content": [result]}});
    world.say(&format!("{answered}\n"));
}

fn decisions(world: &mut World) -> Vec<Decision> {
    let page = Page { limit: 50, after: None };
    let mut found = world.store.decisions(&Filter::default(), &page).expect("a store").rows;
    found.sort_by(|one, other| one.row.uid.cmp(&other.row.uid));
    found
}

fn texts(world: &mut World) -> Vec<String> {
    decisions(world).into_iter().map(|found| found.row.text).collect()
}

/// One exchange, with one answered question.
fn exchange() -> World {
    let mut world = World::new();
    world.say(&user("u1", "how do we send the mails?"));
    asks(&mut world, "a", "Which queue?", "SQS");
    world.say(&said("m1", "done"));
    world.stop("s1", "done");
    world.work();
    world
}

/// The same exchange goes on, with another question.
fn goes_on(world: &mut World) {
    asks(world, "b", "Which region?", "Tokyo");
    world.say(&said("m2", "really done"));
    world.stop("s1", "really done");
    world.work();
}

#[test]
fn an_answered_question_is_a_decision_of_the_person() {
    let mut world = exchange();
    let found = decisions(&mut world);
    assert_eq!(texts(&mut world), ["Which queue? → SQS"]);
    assert_eq!(found[0].row.taken_by, Some(TakenBy::Person));
    assert_eq!(found[0].row.topic, world.log("u1").row.topic, "in the topic of its log");
    assert_eq!(act::author_of_decision(&found[0]), "the person, session s1");
    assert!(world.log("u1").row.answer.contains("Q: Which queue?\nA: SQS"));
    // The relay goes on: nothing is there twice, and what was taken back stays so.
    act::retract_decision(&mut world.store, Millis(NOW.0 + 1000), found[0].id).expect("a decision");
    goes_on(&mut world);
    assert_eq!(texts(&mut world), ["Which region? → Tokyo"]);
    let first = world.store.decision(found[0].id).expect("a store").expect("its row stays");
    assert!(first.row.retracted.is_some());
}

#[test]
fn a_decision_is_forgotten_with_the_conversation_it_was_found_in() {
    let mut world = exchange();
    world.store.forget(&Forget::Log("u1".to_owned())).expect("a log");
    assert_eq!(texts(&mut world), <[&str; 0]>::default());
    goes_on(&mut world);
    assert_eq!(texts(&mut world), <[&str; 0]>::default(), "nor what comes later in it");
}
