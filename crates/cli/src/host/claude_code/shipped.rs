//! Skills, commands and rules that Tidegate ships, and their places in the host's folder.

#[derive(Debug)]
pub(crate) struct Shipped {
    /// Below the host's folder.
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! skill {
    ($name:literal) => {
        Shipped {
            path: concat!("skills/", $name, "/SKILL.md"),
            text: include_str!(concat!("../../../../../plugin/skills/", $name, "/SKILL.md")),
        }
    };
}

macro_rules! command {
    ($name:literal) => {
        Shipped {
            path: concat!("commands/tidegate-", $name, ".md"),
            text: include_str!(concat!("../../../../../plugin/commands/", $name, ".md")),
        }
    };
}

pub(crate) const SHIPPED: &[Shipped] = &[
    skill!("getting-started"),
    skill!("code-quality-rules"),
    skill!("document-quality-rules"),
    skill!("verification-before-completion"),
    skill!("context-persistence"),
    skill!("compound"),
    skill!("compaction-gates"),
    skill!("persisting-progress-across-sessions"),
    skill!("dev-cycle"),
    skill!("sprint"),
    skill!("audit"),
    skill!("ship"),
    skill!("retrospective"),
    command!("doctor"),
    command!("off"),
    command!("status"),
];

/// Only with the preset `strict`: has the model write the tag which that preset asks for.
pub(crate) const META_TAG: Shipped =
    Shipped { path: "rules/meta-tag.md", text: include_str!("rules/meta-tag.md") };

pub(crate) fn has_skill(name: &str) -> bool {
    let path = format!("skills/{name}/SKILL.md");
    SHIPPED.iter().any(|file| file.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tells_the_host_what_it_is_for() {
        for Shipped { path, text } in SHIPPED {
            let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
            let (head, body) = head.unwrap_or_else(|| panic!("{path}: no frontmatter"));
            assert!(head.lines().any(|line| line.starts_with("description: ")), "{path}");
            assert!(!body.trim().is_empty() && text.ends_with('\n'), "{path}");
            if let Some(name) = path.strip_prefix("skills/").and_then(|path| path.strip_suffix("/SKILL.md")) {
                assert!(head.lines().any(|line| line == format!("name: {name}")), "{path}");
            }
        }
    }

    /// A file under `plugin/` that `init` does not install would be missing for people without the plugin.
    #[test]
    fn none_is_forgotten() {
        let plugin = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin");
        let files =
            |folder: &str| std::fs::read_dir(plugin.join(folder)).into_iter().flatten().flatten().count();
        let listed = |folder: &str| SHIPPED.iter().filter(|file| file.path.starts_with(folder)).count();
        assert_eq!(listed("skills/"), files("skills"));
        assert_eq!(listed("commands/"), files("commands"));
    }
}
