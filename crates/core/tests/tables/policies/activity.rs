//! `phase`: what a prompt asks for.

use tidegate_core::feature::activity::classifier::{Guess, Phase};
use tidegate_core::feature::activity::marks::{GivenAdvice, Late, Mark};
use tidegate_core::feature::marks::{Marks, SessionMark};
use tidegate_core::feature::verdict::Carried;
use tidegate_core::settings::value::Value;
use tidegate_core::time::Millis;

use super::{Room, or_dash, plain};
use crate::situation::{Decided, NOW, Situation};

pub(super) static PHASE: Room = Room {
    begin: |case| {
        case.event("UserPromptSubmit");
        stock(case, "design, coding");
        // As `strict` has it.
        for phase in ["activity.implement", "activity.debug"] {
            case.set(phase, "skills", Value::List(vec!["code-quality-rules".into()]));
        }
        installed(case, "code-quality-rules, team-rules");
    },
    given: &[
        ("now", |case, cell| case.leave(Phase::named(cell).map(Mark::Phase))),
        ("answer", answer),
        ("guess", guess),
        ("stock", stock),
        ("installed", installed),
        ("required", |case, cell| {
            let names = cell.split(", ").filter(|name| *name != "-").map(Value::from);
            case.set("skill_gate.require", "code", Value::List(names.collect()));
        }),
        ("earlier advice", earlier),
    ],
    expected: &[("enters", enters), ("then", then)],
    ..plain("activity")
};

/// What a backend answered, or that it `waits`.
fn answer(case: &mut Situation, cell: &str) {
    const ASKED: Millis = Millis(1);
    case.set("activity.llm", "backend", "claude");
    if cell != "-" {
        case.mark(Mark::PhaseAsked(ASKED));
        case.leave(Phase::named(cell).map(|phase| Mark::LatePhase { phase, prompt: ASKED }));
    }
}

/// With its percentage, else sure enough.
fn guess(case: &mut Situation, cell: &str) {
    let (name, percent) = cell.split_once(' ').unwrap_or((cell, "90"));
    let confidence = percent.parse::<f64>().expect("a number") / 100.0;
    case.facts.activity.guess = Phase::named(name).map(|phase| Guess { phase, confidence });
}

fn stock(case: &mut Situation, cell: &str) {
    let names = cell.split(", ").filter(|name| *name != "-");
    case.facts.activity.stock = names.map(|name| format!("learnings-{name}.md")).collect();
}

fn installed(case: &mut Situation, cell: &str) {
    let names = cell.split(", ").filter(|name| *name != "-");
    case.facts.activity.installed = names.map(str::to_owned).collect();
}

/// `rules, learnings-design.md heeded; other ignored`: what was named, one advice after the other.
fn earlier(case: &mut Situation, cell: &str) {
    let mut given = GivenAdvice::default();
    for advice in cell.split("; ").filter(|advice| *advice != "-") {
        let (names, end) = advice.rsplit_once(' ').expect("names, and what became of them");
        given = given.and(names.split(", ").map(str::to_owned));
        case.mark(Mark::Advised(given.clone()));
        if end == "heeded" {
            case.mark(Mark::AdviceHeeded);
            given = crate::situation::fold(case.marks.clone()).activity.advice;
        }
    }
}

/// In the order in which the hook writes them.
fn marks_after(decided: &Decided) -> Marks {
    let effects = decided.effects().iter().map(|effect| effect.leaves().expect("each of them is remembered"));
    let mut marks = decided.marks.clone();
    decided.observed.iter().cloned().chain(effects).for_each(|mark| marks.apply(mark));
    marks
}

fn enters(decided: &Decided) -> String {
    let (before, after) = (decided.marks.activity.phase, marks_after(decided).activity.phase);
    or_dash(after.filter(|_| after != before).map_or("", Phase::name))
}

fn then(decided: &Decided) -> String {
    let late = match marks_after(decided).activity.late {
        None => "-",
        Some(Late { phase: Some(phase), .. }) => phase.name(),
        Some(Late { prompt: NOW, phase: None }) => "asked",
        Some(Late { phase: None, .. }) => "waits",
    };
    late.into()
}

/// Each hint comes once, and none for a skill that was just used.
#[test]
fn a_session_of_twenty_prompts() {
    const INVOKE: &str = "Invoke the skill code-quality-rules and read learnings-design.md, learnings-coding.md in \
                          .claude/context first: the activity is now `implement`.";
    let mut case = Situation::new(&PHASE);
    installed(&mut case, "code-quality-rules, debugging, code-review");
    for (number, (guess_of_prompt, used, hint)) in [
        ("other 95", "-", "-"),
        ("implement", "-", INVOKE),
        ("implement", "-", "-"),
        ("other 95", "code-quality-rules", "-"),
        ("implement", "-", "-"),
        ("debug", "debugging", "Invoke the skill debugging first: the activity is now `debug`."),
        ("debug", "-", "-"),
        ("implement", "-", "-"),
        ("debug", "-", "-"),
        ("review", "code-review", "Invoke the skill code-review first: the activity is now `review`."),
        ("review", "-", "-"),
        ("implement", "-", "-"),
        ("ship", "-", "-"),
        ("implement", "-", "-"),
        ("research", "-", "-"),
        ("implement", "-", "-"),
        ("debug", "-", "-"),
        ("review", "-", "-"),
        ("ship", "-", "-"),
        ("reflect", "-", "-"),
    ]
    .into_iter()
    .enumerate()
    {
        guess(&mut case, guess_of_prompt);
        let decided = case.decide();
        let said: Vec<&str> = decided.says().iter().map(|say| say.text.as_str()).collect();
        assert_eq!(or_dash(said.join("; ")), hint, "prompt {}", number + 1);
        let left: Vec<_> =
            decided.effects().iter().chain(decided.when_said()).filter_map(Carried::leaves).collect();
        case.leave(decided.observed.iter().cloned());
        case.leave(left);
        case.leave((used != "-").then(|| SessionMark::Skill { name: used.to_owned(), agent: None }));
    }
}
