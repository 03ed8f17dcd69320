//! Any pattern and any path: it is understood or refused, and matching ends. A pattern from its own text is the same.

use tidegate_core::text::glob::Glob;

pub fn holds(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (pattern, path) = text.split_once('\n').unwrap_or((text, ""));
    if let Ok(glob) = Glob::new(pattern) {
        let again = Glob::new(glob.text()).expect("it was understood before");
        assert_eq!(glob.matches(path), again.matches(path));
    }
}
