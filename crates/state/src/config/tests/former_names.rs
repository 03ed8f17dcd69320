//! Configs with names of 0.1.

use super::*;

/// Every section and key of 0.1 that has another name now, with values that are not the defaults.
const FORMER: &str = r#"
[phase]
mode = "shadow"
confidence = 90
[phase.research]
skills = ["a"]
[phase.brainstorm]
skills = ["b"]
[phase.spec]
skills = ["c"]
[phase.design]
skills = ["d"]
[phase.plan]
skills = ["e"]
[phase.implement]
skills = ["f"]
[phase.debug]
skills = ["g"]
[phase.review]
skills = ["h"]
[phase.ship]
skills = ["i"]
[phase.reflect]
skills = ["j"]
[phase.llm]
backend = "openai"
model = "m"
endpoint = "http://127.0.0.1:11434/v1"
key_variable = "MY_KEY"
calls = 7
timeout_s = 8
[compound_nudge]
mode = "both"
[pressure]
mode = "shadow"
info = "70%"
urgent = "3 turns"
[relay_log]
mode = "off"
[approval]
unattended = ["gate skip"]
"#;

const NOW: &str = r#"
[activity]
mode = "shadow"
confidence = 90
[activity.research]
skills = ["a"]
[activity.brainstorm]
skills = ["b"]
[activity.spec]
skills = ["c"]
[activity.design]
skills = ["d"]
[activity.plan]
skills = ["e"]
[activity.implement]
skills = ["f"]
[activity.debug]
skills = ["g"]
[activity.review]
skills = ["h"]
[activity.ship]
skills = ["i"]
[activity.reflect]
skills = ["j"]
[activity.llm]
backend = "openai"
model = "m"
endpoint = "http://127.0.0.1:11434/v1"
key_variable = "MY_KEY"
calls = 7
timeout_s = 8
[learning_reminder]
mode = "both"
[context_warning]
mode = "shadow"
early = "70%"
late = "3 turns"
[recording]
mode = "off"
[approval]
unattended = ["workflow skip"]
"#;

/// All settings with their values, as they count.
fn effective(config: &Config) -> String {
    let sections = config.sections().into_iter();
    let lines = sections.flat_map(|section| {
        let names = section.names().into_iter();
        names.map(|name| format!("{}.{name} = {}", section.name(), section.get(name))).collect::<Vec<_>>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Except for the list of former names.
fn without_hints(mut config: Config) -> Config {
    config.former_names.clear();
    config
}

#[test]
fn a_config_of_0_1_counts_to_the_last_value() {
    let scene = Scene::new();
    scene.set(NOW, "", "");
    let now = scene.read();
    assert_eq!((now.problems.len(), now.former_names.len()), (0, 0), "{:?}", now.problems);
    scene.set(FORMER, "", "");
    let former = scene.read();
    assert_eq!(effective(&former), effective(&now));
    let changed = NOW.lines().filter(|line| line.contains(" = ")).count();
    let default = effective(&Config::default());
    assert_eq!(
        effective(&now).lines().filter(|line| !default.lines().any(|was| was == *line)).count(),
        changed
    );
    let said: Vec<String> = former.former_names.iter().map(ToString::to_string).collect();
    let file = scene.user();
    let expected = [
        (3, "`[phase]` is called `[activity]` now"),
        (33, "`[compound_nudge]` is called `[learning_reminder]` now"),
        (35, "`[pressure]` is called `[context_warning]` now"),
        (36, "`pressure.info` is called `context_warning.early` now"),
        (37, "`pressure.urgent` is called `context_warning.late` now"),
        (39, "`[relay_log]` is called `[recording]` now"),
    ];
    assert_eq!(said, expected.map(|(line, text)| format!("{}:{line}: {text}", file.display())));
    // Also where each value comes from.
    assert_eq!(without_hints(former), now);
    // As the user's section for a project, and with either name of section and key.
    let root = fs::canonicalize(scene.root()).unwrap();
    let sections = |text: &str| {
        let text = text.split("[approval]").next().unwrap();
        let name = |line: &str| match line.strip_prefix('[') {
            Some(name) => format!("[project.\"{}\".{name}\n", root.display()),
            None => format!("{line}\n"),
        };
        text.lines().map(name).collect::<String>()
    };
    scene.set(&sections(FORMER), "", "");
    let former = scene.read();
    scene.set(&sections(NOW), "", "");
    assert_eq!(without_hints(former), scene.read());
    for text in ["[pressure]\nearly = \"70%\"\n", "[context_warning]\ninfo = \"70%\"\n"] {
        let config = user_config(text);
        assert_eq!(config.policies.pressure.early, Threshold::Level(70.0), "{text}");
        assert_eq!((config.problems.len(), config.former_names.len()), (0, 1), "{text}");
    }
}

#[test]
fn variables_of_0_1_count() {
    let scene = Scene::new();
    scene.set("", "", "");
    let former = scene.read_with(&[
        ("TIDEGATE_PRESSURE_INFO", "4 turns"),
        ("TIDEGATE_PHASE_SHIP_SKILLS", "a, b"),
        ("TIDEGATE_RELAY_LOG_MODE", "off"),
        ("TIDEGATE_COMPOUND_NUDGE_MODE", "both"),
        // Only the user's own file may set this one.
        ("TIDEGATE_PHASE_LLM_BACKEND", "claude"),
    ]);
    let now = scene.read_with(&[
        ("TIDEGATE_CONTEXT_WARNING_EARLY", "4 turns"),
        ("TIDEGATE_ACTIVITY_SHIP_SKILLS", "a, b"),
        ("TIDEGATE_RECORDING_MODE", "off"),
        ("TIDEGATE_LEARNING_REMINDER_MODE", "both"),
        ("TIDEGATE_ACTIVITY_LLM_BACKEND", "claude"),
    ]);
    assert_eq!(former.policies, now.policies);
    assert_ne!(now.policies, Config::default().policies);
    assert_eq!((former.problems.len(), former.waiting.len()), (0, 1), "{:?}", former.problems);
    let said: Vec<String> = former.former_names.iter().map(ToString::to_string).collect();
    let first =
        "TIDEGATE_PRESSURE_INFO: `TIDEGATE_PRESSURE_INFO` is called `TIDEGATE_CONTEXT_WARNING_EARLY` now";
    assert_eq!((said[0].as_str(), said.len()), (first, 5));
    let both = [("TIDEGATE_PRESSURE_MODE", "off"), ("TIDEGATE_CONTEXT_WARNING_MODE", "shadow")];
    for variables in [both, [both[1], both[0]]] {
        let config = scene.read_with(&variables);
        assert_eq!(config.policies.pressure.mode, PressureMode::Shadow);
        assert_eq!(config.problems.len(), 1, "{:?}", config.problems);
    }
}

#[test]
fn policies_that_are_switched_off_by_a_former_name() {
    let off = |list| read(&Sources { off: Some(list), ..Sources::default() });
    let config = off("pressure,phase compound-nudge,workflow-gate,relay-log,skill-gate");
    let ids = ["context-warning", "activity", "learning-reminder", "workflow", "recording", "skill-gate"];
    assert_eq!(config.off, ids);
    assert_eq!((config.problems.len(), config.former_names.len()), (0, 5));
    assert_eq!(
        config.former_names[0].to_string(),
        "TIDEGATE_OFF: `pressure` is called `context-warning` now"
    );
    assert_eq!(
        off("presure").problems,
        ["TIDEGATE_OFF: there is no policy `presure`; did you mean `context-warning`?"]
    );
}

/// For each section: the user's looser values, a project's file of 0.1 that tightens them, and the result.
#[test]
fn what_a_project_tightened_by_a_former_name_stays_tight() {
    for (user, project, result) in [
        ("[activity]\nmode = \"off\"\n", "[phase]\nmode = \"advise\"\n", "activity.mode = \"advise\""),
        ("[phase]\nmode = \"off\"\n", "[phase]\nmode = \"advise\"\n", "activity.mode = \"advise\""),
        (
            "[activity.ship]\nskills = [\"a\"]\n",
            "[phase.ship]\nskills = [\"a\", \"b\"]\n",
            "activity.ship.skills = [\"a\", \"b\"]",
        ),
        (
            "[context_warning]\nmode = \"off\"\n",
            "[pressure]\nmode = \"advise\"\n",
            "context_warning.mode = \"advise\"",
        ),
        (
            "[learning_reminder]\nmode = \"off\"\n",
            "[compound_nudge]\nmode = \"both\"\n",
            "learning_reminder.mode = \"both\"",
        ),
        ("[recording]\nmode = \"on\"\n", "[relay_log]\nmode = \"off\"\n", "recording.mode = \"off\""),
        ("[workflow]\nmode = \"off\"\n", "[workflow]\nmode = \"strict\"\n", "workflow.mode = \"strict\""),
    ] {
        let scene = Scene::new();
        let counts = || effective(&scene.read()).lines().any(|line| line == result);
        scene.set(user, project, "");
        assert!(counts() && scene.read().waiting.is_empty(), "{project}");
        // Also where the file is broken since, with a copy of it and without.
        scene.set(user, &format!("{project}[x\n"), "");
        assert!(counts(), "{project}");
        scene.set(user, project, "");
        keep(&scene);
        scene.set(user, "[x\n", "");
        assert!(counts(), "{project}");
    }
    // A former name can do no more than the one of today.
    let scene = Scene::new();
    scene.set("", "[pressure]\nmode = \"off\"\ninfo = \"5%\"\n[phase.llm]\nbackend = \"claude\"\n", "");
    let config = scene.read();
    assert_eq!(config.policies, Config::default().policies);
    assert_eq!(config.waiting.len(), 3);
}

#[test]
fn a_setting_by_two_names() {
    let (former, now) = ("[pressure]\nmode = \"advise\"\n", "[context_warning]\nmode = \"off\"\n");
    for text in [format!("{former}{now}"), format!("{now}{former}")] {
        let config = user_config(&text);
        assert_eq!(config.policies.pressure.mode, PressureMode::Off, "the name of today counts: {text}");
        assert_eq!(config.problems.len(), 1, "{:?}", config.problems);
        let problem = &config.problems[0];
        assert!(
            problem.contains("`pressure.mode` and `context_warning.mode` (")
                && problem.ends_with("are the same setting; `context_warning.mode` counts"),
            "{problem}"
        );
        // Of a stranger's file the stricter one, whichever that is.
        for swap in [false, true] {
            let project = if swap {
                text.replace("advise", "?").replace("off", "advise").replace('?', "off")
            } else {
                text.clone()
            };
            let scene = Scene::new();
            scene.set("[context_warning]\nmode = \"shadow\"\n", &project, "");
            let config = scene.read();
            assert_eq!(config.policies.pressure.mode, PressureMode::Advise, "{project}");
            assert!(config.problems[0].ends_with("the stricter value counts"), "{:?}", config.problems);
        }
    }
    // Other keys of both sections count.
    let config = user_config("[pressure]\ninfo = \"50%\"\n[context_warning]\nlate = \"80%\"\n");
    assert_eq!(
        (config.policies.pressure.early, config.policies.pressure.late),
        (Threshold::Level(50.0), Threshold::Level(80.0))
    );
    assert!(config.problems.is_empty(), "{:?}", config.problems);
    // A wrong value by either name leaves the section out.
    let config = user_config("[pressure]\nmode = \"loud\"\n[context_warning]\nearly = \"50%\"\n");
    assert_eq!(config.policies.pressure, Config::default().policies.pressure);
}

#[test]
fn a_trusted_file_of_0_1_stays_trusted() {
    let scene = Scene::new();
    let project = "[pressure]\ninfo = \"5%\"\n[phase]\nconfidence = 50\n";
    scene.set("", project, "");
    assert_eq!(scene.read().waiting.len(), 2);
    trust::remember(&scene.state(), &scene.root().join(PROJECT_FILES[0]), project).unwrap();
    let config = scene.read();
    assert!(config.waiting.is_empty(), "{:?}", config.waiting);
    assert_eq!(config.policies.pressure.early, Threshold::Level(5.0));
    assert_eq!(config.policies.phase.confidence.get(), 50);
}

#[test]
fn mistakes_lead_to_names_of_today() {
    for (text, said) in [
        ("[presure]\nmode = \"off\"\n", "2: there is no section [presure]; did you mean `context_warning`?"),
        ("phase = 3\n", "1: `phase` is a section, not a key: write it as [activity]"),
        ("[phase]\nship = 3\n", "2: `activity.ship` is a section, not a key: write it as [activity.ship]"),
    ] {
        let config = user_config(text);
        assert_eq!(config.problems.len(), 1, "{text}: {:?}", config.problems);
        assert!(config.problems[0].ends_with(&format!("config.toml:{said}")), "{:?}", config.problems);
    }
}
