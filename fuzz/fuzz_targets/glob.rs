//! Any pattern and any path: it is understood or refused, and matching ends. A pattern from its own text is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidegate_core::text::glob::Glob;

fuzz_target!(|texts: (&str, &str)| {
    let (pattern, path) = texts;
    if let Ok(glob) = Glob::new(pattern) {
        let again = Glob::new(glob.text()).expect("it was understood before");
        assert_eq!(glob.matches(path), again.matches(path));
    }
});
