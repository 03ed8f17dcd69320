//! Any lines of a transcript, newest first.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_core::host::claude_code::usage::{Evidence, Scan};

fuzz_target!(|bytes: &[u8]| {
    for evidence in [Evidence::None, Evidence::ToolUse("toolu_1"), Evidence::LastMessage("done".into())] {
        let traceless = evidence == Evidence::None;
        let mut scan = Scan::new(evidence);
        for line in bytes.split(|b| *b == b'\n').rev() {
            if scan.line(line).is_break() {
                break;
            }
        }
        if let Some(found) = scan.finish() {
            assert!(found.used > 0);
            assert!(!(found.current && traceless));
        }
    }
});
