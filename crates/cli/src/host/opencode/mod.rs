//! opencode: a plugin that hands its events to the program (`shim.js`), and its place.

pub(crate) mod check;
pub(crate) mod plan;
pub(crate) mod registrations;

/// Every version of the plugin begins with it.
const FIRST_WORDS: &str = "// Tidegate for opencode.";

pub(crate) fn make_shim(program: &str) -> String {
    let quoted = serde_json::Value::from(program).to_string();
    include_str!("shim.js").replace("\"@PROGRAM@\"", &quoted)
}

pub(crate) fn is_shim(text: &str) -> bool {
    text.starts_with(FIRST_WORDS)
}

/// The program that a plugin starts. Every version names it in a line of its own.
pub(crate) fn called_program(shim: &str) -> Option<String> {
    let line = shim.lines().find_map(|line| line.strip_prefix("const PROGRAM = "))?;
    serde_json::from_str(line.trim_end_matches(';')).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_one_text_of_the_script() {
        let shim = make_shim("/home/o'hara \"x\"\\n/tidegate");
        assert!(is_shim(&shim) && !shim.contains("@PROGRAM@"));
        assert_eq!(called_program(&shim).as_deref(), Some("/home/o'hara \"x\"\\n/tidegate"));
        assert!(shim.contains(r#"const PROGRAM = "/home/o'hara \"x\"\\n/tidegate""#), "{shim}");
    }
}
