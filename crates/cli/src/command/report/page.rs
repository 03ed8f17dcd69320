//! The report in people's words: what was caught, what it cost, then the numbers of each policy.

use tidegate_core::host::Host;
use tidegate_core::pipeline::friction::{SpokenCounts, Tally};
use tidegate_core::text::hidden::show_name;
use tidegate_replay::report::ForecastError;

use super::boundaries::add_boundaries;
use super::{Backend, Failures, FrictionReport, Latency, stages};
use crate::bilingual::{Bilingual, both, count_en};
use crate::local_time::LocalClock;
use crate::print::page::Page;
use crate::print::table::{Column, Table};
use crate::print::text::{Text, data, name};

pub(super) fn report_page(report: &FrictionReport, days: u64, clock: &LocalClock) -> Page {
    let mut page = Page::new();
    page.heading(time_and_place(report, days));
    page.paragraph(Text::from(finding(report)).strong());
    add_body(&mut page, report, clock);
    page
}

/// Everything below the finding.
pub(super) fn body_page(report: &FrictionReport, clock: &LocalClock) -> Page {
    let mut page = Page::new();
    add_body(&mut page, report, clock);
    page
}

fn time_and_place(report: &FrictionReport, days: u64) -> Bilingual {
    let Bilingual { en, ja } = match (&report.session, &report.project) {
        (Some(id), _) => both!("session {id}", "セッション {id}", id = show_name(id)),
        (None, Some(project)) => Bilingual::data(show_name(project)),
        (None, None) => both!("all projects", "すべてのプロジェクト"),
    };
    if days == 1 {
        both!("Today in {en}", "今日（{ja}）")
    } else {
        both!("Last {days} days in {en}", "直近{days}日（{ja}）")
    }
}

/// With its time and place, for a page that begins with it.
pub(super) fn finding_line(report: &FrictionReport, days: u64) -> Bilingual {
    let (when, found) = (time_and_place(report, days), finding(report));
    both!("{a}: {b}", "{c}: {d}", a = when.en, b = found.en, c = when.ja, d = found.ja)
}

/// In one line: what was caught, what was kept, what was said in time.
pub(super) fn finding(report: &FrictionReport) -> Bilingual {
    let times = |number: usize| if number == 1 { "once".to_owned() } else { format!("{number} times") };
    let mut parts = Vec::new();
    if let Some(tally) = report.policies.iter().find(|tally| tally.policy == "verify-stop")
        && tally.spoke.blocked > 0
    {
        let (blocked, followed, settled) = (tally.spoke.blocked, tally.followed(), tally.settled());
        parts.push(if settled == 0 {
            both!(
                "untested \"done\" blocked {n}",
                "未検証の「完了」を{blocked}回ブロック",
                n = times(blocked)
            )
        } else {
            both!(
                "untested \"done\" blocked {n}, then tested {followed} of {settled} times",
                "未検証の「完了」を{blocked}回ブロック（{settled}回中{followed}回は検証済みに）",
                n = times(blocked)
            )
        });
    }
    let denied: usize = report.policies.iter().map(|tally| tally.spoke.denied).sum();
    if denied > 0 {
        parts.push(both!("{n} blocked", "操作を{denied}回ブロック", n = count_en(denied, "action")));
    }
    let (kept, of) = report.boundaries.iter().fold((0, 0), |(kept, of), one| (kept + one.kept, of + one.of));
    if of > 0 {
        let compactions = report.boundaries.len();
        parts.push(both!(
            "{kept} of {n} kept in {m}",
            "圧縮{compactions}回で事実{of}件中{kept}件が残存",
            n = count_en(of, "fact"),
            m = count_en(compactions, "summary"),
            compactions = compactions
        ));
    }
    let warned = report.policies.iter().find(|tally| tally.policy == "context-warning");
    if let Some(warnings) = warned.map(|tally| tally.spoke.total()).filter(|number| *number > 0) {
        parts.push(both!("{n}", "コンテキスト警告{warnings}回", n = count_en(warnings, "context warning")));
    }
    if parts.is_empty() {
        let said: usize = report.policies.iter().map(|tally| tally.spoke.total()).sum();
        return if said == 0 {
            both!("no check had anything to say", "伝えることはありませんでした")
        } else {
            both!(
                "nothing was blocked; {n}",
                "ブロックはなく、伝えたことが{said}件",
                n = count_en(said, "remark")
            )
        };
    }
    let (en, ja): (Vec<String>, Vec<String>) = parts.into_iter().map(|part| (part.en, part.ja)).unzip();
    Bilingual { en: en.join("; "), ja: ja.join("、") }
}

fn add_body(page: &mut Page, report: &FrictionReport, clock: &LocalClock) {
    let (runs, sessions) = (report.hook_runs, report.sessions);
    let (runs_en, sessions_en) = (count_en(runs, "hook run"), count_en(sessions, "session"));
    page.paragraph(both!("{sessions_en}, {runs_en}", "セッション{sessions}件、フックの実行{runs}回"));
    let names_another = |host: &String| Host::named(host).is_some_and(|host| host != Host::ClaudeCode);
    if report.hosts.len() > 1 || report.hosts.keys().any(names_another) {
        let each = report.hosts.iter().map(|(host, count)| {
            let host = Host::title(host);
            both!(
                "{host}: {count_en}",
                "{host}: {count}件",
                count_en = count_en(*count, "session"),
                count = count,
                host = host
            )
        });
        page.paragraph(Bilingual::list(each));
    }
    add_deeds(page, report, clock);
    add_costs(page, report);
    if !report.stages.is_empty() {
        page.heading(both!("Stages, in tokens", "ステージ（単位はトークン）"));
        page.table(stages::draw_table(&report.stages));
    }
    add_remarks(page, report);
    let spoke: Vec<&Tally> = report.policies.iter().filter(|tally| tally.spoke.total() > 0).collect();
    if !spoke.is_empty() {
        page.heading(both!("By policy", "ポリシー別"));
        page.table(draw_table(&spoke));
        page.gap();
        page.paragraph(
            Text::from(both!(
                "\"done\": what was asked was done in the same turn. \"later\": in a later turn. \"ignored\": it was not. \
                 \"bypassed\": the agent wrote the file through the shell instead. \"overridden\": you switched the policy off \
                 first. \"open\": not known yet. \"info\": Tidegate asked the agent for nothing. The columns add up to \"spoke\".",
                "「すぐ」は同じターンで求められたことが済んだ回数、「あとで」はあとのターンで済んだ回数、「無視」は済まなかった回数、\
                 「回避」はシェルで同じファイルに書いた回数、「取消」はその前にポリシーをオフにした回数、「未定」はまだわからない回数、\
                 「通知」はエージェントに何も求めなかった回数です。合計が「発言」です。"
            ))
            .dim(),
        );
    }
}

fn add_deeds(page: &mut Page, report: &FrictionReport, clock: &LocalClock) {
    page.heading(both!("What Tidegate did", "Tidegate がしたこと"));
    let (void, heard): (Vec<&Tally>, Vec<&Tally>) =
        report.policies.iter().filter(|tally| tally.spoke.total() > 0).partition(|tally| tally.is_void());
    let is_quiet = void.is_empty() && heard.is_empty() && report.boundaries.is_empty();
    if is_quiet {
        page.item(both!(
            "nothing: no policy had anything to say",
            "何もありません（伝えることはありませんでした）"
        ));
    }
    // Policies without effect come first.
    for tally in void {
        page.item(Text::from(in_words(tally)).warning());
    }
    for tally in heard {
        page.item(in_words(tally));
    }
    add_boundaries(page, &report.boundaries, clock);
    for tally in &report.policies {
        if let Some(text) = describe_shadow(tally) {
            page.item(Text::from(text).dim());
        }
    }
    if let Some(error) = &report.forecast {
        page.item(describe_forecast(error));
    }
}

fn in_words(tally: &Tally) -> Bilingual {
    let policy = show_name(&tally.policy);
    let Bilingual { en, ja } = describe_ways(tally.spoke);
    let (followed, settled) = (tally.followed(), tally.settled());
    if tally.spoke.total() == tally.unasked {
        return both!("{policy} {en}", "{policy}: {ja}");
    }
    if tally.spoke.total() == tally.without_outcome() {
        return both!(
            "{policy} {en}; its record does not say what it asked for",
            "{policy}: {ja}（何を求めたかは記録されていません）"
        );
    }
    if tally.is_void() {
        return both!(
            "{policy} {en}, and the agent followed only {followed} of {settled} times. If you do not need it: \
             `tidegate off {policy}`",
            "{policy}: {ja}。応じたのは{settled}回中{followed}回だけです。不要なら `tidegate off {policy}`"
        );
    }
    if settled == 0 {
        return both!(
            "{policy} {en}; the outcome is not known yet",
            "{policy}: {ja}（結果はまだわかりません）"
        );
    }
    let (at_once, later) = (tally.satisfied, tally.satisfied_later);
    let (later_en, later_ja) = match later {
        0 => <_>::default(),
        _ => (
            format!(", and in a later turn {}", count_en(later, "time")),
            format!("、さらに{later}回はあとのターンで"),
        ),
    };
    let (median_en, median_ja) = match tally.median_ms.map(format_time) {
        None => <_>::default(),
        Some(Bilingual { en, ja }) => (format!(" (median time {en})"), format!("（所要時間の中央値{ja}）")),
    };
    let by_you = tally.by_person;
    if by_you > 0 {
        return both!(
            "{policy} {en}; what it asked was done in the same turn {at_once} of {settled} times{later_en}, {you} by \
             you{median_en}",
            "{policy}: {ja}。{settled}回中{at_once}回は同じターンで{later_ja}、求められたことが済みました（うち{by_you}回は\
             あなたの操作）{median_ja}",
            you = by_you
        );
    }
    both!(
        "{policy} {en}; the agent did what it asked in the same turn {at_once} of {settled} times{later_en}{median_en}",
        "{policy}: {ja}。{settled}回中{at_once}回は同じターンで{later_ja}、求められたことをしました{median_ja}"
    )
}

/// `blocked 5 times, told you once`.
fn describe_ways(spoke: SpokenCounts) -> Bilingual {
    let times = |number: usize| if number == 1 { "once".to_owned() } else { format!("{number} times") };
    let ways = [
        (spoke.denied, "blocked an action", "操作のブロック"),
        (spoke.blocked, "blocked \"done\"", "「完了」のブロック"),
        (spoke.asked, "asked you", "あなたへの確認"),
        (spoke.advised, "told the agent something", "エージェントへの伝言"),
        (spoke.told, "told you something", "あなたへの伝言"),
    ];
    let said = ways.into_iter().filter(|(number, ..)| *number > 0);
    Bilingual::list(said.map(|(number, en, ja)| both!("{en} {n}", "{ja}{number}回", n = times(number))))
}

/// Calls that a log-only policy would have made.
fn describe_shadow(tally: &Tally) -> Option<Bilingual> {
    let (would, policy) = (tally.shadow?, show_name(&tally.policy));
    let Bilingual { en, ja } = describe_ways(would.spoken);
    let (anyway, all) = (would.anyway, would.anyway + would.not);
    let (rest_en, rest_ja) = match all {
        0 => <_>::default(),
        _ => (
            format!("; in {anyway} of {all} cases the agent did it anyway"),
            format!("（{all}件中{anyway}件は言われなくてもしていました）"),
        ),
    };
    Some(both!("log-only: {policy} would have {en}{rest_en}", "記録のみ: {policy} が有効なら、{ja}{rest_ja}"))
}

fn describe_forecast(error: &ForecastError) -> Bilingual {
    let ForecastError { forecasts, median_turns, p90_turns, .. } = error;
    both!(
        "{n} of turns left: half were at most {median_turns} off, nine of ten at most {p90_turns}",
        "残りターン数の予測{forecasts}件: 半数は誤差{median_turns}ターン以内、9割は{p90_turns}ターン以内",
        n = count_en(*forecasts, "forecast")
    )
}

fn add_costs(page: &mut Page, report: &FrictionReport) {
    page.heading(both!("What it cost", "かかったコスト"));
    let turns: u32 = report.policies.iter().map(|tally| tally.forced_turns).sum();
    let tokens: usize = report.policies.iter().map(|tally| tally.tokens).sum();
    let (turns_en, tokens_en) = (count_en(turns as usize, "extra turn"), count_en(tokens, "token"));
    page.item(both!(
        "{turns_en}, about {tokens_en} of context",
        "追加のターン{turns}回、コンテキスト約{tokens}トークン"
    ));
    if let Some(Latency { median, p95, longest, .. }) = &report.latency_us {
        let ms = |micros: &u64| format!("{}.{} ms", micros / 1000, micros % 1000 / 100);
        let (median, p95, longest) = (ms(median), ms(p95), ms(longest));
        page.item(both!(
            "a hook took {median} (median), {p95} in 95 of 100 runs, {longest} at most",
            "フックの所要時間: 中央値{median}、100回中95回は{p95}以内、最長{longest}"
        ));
    }
    if !report.backend.is_empty() {
        page.item(describe_backend(&report.backend));
    }
}

fn describe_backend(backend: &Backend) -> Bilingual {
    let others = backend.by_outcome.iter().filter(|(outcome, _)| **outcome != "answered");
    let others =
        Bilingual::list(others.map(|(outcome, number)| Bilingual::data(format!("{outcome} {number}"))));
    let (others_en, others_ja) = match others.en.as_str() {
        "" => <_>::default(),
        en => (format!(" ({en})"), format!("（{}）", others.ja)),
    };
    let (median_en, median_ja) = match backend.median_ms.map(format_time) {
        None => <_>::default(),
        Some(Bilingual { en, ja }) => (format!(", median {en}"), format!("、中央値{ja}")),
    };
    let (calls, answers, tokens) = (backend.calls, backend.answered, backend.tokens);
    let calls_en = count_en(calls, "time");
    let (tokens_en, tokens_ja) = match tokens {
        0 => <_>::default(),
        _ => (format!(", {tokens} tokens"), format!("、{tokens}トークン")),
    };
    let answers_en = count_en(answers, "answer");
    both!(
        "asked a language model about prompts {calls_en}, {answers_en}{others_en}{median_en}{tokens_en}",
        "言語モデルへの問い合わせ{calls}回、回答{answers}回{others_ja}{median_ja}{tokens_ja}"
    )
}

fn add_remarks(page: &mut Page, report: &FrictionReport) {
    let remarks =
        report.failures.all + report.stepped_down.len() + report.unreadable_lines + report.unreadable_files;
    if remarks == 0 {
        return;
    }
    page.gap();
    for policy in &report.stepped_down {
        let policy = show_name(policy);
        page.labelled(
            both!("note", "注意"),
            both!(
                "{policy} only advises here, because people overrode it often. `tidegate on {policy}` makes it block again.",
                "{policy} は何度も取り消されたため、ここでは助言だけをします。再び止めるには `tidegate on {policy}`"
            ),
        );
    }
    if let Some(text) = describe_failures(&report.failures) {
        page.labelled(Text::from(both!("warning", "警告")).warning(), text);
    }
    if report.unreadable_lines + report.unreadable_files > 0 {
        let (lines, files) = (report.unreadable_lines, report.unreadable_files);
        let (lines_en, files_en) = (count_en(lines, "line"), count_en(files, "file"));
        page.labelled(
            both!("note", "注意"),
            both!(
                "{lines_en} and {files_en} of the journal could not be read",
                "記録のうち{lines}行と{files}ファイルは読めませんでした"
            ),
        );
    }
}

fn describe_failures(failures: &Failures) -> Option<Bilingual> {
    if failures.all == 0 {
        return None;
    }
    let classes = failures.by_class.iter().map(|(class, number)| format!("{} {number}", show_name(class)));
    let classes = Bilingual::list(classes.map(Bilingual::data));
    let (all, closed) = (failures.all, failures.closed);
    let all_en = count_en(all, "check");
    Some(both!(
        "{all_en} could not be made ({classes_en}); {closed} of them blocked. `tidegate doctor` looks for the cause.",
        "{all}件の確認ができませんでした（{classes_ja}）。うち{closed}件はブロックしました。原因は `tidegate doctor` で調べられます。",
        classes_en = classes.en,
        classes_ja = classes.ja
    ))
}

fn draw_table(tallies: &[&Tally]) -> Table {
    let mut table = Table::new([
        Column::text(both!("policy", "ポリシー")),
        Column::number(both!("spoke", "発言")),
        Column::number(both!("done", "すぐ")),
        Column::number(both!("later", "あとで")),
        Column::number(both!("ignored", "無視")),
        Column::number(both!("bypassed", "回避")),
        Column::number(both!("overridden", "取消")),
        Column::number(both!("open", "未定")),
        Column::number(both!("info", "通知")),
    ]);
    for tally in tallies {
        // A policy that asks for nothing has nothing to settle.
        let asks = tally.spoke.total() > tally.without_outcome();
        let settled = |number: usize| if asks { data(number) } else { data("-").dim() };
        table.row([
            name(&tally.policy).strong(),
            data(tally.spoke.total()),
            settled(tally.satisfied),
            settled(tally.satisfied_later),
            settled(tally.ignored),
            settled(tally.bypassed),
            settled(tally.overridden),
            settled(tally.open),
            data(tally.without_outcome()),
        ]);
    }
    table
}

/// In its largest unit.
fn format_time(ms: u64) -> Bilingual {
    match ms / 1000 {
        0 => both!("{ms} ms", "{ms}ミリ秒"),
        seconds @ 1..=119 => both!("{seconds} s", "{seconds}秒"),
        seconds @ 120..=7199 => both!("{n} min", "{n}分", n = seconds / 60),
        seconds => both!("{n} h", "{n}時間", n = seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::looks::assert_looks;
    use tidegate_core::feature::cycle::CycleRun;
    use tidegate_core::feature::cycle::history::StageCost;
    use tidegate_core::time::Millis;

    fn tally(policy: &str, spoke: SpokenCounts, satisfied: usize, ignored: usize) -> Tally {
        Tally {
            policy: policy.into(),
            spoke,
            satisfied,
            ignored,
            forced_turns: 1,
            tokens: 40,
            ..Tally::default()
        }
    }

    fn report(policies: Vec<Tally>) -> FrictionReport {
        FrictionReport {
            project: Some("/home/someone/code/東京".into()),
            session: None,
            since: "2026-10-20".into(),
            hook_runs: 120,
            sessions: 3,
            hosts: std::collections::BTreeMap::new(),
            policies,
            stepped_down: Vec::new(),
            boundaries: Vec::new(),
            forecast: None,
            stages: Vec::new(),
            failures: Failures::default(),
            backend: Backend::default(),
            latency_us: Some(Latency { median: 1900, p95: 4200, p99: 9000, longest: 12_345 }),
            unreadable_lines: 0,
            unreadable_files: 0,
        }
    }

    #[test]
    fn a_month_of_work_fits_a_screen() {
        let blocked = SpokenCounts { blocked: 5, told: 1, ..SpokenCounts::default() };
        let denied = SpokenCounts { denied: 9, ..SpokenCounts::default() };
        let told = SpokenCounts { advised: 3, told: 3, ..SpokenCounts::default() };
        let mut heard = tally("verify-stop", blocked, 3, 1);
        (heard.satisfied_later, heard.unasked) = (1, 1);
        heard.median_ms = Some(95_000);
        let mut informs = tally("context-warning", told, 0, 0);
        informs.unasked = 6;
        let mut report = report(vec![heard, tally("skill-gate", denied, 0, 9), informs]);
        for tally in &report.policies {
            let outcomes = tally.settled() + tally.open + tally.without_outcome();
            assert_eq!(outcomes, tally.spoke.total(), "{}", tally.policy);
        }
        report.stepped_down = vec!["task-gate".into()];
        report.failures = Failures { all: 2, closed: 1, by_class: [("payload".to_owned(), 2)].into() };
        report.unreadable_lines = 1;
        let stage = |name: &str, tokens| StageCost { name: name.to_owned(), tokens };
        let run = CycleRun {
            cycle: "dev-cycle".to_owned(),
            stages: vec![stage("sprint", Some(41_000)), stage("audit", None)],
            ..CycleRun::default()
        };
        report.stages = stages::sum_up([run].iter());
        assert_looks("report", &report_page(&report, 30, &LocalClock::utc(Millis(1_794_963_600_000))));
    }

    #[test]
    fn nothing_happened() {
        assert_looks("report-empty", &report_page(&report(Vec::new()), 1, &LocalClock::utc(Millis(0))));
    }
}
