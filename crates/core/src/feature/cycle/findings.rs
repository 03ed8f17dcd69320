//! Findings among the metrics of a stage: those that it reported as open, and severe ones by their names.

use serde_json::Value;

use crate::feature::cycle::CycleState;
use crate::feature::cycle::state::OPEN_FINDINGS;
use crate::text::word_list::{Words, among};

/// A metric whose name consists of these words and those below counts findings that must not be shipped.
const SEVERE: Words = "vulnerability vulnerabilities hole holes failed failures crit crits critical criticals high highs blocker blockers blocking severe major majors fatal urgent p0 p1 sev0 \
    sev1 open unresolved unfixed remaining 重大 致命的 深刻";
const COUNTED: Words = "finding findings issue issues bug bugs problem problems severity security \
    count number still left 指摘 件数";

/// Metrics of one word for the whole, and their values against shipping.
const RESULTS: Words = "verdict result decision recommendation conclusion gate 判定 結果";
const AGAINST: Words = "no-go nogo reject rejected fail failed blocked not-ready 不合格 不可";

impl CycleState {
    /// Findings that the stage under way reported as open.
    pub fn open_findings(&self) -> Option<u64> {
        self.open_findings_of(&self.stage)
    }

    pub(super) fn open_findings_of(&self, stage: &str) -> Option<u64> {
        let open = self.metrics.get(stage)?.get(OPEN_FINDINGS)?;
        open.as_u64().or_else(|| open.as_str()?.trim().parse().ok())
    }

    /// The first metric of a stage that counts severe findings, and is not 0.
    pub(super) fn severe_findings_of(&self, stage: &str) -> Option<(&str, u64)> {
        let metrics = self.metrics.get(stage)?.as_object()?;
        let named = |(name, value): &(&String, &Value)| {
            // `severity=critical`
            let against = |value: &str| among(RESULTS, &name.to_lowercase()) && among(AGAINST, value);
            let says = value.as_str().map(|value| value.trim().to_lowercase().replace(' ', "-"));
            let says = says.is_some_and(|value| among(SEVERE, &value) || against(&value));
            *name != OPEN_FINDINGS && (is_severe(name) || says)
        };
        let severe = metrics.iter().filter(named);
        severe.map(|(name, value)| (name.as_str(), count_of(value))).find(|(_, count)| *count > 0)
    }

    /// The highest number of findings that the stage under way reported in any way.
    pub fn most_findings(&self) -> Option<u64> {
        let severe = self.severe_findings_of(&self.stage).map(|(_, count)| count);
        self.open_findings().max(severe)
    }
}

pub(super) fn is_severe(metric: &str) -> bool {
    let metric = metric.to_lowercase();
    let mut words = metric.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_known = |word: &str| among(SEVERE, word) || among(COUNTED, word);
    [["not", "fixed"], ["must", "fix"]].iter().any(|pair| words.clone().eq(pair.iter().copied()))
        || words.clone().any(|word| among(SEVERE, word)) && words.all(is_known)
}

/// `5`, `"5"`, `"5 of them"`, or `yes`.
fn count_of(value: &Value) -> u64 {
    let text = value.as_str().map(str::trim).unwrap_or_default();
    let digits = &text[..text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len()];
    if !text.is_empty() && digits.is_empty() {
        return u64::from(!among("no none false ok zero n/a - なし", &text.to_lowercase()));
    }
    let fraction = value.as_f64().map(|number| number.ceil() as u64);
    value.as_u64().or(fraction).or_else(|| digits.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::time::Millis;

    fn in_audit() -> CycleState {
        let mut state = CycleState::started("dev-cycle", Millis(0));
        state.stage = "audit".to_owned();
        state
    }

    #[test]
    fn findings_are_a_number() {
        for (value, open) in [
            (json!(0), Some(0)),
            (json!("2"), Some(2)),
            (json!("none"), None),
            (json!(-1), None),
            (json!(null), None),
        ] {
            let mut state = in_audit();
            state.metrics.insert("audit".into(), json!({ "open": value }));
            assert_eq!(state.open_findings(), open, "{value}");
        }
    }

    #[test]
    fn severe_findings_have_a_name_of_their_own() {
        for (name, value, count) in [
            ("critical", json!(5), 5),
            ("High", json!("2"), 2),
            ("high", json!("2 in auth"), 2),
            ("critical_open", json!(1.0), 1),
            ("open-high-findings", json!(3), 3),
            ("open_issues", json!(1), 1),
            ("重大", json!(1), 1),
            ("critical", json!(0), 0),
            ("must_fix", json!(2), 2),
            ("crit", json!(2), 2),
            ("verdict", json!("no-go"), 1),
            ("verdict", json!("go"), 0),
            ("critical", json!("none"), 0),
            ("critical_fixed", json!(5), 0),
            ("high_score", json!(9), 0),
            ("findings", json!(4), 0),
            ("major_version", json!(2), 0),
            ("tests", json!(12), 0),
        ] {
            let mut state = in_audit();
            let mut metrics = Map::from_iter([("open".to_owned(), json!(0))]);
            metrics.insert(name.to_owned(), value.clone());
            state.metrics.insert("audit".into(), Value::Object(metrics));
            assert_eq!(state.most_findings(), Some(count), "{name}={value}");
        }
    }
}
