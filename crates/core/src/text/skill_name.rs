//! Names of skills, as a host gives them: `name`, `plugin:name`, or `tidegate-name` where `name` was taken.

/// `init` puts this before the name of a skill that the person has already.
pub const OWN_PREFIX: &str = "tidegate-";

/// `name` is the skill itself, the same skill of a plugin, or Tidegate's skill under its longer name.
pub fn satisfies(name: &str, skill: &str) -> bool {
    let name = if skill.contains(':') { name } else { name.rsplit(':').next().unwrap_or(name) };
    name == skill || name.strip_prefix(OWN_PREFIX) == Some(skill)
}

/// A prompt that calls a skill or a command, from its name on: `/name` or, as in Codex, `$name`. Not "$5" and "$HOME".
pub fn called_in(prompt: &str) -> Option<&str> {
    let prompt = prompt.trim_start();
    let name = |sign, is_first: fn(char) -> bool| {
        prompt.strip_prefix(sign).filter(|rest| rest.starts_with(is_first))
    };
    name('/', char::is_alphanumeric).or_else(|| name('$', |c| c.is_ascii_lowercase()))
}

/// With the longer name wherever a text means one of these skills: `/name`, or the word "skill" before it.
pub fn with_own_names(text: &str, renamed: &[String]) -> String {
    let mut out = text.to_owned();
    for name in renamed {
        let mut from = 0;
        while let Some(found) = out[from..].find(name.as_str()) {
            let (start, end) = (from + found, from + found + name.len());
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/');
            if is_skill_next(&out[..start]) && !out[end..].starts_with(is_part) {
                out.insert_str(start, OWN_PREFIX);
                from = end + OWN_PREFIX.len();
            } else {
                from = end;
            }
        }
    }
    out
}

fn is_skill_next(before: &str) -> bool {
    if let Some(before) = before.strip_suffix('/') {
        // A path has something before the slash.
        return !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '~' | '/' | '-' | '_'));
    }
    let before = before.trim_end_matches('`').trim_end();
    let words: &[&str] =
        if before.ends_with(',') { &["skills", "スキル"] } else { &["skill", "skills", "スキル"] };
    // In a list, the word stands before the first name.
    let mut before = before;
    while let Some((list, _)) = before.strip_suffix(',').and_then(|list| list.rsplit_once(' ')) {
        before = list.trim_end();
    }
    words.iter().any(|word| before.ends_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_name_is_another_skill() {
        assert!(satisfies("code-quality-rules", "code-quality-rules"));
        assert!(satisfies("tidegate:code-quality-rules", "code-quality-rules"));
        assert!(!satisfies("my-code-quality-rules", "code-quality-rules"));
        assert!(!satisfies("code-quality-rules-lite", "code-quality-rules"));
        assert!(!satisfies("code-quality-rules:other", "code-quality-rules"));
        assert!(satisfies("tidegate:x", "tidegate:x"));
        assert!(!satisfies("other:tidegate:x", "tidegate:x") && !satisfies("x", "tidegate:x"));
        assert!(satisfies("tidegate-ship", "ship") && !satisfies("ship", "tidegate-ship"));
        assert!(!satisfies("tidegate-ship-now", "ship"));
    }

    #[test]
    fn a_prompt_that_calls_a_skill() {
        for (prompt, called) in [
            (" /ship now", Some("ship now")),
            ("/tidegate:ship", Some("tidegate:ship")),
            ("$compound", Some("compound")),
            ("$5 at most", None),
            ("$HOME stays", None),
            ("/ ship", None),
            ("ship", None),
        ] {
            assert_eq!(called_in(prompt), called, "{prompt}");
        }
    }

    #[test]
    fn a_longer_name_is_used_where_the_skill_is_meant() {
        let renamed = ["compound".to_owned(), "ship".to_owned()];
        for (text, expected) in [
            ("Run `/compound` now, or /compound.", "Run `/tidegate-compound` now, or /tidegate-compound."),
            ("the skill `ship` of stage ship", "the skill `tidegate-ship` of stage ship"),
            ("the skill ship, and skills shipping", "the skill tidegate-ship, and skills shipping"),
            ("the skills a, compound, ship", "the skills a, tidegate-compound, tidegate-ship"),
            ("this skill works, ship it", "this skill works, ship it"),
            ("スキル ship を呼び出す", "スキル tidegate-ship を呼び出す"),
            (".claude/skills/compound/SKILL.md", ".claude/skills/compound/SKILL.md"),
            ("`tidegate compound list`, `/compound-it`", "`tidegate compound list`, `/compound-it`"),
            ("ship it; compound interest", "ship it; compound interest"),
        ] {
            assert_eq!(with_own_names(text, &renamed), expected);
        }
    }
}
