//! `tidegate explain`: why a ruling came out as it did.

use std::process::ExitCode;

use tidegate_core::feature::activity::classifier::Phase;
use tidegate_core::feature::verdict::Asks;
use tidegate_core::host::Host;
use tidegate_core::host::capability::{Capability, Support};
use tidegate_core::host::person::Person;
use tidegate_core::pipeline::record::{BackendCall, Deeds, Record, SwitchedPolicy, VerdictRecord};
use tidegate_core::text::hidden::show_name;
use tidegate_core::text::lang::Lang;
use tidegate_core::time::Millis;
use tidegate_state::journal;

use super::Outcome;
use super::meter::describe_reading;
use super::record_filter::find_session;
use super::record_words::{headline, passed_check, subject};
use crate::bilingual::{Bilingual, both, count_en};
use crate::config_words::describe_problem;
use crate::error::CliError;
use crate::host::agent_name;
use crate::local_time::LocalClock;
use crate::print;
use crate::print::page::Page;
use crate::print::text::{Text, data, name};
use crate::reason_words;
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tidegate explain last\n  tidegate explain 19a8f2c1d3e-4f2")]
pub(crate) struct Args {
    /// Id from `tidegate log`, or `last` for the newest that said or blocked something
    #[arg(value_name = "RECORD", default_value = "last")]
    pub(crate) record: String,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// All projects, not only this one
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let here = Here::find()?;
    let session = find_session(&here, args.session.as_deref())?;
    let record = find_record(&here, args, session.as_deref())?;
    if args.json {
        print::json(&record);
    } else {
        explain_page(&record, &LocalClock::of_system(here.now)).print();
    }
    Ok(ExitCode::SUCCESS)
}

fn find_record(here: &Here, args: &Args, session: Option<&str>) -> Result<Record, CliError> {
    // Calls by other hosts decide nothing: they are shown only if there is nothing else.
    find_among(here, args, session, |record| record.ruling != "foreign")
        .or_else(|_| find_among(here, args, session, |_| true))
}

fn find_among(
    here: &Here,
    args: &Args,
    session: Option<&str>,
    is_shown: fn(&Record) -> bool,
) -> Result<Record, CliError> {
    let wanted = |record: &Record| {
        if args.record == "last" {
            !is_quiet(record)
                && is_shown(record)
                && record.ruling != "command"
                && here.concerns(record, session, args.all)
        } else {
            record.id == args.record
        }
    };
    for path in journal::list_files(&here.state.journal()).map_err(CliError::from)?.iter().rev() {
        let entries =
            journal::read(path).map_err(|error| CliError::new(format!("{}: {error}", path.display())))?;
        if let Some(record) = entries.records.into_iter().rev().find(wanted) {
            return Ok(record);
        }
    }
    let id = &args.record;
    Err(if id == "last" {
        CliError::new(both!(
            "Tidegate has not said or blocked anything in this project yet",
            "このプロジェクトでは、Tidegate はまだ何も伝えたり止めたりしていません"
        ))
        .hint(both!(
            "--all looks in every project; `tidegate log` shows what happened",
            "--all ですべてのプロジェクトを探します。`tidegate log` で出来事を表示します"
        ))
    } else {
        CliError::new(both!("there is no record `{id}`", "`{id}` という記録はありません")).hint(both!(
            "`tidegate log --verbose` shows the ids",
            "ID は `tidegate log --verbose` で表示されます"
        ))
    })
}

/// Actions that would have satisfied a policy.
fn list_asks(asks: &Asks) -> Vec<Bilingual> {
    let load = |skill: &String| both!("load the skill {skill}", "スキル {skill} を読み込む");
    let mut wanted = Vec::new();
    if !asks.skills.is_empty() {
        let (en, ja) = (asks.skills.join(" and "), asks.skills.join("、"));
        wanted.push(both!("load the skill {en}", "スキル {ja} を読み込む"));
    }
    wanted.extend(asks.any_skill.iter().map(load));
    wanted.extend(asks.any_file.iter().map(|file| both!("read {file}", "{file} を読む")));
    if asks.verified {
        wanted.push(both!("run a check that passes", "検証を実行して通す"));
    }
    if asks.compound {
        wanted.push(both!("review the progress notes with `/compound`", "`/compound` で作業メモを整理する"));
    }
    if asks.entry {
        wanted.push(both!("write a progress note", "作業メモを書く"));
    }
    if let Some(gate) = asks.gate {
        wanted.push(both!(
            "complete checkpoint {gate} (`tidegate workflow check {gate}`)",
            "チェックポイント{gate}を満たす（`tidegate workflow check {gate}`）"
        ));
    }
    if asks.compacted {
        wanted.push(both!("compact the conversation with `/compact`", "`/compact` で会話を圧縮する"));
    }
    if let Some(stage) = &asks.stage {
        wanted.push(both!(
            "mark stage {stage} as done (`tidegate cycle done`) or failed (`tidegate cycle fail`)",
            "ステージ {stage} を完了（`tidegate cycle done`）か失敗（`tidegate cycle fail`）にする"
        ));
    }
    if asks.tag {
        wanted.push(both!("add the topic's tag to the answer", "回答にトピックのタグを付ける"));
    }
    if let Some(topic) = asks.topic {
        wanted.push(both!("record the decision of topic {topic}", "トピック{topic}の決定を書き留める"));
    }
    wanted
}

/// Deeds that settle earlier interruptions.
pub(super) fn list_deeds(did: &Deeds) -> Vec<Bilingual> {
    let mut deeds = Vec::new();
    let mut add = |list: &[String], word: fn(String) -> Bilingual| {
        if !list.is_empty() {
            deeds.push(word(list.join(", ")));
        }
    };
    add(&did.skills, |list| both!("a skill was loaded: {list}", "スキルを読み込みました: {list}"));
    add(&did.edited, |list| both!("code was edited: {list}", "コードを編集しました: {list}"));
    add(&did.edited_by_shell, |list| {
        both!("a command wrote to files: {list}", "コマンドがファイルに書き込みました: {list}")
    });
    add(&did.read, |list| both!("a file was read: {list}", "ファイルを読みました: {list}"));
    if !did.verified.is_empty() {
        let by = passed_check(did, &did.verified);
        deeds.push(both!("a check passed: {by}", "検証が通りました: {by}"));
    }
    if !did.checked.is_empty() {
        let by = passed_check(did, &did.checked);
        deeds.push(both!(
            "a check passed, but is not enough: {by}",
            "検証が通りましたが、まだ足りません: {by}"
        ));
    }
    let mut add = |list: &[String], word: fn(String) -> Bilingual| {
        if !list.is_empty() {
            deeds.push(word(list.join(", ")));
        }
    };
    add(&did.launched, |list| {
        both!("a check runs in the background: {list}", "裏で検証を実行中です: {list}")
    });
    deeds.extend(did.hidden.as_ref().map(|line| {
        both!(
            "a check did not count, because its exit status is hidden: `{line}`",
            "終了ステータスが隠れているため、検証として数えられませんでした: `{line}`"
        )
    }));
    deeds.extend(
        did.failed.as_ref().map(|line| both!("a check failed: `{line}`", "検証が失敗しました: `{line}`")),
    );
    deeds.extend(did.unread.as_ref().map(|line| {
        both!(
            "a check did not count, because it does not read the changed files: `{line}`",
            "変更したファイルを読まない検証のため、数えられませんでした: `{line}`"
        )
    }));
    deeds.extend(did.untested.as_ref().map(|line| {
        both!(
            "a check did not count, because it ran no test: `{line}`",
            "テストが1件も実行されなかったため、数えられませんでした: `{line}`"
        )
    }));
    deeds.extend(did.stage.as_ref().map(|stage| {
        both!("a stage was marked as done or failed: {stage}", "ステージを完了または失敗にしました: {stage}")
    }));
    deeds.extend(did.switched_off.as_ref().map(|off| {
        let (policy, Bilingual { en, ja }) = (&off.policy, describe_place(off));
        both!("{policy} was switched off {en}", "{ja}{policy} をオフにしました")
    }));
    deeds.extend(did.stepped_up.iter().map(|up| {
        let (policy, Bilingual { en, ja }) = (&up.policy, describe_place(up));
        both!("{policy} blocks again {en}", "{ja}{policy} が再び止めるようになりました")
    }));
    deeds
}

fn describe_place(what: &SwitchedPolicy) -> Bilingual {
    match (&what.session, &what.project) {
        (Some(session), _) => {
            both!("in session {session}", "セッション {session} で", session = show_name(session))
        }
        (None, Some(project)) => both!("in {project}", "{project} で", project = show_name(project)),
        (None, None) => both!("in every project", "すべてのプロジェクトで"),
    }
}

fn describe_call(call: &BackendCall) -> Bilingual {
    let BackendCall { backend, model, ms, .. } = call;
    let answer = if let Some(phase) = call.phase.map(Phase::name) {
        both!("It answered `{phase}`", "回答は `{phase}` でした")
    } else {
        let outcome = call.outcome.name();
        both!("It gave no answer: {outcome}", "回答はありませんでした: {outcome}")
    };
    let why = call.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let tokens = match (call.input_tokens, call.output_tokens) {
        (None, None) => Bilingual::default(),
        (input, output) => {
            let (input, output) = (input.unwrap_or_default(), output.unwrap_or_default());
            both!(", {input} tokens in and {output} out", "、入力{input}・出力{output}トークン")
        }
    };
    Bilingual {
        en: format!(
            "Tidegate asked {model} ({backend}) which kind of work a prompt asks for. {}{why}, after {ms} ms{}.",
            answer.en, tokens.en
        ),
        ja: format!(
            "Tidegate は、プロンプトの作業の種類を {model}（{backend}）に尋ねました。{}{why}（{ms}ミリ秒{}）。",
            answer.ja, tokens.ja
        ),
    }
}

/// Nothing said, nothing refused, nothing failed.
fn is_quiet(record: &Record) -> bool {
    matches!(record.ruling.as_str(), "pass" | "backend")
        && record.failure.is_none()
        && record.said.model.is_none()
        && record.said.user.is_none()
}

/// The outcome first, then why, then every text once, then the facts.
pub(crate) fn explain_page(record: &Record, clock: &LocalClock) -> Page {
    let mut page = Page::new();
    let event = &record.event;
    let outcome = headline(record).unwrap_or_else(|| {
        let Bilingual { en, ja } = subject(record);
        Text::from(if record.backend.is_some() {
            both!("Tidegate asked a language model", "Tidegate は言語モデルに尋ねました")
        } else {
            both!("Tidegate had nothing to say about {en}", "Tidegate は{ja}を何も言わずに通しました")
        })
    });
    page.paragraph(outcome.strong());
    let at = Millis::from_iso(&record.at).map_or_else(|| record.at.clone(), |at| clock.exact(at));
    page.paragraph(data(format!("{at}  {event}  {}", record.id)).dim());
    add_outcome(&mut page, record);
    add_texts(&mut page, record);
    add_policies(&mut page, record);
    add_facts(&mut page, record);
    page
}

/// It gave the call that counted, or the message where nothing was decided.
fn is_deciding(record: &Record, verdict: &VerdictRecord) -> bool {
    let speaks = || verdict.says.model.is_some() || verdict.says.user.is_some();
    !verdict.shadow && verdict.call == record.ruling && (record.ruling != "pass" || speaks())
}

fn add_outcome(page: &mut Page, record: &Record) {
    if let Some(call) = &record.backend {
        page.gap();
        page.paragraph(describe_call(call));
    }
    if let Some(failure) = &record.failure {
        page.heading(both!("Why", "理由"));
        let (class, step) = (&failure.class, &failure.step);
        page.item(both!("this step failed: {step} ({class})", "失敗した手順: {step}（{class}）"));
        page.item(if failure.closed {
            both!(
                "a check that cannot be made blocks: `tidegate doctor` looks for the cause",
                "確認できないときはブロックします。原因は `tidegate doctor` で調べられます"
            )
        } else {
            both!("Tidegate stayed silent", "Tidegate は何も言いませんでした")
        });
    }
    let decided: Vec<&VerdictRecord> =
        record.verdicts.iter().filter(|verdict| is_deciding(record, verdict)).collect();
    if decided.is_empty() {
        return;
    }
    if record.failure.is_none() {
        page.heading(both!("Why", "理由"));
    }
    for verdict in &decided {
        let VerdictRecord { policy, because, .. } = verdict;
        let reason = if because.is_empty() {
            Text::default()
        } else {
            data(": ") + reason_words::because_on(&record.host, because)
        };
        page.item(data(policy).strong() + reason);
    }
    if record.ruling == "pass" {
        return;
    }
    let wanted: Vec<Bilingual> = decided.iter().flat_map(|verdict| list_asks(&verdict.asks)).collect();
    if !wanted.is_empty() {
        page.heading(both!("To get past it", "先に進むには"));
        for ask in wanted {
            page.item(ask);
        }
        for VerdictRecord { policy, .. } in &decided {
            page.item(both!(
                "or switch the policy off: `tidegate off {policy} --for 1h`",
                "または、ポリシーをオフにする: `tidegate off {policy} --for 1h`"
            ));
        }
    }
}

/// Texts as they were given, each once.
fn add_texts(page: &mut Page, record: &Record) {
    let agent = agent_name(&record.host);
    let texts = [
        (both!("Tidegate told you", "あなたへのメッセージ"), &record.said.user),
        (both!("Tidegate told {agent}", "{agent} へのメッセージ"), &record.said.model),
    ];
    for (whom, text) in texts {
        if let Some(text) = text {
            page.heading(whom);
            page.indented(|page| page.paragraph(data(text.trim_end())));
        }
    }
    if record.said.dropped > 0 {
        let dropped = record.said.dropped;
        page.paragraph(both!("left out for length: {dropped}", "長さの都合で省いた文: {dropped}件"));
    }
}

/// Policies that did not decide, with texts that were not given.
fn add_policies(page: &mut Page, record: &Record) {
    let agent = agent_name(&record.host);
    let others: Vec<&VerdictRecord> =
        record.verdicts.iter().filter(|verdict| !is_deciding(record, verdict)).collect();
    if others.is_empty() {
        return;
    }
    page.heading(if others.len() < record.verdicts.len() {
        both!("Other policies that took part", "関わったほかのポリシー")
    } else {
        both!("Policies that took part", "関わったポリシー")
    });
    let is_given = |text: &str| {
        [&record.said.user, &record.said.model].into_iter().flatten().any(|said| said.contains(text))
    };
    let rows = others.into_iter().map(|verdict| {
        let mut text = describe_verdict(verdict);
        if !verdict.because.is_empty() {
            text = text + data(": ") + reason_words::because_on(&record.host, &verdict.because);
        }
        let (to_agent, you) = if verdict.shadow {
            (
                both!("would have told {agent}", "{agent} に伝えるはずだった文"),
                both!("would have told you", "あなたに伝えるはずだった文"),
            )
        } else {
            (both!("for {agent}", "{agent} 向け"), both!("for you", "あなた向け"))
        };
        let texts =
            [(&to_agent, &verdict.reason), (&to_agent, &verdict.says.model), (&you, &verdict.says.user)];
        for (label, said) in texts {
            if let Some(said) = said.as_deref().map(str::trim).filter(|said| !is_given(said)) {
                text = text + data("\n") + label.clone() + data(format!(": {said}")).dim();
            }
        }
        (data(&verdict.policy).strong(), text)
    });
    page.pairs(rows);
}

fn describe_verdict(verdict: &VerdictRecord) -> Text {
    let says = verdict.says.model.is_some() || verdict.says.user.is_some();
    let text = Text::from(match verdict.call.as_str() {
        "pass" if says => both!("message only", "メッセージのみ"),
        "pass" => both!("no objection", "問題なし"),
        "ask" => both!("asks you", "あなたに確認"),
        _ => both!("blocks", "ブロック"),
    });
    let text = match verdict.call.as_str() {
        "pass" => text.dim(),
        _ => text.warning(),
    };
    if verdict.shadow { text + Text::from(both!(", log-only", "（記録のみ）")).dim() } else { text }
}

fn add_facts(page: &mut Page, record: &Record) {
    page.heading(both!("Facts", "事実"));
    let mut rows: Vec<(Text, Text)> = Vec::new();
    let mut fact =
        |key: Bilingual, value: Option<Text>| rows.extend(value.map(|value| (Text::from(key), value)));
    fact(both!("session", "セッション"), record.session.as_ref().map(name));
    fact(both!("project", "プロジェクト"), record.project.as_ref().map(name));
    fact(both!("tool", "ツール"), record.tool.as_ref().map(data));
    fact(both!("cause", "きっかけ"), record.cause.as_ref().map(data));
    fact(both!("subagent", "サブエージェント"), record.agent.as_ref().map(data));
    let is_other = !record.host.is_empty() && record.host != Host::ClaudeCode.name();
    fact(both!("agent", "エージェント"), is_other.then(|| data(Host::title(&record.host))));
    fact(both!("not possible there", "できないこと"), limits_of(&record.host).map(Text::from));
    fact(
        both!("person", "人"),
        (record.person == Person::Absent)
            .then(|| both!("absent: the run is unattended", "いません（無人の実行です）").into()),
    );
    fact(
        both!("context", "コンテキスト"),
        record.meter.as_ref().map(|meter| describe_reading(meter, &record.host)),
    );
    for (by, off) in [("TIDEGATE_OFF", &record.off), ("tidegate off", &record.off_by_command)] {
        let list = off.join(", ");
        fact(
            both!("switched off", "オフ"),
            (!off.is_empty()).then(|| both!("{list} (by `{by}`)", "{list}（`{by}` による）").into()),
        );
    }
    for problem in &record.config {
        fact(both!("config", "設定"), Some(describe_problem(problem).into()));
    }
    for done in list_deeds(&record.did) {
        fact(both!("happened", "起きたこと"), Some(done.into()));
    }
    if record.cost.us > 0 {
        fact(both!("cost", "コスト"), Some(describe_cost(record).into()));
    }
    page.pairs(rows);
}

fn describe_cost(record: &Record) -> Bilingual {
    let (tokens, turns) = (record.cost.tokens, record.cost.turns);
    let (tokens_en, turns_en) = (count_en(tokens, "token"), count_en(turns as usize, "extra turn"));
    let ms = record.cost.us as f64 / 1000.0;
    both!(
        "about {tokens_en} of context, {turns_en}, {ms:.1} ms",
        "コンテキスト約{tokens}トークン、追加{turns}ターン、{ms:.1}ミリ秒"
    )
}

/// What a host that is checked cannot do. A host that is only recorded says it elsewhere.
fn limits_of(host: &str) -> Option<Bilingual> {
    let host = Host::from_name(host);
    if host.is_only_recorded() {
        return None;
    }
    let missing = Capability::ALL.iter().filter(|it| matches!(host.support(**it), Support::No(_)));
    let titles: Vec<Bilingual> = missing
        .map(|it| Bilingual { en: it.title(Lang::En).to_owned(), ja: it.title(Lang::Ja).to_owned() })
        .collect();
    (!titles.is_empty()).then(|| Bilingual::list(titles))
}
