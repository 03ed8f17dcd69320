//! Skills, commands and rules that Tidegate ships, and their places in the host's folder.
//!
//! A skill whose name the person has already gets a longer one (`tidegate-NAME`), and every shipped text then names that.
//! Texts refer to skills in two forms only, so that this is a replacement: ``skill `NAME` `` and `` `/NAME` ``.

use serde::{Deserialize, Serialize};
use tidegate_core::text::fnv;
use tidegate_core::text::skill_name::OWN_PREFIX;

/// Skills that come only when they are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Part {
    /// Sprint, audit, ship and retrospective, one after another (/dev-cycle)
    Cycle,
    /// Checkpoints between the phases of a workflow
    Workflow,
    /// Rules for code and documents, required by the preset strict
    Rules,
}

impl Part {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Part::Cycle => "cycle",
            Part::Workflow => "workflow",
            Part::Rules => "rules",
        }
    }

    /// As `--with` takes them.
    pub(crate) fn list(parts: &[Part]) -> String {
        parts.iter().map(|part| part.name()).collect::<Vec<_>>().join(",")
    }
}

#[derive(Debug)]
pub(crate) struct Skill {
    pub(crate) name: &'static str,
    text: &'static str,
    /// `None`: always installed.
    pub(crate) part: Option<Part>,
}

macro_rules! skill {
    ($name:literal) => {
        Skill {
            name: $name,
            text: include_str!(concat!("../../../../../plugin/skills/", $name, "/SKILL.md")),
            part: None,
        }
    };
    ($name:literal, $part:ident, $folder:literal) => {
        Skill {
            name: $name,
            text: include_str!(concat!(
                "../../../../../plugin/parts/",
                $folder,
                "/skills/",
                $name,
                "/SKILL.md"
            )),
            part: Some(Part::$part),
        }
    };
}

pub(crate) const SKILLS: &[Skill] = &[
    skill!("getting-started"),
    skill!("verification-before-completion"),
    skill!("compound"),
    skill!("dev-cycle", Cycle, "cycle"),
    skill!("sprint", Cycle, "cycle"),
    skill!("audit", Cycle, "cycle"),
    skill!("ship", Cycle, "cycle"),
    skill!("retrospective", Cycle, "cycle"),
    skill!("compaction-gates", Workflow, "workflow"),
    skill!("persisting-progress-across-sessions", Workflow, "workflow"),
    skill!("code-quality-rules", Rules, "rules"),
    skill!("document-quality-rules", Rules, "rules"),
];

#[derive(Debug)]
pub(crate) struct Shipped {
    /// Below the host's folder.
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! command {
    ($name:literal) => {
        Shipped {
            path: concat!("commands/tidegate-", $name, ".md"),
            text: include_str!(concat!("../../../../../plugin/commands/", $name, ".md")),
        }
    };
}

/// The model does not see them: the listing of skills is short of room.
pub(crate) const COMMANDS: &[Shipped] = &[command!("doctor"), command!("off"), command!("status")];

/// Only with the preset `strict`: has the model write the tag which that preset asks for.
pub(crate) const META_TAG: Shipped =
    Shipped { path: "rules/meta-tag.md", text: include_str!("rules/meta-tag.md") };

impl Skill {
    pub(crate) fn find(name: &str) -> Option<&'static Skill> {
        SKILLS.iter().find(|skill| skill.name == name)
    }

    /// Below the host's folder.
    pub(crate) fn path(&self, is_renamed: bool) -> String {
        let prefix = if is_renamed { OWN_PREFIX } else { "" };
        format!("skills/{prefix}{}/SKILL.md", self.name)
    }

    /// With the longer names of these skills.
    pub(crate) fn render(&self, renamed: &[&str]) -> String {
        let mut text = self.text.to_owned();
        for name in renamed {
            for (before, after) in [("skill `", "`"), ("skill\n`", "`"), ("`/", "`")] {
                let old = format!("{before}{name}{after}");
                text = text.replace(&old, &format!("{before}{OWN_PREFIX}{name}{after}"));
            }
        }
        if renamed.contains(&self.name) {
            let line = |name: &str| format!("---\nname: {name}\n");
            text = text.replacen(&line(self.name), &line(&format!("{OWN_PREFIX}{}", self.name)), 1);
        }
        text
    }
}

/// Shipped by this or an earlier version for this path, whatever names its texts use.
pub(crate) fn is_shipped(path: &str, text: &str) -> bool {
    let is_earlier = EARLIER.contains(&(path, fnv::hash(text.bytes())));
    let own = COMMANDS.iter().chain([&META_TAG]).find(|file| file.path == path).map(|file| file.text);
    let skill = path.strip_prefix("skills/").and_then(|rest| rest.strip_suffix("/SKILL.md"));
    let skill = skill.map(|name| name.strip_prefix(OWN_PREFIX).unwrap_or(name)).and_then(Skill::find);
    is_earlier || own == Some(text) || skill.is_some_and(|skill| with_short_names(text) == skill.text)
}

fn with_short_names(text: &str) -> String {
    let mut text = text.to_owned();
    for skill in SKILLS {
        text = text.replace(&format!("{OWN_PREFIX}{}", skill.name), skill.name);
    }
    text
}

/// Hashes of the texts of 0.1, which a checkout can hold without a record of its install.
const EARLIER: &[(&str, u64)] = &[
    ("commands/tidegate-doctor.md", 0x27b7_96fb_2746_f263),
    ("commands/tidegate-off.md", 0x8e35_24e3_084b_225c),
    ("commands/tidegate-status.md", 0xd758_8d3e_cd8c_5970),
    ("skills/audit/SKILL.md", 0xb199_35ba_b1ad_6067),
    ("skills/code-quality-rules/SKILL.md", 0xdb21_179b_5c88_b9e0),
    ("skills/compaction-gates/SKILL.md", 0x9b66_6614_b4ba_4d1d),
    ("skills/compound/SKILL.md", 0xd92c_9847_fe46_6f65),
    ("skills/context-persistence/SKILL.md", 0xfc47_06bd_dbe1_5187),
    ("skills/dev-cycle/SKILL.md", 0x9765_081b_3e8e_b11f),
    ("skills/document-quality-rules/SKILL.md", 0x0101_a55e_e3f4_de9e),
    ("skills/getting-started/SKILL.md", 0x57c2_1b1f_9021_154b),
    ("skills/persisting-progress-across-sessions/SKILL.md", 0x7033_a46b_226c_1ec9),
    ("skills/retrospective/SKILL.md", 0xe679_04cf_f9fe_5ceb),
    ("skills/ship/SKILL.md", 0x8c92_9af7_c025_1bdf),
    ("skills/sprint/SKILL.md", 0xcbd6_c4c2_8528_6f14),
    ("skills/verification-before-completion/SKILL.md", 0x7640_e285_398b_7543),
];

/// Every path that this or an earlier version may have written.
pub(crate) fn all_paths() -> impl Iterator<Item = String> {
    let skills = SKILLS.iter().flat_map(|skill| [skill.path(false), skill.path(true)]);
    let others = COMMANDS.iter().chain([&META_TAG]).map(|file| file.path.to_owned());
    let earlier = EARLIER.iter().map(|(path, _)| (*path).to_owned());
    let mut paths: Vec<String> = skills.chain(others).chain(earlier).collect();
    paths.sort();
    paths.dedup();
    paths.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> (&str, &str) {
        let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
        head.unwrap_or_else(|| panic!("no frontmatter: {text}"))
    }

    #[test]
    fn each_tells_the_host_what_it_is_for() {
        let skills = SKILLS.iter().map(|skill| (skill.name, skill.text));
        for (name, text) in skills.chain(COMMANDS.iter().map(|file| (file.path, file.text))) {
            let (head, body) = head(text);
            assert!(head.lines().any(|line| line.starts_with("description: ")), "{name}");
            assert!(!body.trim().is_empty() && text.ends_with('\n'), "{name}");
            if Skill::find(name).is_some() {
                assert!(head.lines().any(|line| line == format!("name: {name}")), "{name}");
            } else {
                assert!(head.lines().any(|line| line == "disable-model-invocation: true"), "{name}");
            }
        }
    }

    /// What the default skills take of the client's listing: 8000 characters on a 200K model, of which the client's own
    /// skills take about 5700.
    #[test]
    fn the_listing_has_room_for_others() {
        let entry = |skill: &Skill| {
            let line = head(skill.text).0.lines().find_map(|line| line.strip_prefix("description: "));
            skill.name.len() + line.expect("a description").len() + "- : \n".len()
        };
        let total = |of: &dyn Fn(&Skill) -> bool| SKILLS.iter().filter(|it| of(it)).map(entry).sum::<usize>();
        assert!(total(&|skill| skill.part.is_none()) < 260);
        for part in [Part::Cycle, Part::Workflow, Part::Rules] {
            assert!(total(&|skill| skill.part == Some(part)) < 520, "{part:?}");
        }
    }

    /// A file under `plugin/` that `init` does not install would be missing for people without the plugin.
    #[test]
    fn none_is_forgotten() {
        let plugin = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin");
        let files = |folder: &str| {
            let entries = std::fs::read_dir(plugin.join(folder)).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let of_parts = files("parts").into_iter().map(|part| files(&format!("parts/{part}/skills")).len());
        assert_eq!(files("skills").len() + of_parts.sum::<usize>(), SKILLS.len());
        assert_eq!(files("commands").len(), COMMANDS.len());
    }

    #[test]
    fn a_longer_name_is_used_wherever_it_is_named() {
        let all: Vec<&str> = SKILLS.iter().map(|skill| skill.name).collect();
        for skill in SKILLS {
            let text = skill.render(&all);
            assert!(text.starts_with(&format!("---\nname: tidegate-{}\n", skill.name)), "{text}");
            assert!(is_shipped(&skill.path(true), &text) && is_shipped(&skill.path(false), skill.text));
            assert_eq!(skill.render(&[]), skill.text);
            // Names of two words and more mean the skill and nothing else.
            for name in all.iter().filter(|name| name.contains('-') || **name == "compound") {
                for form in [format!("`{name}`"), format!("/{name}`"), format!("/{name} ")] {
                    let shown = text.replace(&format!("tidegate {name}"), "");
                    assert!(!shown.contains(&form), "{}: {form}", skill.name);
                }
            }
        }
        let audit = Skill::find("audit").unwrap();
        let text = audit.render(&["code-quality-rules"]);
        assert!(text.contains("skill `tidegate-code-quality-rules`") && text.contains("\nname: audit\n"));
        assert!(!is_shipped(&audit.path(false), "---\nname: audit\n---\n\nmine\n"));
    }
}
