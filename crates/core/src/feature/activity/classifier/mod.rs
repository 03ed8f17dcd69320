//! Classifies what a prompt asks for: a linear classifier over hashed features, trained from `corpus/phase`.
//!
//! ```text
//! prompt ─ excerpt ─► lines that a person wrote ─ tokens ─► tokens ─ features ─► hashes ─ table ─► scores ─► Guess
//! ```
//!
//! Pasted text is left out. Paths, names in code and numbers become classes. Features come in three groups,
//! each normalised to the same length: words and their order, parts of words or Japanese characters, phrases
//! of the lexicon.
//!
//! English and Japanese have a table of weights each, both in `parameters.bin`. The file is mapped and not
//! copied: a prompt in a new process costs the pages that it touches (`cargo xtask bench` prints it).
//! Nothing here depends on the platform: only additions, multiplications, divisions, square roots and an
//! exponential function in Rust. So `cargo xtask train-phase` gives the same bytes everywhere, which `cargo
//! xtask test` checks. `cargo xtask eval-phase` prints how often the answers are right.

pub mod exponential;
pub mod features;
pub mod lexicon;
pub mod table;
mod excerpt;
mod tokens;

use serde::{Deserialize, Serialize};

use features::Features;
use table::WeightTable;

/// The activity that a prompt asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Finding out, explaining, comparing; no file changes.
    Research,
    /// Ideas, options, thinking aloud.
    Brainstorm,
    /// Requirements, acceptance criteria, scope.
    Spec,
    /// Architecture, interfaces, schemas, a decision on how.
    Design,
    /// Tasks, order, estimates.
    Plan,
    /// Changing files: code, tests, config, documents.
    Implement,
    /// Something is broken.
    Debug,
    /// Judging existing work.
    Review,
    /// Commit, push, pull request, release, deploy.
    Ship,
    /// Looking back, lessons, what was done.
    Reflect,
    /// Confirmations, answers, small talk.
    Other,
}

impl Phase {
    /// In the order of the weights.
    pub const ALL: [Phase; 11] = [
        Phase::Research,
        Phase::Brainstorm,
        Phase::Spec,
        Phase::Design,
        Phase::Plan,
        Phase::Implement,
        Phase::Debug,
        Phase::Review,
        Phase::Ship,
        Phase::Reflect,
        Phase::Other,
    ];

    /// The name in configs, records and the corpus.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Research => "research",
            Phase::Brainstorm => "brainstorm",
            Phase::Spec => "spec",
            Phase::Design => "design",
            Phase::Plan => "plan",
            Phase::Implement => "implement",
            Phase::Debug => "debug",
            Phase::Review => "review",
            Phase::Ship => "ship",
            Phase::Reflect => "reflect",
            Phase::Other => "other",
        }
    }

    pub fn named(name: &str) -> Option<Phase> {
        Phase::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Guess {
    pub phase: Phase,
    /// From 0 to 1.
    pub confidence: f64,
}

/// Written by `cargo xtask train-phase --write`.
static PARAMETERS: &[u8] = include_bytes!("parameters.bin");

/// A prompt without features is [`Phase::Other`].
pub fn classify_prompt(prompt: &str) -> Guess {
    let table = |language| WeightTable::read(PARAMETERS, language);
    let lexicon = |language| table(language).map(|table| table.lexicon).unwrap_or_default();
    let features = Features::of(prompt, lexicon);
    match table(features.language) {
        Some(table) if !features.is_empty() => table::best_guess(&table.scores(&features)),
        _ => Guess { phase: Phase::Other, confidence: 1.0 },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::feature::activity::begun_phase::wanted_confidence;
    use crate::feature::config::Config;

    #[test]
    fn names() {
        for (place, phase) in Phase::ALL.into_iter().enumerate() {
            assert_eq!(phase as usize, place);
            assert_eq!(Phase::named(phase.name()), Some(phase));
            assert_eq!(serde_json::to_value(phase).unwrap(), phase.name());
        }
        assert_eq!(Phase::named("Research"), None);
    }

    /// The parameters are complete: a table for each language.
    #[test]
    fn the_parameters_can_be_read() {
        for language in [features::Language::English, features::Language::Japanese] {
            assert!(WeightTable::read(PARAMETERS, language).is_some(), "{language:?}");
        }
        assert!(PARAMETERS.len() < 1024 * 1024, "{} bytes in every hook's file", PARAMETERS.len());
    }

    /// Frame and content point to different phases; the frame must win.
    #[test]
    fn what_is_asked_for_and_not_what_is_mentioned() {
        let rows = [
            ("undo/redoの実装を調べて", Phase::Research),
            ("look into how the deploy script is implemented", Phase::Research),
            ("デプロイスクリプトがどう動くか説明して", Phase::Research),
            ("review the implementation plan", Phase::Review),
            ("fix the typo in the README", Phase::Implement),
            ("the deploy failed, find out why", Phase::Debug),
            ("commit the bug fix", Phase::Ship),
            ("バグ修正をコミットして", Phase::Ship),
            ("plan the refactoring in small steps", Phase::Plan),
            ("write the requirements for the review tool", Phase::Spec),
            ("what did we learn from the failed deploy?", Phase::Reflect),
            ("design the schema for the bug tracker", Phase::Design),
            ("any ideas how to make code review more fun?", Phase::Brainstorm),
            ("the plan is fine, go on", Phase::Other),
        ];
        for (prompt, phase) in rows {
            assert_eq!(classify_prompt(prompt).phase, phase, "{prompt}");
        }
    }

    /// Below the confidence that is set a prompt changes nothing: the session would stay in what it did before, as in `review`.
    #[test]
    fn a_short_order_begins_its_activity() {
        let wanted = wanted_confidence(&Config::default());
        for (prompt, phase) in [
            ("review this diff", Phase::Review),
            ("ok, now implement it", Phase::Implement),
            ("バグ直して", Phase::Debug),
            ("refactor the parser into small functions, then commit", Phase::Implement),
        ] {
            let guess = classify_prompt(prompt);
            assert!(guess.phase == phase && guess.confidence >= wanted, "{prompt}: {guess:?}");
        }
    }

    #[test]
    fn spelling_does_not_matter() {
        for (one, other) in [
            ("Commit this.", "  commit   THIS.\r\n"),
            ("ＰＲ作って！", "PR作って!"),
            ("don’t push yet", "don't push yet"),
        ] {
            assert_eq!(classify_prompt(one), classify_prompt(other), "{one}");
        }
    }

    #[test]
    fn what_is_pasted_does_not_matter() {
        let log = "2026-11-15T22:32:06.123Z [worker-3] 10.0.0.7:5432 deploy=release/1.2 (commit) {\"plan\": [1, 2]}\n";
        let code = "```rust\nfn review(plan: &Plan) -> Release { deploy(plan.commit()) }\n```\n";
        for (prompt, phase) in [
            ("explain to me how this works", Phase::Research),
            ("add a unit test for this function", Phase::Implement),
            ("review this code please", Phase::Review),
        ] {
            for pasted in [code.to_owned(), log.repeat(3), log.repeat(20_000)] {
                assert_eq!(classify_prompt(&format!("{prompt}\n\n{pasted}")).phase, phase, "{prompt}");
                assert_eq!(classify_prompt(&format!("{pasted}\n{prompt}")).phase, phase, "{prompt}");
            }
        }
    }

    #[test]
    fn nothing_to_judge_by_is_other() {
        for prompt in ["", " \n\t ", "🎉", "👍🏽👍", "...", "?!", "()[]{}", "\u{0}", "—"] {
            let guess = classify_prompt(prompt);
            assert_eq!(guess.phase, Phase::Other, "{prompt:?}");
            assert!((0.0..=1.0).contains(&guess.confidence), "{prompt:?}");
        }
    }

    #[test]
    fn a_wide_backtick_is_one() {
        assert_eq!(classify_prompt("explain ｀parse` and ｀"), classify_prompt("explain `parse` and `"));
        assert_eq!(classify_prompt("｀あ`い"), classify_prompt("`あ`い"));
    }

    proptest! {
        #[test]
        fn any_text_has_a_phase(prompt in "(?s).{0,400}") {
            let guess = classify_prompt(&prompt);
            prop_assert!((0.0..=1.0).contains(&guess.confidence), "{guess:?}");
            prop_assert_eq!(guess, classify_prompt(&prompt));
        }

        #[test]
        fn words_and_signs_have_a_phase(prompt in "([a-zA-Z`'\"#/._-]{0,12}|[ぁ-んァ-ヶ一-龠、。！？「」]{1,6}|```|\n|\r\n| |:|\u{3000}){0,80}") {
            let guess = classify_prompt(&prompt);
            prop_assert!((0.0..=1.0).contains(&guess.confidence), "{guess:?}");
        }
    }
}
