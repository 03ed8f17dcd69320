//! The language model that is asked when the classifier is not sure about a prompt.

use tidegate_core::pipeline::record::BackendOutcome;
use tidegate_state::language_model as calls;
use tidegate_state::language_model::CallCap;

use crate::backend::{self, Ready};
use crate::bilingual::both;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let settings = &seen.config.policies.phase.llm;
    let variable = |name: &str| std::env::var(name).ok();
    let Some(way) = settings.access() else {
        found.ok(both!(
            "Tidegate does not ask a language model about prompts.",
            "プロンプトについて言語モデルには問い合わせません。"
        ));
        return;
    };
    let (kind, model) = (way.kind.name(), &way.model);
    match backend::prepare(&way, &seen.path, seen.project.as_deref(), variable) {
        Err(not) => {
            let why = &not.why;
            found.warning(
                both!(
                    "Tidegate cannot ask `{kind}` ({model}) about prompts: {why}.",
                    "プロンプトについて `{kind}`（{model}）に問い合わせできません: {why}"
                ),
                match not.outcome {
                    BackendOutcome::NoKey => both!(
                        "Set it in the shell from which you start your agent. That may be another shell than this one.",
                        "エージェントを起動するシェルで設定してください（このシェルとは別かもしれません）。"
                    ),
                    _ => both!(
                        "Install it, or set `backend = \"off\"` in `[activity.llm]` of your config.",
                        "インストールするか、設定ファイルの `[activity.llm]` に `backend = \"off\"` と書いてください。"
                    ),
                },
            );
        }
        Ok(ready) => {
            let place = match ready {
                Ready::Claude { program } => program.display().to_string(),
                Ready::Endpoint { target, .. } => target.url,
            };
            let today =
                seen.state.as_ref().map_or(0, |state| calls::count_taken(state, CallCap::Phases, seen.now));
            let most = settings.calls.get();
            found.ok(both!(
                "Tidegate can ask `{kind}` ({model}, {place}) about prompts: {today} of {most} calls today.",
                "プロンプトについて `{kind}`（{model}、{place}）に問い合わせできます。今日は{most}回中{today}回使いました。"
            ));
        }
    }
}
