//! Every event with every call, as it goes over the wire. A changed line here is a changed protocol.

mod words;

use std::fmt::Write as _;

use tidegate_core::event::{EventKind, FailedStep};
use tidegate_core::feature::verdict::{Audience, Call, Say, Verdict};
use tidegate_core::host::Host;
use tidegate_core::host::answer::Reply;
use tidegate_core::pipeline::gate::ClosedGate;
use tidegate_core::pipeline::ruling::{Outcome, Ruling, RulingPart};
use tidegate_core::text::lang::Lang;

fn outcome(kind: EventKind, call: Call, says: bool) -> Outcome {
    let say =
        |to, text: &str| Say { to, text: text.into(), weight: 1, explains: true, when_said: Vec::new() };
    let says =
        if says { vec![say(Audience::Model, "CONTEXT"), say(Audience::User, "MESSAGE")] } else { Vec::new() };
    let reason = (call != Call::Pass).then(|| "REASON".to_owned());
    let verdict = Verdict { call, reason, says, ..Verdict::pass() };
    Ruling::from_part(RulingPart { policy: "p", verdict, shadow: false, micros: 0 }).settle(
        Host::ClaudeCode,
        kind,
        true,
        1200,
    )
}

fn shown(reply: &Reply) -> String {
    let mut text = format!("exit {}", reply.exit);
    for (name, stream) in [("stdout", &reply.stdout), ("stderr", &reply.stderr)] {
        if !stream.is_empty() {
            let _ = write!(text, "  {name} {stream}");
        }
    }
    text
}

#[test]
fn every_event_with_every_call() {
    let mut all = String::new();
    for kind in EventKind::ALL.iter().chain([&EventKind::Other]) {
        writeln!(all, "{}", kind.name()).unwrap();
        for call in [Call::Pass, Call::Ask, Call::Deny, Call::Halt] {
            for says in [false, true] {
                let label = format!("{}{}", call.name(), if says { " + texts" } else { "" });
                writeln!(
                    all,
                    "  {label:<13} {}",
                    shown(&Host::ClaudeCode.reply(*kind, &outcome(*kind, call, says).answer()))
                )
                .unwrap();
            }
        }
    }
    insta::assert_snapshot!("every_event_with_every_call", all);
}

/// What the host's schema asks of every answer, checked on all of them.
#[test]
fn every_reply_is_valid_for_its_event() {
    for kind in EventKind::ALL {
        for call in [Call::Pass, Call::Ask, Call::Deny, Call::Halt] {
            for says in [false, true] {
                let reply = Host::ClaudeCode.reply(*kind, &outcome(*kind, call, says).answer());
                assert!(reply.exit == 0 || reply.exit == 2, "{kind:?}");
                if reply.stdout.is_empty()
                    || (*kind == EventKind::PreCompact && !reply.stdout.starts_with('{'))
                {
                    continue;
                }
                let json: serde_json::Value = serde_json::from_str(&reply.stdout).unwrap();
                assert!(json.is_object() && !reply.stdout.contains("null"), "{kind:?}: {}", reply.stdout);
                if let Some(specific) = json.get("hookSpecificOutput") {
                    assert_eq!(specific["hookEventName"], kind.name());
                    assert_ne!(*kind, EventKind::PostCompact);
                }
                assert!(json.get("decision").is_none_or(|decision| decision == "block"), "{kind:?}");
            }
        }
    }
}

/// Saying no must not come out as saying nothing where the event can be stopped.
#[test]
fn a_denial_is_never_silent_where_the_host_listens() {
    use EventKind as E;
    let can_block = [
        E::PreToolUse,
        E::PermissionRequest,
        E::PostToolUse,
        E::PostToolBatch,
        E::UserPromptSubmit,
        E::UserPromptExpansion,
        E::Stop,
        E::SubagentStop,
        E::PreCompact,
        E::ConfigChange,
        E::TaskCreated,
        E::TaskCompleted,
        E::TeammateIdle,
        E::PreModelSwitch,
    ];
    for kind in can_block {
        let reply = Host::ClaudeCode.reply(kind, &outcome(kind, Call::Deny, false).answer());
        assert!(
            reply.exit == 2 || reply.stdout.contains("block") || reply.stdout.contains("deny"),
            "{kind:?}: {reply:?}"
        );
    }
}

#[test]
fn a_gate_that_could_not_check() {
    let closed = |lang: Lang| {
        shown(
            &ClosedGate::for_call(Host::ClaudeCode, &FailedStep::SessionMissing, lang)
                .reply(Host::ClaudeCode),
        )
    };
    insta::assert_snapshot!("gate_closed", format!("{}\n{}", closed(Lang::En), closed(Lang::Ja)));
}

#[test]
fn a_check_that_failed_is_said_in_few_words() {
    let why = || "No space left on device (os error 28)".to_owned();
    let file = || "~/.local/state/tidegate/sessions/91b38a40/lock".to_owned();
    let steps = [
        FailedStep::Stdin(why()),
        FailedStep::SessionCharacters,
        FailedStep::MemberType("tool_input.file_path"),
        FailedStep::State(why()),
        FailedStep::Marks(why()),
        FailedStep::Locked { file: file(), process: Some(4711) },
        FailedStep::Locked { file: file(), process: None },
        FailedStep::Spool(why()),
        FailedStep::Cycle(why()),
        FailedStep::Record(why()),
        FailedStep::Deadline(2000),
        FailedStep::Panic("index out of bounds".to_owned()),
    ];
    for step in steps {
        words::assert_short(&ClosedGate::for_call(Host::ClaudeCode, &step, Lang::En).user);
        words::assert_short(&ClosedGate::for_stop(Host::ClaudeCode, &step, Lang::En).user);
    }
}
