//! Flow and stock that hooks cannot read: they skip such files silently.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value};
use tidegate_core::feature::facts::Known;
use tidegate_core::feature::knowledge::flow;
use tidegate_core::feature::knowledge::flow::{Progress, ProgressEntry};
use tidegate_core::feature::knowledge::stock::{LearningFault, Stock};
use tidegate_core::feature::knowledge::tracked;
use tidegate_core::feature::knowledge::tracked::{COPIES, TRACKED};
use tidegate_core::time::Millis;
use tidegate_state::feature::knowledge::folder::{ContextFolder, LARGEST};
use tidegate_state::file::bounded;

use crate::bilingual::{Bilingual, both, count_en};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::shell::quote_path;

/// Clocks differ a little; a time without a zone may be of any zone.
const HOUR: u64 = 3_600_000;
const WIDEST_ZONE: u64 = 14 * HOUR;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    match &seen.project {
        Some(root) => check_files(root, seen.now, found),
        None => found.ok(both!(
            "Nothing to check without a project.",
            "プロジェクトがないため、確認するものはありません。"
        )),
    }
}

#[derive(Default)]
struct Numbers {
    entries: usize,
    archived: usize,
    learnings: usize,
    unverified: usize,
}

fn check_files(root: &Path, now: Millis, found: &mut Findings) {
    let path = root.join(".claude/context");
    let Some(folder) = ContextFolder::find(root) else {
        return without_folder(&path, found);
    };
    let mut numbers = Numbers::default();
    for name in TRACKED.into_iter().chain(COPIES) {
        let file = path.join(name);
        match folder.text(name) {
            Known::Absent => {}
            Known::Broken(why) => report_broken(&file, &why, found),
            Known::Value(text) if tracked::is_flow(name) => {
                if name == flow::ARCHIVE {
                    numbers.archived = Progress::parse(&text).entries.len();
                    of_archive(&file, found);
                } else {
                    let entries = Progress::parse_flow(&text).entries;
                    numbers.entries = entries.len();
                    of_flow(&file, &entries, now, found);
                }
            }
            Known::Value(text) if tracked::is_stock(name) => {
                let stock = Stock::parse(&text);
                numbers.learnings += stock.entries.len();
                numbers.unverified += stock.entries.iter().filter(|entry| entry.is_unverified()).count();
                of_stock(&file, &stock, found);
            }
            Known::Value(text) if has_extension(&file, "json") => of_copy(&file, &text, found),
            Known::Value(_) => {}
        }
        if !has_extension(&file, "json") && is_locked(&file) {
            let (shown, quoted) = (file.display(), quote_path(&file));
            found.note_with(
                both!(
                    "{shown} is read-only: Tidegate cannot add to it.",
                    "{shown} は読み取り専用のため、Tidegate が追記できません。"
                ),
                both!(
                    "Unless you want that, run `chmod u+w {quoted}`.",
                    "意図していない場合は `chmod u+w {quoted}` を実行してください。"
                ),
            );
        }
    }
    if found.is_empty() {
        found.ok(describe_numbers(&numbers));
    }
}

fn without_folder(path: &Path, found: &mut Findings) {
    let (shown, quoted) = (path.display(), quote_path(path));
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => {
            found.warning(
                both!(
                    "{shown} leads out of the project: Tidegate reads and writes nothing in it.",
                    "{shown} がプロジェクトの外を指しているため、Tidegate は読み書きしません。"
                ),
                both!(
                    "Make it a folder of the project, or a link to one inside of it.",
                    "プロジェクトの中のフォルダか、それへのリンクにしてください。"
                ),
            );
        }
        Ok(_) => {
            found.warning(
                both!(
                    "{shown} is not a folder: Tidegate keeps no progress notes.",
                    "{shown} がフォルダではないため、作業メモを保存できません。"
                ),
                both!(
                    "Move {quoted} away, then run `mkdir -p {quoted}`.",
                    "{quoted} を別の場所に移し、`mkdir -p {quoted}` を実行してください。"
                ),
            );
        }
        Err(_) if fs::symlink_metadata(path).is_ok() => {
            found.warning(
                both!(
                    "{shown} is a link that leads nowhere: Tidegate keeps no progress notes.",
                    "{shown} はリンク切れのため、作業メモを保存できません。"
                ),
                both!(
                    "Remove {quoted}, then run `mkdir -p {quoted}`.",
                    "{quoted} を削除し、`mkdir -p {quoted}` を実行してください。"
                ),
            );
        }
        Err(_) => found.ok(both!(
            "This project keeps no progress notes: it has no `.claude/context`.",
            "`.claude/context` がないため、作業メモは使っていません。"
        )),
    }
}

fn report_broken(file: &Path, why: &str, found: &mut Findings) {
    // The reason begins with the file's name.
    let why = why.split_once(": ").map_or(why, |(_, why)| why);
    let path = quote_path(file);
    let fix = match fs::metadata(file) {
        Err(_) => {
            both!("Remove {path}, or correct the link.", "{path} を削除するか、リンクを直してください。")
        }
        Ok(there) if !there.is_file() => both!(
            "Move {path} away: it has to be a file.",
            "{path} を別の場所に移してください。ファイルである必要があります。"
        ),
        Ok(there) if there.len() > LARGEST => both!(
            "Move older parts out of {path}: Tidegate reads at most 1 MiB.",
            "{path} の古い部分をほかに移してください。読むのは1 MiB までです。"
        ),
        Ok(_) => match bounded::read(file, LARGEST).map(String::from_utf8) {
            Ok(Err(error)) => {
                let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = valid.split(|byte| *byte == b'\n').count();
                both!(
                    "Save {path} as UTF-8. Line {line} is the first that is not.",
                    "{path} を UTF-8 で保存し直してください。最初の問題は{line}行目です。"
                )
            }
            Ok(Ok(_)) => both!(
                "Replace {path} with the file itself.",
                "{path} をリンクではなく、ファイルそのものにしてください。"
            ),
            Err(_) => both!(
                "Run `chmod u+rw {path}`, or ask its owner for access.",
                "`chmod u+rw {path}` を実行するか、所有者に頼んでください。"
            ),
        },
    };
    let shown = file.display();
    found
        .warning(both!("Tidegate skips {shown}: {why}.", "Tidegate は {shown} を読み飛ばします: {why}"), fix);
}

fn of_archive(file: &Path, found: &mut Findings) {
    if fs::metadata(file).is_ok_and(|there| there.len() > LARGEST) {
        let shown = file.display();
        found.note_with(
            both!("Tidegate reads only the last 1 MiB of {shown}.", "{shown} は最後の1 MiB だけを読みます。"),
            both!(
                "To keep it short, move older entries elsewhere once they are reviewed.",
                "整理の済んだ古い項目は、ほかに移してかまいません。"
            ),
        );
    }
}

/// An entry from the future counts as the newest until it is removed.
fn of_flow(file: &Path, entries: &[ProgressEntry<'_>], now: Millis, found: &mut Findings) {
    let is_ahead = |entry: &&ProgressEntry<'_>| {
        let slack = if entry.zoned { HOUR } else { WIDEST_ZONE + HOUR };
        entry.at.is_some_and(|at| at.since(now) > slack)
    };
    let ahead: Vec<usize> = entries.iter().filter(is_ahead).map(|entry| entry.line).collect();
    if let Some(first) = ahead.first() {
        let (shown, number) = (file.display(), ahead.len());
        let notes = count_en(number, "progress note");
        let have = if number == 1 { "has a time" } else { "have times" };
        found.warning(
            both!(
                "{notes} {have} in the future, first at {shown}:{first}. Tidegate takes that for the newest.",
                "未来の時刻の作業メモが{number}件あります（最初は {shown}:{first}）。最新のメモとして扱われてしまいます。"
            ),
            both!("Correct the time in its heading.", "見出しの時刻を直してください。"),
        );
    }
}

fn of_stock(file: &Path, stock: &Stock<'_>, found: &mut Findings) {
    // Free text is fine; a broken count is a mistake.
    let mut faults = stock.problems.iter().filter(|problem| problem.what != LearningFault::NoLearning);
    let Some(first) = faults.next() else { return };
    let (shown, line, Bilingual { en, ja }) = (file.display(), first.line, describe_fault(first.what));
    let (more_en, more_ja) = match faults.count() {
        0 => Default::default(),
        more => (
            format!(" {} like this.", count_en(more, "more line")),
            format!("同じような行がほかに{more}行あります。"),
        ),
    };
    found.warning(
        both!(
            "{shown}:{line}: {en}, so Tidegate does not count this confirmation.{more_en}",
            "{shown}:{line}: {ja}。この確認は数えられません。{more_ja}"
        ),
        both!(
            "Write it as `- **Confirmed**: 2 times | 2026-02-18 | implement`. `tidegate learnings check` lists all such lines.",
            "`- **Confirmed**: 2 times | 2026-02-18 | implement` の形で書いてください。該当する行は `tidegate learnings check` で見られます。"
        ),
    );
}

fn describe_fault(fault: LearningFault) -> Bilingual {
    let ja = match fault {
        LearningFault::NoLearning => "`Learning` の行がありません",
        LearningFault::SecondConfirmed => "`Confirmed` の行が2つあります",
        LearningFault::NoColon => "`Confirmed` の後にコロンがありません",
        LearningFault::NoCount => "回数がありません",
        LearningFault::CountTooLarge => "回数が大きすぎます",
        LearningFault::NoUnit => "回数の後に `回` も `times` もありません",
        LearningFault::NoDate => "日付がありません",
        LearningFault::NotADay => "日付が `2026-02-18` の形ではありません",
        LearningFault::TooManyParts => "回数、日付、作業の種類のほかにも書かれています",
    };
    Bilingual { en: fault.to_string(), ja: ja.to_owned() }
}

/// Copies for other tools: nothing depends on them.
fn of_copy(file: &Path, text: &str, found: &mut Findings) {
    let members: Result<Map<String, Value>, _> = serde_json::from_str(text.trim_start_matches('\u{feff}'));
    let shown = file.display();
    let what = match members {
        Err(error) if error.is_eof() => {
            both!("{shown} ends in the middle.", "{shown} が途中で切れています。")
        }
        Err(error) => both!("{shown} is unreadable: {error}.", "{shown} を読めません: {error}"),
        Ok(members) if members.get("timestamp").is_none_or(|at| !at.is_string() && !at.is_number()) => {
            both!(
                "{shown} is not in Tidegate's form: it has no `timestamp`.",
                "{shown} は Tidegate の形式ではありません。`timestamp` がありません。"
            )
        }
        Ok(_) => return,
    };
    found.note_with(
        what,
        both!(
            "It is a copy for other tools. Unless one of them writes it, remove {path}: Tidegate writes it again.",
            "ほかのツール向けの写しです。ほかのツールのものでなければ {path} を削除してください。Tidegate が書き直します。",
            path = quote_path(file)
        ),
    );
}

fn describe_numbers(numbers: &Numbers) -> Bilingual {
    let Numbers { entries, archived, learnings, unverified } = numbers;
    let mut parts = vec![both!("{n}", "作業メモ{entries}件", n = count_en(*entries, "progress note"))];
    if *archived > 0 {
        parts.push(both!("{archived} in the archive", "アーカイブに{archived}件"));
    }
    parts.push(both!("{n}", "学び{learnings}件", n = count_en(*learnings, "learning")));
    if *unverified > 0 {
        parts.push(both!("{unverified} of them unverified", "うち未確認{unverified}件"));
    }
    let Bilingual { en, ja } = Bilingual::list(parts);
    both!("{en}.", "{ja}")
}

fn is_locked(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|there| there.is_file() && there.permissions().readonly())
}

fn has_extension(file: &Path, extension: &str) -> bool {
    file.extension().is_some_and(|own| own == extension)
}
