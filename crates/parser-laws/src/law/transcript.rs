//! Any lines of a transcript, newest first.

use tidegate_core::host::Host;
use tidegate_core::host::transcript::lines;
use tidegate_core::meter::transcript::{EventTrace, MeterScan};

pub fn holds(bytes: &[u8]) {
    let parser = Host::ClaudeCode.parser(&MeterScan::SOUGHT);
    for evidence in [EventTrace::None, EventTrace::ToolUse("toolu_1"), EventTrace::LastMessage("done".into())]
    {
        let traceless = evidence == EventTrace::None;
        let mut scan = MeterScan::new(evidence);
        let _ = lines(bytes).rev().try_for_each(|line| scan.take_line(parser.entry(line).as_ref()));
        if let Some(found) = scan.finish() {
            assert!(found.used > 0);
            assert!(!(found.current && traceless));
        }
    }
}
