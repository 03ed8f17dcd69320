//! Any lines of a transcript, newest first.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_core::host::transcript::lines;
use tidegate_core::host::Host;
use tidegate_core::meter::transcript::{Evidence, Scan};

fuzz_target!(|bytes: &[u8]| {
    let parser = Host::ClaudeCode.parser(&Scan::SOUGHT);
    for evidence in [Evidence::None, Evidence::ToolUse("toolu_1"), Evidence::LastMessage("done".into())] {
        let traceless = evidence == Evidence::None;
        let mut scan = Scan::new(evidence);
        let _ = lines(bytes).rev().try_for_each(|line| scan.line(parser.entry(line).as_ref()));
        if let Some(found) = scan.finish() {
            assert!(found.used > 0);
            assert!(!(found.current && traceless));
        }
    }
});
