//! Other agents that call the hooks.

use tidegate_core::host::Host;
use tidegate_core::pipeline::record::Record;

use crate::bilingual::both;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::doctor::history::DAYS;
use crate::host::unchecked::Unchecked;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    if seen.state.is_err() {
        found.unchecked(super::without_state());
        return;
    }
    for host in Unchecked::among(seen.history.records.iter().filter(|record| seen.is_here(record))) {
        found.note_with(
            host.line(&seen.clock),
            both!(
                "You don't need to do anything: Tidegate knows this agent only by recorded payloads, unproven on the real one.",
                "何もする必要はありません。記録したペイロードで見分けるだけで、実物での動作は確かめていません。"
            ),
        );
    }
    if found.is_empty() {
        let of = |host: Host| {
            let is_its = |record: &Record| seen.is_here(record) && record.host == host.name();
            seen.history.records.iter().any(is_its).then(|| Host::title(host.name()))
        };
        let callers: Vec<&str> = Host::ALL.iter().copied().filter_map(of).collect();
        if !callers.is_empty() {
            found.ok(both!(
                "Only {en} called Tidegate here in the last {DAYS} days.",
                "直近{DAYS}日間にここで Tidegate を呼び出したのは、{ja} だけです。",
                en = callers.join(" and "),
                ja = callers.join("、")
            ));
        } else if seen.sessions_here().next().is_some() {
            found.ok(both!(
                "No agent called Tidegate here in the last {DAYS} days.",
                "直近{DAYS}日間、ここでは Tidegate の呼び出しがありません。"
            ));
        } else {
            found.ok(both!(
                "No agent has called Tidegate here yet.",
                "ここではまだ Tidegate が呼び出されていません。"
            ));
        }
    }
}
