//! Hosts that call Tidegate's hooks and get no answer: nothing is checked there, and a person should know.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_core::host::Host;
use tidegate_core::pipeline::record::Record;
use tidegate_core::time::Millis;

use crate::bilingual::{Bilingual, both};
use crate::local_time::LocalClock;

#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Unchecked {
    /// As in records.
    host: String,
    calls: usize,
    last: String,
}

impl Unchecked {
    /// Of records with the oldest first.
    pub(crate) fn among<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<Unchecked> {
        let mut hosts: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
        for record in records.filter(|record| record.ruling == "foreign") {
            let calls = hosts.get(record.host.as_str()).map_or(0, |(calls, _)| *calls);
            hosts.insert(&record.host, (calls + 1, &record.at));
        }
        let seen = |(host, (calls, last)): (&str, (usize, &str))| Unchecked {
            host: host.to_owned(),
            calls,
            last: last.to_owned(),
        };
        hosts.into_iter().map(seen).collect()
    }

    pub(crate) fn line(&self, clock: &LocalClock) -> Bilingual {
        let (host, calls) = (Host::title(&self.host), self.calls);
        let times = if calls == 1 { "once".to_owned() } else { format!("{calls} times") };
        let last = Millis::from_iso(&self.last).map_or_else(|| self.last.clone(), |last| clock.minute(last));
        both!(
            "{host} called Tidegate's hooks here {times}, last at {last}. Tidegate records its calls and checks nothing there.",
            "{host} がここのフックを{calls}回呼び出しました（最後は{last}）。Tidegate は呼び出しを記録するだけで、何も確認しません。"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_once_with_its_last_call() {
        let record = |host: &str, ruling: &str, at: &str| Record {
            host: host.into(),
            ruling: ruling.into(),
            at: at.into(),
            ..Record::default()
        };
        let records = [
            record("codex", "foreign", "2026-11-15T11:51:28.759Z"),
            record("claude-code", "pass", "2"),
            record("unknown", "foreign", "3"),
            record("codex", "foreign", "2026-11-15T11:55:28.759Z"),
        ];
        let clock = LocalClock::utc(Millis(0));
        let lines: Vec<String> =
            Unchecked::among(records.iter()).iter().map(|host| host.line(&clock).en).collect();
        assert_eq!(
            lines,
            [
                "Codex called Tidegate's hooks here 2 times, last at 2026-11-15 11:55. Tidegate records its calls and checks nothing there.",
                "An unknown agent called Tidegate's hooks here once, last at 3. Tidegate records its calls and checks nothing there.",
            ]
        );
    }
}
