//! Names of skills, as a host gives them: `name`, `plugin:name`, or `tidegate-name` where `name` was taken.

/// `init` puts this before the name of a skill that the person has already.
pub const OWN_PREFIX: &str = "tidegate-";

/// `name` is the skill itself, the same skill of a plugin, or Tidegate's skill under its longer name.
pub fn satisfies(name: &str, skill: &str) -> bool {
    let name = if skill.contains(':') { name } else { name.rsplit(':').next().unwrap_or(name) };
    name == skill || name.strip_prefix(OWN_PREFIX) == Some(skill)
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
}
