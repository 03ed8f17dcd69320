//! Checks that failed in the last days, by class.

use std::collections::BTreeMap;

use tidegate_core::pipeline::record::{FailedCheck, Record};
use tidegate_core::time::Millis;

use crate::bilingual::{Bilingual, both};
use crate::command::worker::EVENT as WORKER;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::doctor::history::{DAYS, record_time};

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    if seen.state.is_err() {
        found.unchecked(super::without_state());
        return;
    }
    let since = Millis(seen.now.0.saturating_sub(DAYS * 86_400_000));
    let mut classes: BTreeMap<&str, (usize, &Record, &FailedCheck)> = BTreeMap::new();
    for record in &seen.history.records {
        // A failure without a project concerns every project. The check `memory` reports the worker's.
        let here = (record.project.is_none() || seen.is_here(record)) && record.event != WORKER;
        if let Some(failure) = record.failure.as_ref().filter(|_| here && record_time(record) >= since) {
            let newest = classes.entry(&failure.class).or_insert((0, record, failure));
            *newest = (newest.0 + 1, record, failure);
        }
    }
    for (class, (times, record, failure)) in &classes {
        let (event, step, id) = (&record.event, &failure.step, &record.id);
        let last = seen.clock.dated_minute(record_time(record));
        let often = if *times == 1 { "once".to_owned() } else { format!("{times} times") };
        let text = both!(
            "A check of Tidegate failed {often} in the last {DAYS} days ({class}), last at {last} on {event}: {step}.",
            "直近{DAYS}日間に、Tidegate の確認が{times}回失敗しました（{class}）。最後は{last}の {event} です: {step}"
        );
        let explain = |then: Bilingual| {
            both!(
                "Run `tidegate explain {id}` to see the last one. {en}",
                "最後のものは `tidegate explain {id}` で見られます。{ja}",
                en = then.en,
                ja = then.ja
            )
        };
        match *class {
            "panic" => {
                let report = both!(
                    "Please report it: it is a bug in Tidegate.",
                    "Tidegate の不具合です。報告してください。"
                );
                found.problem(text, explain(report));
            }
            "deadline" => {
                let slow = both!("The disk or the machine was too slow.", "ディスクかマシンが遅すぎました。");
                found.warning(text, explain(slow));
            }
            "state" | "marks" | "record" => {
                let rest = both!(
                    "If it continues, look at free disk space and the state folder.",
                    "続く場合は、ディスクの空きと状態のフォルダを調べてください。"
                );
                found.warning(text, explain(rest)).unless_caused_by(&["state", "disk"]);
            }
            _ => {
                let other = both!(
                    "Another program than Claude Code may call Tidegate's hooks.",
                    "Claude Code 以外のプログラムがフックを呼び出しているかもしれません。"
                );
                found.warning(text, explain(other));
            }
        }
    }
    if found.is_empty() {
        found.ok(both!(
            "No check failed in the last {DAYS} days.",
            "直近{DAYS}日間に失敗した確認はありません。"
        ));
    }
}
