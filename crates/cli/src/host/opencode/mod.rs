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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_one_text_of_the_script() {
        let shim = make_shim("/home/o'hara \"x\"\\n/tidegate");
        assert!(is_shim(&shim) && !shim.contains("@PROGRAM@"));
        assert!(shim.contains(r#"const PROGRAM = "/home/o'hara \"x\"\\n/tidegate""#), "{shim}");
    }
}
