//! What a replay found, for people: the finding first, then the sessions, compactions and turns that show it.

use std::borrow::Cow;
use std::path::Path;

use tidegate_core::host::Host;
use tidegate_core::meter::short_tokens;
use tidegate_core::text::hidden::show_name;
use tidegate_replay::context::Ahead;
use tidegate_replay::report::{CompactionReport, ReplayReport, SessionReport, UntestedStop};

use super::Period;
use crate::bilingual::{Bilingual, both, count_en};
use crate::local_time::LocalClock;
use crate::print::page::Page;
use crate::print::text::{Text, data};

/// Rows of a list, unless all are asked for.
const SHOWN: usize = 8;

/// Columns of a curve.
const CURVE: usize = 16;

/// Lost facts of one compaction, and columns of each.
const FACTS: usize = 3;
const FACT: usize = 60;

/// Columns of a command.
const COMMAND: usize = 60;

pub(super) struct View<'a> {
    pub(super) clock: &'a LocalClock,
    pub(super) home: Option<&'a Path>,
    pub(super) period: Period,
    pub(super) shows_all: bool,
    /// The changed settings, and what was found without them.
    pub(super) what_if: Option<(String, &'a ReplayReport)>,
}

pub(super) fn report_page(report: &ReplayReport, view: &View<'_>) -> Page {
    let mut page = Page::new();
    page.paragraph(Text::from(finding_line(report, view)).strong());
    add_body(&mut page, report, view);
    page.gap();
    // The first line may have left the screen.
    page.paragraph(Text::from(finding_line(report, view)).strong());
    page.paragraph(what_next());
    page
}

/// What is above the sessions in a browser, which draws them itself, and what is below them.
pub(super) fn pages_around_sessions(report: &ReplayReport, view: &View<'_>) -> [Page; 2] {
    let (mut above, mut below) = (Page::new(), Page::new());
    add_summary(&mut above, report, view);
    add_evidence(&mut below, report, view);
    below.gap();
    below.paragraph(what_next());
    [above, below]
}

fn add_body(page: &mut Page, report: &ReplayReport, view: &View<'_>) {
    add_summary(page, report, view);
    list_sessions(page, report, view);
    add_evidence(page, report, view);
}

fn add_summary(page: &mut Page, report: &ReplayReport, view: &View<'_>) {
    if let Some((settings, unchanged)) = &view.what_if {
        let (now, before) = (warnings(report), warnings(unchanged));
        let without = finding(unchanged);
        page.paragraph(both!(
            "With {settings}: {a}. Without it: {b}, {c}",
            "{settings} の場合: {d}。変更前: {e}、{f}",
            a = now.en,
            b = without.en,
            c = before.en,
            d = now.ja,
            e = without.ja,
            f = before.ja
        ));
    }
    list_context(page, report, view);
}

fn add_evidence(page: &mut Page, report: &ReplayReport, view: &View<'_>) {
    list_compactions(page, report, view);
    list_untested(page, report, view);
    list_left_out(page, report);
}

fn what_next() -> Bilingual {
    both!(
        "Your sessions and settings stay as they are. `tidegate init` in a project lets Tidegate do this while you work; `tidegate tune` suggests when to warn.",
        "セッションも設定もそのままです。プロジェクトで `tidegate init` を実行すると、作業中に同じことをします。`tidegate tune` は警告の時期を提案します。"
    )
}

/// The first line: how the time was.
pub(super) fn finding_line(report: &ReplayReport, view: &View<'_>) -> Bilingual {
    let (period, finding) = (period_words(report, view), finding(report));
    both!("{a}: {b}", "{c}: {d}", a = period.en, b = finding.en, c = period.ja, d = finding.ja)
}

fn period_words(report: &ReplayReport, view: &View<'_>) -> Bilingual {
    let day = |at: Option<_>| view.clock.day(at.unwrap_or_default());
    match view.period {
        Period::LastDays(days) => both!("last {days} days", "直近{days}日"),
        Period::Since(since) => {
            let day = view.clock.day(since);
            both!("since {day}", "{day}以降")
        }
        Period::Everything => {
            let (from, to) = (day(report.from), day(report.to));
            both!("nothing in the last 30 days; from {from} to {to}", "直近30日はなし。{from}から{to}まで")
        }
    }
}

fn finding(report: &ReplayReport) -> Bilingual {
    let (untested, compactions) = (report.stops.untested, &report.compactions);
    let (all, unwarned) = (compactions.all, compactions.without_warning);
    both!(
        "{turns} ended with untested code, {n}, {unwarned} without a warning",
        "コードを確認せずに終わったターン{untested}件、圧縮{all}件、うち警告なし{unwarned}件",
        turns = count_en(untested, "turn"),
        n = count_en(all, "compaction")
    )
}

fn warnings(report: &ReplayReport) -> Bilingual {
    let (early, late) = (report.warnings.early, report.warnings.late);
    both!(
        "{n} and {m}",
        "早めの警告{early}回、間際の警告{late}回",
        n = count_en(early, "early warning"),
        m = count_en(late, "late warning")
    )
}

fn list_context(page: &mut Page, report: &ReplayReport, view: &View<'_>) {
    let (sessions, turns) = (report.sessions, report.turns);
    let (from, to) = (report.from.unwrap_or_default(), report.to.unwrap_or_default());
    let (from, to) = (view.clock.day(from), view.clock.day(to));
    page.item(both!(
        "{n} with {m}, from {from} to {to}",
        "セッション{sessions}件、ターン{turns}件（{from}から{to}まで）",
        n = count_en(sessions, "session"),
        m = count_en(turns, "turn")
    ));
    let stops = &report.stops;
    let (verified, untested, blocked) = (stops.verified, stops.untested, stops.blocked);
    let edited = verified + untested + stops.asking + stops.waiting;
    page.item(both!(
        "{n} changed code: {verified} ended with a check that passed, {untested} without; Tidegate would have blocked {blocked}",
        "コードを変えたターン{edited}件: 確認が通ったもの{verified}件、確認なし{untested}件。Tidegate なら{blocked}件をブロックしました",
        n = count_en(edited, "turn")
    ));
    let Bilingual { en, ja } = warnings(report);
    page.item(both!("Tidegate would have given {en}", "Tidegate なら{ja}を出しました"));
    list_hosts(page, report);
    if let Some(error) = &report.forecast {
        let (forecasts, median, p90) = (error.forecasts, error.median_turns, error.p90_turns);
        page.item(both!(
            "{n} of turns left: half were at most {median} off, nine of ten at most {p90}",
            "残りターン数の予測{forecasts}件: 半数は誤差{median}ターン以内、9割は{p90}ターン以内",
            n = count_en(forecasts, "forecast")
        ));
    }
}

/// Only if there is another one than Claude Code.
fn list_hosts(page: &mut Page, report: &ReplayReport) {
    let others = report.hosts.keys().any(|host| *host != Host::ClaudeCode.name());
    for (host, counts) in report.hosts.iter().filter(|_| others) {
        let (sessions, turns, untested) = (counts.sessions, counts.turns, counts.stops.untested);
        let compactions = counts.compactions.all;
        page.item(both!(
            "{host}: {n} with {m}, {untested} ended with untested code, {c}",
            "{host}: セッション{sessions}件、ターン{turns}件、確認なし{untested}件、圧縮{compactions}件",
            host = Host::title(host),
            n = count_en(sessions, "session"),
            m = count_en(turns, "turn"),
            c = count_en(compactions, "compaction")
        ));
    }
    if others {
        page.paragraph(both!(
            "Transcripts of other agents do not show skills and the contents of files. A compaction counts as automatic there.",
            "ほかのエージェントの記録では、スキルとファイルの内容は分かりません。圧縮はすべて自動として数えます。"
        ));
    }
}

fn more(page: &mut Page, all: usize, view: &View<'_>) {
    let more = all.saturating_sub(SHOWN);
    if more > 0 && !view.shows_all {
        page.paragraph(Text::from(both!("and {more} more: `--all`", "ほか{more}件: `--all`")).dim());
    }
}

fn shown(view: &View<'_>) -> usize {
    if view.shows_all { usize::MAX } else { SHOWN }
}

pub(super) fn project_name(session: &SessionReport) -> Cow<'_, str> {
    show_name(session.project.rsplit('/').next().unwrap_or(&session.project))
}

fn list_sessions(page: &mut Page, report: &ReplayReport, view: &View<'_>) {
    page.heading(both!("Sessions", "セッション"));
    for session in report.session_list.iter().take(shown(view)) {
        let (when, project) = (view.clock.minute(session.to), project_name(session));
        let peak = short_tokens(u64::from(session.peak_tokens));
        let (turns, untested, compactions) =
            (session.turns, session.untested.len(), session.compactions.len());
        let curve = sparkline(&session.curve, session.window);
        let line = both!(
            "{curve} {peak} {project}, {when}: {n}",
            "{curve} {peak} {project}、{when}: ターン{turns}件",
            n = count_en(turns, "turn")
        );
        let mut line = Text::from(line);
        if untested > 0 {
            line = line + Text::from(both!(", {untested} untested", "、確認なし{untested}件")).warning();
        }
        if compactions > 0 {
            let words = both!(", {n}", "、圧縮{compactions}件", n = count_en(compactions, "compaction"));
            line = line + words;
        }
        page.item(line);
    }
    more(page, report.session_list.len(), view);
}

/// Eight steps to a full window; without a window, to the highest use.
fn sparkline(curve: &[u32], window: Option<u64>) -> String {
    const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = curve.iter().copied().max().unwrap_or_default();
    let full = window.unwrap_or_default().max(u64::from(most)).max(1);
    let parts = curve.len().min(CURVE);
    let part = |at: usize| &curve[at * curve.len() / parts..(at + 1) * curve.len() / parts];
    let highest = |at: usize| u64::from(part(at).iter().copied().max().unwrap_or_default());
    (0..parts).map(|at| STEPS[(highest(at) * 7).div_ceil(full).min(7) as usize]).collect()
}

/// `~/…/x.jsonl:12`.
fn place(view: &View<'_>, file: &str, line: usize) -> String {
    let below = view.home.and_then(|home| Path::new(file).strip_prefix(home).ok());
    let file = below.map_or_else(|| file.to_owned(), |below| format!("~/{}", below.display()));
    format!("{}:{line}", show_name(&file))
}

fn list_compactions(page: &mut Page, report: &ReplayReport, view: &View<'_>) {
    let all: Vec<(&SessionReport, &CompactionReport)> = report
        .session_list
        .iter()
        .flat_map(|session| session.compactions.iter().map(move |compaction| (session, compaction)))
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading(both!("Compactions", "圧縮"));
    for (session, compaction) in all.iter().take(shown(view)) {
        let (when, project) = (view.clock.minute(compaction.at), project_name(session));
        let tokens = compaction.tokens_before.map_or_else(|| "?".to_owned(), short_tokens);
        let head = if compaction.trigger == "manual" {
            both!("{when} {project}, by hand at {tokens}", "{when} {project}、手動（{tokens}）")
        } else {
            both!("{when} {project}, automatic at {tokens}", "{when} {project}、自動（{tokens}）")
        };
        page.item(Text::from(head) + data(" · ") + warned(compaction) + lost(compaction));
        let place = place(view, &session.file, compaction.line);
        page.indented(|page| page.paragraph(data(place).dim()));
    }
    more(page, all.len(), view);
}

fn warned(compaction: &CompactionReport) -> Text {
    let Some(Ahead { turns, answers }) = compaction.first_warning else {
        return Text::from(both!("no warning before it", "事前の警告なし")).warning();
    };
    if turns + answers == 0 {
        return Text::from(both!("the warning came too late", "警告が間に合わず")).warning();
    }
    Text::from(if turns == 0 {
        both!(
            "warned in the same turn, {n} ahead",
            "同じターンの{answers}回前の応答で警告",
            n = count_en(answers, "answer")
        )
    } else {
        both!("warned {n} ahead", "{turns}ターン前に警告", n = count_en(turns, "turn"))
    })
}

fn lost(compaction: &CompactionReport) -> Text {
    let Some(facts) = compaction.facts.filter(|facts| *facts > 0) else { return Text::default() };
    let (lost, kept) = (compaction.lost.len(), facts - compaction.lost.len());
    let named: Vec<String> = compaction
        .lost
        .iter()
        .take(FACTS)
        .map(|fact| show_name(&tidegate_core::text::cut::cut_after(&fact.text, FACT)).into_owned())
        .collect();
    let named = named.join("; ");
    let count = both!(
        " · kept {kept} of {n}",
        " · 残すべき事実{facts}件中{kept}件が残存",
        n = count_en(facts, "fact")
    );
    if lost == 0 {
        return count.into();
    }
    Text::from(count) + Text::from(both!(", lost: {named}", "、失われたもの: {named}"))
}

fn list_untested(page: &mut Page, report: &ReplayReport, view: &View<'_>) {
    let all: Vec<(&SessionReport, &UntestedStop)> = report
        .session_list
        .iter()
        .flat_map(|session| session.untested.iter().map(move |stop| (session, stop)))
        .collect();
    if all.is_empty() {
        return;
    }
    page.heading(both!("Turns that ended with untested code", "コードを確認せずに終わったターン"));
    let causes = report.stops.untested_by_cause.iter().map(|(cause, count)| {
        let words = cause_words(cause);
        both!("{en}: {count}", "{ja}: {count}件", en = words.en, ja = words.ja)
    });
    page.paragraph(Bilingual::list(causes));
    for (session, stop) in all.iter().take(shown(view)) {
        let project = project_name(session);
        let words = cause_words(&stop.cause);
        let head = both!("{project}: {en}", "{project}: {ja}", en = words.en, ja = words.ja);
        let command = stop.command.as_deref().unwrap_or_default().replace('`', "'");
        let command =
            tidegate_core::text::cut::cut_after(command.lines().next().unwrap_or_default(), COMMAND)
                .into_owned();
        let run = if command.is_empty() { Text::default() } else { data(format!(", `{command}`")) };
        page.item(Text::from(head) + run);
        let place = place(view, &session.file, stop.run_line.or(stop.edit_line).unwrap_or(stop.line));
        page.indented(|page| page.paragraph(data(place).dim()));
    }
    more(page, all.len(), view);
}

fn cause_words(cause: &str) -> Bilingual {
    match cause.split_once(": ").unwrap_or((cause, "")) {
        ("nothing run", _) => both!("no check was run", "確認を実行していません"),
        ("only before the last edit", _) => {
            both!("checked only before the last edit", "確認は最後の編集より前だけです")
        }
        ("hidden status before the last edit", "") => both!(
            "the exit status was hidden, and the last edit came later",
            "終了コードが隠れ、その後に編集がありました"
        ),
        ("hidden status before the last edit", construct) => {
            let construct = show_name(construct);
            both!(
                "`{construct}` hid the exit status, and the last edit came later",
                "`{construct}` で終了コードが隠れ、その後に編集がありました"
            )
        }
        ("a check that is not known", _) => {
            both!("a check that Tidegate does not know", "Tidegate の知らない確認です")
        }
        ("hidden status", "") => both!("the exit status was hidden", "終了コードが隠れていました"),
        ("hidden status", construct) => {
            let construct = show_name(construct);
            both!("`{construct}` hid the exit status", "`{construct}` で終了コードが隠れました")
        }
        ("failed", _) => both!("the check failed", "確認が失敗しています"),
        ("too weak", _) => both!("the check was not enough", "確認が足りません"),
        (other, _) => Bilingual::data(show_name(other)),
    }
}

fn list_left_out(page: &mut Page, report: &ReplayReport) {
    let left = &report.left_out;
    let mut parts: Vec<Bilingual> = Vec::new();
    let mut add = |count: usize, words: Bilingual| {
        if count > 0 {
            parts.push(words);
        }
    };
    let n = left.subagent_files;
    add(n, both!("{m} of subagents", "サブエージェントの記録{n}件", m = count_en(n, "transcript")));
    let n = left.repeated_turns;
    add(
        n,
        both!(
            "{m} that a continued session repeats",
            "続きのセッションが繰り返すターン{n}件",
            m = count_en(n, "turn")
        ),
    );
    let n = left.unfinished_turns;
    add(n, both!("{m} without an end yet", "終わっていないターン{n}件", m = count_en(n, "turn")));
    let n = left.damaged_lines;
    add(n, both!("{m}", "壊れた行{n}行", m = count_en(n, "damaged line")));
    let n = left.other_files;
    add(n, both!("{m} without a conversation", "会話でないファイル{n}個", m = count_en(n, "file")));
    let n = left.unreadable_files;
    add(n, both!("{m} that cannot be read", "読めないファイル{n}個", m = count_en(n, "file")));
    if parts.is_empty() {
        return;
    }
    let parts = Bilingual::list(parts);
    page.gap();
    page.paragraph(both!("Left out: {en}.", "除いたもの: {ja}。", en = parts.en, ja = parts.ja));
}
