//! Names of skills, as a host gives them: `name`, or `plugin:name`.

/// `name` is the skill itself, or the same skill of a plugin.
pub fn satisfies(name: &str, skill: &str) -> bool {
    name == skill || name.rsplit_once(':').is_some_and(|(_, name)| name == skill)
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
    }
}
