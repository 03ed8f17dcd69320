//! The memory: its store, and the jobs that hooks leave for it. The store is opened but not read through, and nothing
//! is repaired: `tidegate memory check` does both.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use tidegate_core::feature::memory::relay_log;
use tidegate_core::pipeline::record::{FailedCheck, Record};
use tidegate_core::time::Millis;
use tidegate_memory::error::{Error, ErrorKind};
use tidegate_memory::memory::MemoryHome;
use tidegate_memory::sqlite::{self, QuickCheck};
use tidegate_memory::team::TeamState;
use tidegate_state::feature::memory::retries;
use tidegate_state::feature::memory::spool;
use tidegate_state::feature::memory::spool::Unread;
use tidegate_state::place::StateDir;

use super::state::{is_closed, open_up, try_to_write};
use crate::bilingual::{Bilingual, both, count_en};
use crate::command::worker::EVENT;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::doctor::history::{DAYS, record_time};
use crate::shell::quote_path;

const HOUR: u64 = 3_600_000;

/// A job that waits longer than this, or behind this many others, is stuck.
const LONG: u64 = HOUR;
const MANY: usize = 200;

/// A single failure may be temporary.
const OFTEN: usize = 3;

/// Longer than a server is away for maintenance.
const UNTOLD: u64 = 24 * HOUR;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let Ok(state) = &seen.state else {
        found.unchecked(super::without_state());
        return;
    };
    let home = match MemoryHome::of(&seen.env.place) {
        Ok(home) => home,
        Err(error) => {
            let what = &error.what;
            found.problem(
                both!(
                    "Tidegate has no folder for its memory: {what}.",
                    "メモリのフォルダを使えません: {what}"
                ),
                fix_of(&error),
            );
            return;
        }
    };
    check_folder(home.folder(), found);
    let looked = home.is_there().unwrap_or(false).then(|| check_store(&home, found));
    check_waiting_jobs(seen, state, found);
    report_failures(seen, found);
    if let Some(Some(looked)) = &looked {
        check_team(seen, &home, looked, found);
        if looked.has_short_texts {
            found.note_with(
                both!(
                    "Of exchanges that an older Tidegate recorded, the memory has only Claude's last message.",
                    "古いバージョンが記録したやり取りは、Claude の最後の発言しか残っていません。"
                ),
                both!(
                    "Run `tidegate memory import`. It adds the rest from transcripts that are still there.",
                    "`tidegate memory import` を実行すると、残っている会話のファイルから補います。"
                ),
            );
        }
    }
    for aside in home.damaged_files() {
        let (shown, quoted) = (aside.display(), quote_path(&aside));
        found.note_with(
            both!(
                "The memory was damaged. Tidegate put the damaged store aside in {shown} and built a new one.",
                "メモリが壊れたため、{shown} に移して作り直しました。"
            ),
            both!(
                "`what-happened.json` there lists what was saved. Delete {quoted} once you have read it.",
                "残せたものは、その中の `what-happened.json` に書いてあります。読んだら {quoted} を削除してください。"
            ),
        );
    }
    if found.is_empty() {
        let off = if relay_log::is_on(&seen.config) {
            Bilingual::default()
        } else {
            both!(" Tidegate records nothing here.", "ここでは何も記録しません。")
        };
        found.ok(match looked.flatten() {
            Some(QuickCheck { logs, .. }) => both!(
                "{file} holds {exchanges}.{en}",
                "{file} に{logs}件のやり取りがあります。{ja}",
                file = home.file().display(),
                exchanges = count_en(usize::try_from(logs).unwrap_or(usize::MAX), "exchange"),
                logs = logs,
                en = off.en,
                ja = off.ja
            ),
            None => both!(
                "Nothing is stored yet.{en}",
                "まだ何も保存されていません。{ja}",
                en = off.en,
                ja = off.ja
            ),
        });
    }
}

fn fix_of(error: &Error) -> Bilingual {
    match &error.hint {
        Some(hint) => Bilingual::data(hint),
        None => both!(
            "Set TIDEGATE_DATA_DIR to a folder of your own.",
            "TIDEGATE_DATA_DIR に自分のフォルダを指定してください。"
        ),
    }
}

fn check_folder(folder: &Path, found: &mut Findings) {
    if let Err(error) = try_to_write(folder) {
        let (shown, quoted) = (folder.display(), quote_path(folder));
        let fix = if is_closed(folder) {
            open_up(folder)
        } else {
            both!(
                "Make {quoted} a folder that you can write, or set TIDEGATE_DATA_DIR to a folder of your own.",
                "{quoted} を書き込めるフォルダにするか、TIDEGATE_DATA_DIR に自分のフォルダを指定してください。"
            )
        };
        let text = both!(
            "Tidegate cannot write to its memory in {shown}: {error}.",
            "メモリのフォルダ {shown} に書き込めません: {error}"
        );
        let finding = found.problem(text, fix);
        // The disk as a whole: the state folder has the same problem.
        if matches!(error.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::StorageFull) {
            finding.unless_caused_by(&["disk", "state"]);
        }
        return;
    }
    #[cfg(unix)]
    for path in [folder.to_owned(), folder.join("memory.db")] {
        use std::os::unix::fs::PermissionsExt;
        let Ok(metadata) = path.metadata() else { continue };
        if metadata.permissions().mode() & 0o077 != 0 {
            let (shown, quoted) = (path.display(), quote_path(&path));
            found.warning(
                both!("Other users can read {shown}.", "ほかのユーザーが {shown} を読めます。"),
                both!("Run `chmod go-rwx {quoted}`.", "`chmod go-rwx {quoted}` を実行してください。"),
            );
        }
    }
}

fn check_store(home: &MemoryHome, found: &mut Findings) -> Option<QuickCheck> {
    let error = match sqlite::quick_check(&home.file()) {
        Ok(looked) => return Some(looked),
        Err(error) => error,
    };
    let what = &error.what;
    match error.kind {
        ErrorKind::Damaged => found.problem(
            both!("Tidegate's memory is damaged: {what}.", "メモリが壊れています: {what}"),
            both!(
                "Run `tidegate memory check --repair`. It puts the damaged store aside and builds a new one from the newest copy \
                 and everything that is still readable.",
                "`tidegate memory check --repair` を実行してください。壊れたものを別に移し、最新の控えと読める部分から作り直します。"
            ),
        ),
        ErrorKind::Newer | ErrorKind::Refused => {
            found.problem(both!("Tidegate cannot use its memory: {what}.", "メモリを使えません: {what}"), fix_of(&error))
        }
        _ => found.problem(
            both!("Tidegate cannot read its memory: {what}.", "メモリを読めません: {what}"),
            both!(
                "Make {file} yours, with mode 0600. `tidegate memory check` shows more.",
                "{file} を自分だけが読み書きできるようにしてください（モード0600）。詳しくは `tidegate memory check` で見られます。",
                file = quote_path(&home.file())
            ),
        ),
    };
    None
}

/// Jobs without a worker.
fn check_waiting_jobs(seen: &Gathered, state: &StateDir, found: &mut Findings) {
    let once = || {
        both!(
            "Run `tidegate worker --once`: it stores what it can, and prints what stops the rest.",
            "`tidegate worker --once` を実行してください。保存できるものを保存し、残りの理由を表示します。"
        )
    };
    let queue = match spool::list(state) {
        Ok(queue) => queue,
        Err(error) => {
            let folder = state.root().join("spool");
            let (shown, quoted) = (folder.display(), quote_path(&folder));
            let fix = if is_closed(&folder) {
                open_up(&folder)
            } else {
                both!(
                    "Move {quoted} away: the next hook makes a new one.",
                    "{quoted} を別の場所に移してください。次のフックが新しく作ります。"
                )
            };
            let text = both!(
                "Tidegate cannot read the conversations that wait to be stored, in {shown}: {error}.",
                "保存を待っている会話を {shown} から読めません: {error}"
            );
            found.problem(text, fix).unless_caused_by(&["state"]);
            return;
        }
    };
    let newer = queue.iter().filter(|queued| matches!(queued.job, Err(Unread::Newer(_)))).count();
    if newer > 0 {
        found.warning(
            both!(
                "{jobs} for the memory come from a newer Tidegate. This one leaves them alone.",
                "新しいバージョンの Tidegate の保存待ちが{newer}件あります。このバージョンでは扱えません。",
                jobs = count_en(newer, "job")
            ),
            both!(
                "Run `tidegate worker --once` with the newer Tidegate.",
                "新しいバージョンで `tidegate worker --once` を実行してください。"
            ),
        );
    }
    let oldest = queue.iter().filter_map(|queued| queued.job.as_ref().ok()).map(|job| job.at).min();
    let late = oldest.filter(|at| seen.now.since(*at) >= LONG);
    let others = queue.len() - newer;
    let waiting = format!("{} {}", count_en(others, "job"), if others == 1 { "waits" } else { "wait" });
    if let Some(since) = late.map(|since| seen.clock.dated_minute(since)) {
        found.warning(
            both!(
                "{waiting} to be stored in the memory, the oldest since {since}.",
                "メモリへの保存待ちが{others}件あります（最も古いものは{since}から）。"
            ),
            once(),
        );
    } else if others > MANY {
        found.warning(
            both!("{waiting} to be stored in the memory.", "メモリへの保存待ちが{others}件あります。"),
            once(),
        );
    }
    let retries = retries::read(state);
    let names: Vec<_> = queue.iter().filter_map(|queued| queued.path.file_name()).collect();
    let failed = retries.jobs.keys().filter(|name| names.iter().any(|known| *known == name.as_str())).count();
    if failed > 0 {
        found.warning(
            both!(
                "Tidegate could not store {jobs} in the memory. It will try again.",
                "{failed}件をメモリに保存できませんでした。あとでもう一度試します。",
                jobs = count_en(failed, "job")
            ),
            once(),
        );
    }
    let untold = retries.summaries.values().filter(|retry| retry.tries as usize >= OFTEN).count();
    if untold > 0 {
        found.warning(
            both!(
                "The model in `[memory.summary]` did not summarise {exchanges}. They have Tidegate's own short summary.",
                "`[memory.summary]` のモデルが{untold}件のやり取りを要約できていません。Tidegate の短い要約が入っています。",
                exchanges = count_en(untold, "exchange")
            ),
            both!(
                "Run `tidegate worker --once`: it tries again, and prints the reason if it fails.",
                "`tidegate worker --once` を実行してください。もう一度試し、失敗したら理由を表示します。"
            ),
        );
    }
    let damaged = spool::list_damaged(state).unwrap_or_default();
    if let Some(folder) = damaged.first().and_then(|path| path.parent()) {
        found.warning(
            both!(
                "Tidegate put {files} aside that it could not read among the conversations to store.",
                "保存待ちの中に読めないファイルが{number}個あったため、別に移しました。",
                files = count_en(damaged.len(), "file"),
                number = damaged.len()
            ),
            both!(
                "Look at {folder}, then delete it.",
                "{folder} の中を見てから、削除してください。",
                folder = quote_path(folder)
            ),
        );
    }
}

/// From the journal of the last days.
fn report_failures(seen: &Gathered, found: &mut Findings) {
    let since = Millis(seen.now.0.saturating_sub(DAYS * 24 * HOUR));
    let mut classes: BTreeMap<&str, (usize, &Record, &FailedCheck)> = BTreeMap::new();
    for record in
        seen.history.records.iter().filter(|record| record.event == EVENT && record_time(record) >= since)
    {
        if let Some(failure) = &record.failure {
            let newest = classes.entry(&failure.class).or_insert((0, record, failure));
            *newest = (newest.0 + 1, record, failure);
        }
    }
    for (class, (times, record, failure)) in classes {
        // Damaged stores and teams are judged by their present state.
        if matches!(class, "memory" | "team") {
            continue;
        }
        let (step, id, last) = (&failure.step, &record.id, seen.clock.dated_minute(record_time(record)));
        let often = if times == 1 { "once".to_owned() } else { format!("{times} times") };
        let text = both!(
            "Storing in the memory failed {often} in the last {DAYS} days ({class}), last at {last}: {step}.",
            "直近{DAYS}日間に、メモリへの保存が{times}回失敗しました（{class}）。最後は{last}です: {step}"
        );
        match class {
            "transcript" => {
                found.note_with(
                    text,
                    both!(
                        "You don't need to do anything: Tidegate stored the rest of that session.",
                        "何もする必要はありません。そのセッションの残りは保存しました。"
                    ),
                );
            }
            _ if times >= OFTEN => {
                found.warning(
                    text,
                    both!(
                        "Run `tidegate worker --once` to try again, and `tidegate explain {id}` to see the last failure.",
                        "`tidegate worker --once` でもう一度試してください。最後の失敗は `tidegate explain {id}` で見られます。"
                    ),
                );
            }
            _ => found.note(text),
        }
    }
}

fn check_team(seen: &Gathered, home: &MemoryHome, looked: &QuickCheck, found: &mut Findings) {
    let Some(url) = seen.config.memory.team.url.as_ref() else { return };
    let standing = TeamState::read(home);
    let Some(failure) = &standing.failure else { return };
    let delivered = standing.succeeded;
    if delivered.is_some_and(|at| seen.now.since(at) < UNTOLD) || (failure.times as usize) < OFTEN {
        return;
    }
    let (url, what) = (url.shown(), &failure.what);
    let since = delivered.map_or_else(
        || both!("Tidegate has never reached", "一度も接続できていません"),
        |at| {
            let at = seen.clock.dated_minute(at);
            both!("Since {at} Tidegate cannot reach", "{at}から接続できません")
        },
    );
    found.warning(
        both!(
            "{since} the team's store {url}: {what}. {changes} to deliver.",
            "チームのストア {url} に{since_ja}（{what}）。未送信の変更は{number}件です。",
            since = since.en,
            since_ja = since.ja,
            changes = count_en(usize::try_from(looked.outbox).unwrap_or(usize::MAX), "change"),
            number = looked.outbox
        ),
        both!(
            "Run `tidegate worker --once`: it tries to deliver them. Your own store has everything.",
            "`tidegate worker --once` を実行すると、もう一度送ります。手元のストアにはすべて残っています。"
        ),
    );
}
