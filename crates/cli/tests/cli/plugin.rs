//! The plugin's files among themselves. Whether the client accepts them is a scenario of the bench.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_core::feature::config::Config;
use tidegate_core::feature::cycle::done_when::DoneWhen;

fn plugin() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin")
}

fn json_of(path: &str) -> Value {
    let text = fs::read_to_string(plugin().join(path)).expect("a file of the plugin");
    serde_json::from_str(&text).expect("JSON")
}

fn entries(folder: &str) -> Vec<PathBuf> {
    entries_in(&plugin().join(folder))
}

fn entries_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of the plugin");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// The value of a key between the two lines of dashes that a file begins with.
fn front(text: &str, key: &str) -> Option<String> {
    let (front, _) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    let value = front.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))?;
    Some(value.to_owned())
}

#[test]
fn the_version_is_ours_and_stands_once() {
    assert_eq!(json_of(".claude-plugin/plugin.json")["version"], env!("CARGO_PKG_VERSION"));
    let offered = json_of("../.claude-plugin/marketplace.json");
    let names: Vec<(&Value, &Value)> = offered["plugins"]
        .as_array()
        .expect("plugins")
        .iter()
        .map(|it| (&it["name"], &it["source"]))
        .collect();
    let part = |name: &str| (json!(format!("tidegate-{name}")), json!(format!("./plugin/parts/{name}")));
    let parts = ["rules", "cycle", "workflow"].map(part);
    let expected: Vec<(Value, Value)> =
        [(json!("tidegate"), json!("./plugin"))].into_iter().chain(parts).collect();
    assert_eq!(names, expected.iter().map(|(name, source)| (name, source)).collect::<Vec<_>>());
    for (_, source) in &expected {
        let path = format!("../{}/.claude-plugin/plugin.json", source.as_str().expect("a path"));
        assert_eq!(json_of(&path)["version"], env!("CARGO_PKG_VERSION"), "{path}");
    }
    assert!(offered["plugins"][0].get("version").is_none(), "the manifest has it");
}

/// Each host takes its own manifest, and with it its own hooks.
#[test]
fn other_hosts_have_a_manifest_of_their_own() {
    for (host, manifest) in
        [("codex", ".codex-plugin/plugin.json"), ("copilot", ".github/plugin/plugin.json")]
    {
        let manifest = json_of(manifest);
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
        let file = format!("hosts/{host}-hooks.json");
        assert_eq!(
            (&manifest["hooks"], &manifest["skills"]),
            (&json!(format!("./{file}")), &json!("./skills"))
        );
        let hooks = json_of(&file);
        let groups = hooks["hooks"]
            .as_object()
            .expect("events")
            .values()
            .flat_map(|groups| groups.as_array().into_iter().flatten());
        for handler in groups.map(|group| &group["hooks"][0]) {
            let line = handler["command"].as_str().expect("a line");
            let end = format!(" --via plugin --host {host}");
            assert!(line.starts_with("[ ! -x \"") && line.ends_with(&end), "{line}");
            assert_eq!(handler.as_object().map(serde_json::Map::len), Some(2), "{handler}");
        }
    }
}

#[test]
fn everything_goes_through_the_selector() {
    let hooks = json_of("hooks/hooks.json");
    let groups = hooks["hooks"].as_object().expect("events").iter();
    let mut seen = 0;
    for (event, group) in groups
        .flat_map(|(event, groups)| groups.as_array().into_iter().flatten().map(move |group| (event, group)))
    {
        let handler = &group["hooks"][0];
        assert_eq!((&handler["type"], handler.get("args")), (&json!("command"), None), "{event}");
        let line = handler["command"].as_str().expect("a line");
        let call = format!("exec \"${{CLAUDE_PLUGIN_ROOT}}/bin/tidegate\" hook --event {event} ");
        assert!(line.contains(&call) && line.ends_with(" --via plugin"), "{line}");
        let gates = event == "PreToolUse" && !line.contains("--advice");
        assert_eq!(handler["onFailure"] == "block", gates, "{event}");
        seen += 1;
    }
    assert_eq!(seen, 17);
    let server = &json_of(".mcp.json")["mcpServers"]["tidegate"];
    assert_eq!(server, &json!({ "command": "${CLAUDE_PLUGIN_ROOT}/bin/tidegate", "args": ["mcp"] }));
    let mode = fs::metadata(plugin().join("bin/tidegate")).expect("the selector").permissions().mode();
    assert_eq!(mode & 0o111, 0o111, "hooks start it by its path");
}

/// The part below a heading.
fn below<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, rest) =
        text.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no {heading}: {text}"));
    rest.split("\n## ").next().unwrap_or_default()
}

/// What Tidegate looks for before a stage is done, in the words of its skill.
#[test]
fn skills_of_stages_say_goal_success_and_how_to_report() {
    let config = Config::default();
    let cycle = config.policies.cycle.cycle("dev-cycle").expect("the built-in cycle");
    let names: Vec<&str> = cycle.stages.iter().map(|stage| stage.skill.as_str()).collect();
    assert_eq!(names, ["sprint", "audit", "ship", "retrospective"]);
    for stage in &cycle.stages {
        let name = stage.skill.as_str();
        let path = plugin().join(format!("parts/cycle/skills/{name}/SKILL.md"));
        let text = fs::read_to_string(&path).expect("the skill of the stage");
        let line = |label: &str| {
            let start = format!("- **{label}**: ");
            let mut found = text.lines().skip_while(|line| !line.starts_with(&start));
            let first = found.next().unwrap_or_else(|| panic!("{name} has no {label}"));
            let more = found.take_while(|line| line.starts_with("  "));
            let said: Vec<&str> = std::iter::once(&first[start.len()..]).chain(more.map(str::trim)).collect();
            said.join(" ")
        };
        assert!(line("Goal").split_whitespace().count() > 5, "{name}: {}", line("Goal"));
        let success = line("Success");
        for sign in &stage.done_when {
            let words: &[&str] = match sign {
                DoneWhen::Skill => continue,
                DoneWhen::Verified => &["checks passed after the last"],
                DoneWhen::NoOpenFindings => &["no finding that matters is open"],
                DoneWhen::Commit => &["a commit with this change", "Tidegate looks for it"],
                DoneWhen::File(_) => panic!("no built-in stage waits for a file"),
            };
            for word in words {
                assert!(success.contains(word), "{name}: {success}");
            }
        }
        let report = below(&text, "Report");
        for command in ["tidegate cycle done", "tidegate cycle fail \"why\""] {
            assert!(report.contains(command), "{name}: {report}");
        }
        assert!(report.contains("- Success, in a cycle: `tidegate cycle done"), "{name}: {report}");
        // Nothing is left to be decided in the last one.
        let asks = report.contains("The person has to decide: ask, and end the turn with the question");
        assert_eq!(asks, name != "retrospective", "{name}: {report}");
        if stage.done_when.contains(&DoneWhen::NoOpenFindings) {
            assert!(
                report.contains("--metric open=0") && report.contains("Never report 0 to get further"),
                "{report}"
            );
        }
        if ["audit", "ship"].contains(&name) {
            assert!(text.contains("Run `tidegate cycle fix-loop` before each round of fixes."), "{name}");
        }
        // Every command in it exists.
        for command in text.split("`tidegate ").skip(1).filter_map(|rest| rest.split('`').next()) {
            let words: Vec<&str> = command.split_whitespace().take(2).collect();
            assert!(
                [["cycle", "done"], ["cycle", "fail"], ["cycle", "fix-loop"], ["progress", "add"]]
                    .contains(&[words[0], words[1]]),
                "{name}: {command}"
            );
        }
    }
}

#[test]
fn skills_and_commands_describe_themselves() {
    let parts = entries("parts");
    let of_parts = parts.iter().flat_map(|part| entries_in(&part.join("skills")));
    let skills: Vec<PathBuf> = entries("skills").into_iter().chain(of_parts).collect();
    for skill in &skills {
        let text = fs::read_to_string(skill.join("SKILL.md")).expect("a skill's text");
        let name = skill.file_name().expect("a name").to_string_lossy();
        assert_eq!(front(&text, "name").as_deref(), Some(&*name));
        let described = front(&text, "description").expect("a description");
        assert!(described.len() < 130, "{name}: {described}");
        assert!(text.lines().count() <= 100, "{name} is read at once");
    }
    assert_eq!((entries("skills").len(), skills.len()), (3, 12), "three by default");
    let commands = entries("commands");
    for command in &commands {
        let text = fs::read_to_string(command).expect("a command's text");
        assert!(front(&text, "description").is_some_and(|text| text.len() < 120), "{}", command.display());
        let name = command.file_stem().expect("a name").to_string_lossy();
        let allowed = front(&text, "allowed-tools").expect("what it may run");
        assert!(allowed.contains(&format!("Bash(tidegate {name}:*)")), "{allowed}");
    }
    assert_eq!(commands.len(), 3);
    for command in &commands {
        let text = fs::read_to_string(command).expect("a command's text");
        assert_eq!(front(&text, "disable-model-invocation").as_deref(), Some("true"), "it is for the person");
    }
}
