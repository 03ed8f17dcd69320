//! Sentences in which a person keeps a step of work to themselves: "do not ship before I looked at it", "stop after the
//! audit", 「コミットは私がやります」.
//!
//! A wrong yes costs the person one word, a wrong no runs over their decision: so this favours yes. A sentence on how
//! ("never commit secrets", "never push to main") is not one on whether.

use crate::text::search;
use crate::text::word_list::{Words, among, each_word};

/// A step that a person may reserve.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Its names, in lower case.
    pub names: Vec<String>,
    /// The names of the steps before it, in lower case.
    pub earlier: Vec<String>,
    /// It makes work public.
    pub publishes: bool,
}

/// Beginnings of words for what a publishing step does.
const PUBLISHES: [&str; 8] = ["ship", "releas", "push", "commit", "merg", "deploy", "publish", "upload"];
/// Their first letters, and that of "leave".
const INITIALS: [u8; 8] = *b"srpcmdul";
/// Whole words for it.
const PUBLISHES_WHOLE: Words = "pr prs mr";
/// Other words for it.
const LEAVES: [&str; 12] = [
    "go out",
    "goes out",
    "going out",
    "go live",
    "goes live",
    "going live",
    "goes public",
    "to production",
    "out the door",
    "out of the house",
    "send it off",
    "hand it over",
];
/// What a person says who has the last word, whatever the step.
const LAST_WORD: [&str; 14] = [
    "run it by me",
    "run this by me",
    "run everything by me",
    "final say",
    "last word",
    "last look",
    "final look",
    "my sign-off",
    "my approval",
    "my thumbs up",
    "my ok",
    "my okay",
    "my go-ahead",
    "my blessing",
];
const PUBLISHES_JA: [&str; 30] = [
    "出荷",
    "リリース",
    "プッシュ",
    "コミット",
    "マージ",
    "デプロイ",
    "公開",
    "プルリク",
    "push",
    "commit",
    "merge",
    "release",
    "deploy",
    "ship",
    "publish",
    "pull request",
    "pr",
    "反映",
    "出す前",
    "出すのは",
    "出さないで",
    "出してしまわないで",
    "世に出",
    "外に出",
    "本番",
    "提出",
    "納品",
    "上げる前",
    "アップする前",
    "送る前",
];

/// Names that Japanese gives to the stages of the built-in cycle.
const NAMES_JA: [(&str, &str); 4] =
    [("スプリント", "sprint"), ("監査", "audit"), ("出荷", "ship"), ("振り返り", "retrospective")];

const NEGATES: Words = "not never no without cannot";
const SKIPS: Words = "skip skipping omit hold drop exclude except forgo postpone delay wait stop";
/// Follows a step that is forbidden as a whole.
const AFTER: Words = "it this that anything something yet to now today tonight before until till unless myself please stage step \
    stages steps phase part for here at and or changes code work";
/// The step depends on something.
const DEPENDS: Words = "before until till unless after once only first ask asking wait waiting hold pause confirm check need needs \
    require requires requiring wants want let show prior when";
/// It depends on the person.
const PERSON: Words =
    "i i'm i've i'll i'd me my mine myself approval permission confirmation sign-off go-ahead";
/// The person does it.
const OWN: [&[&str]; 8] = [
    &["i'll"],
    &["i", "will"],
    &["i", "want", "to"],
    &["i'd", "like", "to"],
    &["i", "would", "like", "to"],
    &["i", "prefer", "to"],
    &["let", "me"],
    &["i'm", "going", "to"],
];

/// Words before a step that its negation can be.
const NEAR: usize = 4;

/// Branches: "never push to main" says where to, not whether.
const BRANCHES: Words = "main master develop trunk dev";
const TOWARDS: Words = "to into on onto directly straight the your our";

/// "stop after the audit", "run it up to the audit", "only sprint and audit".
const ENDS: Words = "stop halt pause end finish wait break until till through only just";

const FORBIDS_JA: [&str; 14] = [
    "しないで",
    "するな",
    "せず",
    "禁止",
    "待って",
    "待ち",
    "勝手に",
    "だめ",
    "ダメ",
    "止めて",
    "やめて",
    "しない",
    "不要",
    "なし",
];
const DEPENDS_JA: [&str; 6] = ["前に", "まで", "から", "あとで", "後で", "たら"];
const PERSON_JA: [&str; 22] = [
    "私",
    "僕",
    "俺",
    "自分",
    "こちら",
    "見せて",
    "見て",
    "聞いて",
    "相談",
    "承認",
    "許可",
    "レビュー",
    "確認",
    "声をかけ",
    "知らせ",
    "一声",
    "一言",
    "声を",
    "連絡",
    "見たい",
    "見ます",
    "チェック",
];
const OWN_JA: [&str; 8] = ["私が", "自分で", "こちらで", "僕が", "俺が", "私の方で", "こっちで", "手動で"];

/// Whether a text may name one of the steps `names`, or something that a publishing step does. Most prompts do not, and are
/// not read closely.
pub fn may_name_step<'n>(text: &str, mut names: impl Iterator<Item = &'n str>) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'\'' | b'-' | b'_');
    let begins = |word: &[u8], known: &str| {
        word.get(..known.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(known.as_bytes()))
    };
    // "Nothing leaves my machine."
    let is_usual = |word: &[u8]| {
        let is_initial = |first: &u8| INITIALS.iter().any(|known| *known == first.to_ascii_lowercase());
        word.first().is_some_and(is_initial)
            && (PUBLISHES.iter().chain(&["leave"]).any(|known| begins(word, known))
                || matches!(word.len(), 2 | 3) && each_word(PUBLISHES_WHOLE).any(|known| begins(word, known)))
    };
    let holds = |word: &str| {
        if word.is_ascii() {
            search::holds_in_any_case(text.as_bytes(), word.as_bytes())
        } else {
            text.to_lowercase().contains(&word.to_lowercase())
        }
    };
    // A line may end between two words of a name.
    let first = |name: &'static str| name.split(' ').next().unwrap_or_default();
    text.as_bytes().split(|byte| !is_part(byte)).any(is_usual)
        || LEAVES
            .iter()
            .chain(&LAST_WORD)
            .any(|words| search::holds_in_any_case(text.as_bytes(), words.as_bytes()))
        || names.any(holds)
        || !text.is_ascii()
            && (PUBLISHES_JA.into_iter().map(first).any(holds)
                || NAMES_JA.iter().any(|(name, _)| text.contains(name)))
}

/// Where a text in lower case names a step, or something that a publishing one does.
pub fn find_mention(said: &str, step: &Step) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '\'' | '-' | '_');
    let begins = |at: usize| !said[..at].chars().next_back().is_some_and(is_part);
    let whole = |at: usize, word: &str| !said[at + word.len()..].chars().next().is_some_and(is_part);
    let find = |word: &str, is_whole: bool| {
        let places = said.match_indices(word).map(|(at, _)| at);
        let mut fits = places.filter(|at| !word.is_ascii() || begins(*at) && (!is_whole || whole(*at, word)));
        fits.next()
    };
    let names =
        step.names.iter().flat_map(|name| names_in_japanese(name)).filter_map(|name| find(name, true));
    // "The uploader" is usually the work itself.
    let verbs = PUBLISHES.iter().filter(|word| **word != "upload");
    let usual = verbs.chain(&["uncommit", "unpush", "unpublish"]).map(|word| (*word, false));
    let usual = usual.chain(each_word(PUBLISHES_WHOLE).map(|word| (word, true)));
    let usual = usual.chain(PUBLISHES_JA.iter().filter(|word| !word.is_ascii()).map(|word| (*word, false)));
    let usual = usual.filter(|_| step.publishes).filter_map(|(word, is_whole)| find(word, is_whole));
    names.chain(usual).min()
}

/// Whether a sentence of the person reserves `step`.
pub fn reserves(sentence: &str, step: &Step) -> bool {
    reserves_any(sentence, std::slice::from_ref(step))
}

/// Whether it reserves one of them.
pub fn reserves_any(sentence: &str, steps: &[Step]) -> bool {
    let said = sentence.to_lowercase().replace('’', "'");
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '-' | '_');
    let words: Vec<&str> = said.split(|c| !is_part(c)).filter(|word| !word.is_empty()).collect();
    steps
        .iter()
        .any(|step| reserves_english(&words, step) || !said.is_ascii() && reserves_japanese(&said, step))
}

fn reserves_english(words: &[&str], step: &Step) -> bool {
    let is_step = |word: &str| {
        step.names.iter().any(|name| name == word)
            || step.publishes
                && (PUBLISHES.iter().any(|known| word.starts_with(known)) || among(PUBLISHES_WHOLE, word))
    };
    let is_negation = |word: &&str| among(NEGATES, word) || word.ends_with("n't") || *word == "dont";
    let steps: Vec<usize> =
        (0..words.len()).filter(|at| is_step(words[*at]) && !names_branch(words, *at)).collect();
    let is_reserved_whole = || stays_here(words) || goes_out_later(words) || has_last_word(words);
    if ends_before(words, step, &steps) || step.publishes && is_reserved_whole() {
        return true;
    }
    let is_forbidden = |at: &usize| {
        let before = &words[at.saturating_sub(NEAR)..*at];
        let denied = before.iter().any(is_negation);
        // "Stop after the audit" lets the audit run.
        let ends = before.iter().any(|word| among("after once until till through at when", word));
        let skipped = !ends && before.iter().any(|word| among(SKIPS, word));
        denied != skipped && words.get(at + 1).is_none_or(|next| among(AFTER, next))
    };
    let is_own = |at: &usize| {
        let before = &words[at.saturating_sub(NEAR)..*at];
        OWN.iter().any(|own| before.windows(own.len()).any(|part| part == *own)) && !before.contains(&"you")
    };
    let has = |list: Words| words.iter().any(|word| among(list, word));
    let depends = || has(DEPENDS) || words.iter().any(is_negation);
    let is_left = || has("leave leaves left mine") && words.windows(2).any(|pair| pair == ["to", "me"]);
    let is_mine = || has("mine") || has("myself") || is_left();
    steps.iter().any(is_forbidden)
        || steps.iter().any(is_own)
        || !steps.is_empty() && (is_mine() || depends() && has(PERSON))
}

/// "push to main"
fn names_branch(words: &[&str], at: usize) -> bool {
    let mut rest = words[at + 1..].iter().skip_while(|word| among(TOWARDS, word));
    let is_direct = words.get(at + 1).is_some_and(|next| among(TOWARDS, next));
    is_direct && rest.next().is_some_and(|word| among(BRANCHES, word))
        || at > 0 && among("force force-", words[at - 1])
        || words[at].starts_with("force-")
}

/// The sentence ends the work with an earlier step, and does not name this one after it.
fn ends_before(words: &[&str], step: &Step, steps: &[usize]) -> bool {
    let is_earlier = |word: &str| step.earlier.iter().any(|name| name == word);
    let Some(last) = words.iter().rposition(|word| is_earlier(word)) else { return false };
    let names_later = steps.iter().any(|at| *at > last);
    let before = &words[last.saturating_sub(NEAR)..last];
    let ends = before.iter().any(|word| among(ENDS, word))
        || before.windows(2).any(|pair| pair == ["up", "to"] || pair == ["as", "far"])
        || words[last + 1..].iter().take(2).any(|word| among("only then", word))
            && words[last + 1..].iter().any(|word| among("stop only pause wait", word));
    let denied = before.iter().any(|word| word.ends_with("n't") || among("not never", word));
    ends && !denied && !names_later
}

/// "Let me have a glance before anything goes out."
fn goes_out_later(words: &[&str]) -> bool {
    let said = words.join(" ");
    let has = |list: Words| words.iter().any(|word| among(list, word));
    let denied =
        || words.iter().any(|word| among(NEGATES, word) || among("nothing", word) || word.ends_with("n't"));
    LEAVES.iter().any(|leaves| said.contains(leaves)) && (has(DEPENDS) || denied()) && has(PERSON)
}

/// "Run it by me first." A step that follows from it, such as "the last word of the line", is not one.
fn has_last_word(words: &[&str]) -> bool {
    let said = words.join(" ");
    let has = |list: Words| words.iter().any(|word| among(list, word));
    let is_mine = || {
        has("i i'd i'll me my")
            && has("want have get need needs before without until till wait first first, not")
    };
    LAST_WORD.iter().any(|words| said.contains(words)) && is_mine()
}

/// "Nothing leaves my machine."
fn stays_here(words: &[&str]) -> bool {
    words.iter().any(|word| among("leave leaves", word))
        && words.iter().any(|word| among("machine laptop computer box", word))
        && words.iter().any(|word| among("nothing not no never", word) || word.ends_with("n't"))
}

fn reserves_japanese(said: &str, step: &Step) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let names = step.names.iter().flat_map(|name| names_in_japanese(name));
    // 「auditまでで止めて」 lets the audit run.
    let is_end = |at: usize, word: &str| {
        let rest = said[at + word.len()..].trim_start();
        ["まで", "の後", "のあと", "が終わ"].iter().any(|end| rest.starts_with(end))
    };
    let find = |word: &str| mention(said, word).filter(|at| !is_end(*at, word));
    let of_stage: Vec<usize> = names.filter_map(find).collect();
    let published = PUBLISHES_JA.iter().filter(|_| step.publishes).filter_map(|word| find(word));
    let steps: Vec<usize> = of_stage.into_iter().chain(published).collect();
    let earlier = step.earlier.iter().flat_map(|name| names_in_japanese(name));
    let ends = earlier.filter_map(|name| Some((mention(said, name)?, name.len()))).any(|(at, length)| {
        let rest = said[at + length..].trim_start();
        let rest = rest.strip_prefix("ステージ").unwrap_or(rest);
        let ends = ["まで", "の後で止", "のあとで止", "で止", "だけ", "のみ", "が終わったら", "が終わった"];
        ends.iter().any(|end| rest.starts_with(end)) && !steps.iter().any(|step| *step > at)
    });
    if ends {
        return true;
    }
    let to_branch = each_word(BRANCHES).any(|branch| {
        mention(said, branch)
            .is_some_and(|at| said[at + branch.len()..].trim_start().starts_with(['に', 'へ']))
    });
    let on_person = has(&DEPENDS_JA) && has(&PERSON_JA);
    !steps.is_empty() && (on_person || has(&OWN_JA) || !to_branch && has(&FORBIDS_JA) && !is_about_how(said))
}

/// With the name itself.
fn names_in_japanese(name: &str) -> impl Iterator<Item = &str> {
    NAMES_JA.iter().filter(move |(_, of)| name == *of).map(|(word, _)| *word).chain([name])
}

/// 「秘密情報はコミットしないで」 says what not to commit.
fn is_about_how(said: &str) -> bool {
    let object = ["は", "を"].iter().find_map(|mark| said.split_once(mark).map(|(before, _)| before));
    let is_step = |object: &str| PUBLISHES_JA.iter().any(|step| object.contains(step));
    let general = ["まだ", "今", "何も", "一切", "勝手", "絶対"];
    object.is_some_and(|object| !object.is_empty() && !is_step(object))
        && !general.iter().any(|word| said.contains(word))
        && !["待って", "待ち", "まで", "前に"].iter().any(|word| said.contains(word))
}

/// Where a word is mentioned; one in Latin letters as a whole word.
fn mention(said: &str, word: &str) -> Option<usize> {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let is_whole = |at: &usize| {
        !word.is_ascii()
            || !is_letter(said[..*at].chars().next_back())
                && !is_letter(said[at + word.len()..].chars().next())
    };
    said.match_indices(word).map(|(at, _)| at).find(is_whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STAGES: [&str; 4] = ["sprint", "audit", "ship", "retrospective"];

    fn step(at: usize) -> Step {
        let names = |stages: &[&str]| stages.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        Step { names: names(&STAGES[at..=at]), earlier: names(&STAGES[..at]), publishes: at == 2 }
    }

    #[test]
    fn what_a_person_reserves() {
        for said in [
            "run the dev cycle, but do not ship before I looked at it",
            "Don't push yet.",
            "do not merge it",
            "Never deploy to production.",
            "no release before Friday",
            "ask me before you publish anything",
            "ship only after my OK",
            "Wait with the commit until I have read the diff.",
            "Let me review the diff before you commit anything.",
            "add a retry, I want to see the diff before it ships",
            "I will ship it myself",
            "I'll do the commit.",
            "leave the commit to me",
            "hold off on committing until I've seen it",
            "hold off on shipping",
            "No commits please.",
            "I will commit myself.",
            "Shipping needs my approval.",
            "run the dev cycle without ship",
            "run the dev cycle but skip the ship stage",
            "run the dev cycle: nothing leaves my machine",
            "Do not start shipping before 5pm.",
            "don't open a PR yet",
            "私が見るまで出荷しないで",
            "勝手にプッシュしないでください",
            "リリースの前に差分を見せて",
            "コミットはこちらで確認してからにしてください。",
            "出荷前に一度見せて",
            "ただし出荷は待って。",
            "コミットは私がやります",
            "pushはまだしないで。",
            "mergeは自分でやります",
            "PRはまだ出さないで、待ってください",
            "let me have a glance before anything goes out",
            "Show me before it goes live.",
            "nothing goes out without my ok",
            "I want a last look before this is over",
            "run it by me first",
            "I'd like to have the final say",
            "wait for my thumbs up",
            "not without my sign-off",
            "I need to see it before it goes to production",
            "before you send it off, show me the diff",
            "check with me before it goes out the door",
            "Ping me before going live, please",
            "before you push anything, give me a chance to look",
            "出す前に一度見せてください。",
            "世に出す前に私が確認します",
            "本番に入れる前に一声ください",
            "公開前に一言ください",
            "納品の前にチェックさせて",
            "出すのはちょっと待って",
            "PRを出す前に連絡して",
            "上げる前に見たいです",
            "勝手に外に出さないで",
        ] {
            assert!(reserves(said, &step(2)), "{said}");
            assert!(may_name_step(said, STAGES.into_iter()), "{said}");
            assert!(!reserves(said, &step(1)), "{said}: not the audit");
        }
        assert!(!may_name_step(
            "Find out why it drops connections. I do not want a new test.",
            STAGES.into_iter()
        ));
        assert!(may_name_step("auditまで", STAGES.into_iter()));
        assert!(reserves("Do not start the audit before I say so.", &step(1)));
        assert!(reserves("retrospective は私が確認するまで始めないで、待って", &step(3)));
    }

    #[test]
    fn a_step_with_which_the_work_ends() {
        for said in [
            "Run the cycle but stop after the audit.",
            "run the cycle up to the audit",
            "run only sprint and audit of the dev cycle",
            "pause once the audit is over",
            "dev cycleを回して。auditまでで止めて",
            "監査までお願いします",
        ] {
            let is_reserved = reserves(said, &step(2));
            assert!(is_reserved || said.starts_with("pause"), "{said}");
            assert!(!reserves(said, &step(1)), "{said}: not the audit itself");
        }
        assert!(reserves("stop after the sprint", &step(1)));
        assert!(!reserves("don't stop after the audit, ship it", &step(2)));
        assert!(!reserves("auditまで終わったらshipして", &step(2)));
    }

    #[test]
    fn usual_steps_begin_with_an_initial() {
        let usual = PUBLISHES.into_iter().chain(each_word(PUBLISHES_WHOLE)).chain(["leave"]);
        assert!(usual.into_iter().all(|word| INITIALS.contains(&word.as_bytes()[0])));
    }

    #[test]
    fn what_only_says_how() {
        for said in [
            "Use only pnpm.",
            "never commit secrets",
            "Keep commits small, at most 200 lines.",
            "commit messages must be in English",
            "Do not change the public API before shipping.",
            "Don't touch the shipping module.",
            "Never push to main.",
            "do not commit directly to master",
            "The word wraps after the last word of the line.",
            "Requests go out twice, find out why.",
            "ログに出す値を直して",
            "never force push",
            "No commits over 300 lines.",
            "run the dev cycle and ship it",
            "don't skip the ship stage",
            "コミットメッセージは日本語で",
            "リリースノートは英語のみ",
            "mainには直接pushしないで",
            "秘密情報はコミットしないで",
            "サイクルを回してshipまでお願いします",
            "",
        ] {
            assert!(!reserves(said, &step(2)), "{said}");
        }
    }

    proptest! {
        /// The quick look misses nothing.
        #[test]
        fn a_reserved_step_is_named(said in "(don't|not|I|my|will|Ship|audit|push|PR|pull|request|before|only|leaves|machine|stop|監査|まで|出荷|しないで|commit|[-,.:' \n]){1,12}") {
            let reserved = (0..STAGES.len()).any(|at| reserves(&said, &step(at)));
            prop_assert!(!reserved || may_name_step(&said, STAGES.into_iter()), "{said}");
        }
    }
}
