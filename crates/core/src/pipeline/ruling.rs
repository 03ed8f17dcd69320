//! Merges the verdicts of all policies into one ruling: the strictest call, the reasons for it, and as many of the
//! other texts as fit.

use crate::event::EventKind;
use crate::feature::verdict::{Audience, Call, Carried, Effect, Say, Verdict};
use crate::host::Host;
use crate::host::answer::Answer;
use crate::text::cut::cut_to;

/// One policy's part in a ruling.
#[derive(Clone, Debug, PartialEq)]
pub struct RulingPart {
    pub policy: &'static str,
    pub verdict: Verdict,
    /// Recorded, but not carried out.
    pub shadow: bool,
    /// Time to decide.
    pub micros: u64,
}

/// All verdicts of an event. Merging keeps every part in order; [`Ruling::settle`] combines them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ruling {
    /// In policy order.
    pub parts: Vec<RulingPart>,
}

/// The combined result of a ruling.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub call: Call,
    /// Reasons for the strictest call, in policy order.
    pub reason: String,
    /// Text for the model.
    pub context: String,
    /// Text for the person.
    pub user: String,
    pub effects: Vec<Effect>,
    /// Texts that did not fit.
    pub dropped: usize,
}

impl Outcome {
    pub fn answer(&self) -> Answer<'_> {
        Answer { call: self.call, reason: &self.reason, context: &self.context, user: &self.user }
    }
}

impl Ruling {
    /// The identity of [`Ruling::merge`].
    pub fn pass() -> Ruling {
        Ruling::default()
    }

    pub fn from_part(part: RulingPart) -> Ruling {
        Ruling { parts: vec![part] }
    }

    #[must_use]
    pub fn merge(mut self, other: Ruling) -> Ruling {
        self.parts.extend(other.parts);
        self
    }

    /// Without shadowed parts.
    pub fn call(&self) -> Call {
        self.live_parts().map(|part| part.verdict.call).max().unwrap_or_default()
    }

    fn live_parts(&self) -> impl Iterator<Item = &RulingPart> {
        self.parts.iter().filter(|part| !part.shadow)
    }

    /// Effects of shadowed policies on Tidegate's own state.
    fn shadow_effects(&self, main_thread: bool) -> impl Iterator<Item = Effect> {
        let of = move |part: &RulingPart| {
            let said = part.verdict.says.iter().filter(move |_| main_thread).flat_map(|say| &say.when_said);
            part.verdict.effects.iter().chain(said).cloned().collect::<Vec<_>>()
        };
        self.parts.iter().filter(|part| part.shadow).flat_map(of).filter(Effect::is_private)
    }

    /// Combines the verdicts for this event of this host. Outside the main thread only the call is delivered: texts
    /// in a subagent reach only that subagent. `budget` counts characters for the model.
    pub fn settle(&self, host: Host, kind: EventKind, main_thread: bool, budget: usize) -> Outcome {
        let wanted = self.call();
        let call = host.deliverable(kind, wanted);
        // A denial that the host cannot carry did not happen: its reason is not said, and its marks are not left.
        let is_lost = wanted > Call::Pass && call == Call::Pass && kind != EventKind::Stop;
        let standing: Vec<&RulingPart> =
            self.live_parts().filter(|part| part.verdict.call == wanted && !is_lost).collect();
        let reasons: Vec<&str> = standing.iter().filter_map(|part| part.verdict.reason.as_deref()).collect();
        let mut reason = cut_to(&reasons.join("\n"), budget).into_owned();
        let mut effects: Vec<Effect> =
            standing.iter().flat_map(|part| part.verdict.effects.clone()).collect();

        let channels = host.channels(kind);
        let denied = call >= Call::Deny;
        let carried = |say: &&Say| {
            let channel = match say.to {
                Audience::Model => channels.context,
                Audience::User => channels.user,
            };
            main_thread && channel && (!denied || say.explains)
        };
        let mut says: Vec<&Say> =
            self.live_parts().flat_map(|part| &part.verdict.says).filter(carried).collect();
        if denied {
            keep_one_for_person(&mut says);
        }
        // Elsewhere policy order is good enough, and keeps repeated texts stable.
        if kind == EventKind::SessionStart {
            says.sort_by_key(|say| std::cmp::Reverse(say.weight));
        }
        let fitting = choose_fitting(&says, budget.saturating_sub(reason.chars().count()));
        let dropped = fitting.iter().filter(|fits| !**fits).count();
        let said = || says.iter().zip(&fitting).filter(|(_, fits)| **fits).map(|(say, _)| *say);
        let text = |to: Audience| {
            said().filter(|say| say.to == to).map(|say| say.text.as_str()).collect::<Vec<_>>().join("\n")
        };
        let mut context = text(Audience::Model);
        if dropped > 0 {
            context.push_str(&left_out_note(dropped, context.is_empty()));
            reason = cut_to(&reason, budget.saturating_sub(context.chars().count())).into_owned();
        }
        effects.extend(said().flat_map(|say| say.when_said.clone()));
        effects.extend(self.shadow_effects(main_thread));
        Outcome { call, reason, context, user: text(Audience::User), effects, dropped }
    }
}

/// A denial is one short message to the person: several policies that block the same call would say the same thing twice. A text
/// that is not given is not marked as given, so its policy says it the next time.
fn keep_one_for_person(says: &mut Vec<&Say>) {
    let of_person = says.iter().filter(|say| say.to == Audience::User);
    // Of equals the first.
    let heaviest = of_person.rev().max_by_key(|say| say.weight).map(|say| std::ptr::from_ref(*say));
    says.retain(|say| say.to != Audience::User || Some(std::ptr::from_ref(*say)) == heaviest);
}

/// By weight, each text whole or not at all. Texts for the person cost nothing.
fn choose_fitting(says: &[&Say], budget: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..says.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(says[*at].weight));
    let cost = |say: &Say| match say.to {
        Audience::Model => say.text.chars().count() + 1,
        Audience::User => 0,
    };
    let all: usize = says.iter().map(|say| cost(say)).sum();
    let mut room =
        if all <= budget { budget } else { budget.saturating_sub(left_out_note(says.len(), false).len()) };
    let mut fits = vec![false; says.len()];
    for at in order {
        if let Some(rest) = room.checked_sub(cost(says[at])) {
            room = rest;
            fits[at] = true;
        }
    }
    fits
}

fn left_out_note(count: usize, alone: bool) -> String {
    let start = if alone { "" } else { "\n" };
    let notes = if count == 1 { "note" } else { "notes" };
    format!("{start}({count} more {notes} left out for length)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::knowledge::effect;
    use crate::feature::marks::SessionMark;
    use crate::feature::verification::marks::Mark as VerificationMark;
    use proptest::prelude::*;

    fn say(to: Audience, text: &str, weight: u8) -> Say {
        Say { to, text: text.into(), weight, explains: false, when_said: Vec::new() }
    }

    fn call() -> impl Strategy<Value = Call> {
        prop_oneof![Just(Call::Pass), Just(Call::Ask), Just(Call::Deny), Just(Call::Halt)]
    }

    fn part() -> impl Strategy<Value = RulingPart> {
        let says = proptest::collection::vec(
            ("[a-zé語]{0,400}", any::<u8>(), any::<bool>(), any::<bool>()).prop_map(
                |(text, weight, user, explains)| Say {
                    explains,
                    ..say(if user { Audience::User } else { Audience::Model }, &text, weight)
                },
            ),
            0..4,
        );
        (call(), proptest::option::of("[a-z]{1,900}"), says, any::<bool>()).prop_map(
            |(call, reason, says, shadow)| RulingPart {
                policy: "p",
                verdict: Verdict { call, reason, says, ..Verdict::pass() },
                shadow,
                micros: 0,
            },
        )
    }

    fn ruling() -> impl Strategy<Value = Ruling> {
        proptest::collection::vec(part(), 0..4).prop_map(|parts| Ruling { parts })
    }

    #[test]
    fn a_denial_says_one_thing_to_the_person() {
        let text = |text: &str, weight: u8| Say {
            explains: true,
            when_said: vec![Effect::mark(SessionMark::Notice(text.into()))],
            ..say(Audience::User, text, weight)
        };
        let of = |call: Call, policy: &'static str, text: Say| RulingPart {
            policy,
            verdict: Verdict { call, reason: Some(policy.into()), says: vec![text], ..Verdict::pass() },
            shadow: false,
            micros: 0,
        };
        let both = |call: Call| {
            let parts = vec![
                of(call, "tag", text("tag", 40)),
                of(call, "verify", text("verify", 50)),
                of(call, "third", text("third", 50)),
            ];
            Ruling { parts }.settle(Host::ClaudeCode, EventKind::Stop, true, 1000)
        };
        let denied = both(Call::Deny);
        assert_eq!((denied.user.as_str(), denied.reason.as_str()), ("verify", "tag\nverify\nthird"));
        assert_eq!((denied.effects, denied.dropped), (text("verify", 0).when_said, 0));
        assert_eq!(both(Call::Pass).user, "tag\nverify\nthird");
    }

    proptest! {
        #[test]
        fn pass_is_the_identity(a in ruling()) {
            prop_assert_eq!(Ruling::pass().merge(a.clone()), a.clone());
            prop_assert_eq!(a.clone().merge(Ruling::pass()), a);
        }

        #[test]
        fn merging_is_associative(a in ruling(), b in ruling(), c in ruling()) {
            prop_assert_eq!(a.clone().merge(b.clone()).merge(c.clone()), a.merge(b.merge(c)));
        }

        #[test]
        fn the_call_does_not_depend_on_the_order(a in ruling(), b in ruling()) {
            prop_assert_eq!(a.clone().merge(b.clone()).call(), b.merge(a).call());
        }

        #[test]
        fn merging_never_loosens(a in ruling(), b in ruling()) {
            let together = a.clone().merge(b.clone()).call();
            prop_assert!(together >= a.call() && together >= b.call());
        }

        #[test]
        fn the_model_is_told_no_more_than_the_budget(a in ruling(), budget in 60usize..2000) {
            for kind in [EventKind::PreToolUse, EventKind::UserPromptSubmit, EventKind::Stop] {
                let outcome = a.settle(Host::ClaudeCode, kind, true, budget);
                prop_assert!(outcome.reason.chars().count() + outcome.context.chars().count() <= budget);
            }
        }

        #[test]
        fn a_subagent_is_told_nothing_but_reasons(a in ruling()) {
            let outcome = a.settle(Host::ClaudeCode, EventKind::PreToolUse, false, 1200);
            prop_assert!(outcome.context.is_empty() && outcome.user.is_empty());
        }
    }

    #[test]
    fn the_least_important_goes_first_and_its_effects_with_it() {
        let nudged = |set| vec![Effect::Knowledge(effect::Effect::Nudged(set))];
        let light = Say { when_said: nudged(1), ..say(Audience::Model, &"a".repeat(100), 1) };
        let heavy = Say { when_said: nudged(9), ..say(Audience::Model, &"b".repeat(100), 9) };
        let verdict = Verdict { says: vec![light, heavy], ..Verdict::pass() };
        let ruling = Ruling::from_part(RulingPart { policy: "p", verdict, shadow: false, micros: 0 });
        let outcome = ruling.settle(Host::ClaudeCode, EventKind::UserPromptSubmit, true, 180);
        assert_eq!(outcome.context, format!("{}\n(1 more note left out for length)", "b".repeat(100)));
        assert_eq!(outcome.effects, nudged(9));
    }

    #[test]
    fn effects_stand_and_fall_with_the_verdict() {
        let with = |call, used| RulingPart {
            policy: "p",
            verdict: Verdict {
                call,
                effects: vec![Effect::mark(SessionMark::Relay(used))],
                ..Verdict::pass()
            },
            shadow: false,
            micros: 0,
        };
        let ruling = Ruling::from_part(with(Call::Pass, 1)).merge(Ruling::from_part(with(Call::Deny, 2)));
        assert_eq!(
            ruling.settle(Host::ClaudeCode, EventKind::Stop, true, 1200).effects,
            [Effect::mark(SessionMark::Relay(2))]
        );
    }

    #[test]
    fn what_is_only_recorded_is_marked_as_if_it_had_been_said() {
        let notice = Effect::mark(SessionMark::Notice("once".into()));
        let once = Say { when_said: vec![notice.clone()], ..say(Audience::User, "x", 1) };
        let verdict = Verdict {
            call: Call::Deny,
            says: vec![once],
            effects: vec![Effect::mark(VerificationMark::Held), Effect::Knowledge(effect::Effect::TidyFlow)],
            ..Verdict::pass()
        };
        let ruling = Ruling::from_part(RulingPart { policy: "p", verdict, shadow: true, micros: 0 });
        let outcome = ruling.settle(Host::ClaudeCode, EventKind::Stop, true, 1200);
        assert_eq!(
            outcome,
            Outcome { effects: vec![Effect::mark(VerificationMark::Held), notice], ..Outcome::default() }
        );
    }

    #[test]
    fn a_shadowed_denial_denies_nothing() {
        let verdict = Verdict { call: Call::Deny, reason: Some("no".into()), ..Verdict::pass() };
        let ruling = Ruling::from_part(RulingPart { policy: "p", verdict, shadow: true, micros: 0 });
        assert_eq!(ruling.settle(Host::ClaudeCode, EventKind::PreToolUse, true, 1200), Outcome::default());
    }
}
