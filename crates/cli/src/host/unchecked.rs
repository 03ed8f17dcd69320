//! Hosts that call Tidegate's hooks and get no answer: nothing is checked there, and a person should know.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_core::host::Host;
use tidegate_core::pipeline::record::Record;

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

    pub(crate) fn line(&self) -> String {
        let times = if self.calls == 1 { "once".to_owned() } else { format!("{} times", self.calls) };
        format!(
            "{} called Tidegate's hooks here {times}, last at {}: Tidegate records its calls and checks nothing there",
            Host::title(&self.host),
            self.last
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
            record("codex", "foreign", "1"),
            record("claude-code", "pass", "2"),
            record("unknown", "foreign", "3"),
            record("codex", "foreign", "4"),
        ];
        let lines: Vec<String> = Unchecked::among(records.iter()).iter().map(Unchecked::line).collect();
        assert_eq!(
            lines,
            [
                "Codex called Tidegate's hooks here 2 times, last at 4: Tidegate records its calls and checks nothing there",
                "An unknown agent called Tidegate's hooks here once, last at 3: Tidegate records its calls and checks nothing there",
            ]
        );
    }
}
