//! Every capture with every member gone, null or of another type, against a second opinion on what that means.

use serde_json::{Map, Value, json};
use tidegate_core::event::EventKind;
use tidegate_core::host::Host;
use tidegate_core::pipeline::gate;

use crate::fixtures::{self, Capture};
use crate::sandbox::in_parallel;

/// One payload and what was done to it.
struct Mutant {
    event: String,
    what: String,
    text: String,
    /// What a reader of JSON sees: of a member that is there twice, the second.
    seen: Value,
}

fn wrong_values() -> Vec<(&'static str, Option<Value>)> {
    vec![
        ("gone", None),
        ("null", Some(Value::Null)),
        ("a number", Some(json!(-1.5))),
        ("a string", Some(json!("x"))),
        ("an array", Some(json!([{ "a": [] }, null, 1]))),
        ("an object", Some(json!({ "a": { "session_id": "y" } }))),
        ("a truth", Some(json!(true))),
    ]
}

fn mutants(capture: &Capture) -> Vec<Mutant> {
    let original = capture.json();
    let mut mutants = Vec::new();
    let mut push = |what: String, text: String, seen: Value| {
        let (event, what) = (capture.event.clone(), format!("{}: {what}", capture.name));
        mutants.push(Mutant { event, what, text, seen });
    };
    for path in members(&original) {
        for (what, value) in wrong_values() {
            let mut seen = original.clone();
            set(&mut seen, &path, value);
            push(format!("{} is {what}", path.join(".")), seen.to_string(), seen);
        }
        // Twice: wrong and right, right and wrong.
        if let [member] = path.as_slice() {
            let text = original.to_string();
            let (key, right) = (json!(member).to_string(), &original[member]);
            push(
                format!("{member} twice, right"),
                text.replacen('{', &format!("{{{key}:[7],"), 1),
                original.clone(),
            );
            let mut seen = original.clone();
            seen[member] = json!([7]);
            let open = &text[..text.len() - 1];
            push(format!("{member} twice, wrong"), format!("{open},{key}:{right},{key}:[7]}}"), seen);
        }
    }
    let mut extra = original.clone();
    extra["a_new_member"] = json!({ "session_id": 7, "tool_name": null });
    push("a new member".to_owned(), extra.to_string(), extra);
    mutants
}

/// The members on top and those of the tool's input.
fn members(payload: &Value) -> Vec<Vec<String>> {
    let names = |object: Option<&Map<String, Value>>| -> Vec<String> {
        object.map(|object| object.keys().cloned().collect()).unwrap_or_default()
    };
    let mut paths: Vec<Vec<String>> = names(payload.as_object()).into_iter().map(|name| vec![name]).collect();
    for name in names(payload["tool_input"].as_object()) {
        paths.push(vec!["tool_input".to_owned(), name]);
    }
    paths
}

fn set(payload: &mut Value, path: &[String], value: Option<Value>) {
    let (last, above) = path.split_last().expect("a path");
    let object = above.iter().fold(payload, |at, name| &mut at[name]);
    match value {
        Some(value) => object[last] = value,
        None => {
            object.as_object_mut().expect("an object").remove(last);
        }
    }
}

/// What must come of it: the step at which the check fails, if it does.
fn expected(mutant: &Mutant) -> Option<&'static str> {
    let seen = &mutant.seen;
    match &seen["session_id"] {
        Value::String(_) => {}
        Value::Null => return Some("session_id is missing"),
        _ => return Some("session_id is not a string"),
    }
    if mutant.event != "PreToolUse" {
        return None;
    }
    let tool = match &seen["tool_name"] {
        Value::String(tool) => tool,
        Value::Null => return Some("tool_name is missing"),
        _ => return Some("tool_name has a wrong type"),
    };
    let (path, missing, wrong) = match tool.as_str() {
        "Write" | "Edit" => {
            ("file_path", "tool_input.file_path is missing", "tool_input.file_path has a wrong type")
        }
        "NotebookEdit" => (
            "notebook_path",
            "tool_input.notebook_path is missing",
            "tool_input.notebook_path has a wrong type",
        ),
        _ => return None,
    };
    match &seen["tool_input"] {
        Value::Null => Some("tool_input is missing"),
        Value::Object(input) => match input.get(path) {
            None | Some(Value::Null) => Some(missing),
            Some(Value::String(_)) => None,
            Some(_) => Some(wrong),
        },
        _ => Some("tool_input has a wrong type"),
    }
}

/// A payload that calls itself something else is another event; `payloads` has that case.
fn renamed(mutant: &Mutant) -> bool {
    mutant.seen["hook_event_name"] == "x"
}

fn all() -> Vec<Mutant> {
    fixtures::hooks().iter().flat_map(mutants).collect()
}

#[test]
fn every_mutant_of_every_capture() {
    let mutants = all();
    assert!(mutants.len() > 4000, "{}", mutants.len());
    let mut closed = 0;
    for mutant in mutants.iter().filter(|mutant| !renamed(mutant)) {
        let kind = EventKind::from_name(&mutant.event);
        let step = match Host::ClaudeCode.read(mutant.text.as_bytes(), Some(kind)) {
            Err(unreadable) => {
                assert_eq!(unreadable.kind, Some(kind), "{}", mutant.what);
                Some(unreadable.step)
            }
            Ok(event) => {
                assert_eq!(event.kind, kind, "{}", mutant.what);
                assert_eq!(Some(event.session.as_str()), mutant.seen["session_id"].as_str());
                (kind == EventKind::PreToolUse).then(|| gate::check_members(&event).err()).flatten()
            }
        };
        closed += usize::from(step.is_some());
        assert_eq!(step.map(|step| step.to_string()).as_deref(), expected(mutant), "{}", mutant.what);
    }
    assert!(closed > 300, "{closed}");
}

#[test]
fn every_capture_cut_at_every_length() {
    for capture in fixtures::hooks() {
        let kind = EventKind::from_name(&capture.event);
        for length in 0..capture.text.trim_end().len() {
            let parsed = Host::ClaudeCode.read(&capture.text.as_bytes()[..length], Some(kind));
            let unreadable = parsed.expect_err("half a payload is none");
            assert_eq!(
                (unreadable.kind, unreadable.step.class()),
                (Some(kind), "payload"),
                "{}",
                capture.name
            );
        }
    }
}

/// The same through the process, for a selection: all that the gate for edits looks at, and every so many of the rest.
#[test]
fn mutants_through_the_process() {
    const EVERY: usize = 13;
    let selected: Vec<Mutant> = all()
        .into_iter()
        .enumerate()
        .filter(|(at, mutant)| {
            let gate = mutant.what.starts_with("PreToolUse.Write") && expected(mutant).is_some();
            !renamed(mutant) && (gate || at % EVERY == 0)
        })
        .map(|(_, mutant)| mutant)
        .collect();
    assert!(selected.len() > 300, "{}", selected.len());
    in_parallel(&selected, |sandbox, mutant| {
        let event = mutant.event.as_str();
        let answer = sandbox.hook(&["--event", event], &mutant.text);
        answer.check(event);
        let record = sandbox.one_record();
        assert_eq!(record["event"], event, "{}", mutant.what);
        let step = expected(mutant);
        assert_eq!(record["failure"]["step"].as_str(), step, "{}: {record}", mutant.what);
        match step {
            Some(step) if event == "PreToolUse" => answer.closed(step),
            _ => answer.silent(),
        }
        // What only advises is silent about all of it.
        sandbox.hook(&["--event", event, "--advice"], &mutant.text).silent();
        let _ = sandbox.one_record();
    });
}
