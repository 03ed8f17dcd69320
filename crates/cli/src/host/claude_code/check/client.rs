//! The client's version, compared with the features that Tidegate relies on.

use std::fmt::{self, Display};
use std::path::Path;

use crate::bilingual::{Bilingual, both};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::program::{find_on_path, read_version};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version([u32; 3]);

/// A feature of the client and its first version.
struct Feature {
    since: Version,
    /// Without it an edit may pass unchecked.
    opens_gate: bool,
    words: fn() -> FeatureWords,
}

struct FeatureWords {
    name: Bilingual,
    /// The effect of its absence.
    without: Bilingual,
}

const fn feature(since: [u32; 3], words: fn() -> FeatureWords) -> Feature {
    Feature { since: Version(since), opens_gate: false, words }
}

const fn gate_feature(since: [u32; 3], words: fn() -> FeatureWords) -> Feature {
    Feature { opens_gate: true, ..feature(since, words) }
}

/// Newest first, as measured on the client and read in its changelog.
const FEATURES: &[Feature] = &[
    gate_feature([2, 1, 295], || FeatureWords {
        name: both!("`onFailure`", "`onFailure`"),
        without: both!("a gate that cannot start stays open", "起動できないゲートは開いたままです"),
    }),
    feature([2, 1, 251], || FeatureWords {
        name: both!("model-switch events", "モデル切り替えの通知"),
        without: both!(
            "Tidegate knows the new window one request late",
            "ウィンドウの大きさがわかるのが1回遅れます"
        ),
    }),
    gate_feature([2, 1, 214], || FeatureWords {
        name: both!("exit code 2 with other output", "出力のある終了コード2"),
        without: both!("a gate that fails can stay open", "失敗したゲートが開いたままになることがあります"),
    }),
    feature([2, 1, 196], || FeatureWords {
        name: both!("`prompt_id`", "`prompt_id`"),
        without: both!(
            "two installs may both answer a prompt",
            "二重インストールでは二重に応答することがあります"
        ),
    }),
    feature([2, 1, 145], || FeatureWords {
        name: both!("`background_tasks`", "`background_tasks`"),
        without: both!(
            "waiting for background work looks like the end of the work",
            "バックグラウンド処理の待ちが作業の終わりに見えます"
        ),
    }),
    gate_feature([2, 1, 139], || FeatureWords {
        name: both!("`args` of hooks", "フックの `args`"),
        without: both!(
            "Tidegate cannot block an edit that it cannot check",
            "確認できない編集をブロックできません"
        ),
    }),
    feature([2, 1, 105], || FeatureWords {
        name: both!("PreCompact that can block", "ブロックできる PreCompact"),
        without: both!("Tidegate cannot hold a compaction", "圧縮を保留できません"),
    }),
    feature([2, 1, 76], || FeatureWords {
        name: both!("PostCompact", "PostCompact"),
        without: both!("Tidegate notices a compaction one event late", "圧縮に気づくのがイベント1つ遅れます"),
    }),
    feature([2, 1, 69], || FeatureWords {
        name: both!("`agent_id`", "`agent_id`"),
        without: both!("Tidegate takes subagents for the main thread", "サブエージェントを区別できません"),
    }),
    feature([2, 1, 47], || FeatureWords {
        name: both!("`last_assistant_message`", "`last_assistant_message`"),
        without: both!("the context reading at Stop is late", "Stop 時の使用量の把握が遅れます"),
    }),
];

/// Missing features that are named.
const NAMED: usize = 2;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let newest = || seen.client.sessions.iter().find_map(|session| session.shown.version.clone());
    let on_path = find_on_path(&seen.path, "claude");
    if let Some(path) = on_path.as_ref().filter(|path| seen.is_in_project(path)) {
        let path = path.display();
        found.note(both!(
            "`claude` on PATH is {path}, inside this project. A repository may have put it there, so Tidegate did not run it.",
            "PATH の `claude` はこのプロジェクトの中の {path} です。リポジトリのものかもしれないため、実行していません。"
        ));
    }
    let (text, place) = match on_path.filter(|path| !seen.is_in_project(path)) {
        Some(path) => match read_version(&path) {
            Ok(text) => (text, Bilingual::data(path.display())),
            Err(Bilingual { en, ja }) => {
                let path = path.display();
                found.warning(
                    both!("{path} {en}.", "{path} {ja}。"),
                    both!("Install Claude Code again.", "Claude Code をインストールし直してください。"),
                );
                return;
            }
        },
        None => (newest().unwrap_or_default(), both!("by its newest transcript", "最新の会話の記録による")),
    };
    if text.is_empty() && !found.is_empty() {
        return;
    }
    if text.is_empty() && !seen.has_hooks() && !seen.client.folder.as_deref().is_some_and(Path::is_dir) {
        found.ok(both!("Claude Code is not used here.", "ここでは Claude Code を使っていません。"));
        return;
    }
    if text.is_empty() {
        found.note(both!(
            "Tidegate does not know the version of Claude Code: `claude` is not on PATH, and there is no transcript yet.",
            "Claude Code のバージョンがわかりません。`claude` が PATH になく、会話の記録もまだありません。"
        ));
        return;
    }
    let Bilingual { en, ja } = place;
    let Some(version) = Version::parse(&text) else {
        found.note(both!(
            "Tidegate does not understand the version of Claude Code: `{text}` ({en}).",
            "Claude Code のバージョンを読み取れません: `{text}`（{ja}）"
        ));
        return;
    };
    let mut lacking: Vec<&Feature> = FEATURES.iter().filter(|feature| version < feature.since).collect();
    lacking.sort_by_key(|feature| !feature.opens_gate);
    if lacking.is_empty() {
        found.ok(both!("Claude Code {version} ({en}).", "Claude Code {version}（{ja}）"));
        return;
    }
    let named = lacking.iter().take(NAMED).map(|feature| {
        let (since, FeatureWords { name, without }) = (feature.since, (feature.words)());
        both!(
            "without {name_en} (since {since}) {en}",
            "{name_ja}（{since}以降）がないため{ja}",
            name_en = name.en,
            name_ja = name.ja,
            en = without.en,
            ja = without.ja
        )
    });
    let more = lacking.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| both!("{more} more", "ほか{more}件"));
    let (effects_en, effects_ja): (Vec<String>, Vec<String>) =
        named.chain(more).map(|effect| (effect.en, effect.ja)).unzip();
    let (effects_en, effects_ja) = (effects_en.join("; "), effects_ja.join("、"));
    found.warning(
        both!(
            "Claude Code {version} ({en}) is too old for all of Tidegate: {effects_en}.",
            "Claude Code {version}（{ja}）は古く、Tidegate の一部が働きません: {effects_ja}"
        ),
        both!("Run `claude update`.", "`claude update` を実行してください。"),
    );
}

impl Version {
    /// For example `2.1.325 (Claude Code)`.
    fn parse(text: &str) -> Option<Version> {
        let word = text.split_whitespace().next()?.trim_start_matches('v');
        let mut parts = word.split(['.', '-', '+']).map(str::parse);
        let mut next = || parts.next()?.ok();
        Some(Version([next()?, next()?, next()?]))
    }
}

impl Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(out, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_by_number() {
        assert_eq!(Version::parse("2.1.325 (Claude Code)"), Some(Version([2, 1, 325])));
        assert_eq!(Version::parse("v2.1.9-beta.1"), Some(Version([2, 1, 9])));
        assert!(Version([2, 1, 9]) < Version([2, 1, 47]));
        for text in ["", "claude", "2.1", "2.x.1"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
        assert!(FEATURES.is_sorted_by(|newer, older| newer.since > older.since));
    }
}
