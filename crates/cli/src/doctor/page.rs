//! The findings on a page: problems with their fixes first, then notes, then one line for everything that is well.

use std::collections::BTreeSet;

use super::finding::{Finding, State};
use crate::bilingual::{Bilingual, both, count_en};
use crate::print::page::Page;
use crate::print::table::{Column, Table};
use crate::print::text::{Text, data};

/// What has to be fixed, and what is worth knowing.
pub(crate) fn problems_page(findings: &[Finding], project: Option<&str>) -> Page {
    let mut page = Page::new();
    for finding in most_serious_first(findings) {
        let (found, fix) = (finding.found.clone(), finding.fix.clone().map(Text::from));
        match finding.state {
            State::Problem => page.problem(found, fix),
            State::Warning => page.warning(found, fix),
            State::Note if !finding.is_unchecked => {
                let next = fix.map_or_else(Text::default, |fix| data("\n") + fix);
                page.labelled(note(), Text::from(found) + next);
            }
            State::Note | State::Ok => continue,
        }
        page.gap();
    }
    let waiting: Vec<&str> =
        findings.iter().filter(|finding| finding.could_not_look()).map(|finding| finding.id).collect();
    if !waiting.is_empty() {
        let (checks, number) = (count_en(waiting.len(), "check"), waiting.len());
        let names = waiting.join(", ");
        page.paragraph(both!(
            "{checks} could not run: {names}. Run `tidegate doctor` again after the fix.",
            "{number}件は確認できませんでした: {names}。直したあとで、もう一度 `tidegate doctor` を実行してください。"
        ));
        page.gap();
    }
    page.paragraph(describe_passed(findings, project));
    page
}

/// Every finding, in a table.
pub(crate) fn all_page(findings: &[Finding], project: Option<&str>) -> Page {
    let mut page = Page::new();
    page.heading(match project {
        Some(project) => both!("Checks of {project}", "{project} の確認"),
        None => both!("Checks", "確認"),
    });
    let mut table = Table::new([
        Column::text(both!("check", "確認")),
        Column::text(both!("result", "結果")),
        Column::text(Bilingual::default()),
    ]);
    for finding in most_serious_first(findings) {
        let mut text = Text::from(finding.found.clone());
        if let Some(fix) = finding.fix.clone() {
            text = match finding.state {
                State::Note => text + data("\n") + fix,
                _ => text + data("\n") + Text::from(both!("fix: ", "直し方: ")).good() + fix,
            };
        }
        table.row([data(finding.id).strong(), result(finding), text]);
    }
    page.table(table);
    page.gap();
    page.paragraph(describe_numbers(findings));
    page
}

fn note() -> Text {
    both!("note", "注意").into()
}

fn result(finding: &Finding) -> Text {
    match finding.state {
        State::Problem => Text::from(both!("problem", "問題")).bad(),
        State::Warning => Text::from(both!("warning", "警告")).warning(),
        State::Note if finding.is_unchecked => Text::from(both!("not done", "未確認")).dim(),
        State::Note => note(),
        State::Ok => Text::from(both!("ok", "正常")).good(),
    }
}

/// Otherwise in the order of the checks.
fn most_serious_first(findings: &[Finding]) -> Vec<&Finding> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| std::cmp::Reverse((finding.state, !finding.is_unchecked)));
    sorted
}

fn describe_passed(findings: &[Finding], project: Option<&str>) -> Bilingual {
    let all: BTreeSet<&str> = findings.iter().map(|finding| finding.id).collect();
    let others: BTreeSet<&str> =
        findings.iter().filter(|finding| finding.state != State::Ok).map(|finding| finding.id).collect();
    let passed = all.len() - others.len();
    let (checks, all) = (count_en(passed, "other check"), count_en(passed, "check"));
    let (place_en, place_ja) =
        project.map_or_else(Default::default, |project| (format!(" in {project}"), format!("{project}: ")));
    if findings.iter().any(|finding| finding.state.has_to_be_fixed()) {
        both!(
            "{checks} passed; `tidegate doctor --all` lists them.",
            "ほかの{passed}件は正常です。一覧は `tidegate doctor --all` で見られます。"
        )
    } else if others.is_empty() {
        both!(
            "No problems{place_en}: all {all} passed. `tidegate doctor --all` lists them.",
            "{place_ja}問題はありません（{passed}件すべて正常）。一覧は `tidegate doctor --all` で見られます。"
        )
    } else {
        both!(
            "No problems{place_en}: {checks} passed. `tidegate doctor --all` lists them.",
            "{place_ja}問題はありません（ほかの{passed}件は正常）。一覧は `tidegate doctor --all` で見られます。"
        )
    }
}

fn describe_numbers(findings: &[Finding]) -> Bilingual {
    let count = |state: State| {
        findings.iter().filter(|finding| finding.state == state && !finding.is_unchecked).count()
    };
    let (problems, warnings, notes) = (count(State::Problem), count(State::Warning), count(State::Note));
    let unchecked = findings.iter().filter(|finding| finding.is_unchecked).count();
    let mut parts = Vec::new();
    if problems > 0 {
        parts.push(both!("{n}", "問題{problems}件", n = count_en(problems, "problem")));
    }
    if warnings > 0 {
        parts.push(both!("{n}", "警告{warnings}件", n = count_en(warnings, "warning")));
    }
    if parts.is_empty() {
        parts.push(both!("no problems", "問題なし"));
    }
    if notes > 0 {
        parts.push(both!("{n}", "注意{notes}件", n = count_en(notes, "note")));
    }
    if unchecked > 0 {
        parts.push(both!("{unchecked} not done", "未確認{unchecked}件"));
    }
    let checks = findings.iter().map(|finding| finding.id).collect::<BTreeSet<_>>().len();
    let Bilingual { en, ja } = Bilingual::list(parts);
    both!("{all}: {en}.", "確認{checks}件: {ja}。", all = count_en(checks, "check"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Findings;
    use crate::print::looks::assert_looks;
    use tidegate_core::text::lang::Lang;

    use crate::print::terminal::Terminal;

    const PROJECT: Option<&str> = Some("/home/you/shop");

    fn of(id: &'static str, find: impl FnOnce(&mut Findings)) -> Vec<Finding> {
        let mut findings = Findings::of(id);
        find(&mut findings);
        findings.into_vec()
    }

    fn well() -> Vec<Finding> {
        [
            of("binary", |found| {
                found.ok(both!(
                    "tidegate 0.1.0 is on PATH and runs.",
                    "tidegate 0.1.0 が PATH にあり、動作します。"
                ));
            }),
            of("clock", |found| found.ok(both!("The clock seems right.", "時計は合っています。"))),
        ]
        .concat()
    }

    fn problem() -> Vec<Finding> {
        of("paths", |found| {
            found.problem(
                both!(
                    "Claude Code blocks every edit: /home/you/shop/.claude/settings.local.json starts Tidegate as \
                     /home/you/.local/share/tidegate/bin/tidegate, which does not exist.",
                    "Claude Code がすべての編集をブロックします。設定 /home/you/shop/.claude/settings.local.json が呼び出す \
                     /home/you/.local/share/tidegate/bin/tidegate がありません。"
                ),
                both!(
                    "Run `tidegate init --project /home/you/shop`. To work without Tidegate, run \
                     `tidegate uninstall --project /home/you/shop`.",
                    "`tidegate init --project /home/you/shop` を実行してください。使うのをやめるには \
                     `tidegate uninstall --project /home/you/shop` です。"
                ),
            );
        })
    }

    /// In the order of checks, the most serious last.
    fn several() -> Vec<Finding> {
        let note = of("off", |found| {
            found.note_with(
                both!(
                    "You switched `context-warning` off in every project until 14:05 JST.",
                    "`context-warning` はオフです（すべてのプロジェクト、14:05 JST まで）。"
                ),
                both!(
                    "To switch it on again, run `tidegate on context-warning --everywhere`.",
                    "オンに戻すには `tidegate on context-warning --everywhere` を実行してください。"
                ),
            );
            found.note(both!("2 lines of the journal are unreadable.", "記録のうち2行を読めません。"));
        });
        let warning = of("skills", |found| {
            found.warning(
                both!(
                    "The required skill `verification-before-completion` is not installed.",
                    "必須のスキル `verification-before-completion` がありません。"
                ),
                both!(
                    "Run `tidegate init --project /home/you/shop`.",
                    "`tidegate init --project /home/you/shop` を実行してください。"
                ),
            );
        });
        let state = of("state", |found| {
            found.problem(
                both!(
                    "Tidegate cannot write to its state folder /home/you/.local/state/tidegate: Read-only file system \
                     (os error 30).",
                    "状態のフォルダ /home/you/.local/state/tidegate に書き込めません: Read-only file system (os error 30)"
                ),
                both!(
                    "Set TIDEGATE_STATE_DIR to a folder of your own.",
                    "TIDEGATE_STATE_DIR に自分のフォルダを指定してください。"
                ),
            );
        });
        let not_checked = || both!("Not checked.", "確認していません。");
        let unchecked = ["transcript", "crashes"].map(|id| {
            of(id, |found| {
                found.unchecked(not_checked());
            })
        });
        let explained = of("life", |found| found.unchecked(not_checked()).unless_caused_by(&["paths"]));
        [note, warning, well(), problem(), state, unchecked.concat(), explained].concat()
    }

    #[test]
    fn pages_look_well() {
        assert_looks("doctor-well", &problems_page(&well(), PROJECT));
        assert_looks("doctor-problem", &problems_page(&[well(), problem()].concat(), PROJECT));
        assert_looks("doctor-several", &problems_page(&several(), PROJECT));
        assert_looks("doctor-all", &all_page(&several(), PROJECT));
    }

    fn render(page: &Page) -> String {
        page.render(Lang::En, Terminal { width: 120, has_colors: false, breaks_words: true })
    }

    #[test]
    fn the_most_serious_comes_first_and_the_rest_in_the_order_of_checks() {
        let all = several();
        let order: Vec<(&str, State)> =
            most_serious_first(&all).iter().map(|finding| (finding.id, finding.state)).collect();
        assert_eq!(
            order,
            [
                ("paths", State::Problem),
                ("state", State::Problem),
                ("skills", State::Warning),
                ("off", State::Note),
                ("off", State::Note),
                ("transcript", State::Note),
                ("crashes", State::Note),
                ("life", State::Note),
                ("binary", State::Ok),
                ("clock", State::Ok),
            ]
        );
        let text = render(&problems_page(&all, PROJECT));
        assert!(text.ends_with("\n\n2 other checks passed; `tidegate doctor --all` lists them.\n"), "{text}");
        let text = render(&all_page(&all, PROJECT));
        assert!(text.ends_with("\n9 checks: 2 problems, 1 warning, 2 notes, 3 not done.\n"), "{text}");
    }

    #[test]
    fn one_line_is_enough_where_all_is_well() {
        let said = |findings: &[Finding], project| render(&problems_page(findings, project));
        let rest = "passed. `tidegate doctor --all` lists them.\n";
        assert_eq!(said(&well(), PROJECT), format!("No problems in /home/you/shop: all 2 checks {rest}"));
        assert_eq!(said(&well(), None), format!("No problems: all 2 checks {rest}"));
        let noted = [of("off", |found| found.note(both!("It is off.", "オフです。"))), well()].concat();
        assert_eq!(said(&noted, None), format!("note: It is off.\n\nNo problems: 2 other checks {rest}"));
        assert!(render(&all_page(&well(), None)).ends_with("\n2 checks: no problems.\n"));
    }
}
