//! Looks for a code in other sessions, once a person typed one that this session does not know.

use std::fs;

use tidegate_core::event::SessionId;
use tidegate_core::feature::approval::{ApprovalFacts, typed_code};
use tidegate_core::feature::facts::Facts;

use crate::feature::HookContext;
use crate::session::marks;

/// More sessions than this are not looked at.
const MOST: usize = 256;

pub(super) fn read_facts(facts: &Facts<'_>, here: &HookContext<'_>) -> ApprovalFacts {
    let prompt = facts.event.human_prompt().unwrap_or_default();
    let (Some(code), Some(state)) = (typed_code(&prompt), here.state) else {
        return ApprovalFacts::default();
    };
    let entries = fs::read_dir(state.sessions()).into_iter().flatten().flatten().take(MOST);
    let ids = entries.filter_map(|entry| SessionId::parse(&entry.file_name().to_string_lossy()).ok());
    let mut others = ids.filter(|id| id != here.session).take_while(|_| (here.in_time)());
    let waits_there = |id: SessionId| {
        let marks = marks::read(&state.session(&id));
        let requests = marks.value().map(|marks| marks.approval.requests.as_slice()).unwrap_or_default();
        requests.iter().any(|request| request.code == code && request.waits(here.now))
    };
    ApprovalFacts { is_of_other_session: others.any(waits_there) }
}
