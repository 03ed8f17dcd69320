//! Config files as a user and a project write them, and the config that they result in.

use super::parse::{MOST_KEYS, line_of};
use super::*;
use crate::place::PlaceEnv;
use tidegate_core::feature::config::BrokenFile;
use tidegate_core::feature::pressure::PressureMode;
use tidegate_core::feature::skill_gate::settings::SkillGateMode;
use tidegate_core::meter::Threshold;
use tidegate_core::settings::preset::Preset;
use tidegate_core::settings::setting::Whole;
use tidegate_core::text::lang::Lang;

mod former_names;

/// A user's file, a project's two files, and a state directory.
struct Scene(tempfile::TempDir);

impl Scene {
    fn new() -> Scene {
        let scene = Scene(tempfile::tempdir().unwrap());
        fs::create_dir_all(scene.root().join(".claude")).unwrap();
        scene
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("project")
    }

    fn user(&self) -> PathBuf {
        self.0.path().join("config.toml")
    }

    fn state(&self) -> StateDir {
        let env = PlaceEnv { state_dir: Some(self.0.path().join("state")), ..PlaceEnv::default() };
        StateDir::open(&env).unwrap()
    }

    fn set(&self, user: &str, project: &str, local: &str) {
        fs::write(self.user(), user).unwrap();
        fs::write(self.root().join(PROJECT_FILES[0]), project).unwrap();
        fs::write(self.root().join(PROJECT_FILES[1]), local).unwrap();
    }

    fn read(&self) -> Config {
        self.read_with(&[])
    }

    fn read_with(&self, variables: &[(&str, &str)]) -> Config {
        let variables: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        read(&Sources {
            user: Some(&self.user()),
            root: Some(&self.root()),
            state: Some(&self.state()),
            variables: &variables,
            off: None,
        })
    }
}

fn user_config(text: &str) -> Config {
    let scene = Scene::new();
    scene.set(text, "", "");
    scene.read()
}

#[test]
fn values_are_taken_and_know_where_they_come_from() {
    let scene = Scene::new();
    scene.set("lang = \"ja\"\n[meter]\nwindow = 150_000\n\n[context_warning]\nearly = \"50%\"\n", "", "");
    let config = scene.read();
    assert_eq!(config.general.lang, Some(Lang::Ja));
    assert_eq!(config.meter.window.map(Whole::get), Some(150_000));
    assert_eq!(config.policies.pressure.early, Threshold::Level(50.0));
    assert_eq!(config.problems, Vec::<String>::new());
    let origin = |path: &str| config.origin(path).to_string();
    assert_eq!(origin("context_warning.early"), format!("{}:6", scene.user().display()));
    assert_eq!(origin("context_warning.late"), "built in");
}

#[test]
fn a_broken_section_is_left_out_alone() {
    let config =
        user_config("lang = \"ja\"\n[meter]\nwindow = \"much\"\n[context_warning]\nlate = \"80%\"\n");
    assert_eq!(config.general.lang, Some(Lang::Ja));
    assert_eq!(config.meter.window, None);
    assert_eq!(config.policies.pressure.late, Threshold::Level(80.0));
    assert_eq!(config.problems.len(), 1, "{:?}", config.problems);
    let problem = &config.problems[0];
    assert!(problem.contains("config.toml:3: `meter.window`: \"much\" does not fit"), "{problem}");
    assert!(problem.ends_with("[meter] is left out here"), "{problem}");
}

#[test]
fn a_broken_file_is_named_with_its_line() {
    let config = user_config("lang = \"ja\"\n[meter\n");
    assert_eq!(config.policies, Config::default().policies);
    assert!(config.problems[0].contains("config.toml:2:"), "{:?}", config.problems);
}

fn keep(scene: &Scene) {
    keep_copies(&scene.state(), Some(&scene.user()), Some(&scene.root()));
}

const STRICT: &str = "preset = \"strict\"\n[skill_gate.require]\ncode = [\"team-rules\"]\n";

#[test]
fn a_stray_bracket_changes_nothing_that_a_user_set() {
    let scene = Scene::new();
    let user = "preset = \"strict\"\nlang = \"ja\"\n";
    scene.set(user, "", "");
    keep(&scene);
    let before = scene.read();
    scene.set(&format!("{user}[pressure\n"), "", "");
    // A broken file does not replace the copy.
    keep(&scene);
    let config = scene.read();
    assert_eq!(config.policies, before.policies);
    assert_eq!((config.general.preset, config.general.lang), (Preset::Strict, Some(Lang::Ja)));
    let broken = BrokenFile {
        file: scene.user().display().to_string(),
        line: Some(3),
        has_copy: true,
        owner: ConfigOwner::User,
    };
    assert_eq!(config.broken, [broken]);
    let problem = &config.problems[0];
    assert!(
        problem.contains("config.toml:3: ") && problem.contains("last readable copy counts"),
        "{problem}"
    );
    let origin = config.origin("lang").to_string();
    assert!(origin.ends_with("config.toml (last copy):2"), "{origin}");
    // The same for a file that is not UTF-8, too large, or not readable.
    fs::write(scene.user(), b"lang = \"\xff\"").unwrap();
    assert_eq!(scene.read().policies, before.policies);
    assert_eq!(scene.read().broken[0].line, None);
    fs::write(scene.user(), "#".repeat(LARGEST as usize + 1)).unwrap();
    assert_eq!(scene.read().policies, before.policies);
    // A deleted file has no copy.
    fs::remove_file(scene.user()).unwrap();
    assert_eq!((scene.read().general.preset, scene.read().broken.len()), (Preset::Guide, 0));
}

#[test]
fn a_stray_bracket_drops_nothing_that_a_team_requires() {
    for at in [0, 1] {
        let scene = Scene::new();
        let mut texts = [String::new(), String::new()];
        texts[at] = STRICT.to_owned();
        scene.set("", &texts[0], &texts[1]);
        keep(&scene);
        texts[at] = "[pressure\n".to_owned();
        scene.set("", &texts[0], &texts[1]);
        let config = scene.read();
        let skills = config.policies.skill_gate.require.skills("a.rs");
        assert!(skills.contains(&"team-rules"), "{skills:?}");
        assert_eq!(config.general.preset, Preset::Strict);
        assert!(
            config.broken[0].location().ends_with(&format!("{}:1", PROJECT_FILES[at])),
            "{:?}",
            config.broken
        );
    }
}

/// A copy can do no more than an untrusted file.
#[test]
fn the_copy_of_a_projects_file_only_tightens() {
    let scene = Scene::new();
    let loose = "preset = \"observe\"\nlang = \"ja\"\n[context_warning]\nmode = \"off\"\nearly = \"5%\"\n";
    scene.set("", loose, "");
    let file = scene.root().join(PROJECT_FILES[0]);
    trust::remember(&scene.state(), &file, loose).unwrap();
    keep(&scene);
    assert_eq!(scene.read().policies.pressure.mode, PressureMode::Off, "trusted as it is");
    scene.set("", &format!("{loose}[x\n"), "");
    let config = scene.read();
    let default =
        Config { problems: config.problems.clone(), broken: config.broken.clone(), ..Config::default() };
    assert_eq!(config, default, "any change revokes trust");
    assert!(config.broken[0].has_copy);
}

#[test]
fn without_a_copy_only_what_is_stricter_counts() {
    let scene = Scene::new();
    let user = "preset = \"strict\"\nlang = \"ja\"\n[context_warning]\nmode = \"off\"\n[meter\n";
    scene.set(user, "", "");
    let config = scene.read();
    assert_eq!((config.general.preset, config.general.lang), (Preset::Strict, None));
    assert_eq!(config.policies.pressure.mode, PressureMode::Advise);
    assert!(config.problems[0].contains("config.toml:5: "), "{:?}", config.problems);
    assert_eq!((config.problems.len(), config.waiting.len(), config.broken[0].has_copy), (1, 0, false));
    let root = fs::canonicalize(scene.root()).unwrap();
    scene.set(&format!("[project.\"{}\"]\npreset = \"strict\"\n[x\n", root.display()), "", "");
    assert_eq!(scene.read().general.preset, Preset::Strict);
    scene.set("preset = \"observe\"\n[meter\n", "", "");
    assert_eq!(scene.read().general.preset, Preset::Guide);
}

#[test]
fn a_copy_holds_no_password() {
    let scene = Scene::new();
    let url = "postgres://me:hidden@localhost/m";
    scene.set(&format!("preset = \"strict\"\n[memory.team]\nurl = \"{url}\"\nprojects = [\"a\"]\n"), "", "");
    keep(&scene);
    for copy in fs::read_dir(scene.state().root().join("config")).unwrap() {
        assert!(!fs::read_to_string(copy.unwrap().path()).unwrap().contains("hidden"));
    }
    scene.set("[x\n", "", "");
    let config = scene.read();
    assert_eq!((config.general.preset, config.memory.team.projects.0.len()), (Preset::Strict, 1));
    assert!(config.memory.team.url.is_none() && config.broken[0].has_copy);
    // A text that does not parse without its addresses is not copied.
    for key in ["\"a://b\" = 1", "\"a://b\" = \"c://d\"", "x = { 'a://b' = \"c://d\", y = 1 }"] {
        scene.set(&format!("preset = \"strict\"\n{key}\n"), "", "");
        fs::remove_dir_all(scene.state().root().join("config")).unwrap();
        keep(&scene);
        scene.set("[x\n", "", "");
        assert!(!scene.read().broken[0].has_copy, "{key}");
    }
}

/// The copy contains everything but the address.
#[test]
fn an_address_takes_nothing_along_from_the_copy() {
    for text in [
        "[skill_gate]\nmode = \"remind\" # see https://me:hidden@example.com\n",
        "[context_warning]\nmode = \"advise\"\n[skill_gate] # https://me:hidden@example.com\nmode = \"remind\"\n",
        "[verify_stop.commands]\ntest = [\n  \"curl http://me:hidden@localhost\", # http://hidden\n  \"x\",\n]\n[skill_gate]\nmode = \"remind\"\n",
        "[memory.team]\nurl = \"\"\"\npostgres://me:hidden@h\n/m\"\"\"\n[skill_gate]\nmode = \"remind\"\n",
        "memory.team = { url = 'postgres://h/m?password=hidden', projects = [\"a\"] }\nskill_gate.mode = \"remind\"\n",
        "[memory.team]\nurl = \"postgres:\\u002F/me:hidden@h/m\"\n[skill_gate]\nmode = \"remind\"\n",
    ] {
        let scene = Scene::new();
        scene.set(text, "", "");
        keep(&scene);
        let copy = last_good::read(&scene.state(), &scene.user()).unwrap();
        assert!(!copy.contains("hidden"), "{copy}");
        assert_eq!(copy.lines().count(), text.lines().count(), "{copy}");
        scene.set("[x\n", "", "");
        let config = scene.read();
        assert_eq!(config.policies.skill_gate.mode, SkillGateMode::Remind, "{text}");
        assert_eq!((config.problems.len(), config.broken[0].has_copy), (1, true), "{:?}", config.problems);
    }
}

/// The copy may be older than the last edit of the file.
#[test]
fn what_was_made_stricter_since_the_copy_counts() {
    for is_users in [true, false] {
        let scene = Scene::new();
        let set = |text: &str| if is_users { scene.set(text, "", "") } else { scene.set("", text, "") };
        set("preset = \"guide\"\n");
        keep(&scene);
        set("preset = \"strict\"\n[x\n");
        let config = scene.read();
        assert_eq!((config.general.preset, config.broken[0].has_copy), (Preset::Strict, true));
        set("preset = \"observe\"\n[x\n");
        assert_eq!(scene.read().general.preset, Preset::Guide, "nothing that is looser");
    }
    // Lines that are in both are not applied again: the user's section for the project counts more here.
    let scene = Scene::new();
    let root = fs::canonicalize(scene.root()).unwrap();
    let user = format!("preset = \"strict\"\n[project.\"{}\"]\npreset = \"observe\"\n", root.display());
    scene.set(&user, "", "");
    keep(&scene);
    scene.set(&format!("{user}[x\n"), "", "");
    assert_eq!(scene.read().general.preset, Preset::Observe);
}

/// Sessions in several projects share the state, and the user's file may be newer than a project's.
#[test]
fn each_project_has_its_copies() {
    let (scene, other) = (Scene::new(), Scene::new());
    let before = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    for project in [&scene, &other] {
        project.set("lang = \"ja\"\n", STRICT, "");
        for path in project_files(Some(&project.root())).filter(|path| path.exists()) {
            fs::File::options().write(true).open(path).unwrap().set_modified(before).unwrap();
        }
        keep_copies(&scene.state(), Some(&scene.user()), Some(&project.root()));
    }
    // Also a file that an archive wrote with an old time.
    let local = other.root().join(PROJECT_FILES[1]);
    fs::write(&local, STRICT).unwrap();
    fs::File::options().write(true).open(&local).unwrap().set_modified(before).unwrap();
    keep_copies(&scene.state(), Some(&scene.user()), Some(&other.root()));
    for file in [scene.root().join(PROJECT_FILES[0]), other.root().join(PROJECT_FILES[0]), local] {
        assert!(last_good::read(&scene.state(), &file).is_some(), "{}", file.display());
    }
}

/// A copy counts for one file only, by its canonical path.
#[test]
fn the_copy_of_another_file_does_not_count() {
    let (scene, other) = (Scene::new(), Scene::new());
    other.set("", STRICT, "");
    keep_copies(&scene.state(), None, Some(&other.root()));
    let names = fs::read_dir(scene.state().root().join("config")).unwrap();
    let planted = names.map(|entry| entry.unwrap().path()).next().unwrap();
    scene.set("", "lang = \"ja\"\n", "");
    keep(&scene);
    let files = fs::read_dir(scene.state().root().join("config")).unwrap();
    for slot in files.map(|entry| entry.unwrap().path()).filter(|slot| *slot != planted) {
        fs::copy(&planted, slot).unwrap();
    }
    scene.set("", "[x\n", "");
    let config = scene.read();
    assert_eq!((config.general.preset, config.broken[0].has_copy), (Preset::Guide, false));
}

#[test]
fn what_is_not_known_is_said_with_what_may_be_meant() {
    let config = user_config(
        "langg = \"ja\"\n[presure]\nmode = \"off\"\n[context_warning]\nmoed = \"off\"\nearly = \"50%\"\n",
    );
    assert_eq!(config.problems.len(), 3, "{:?}", config.problems);
    for (problem, near) in config.problems.iter().zip(["`lang`", "`context_warning`", "`mode`"]) {
        assert!(problem.ends_with(&format!("did you mean {near}?")), "{problem}");
    }
    // An unknown key does not affect others.
    assert_eq!(config.policies.pressure.early, Threshold::Level(50.0));
}

#[test]
fn a_project_can_tighten_and_nothing_else() {
    let scene = Scene::new();
    let project = "lang = \"ja\"\npreset = \"observe\"\n[context_warning]\nmode = \"advise\"\nearly = \"5%\"\n[approval]\nunattended = [\"off\"]\n";
    scene.set("[context_warning]\nmode = \"shadow\"\n", project, "[context_warning]\nmode = \"off\"\n");
    let config = scene.read();
    assert_eq!(config.policies.pressure.mode, PressureMode::Advise, "stricter than the user's");
    assert_eq!(config.policies.pressure.early, Threshold::Level(60.0));
    assert_eq!((config.general.lang, config.general.preset), (None, Preset::Guide));
    let waiting: Vec<(String, bool)> =
        config.waiting.iter().map(|waiting| (waiting.assignment.path(), waiting.never)).collect();
    let expected = [
        ("preset", false),
        ("lang", false),
        ("context_warning.early", false),
        ("approval.unattended", true),
        ("context_warning.mode", false),
    ];
    assert_eq!(waiting, expected.map(|(path, never)| (path.to_owned(), never)));
    assert!(config.problems.is_empty(), "{:?}", config.problems);

    // A trusted file may set everything but the keys that are reserved for the user.
    let file = scene.root().join(PROJECT_FILES[0]);
    trust::remember(&scene.state(), &file, project).unwrap();
    let config = scene.read();
    assert_eq!(config.general.lang, Some(Lang::Ja));
    assert_eq!(config.policies.pressure.early, Threshold::Level(5.0));
    assert!(config.policies.approval.unattended.0.is_empty());
    fs::write(&file, format!("{project}\n")).unwrap();
    assert_eq!(scene.read().general.lang, None, "any change revokes it");
}

#[test]
fn a_stricter_preset_of_a_project_loosens_nothing() {
    let scene = Scene::new();
    scene.set("preset = \"observe\"\n[own_settings]\nmode = \"ask\"\n", "preset = \"guide\"\n", "");
    let config = scene.read();
    assert_eq!(config.general.preset, Preset::Guide);
    assert_eq!(config.policies.pressure.mode, PressureMode::Advise);
    let origin = config.origin("context_warning.mode").to_string();
    assert!(origin.starts_with("preset at ") && origin.ends_with("tidegate.toml:1"), "{origin}");
    assert!(config.origin("own_settings.mode").to_string().ends_with("config.toml:3"));
}

#[test]
fn a_projects_broken_section_does_not_undo_the_users() {
    let scene = Scene::new();
    scene.set(
        "[context_warning]\nmode = \"off\"\nearly = \"40%\"\n",
        "[context_warning]\nmode = 7\n",
        "[[context_warning]]\n",
    );
    let config = scene.read();
    assert_eq!(config.policies.pressure.early, Threshold::Level(40.0));
    assert_eq!(config.problems.len(), 2, "{:?}", config.problems);
}

#[test]
fn the_user_can_set_things_for_one_project() {
    let scene = Scene::new();
    let (root, above) = (scene.root(), scene.0.path().to_owned());
    let user = format!(
        "[context_warning]\nearly = \"10%\"\n[project.\"{}\"]\npreset = \"observe\"\n[project.\"{}\".context_warning]\nearly = \"20%\"\n[project.\"/elsewhere\"]\nlang = \"ja\"\n",
        root.display(),
        above.display(),
    );
    scene.set(&user, "", "");
    let config = scene.read();
    assert_eq!(config.general.preset, Preset::Observe);
    assert_eq!(config.policies.pressure.mode, PressureMode::Shadow);
    assert_eq!((config.policies.pressure.early, config.general.lang), (Threshold::Level(20.0), None));
    scene.set("", &user, "");
    let config = scene.read();
    assert_eq!(config.general.preset, Preset::Guide, "not in a project's own file");
    assert!(config.problems[0].contains("[project] is for the user's own config"));
}

#[test]
fn variables_count_most() {
    let scene = Scene::new();
    scene.set("[context_warning]\nmode = \"off\"\n", "", "");
    let config = scene.read_with(&[
        ("TIDEGATE_CONTEXT_WARNING_MODE", "shadow"),
        ("TIDEGATE_TEXT_BUDGET", "900"),
        ("TIDEGATE_APPROVAL_UNATTENDED", "off, trust"),
        ("TIDEGATE_LANGG", "ja"),
    ]);
    assert_eq!(config.policies.pressure.mode, PressureMode::Shadow);
    assert_eq!(config.general.text_budget.get(), 900);
    assert!(config.policies.approval.unattended.0.is_empty(), "an agent can set a variable");
    assert!(config.waiting[0].never, "{:?}", config.waiting);
    assert_eq!(config.origin("context_warning.mode").to_string(), "TIDEGATE_CONTEXT_WARNING_MODE");
    assert_eq!(
        config.problems,
        ["TIDEGATE_LANGG: no setting has this variable; did you mean `TIDEGATE_LANG`?"]
    );
    let config = scene.read_with(&[
        ("TIDEGATE_SKILL_GATE_MOD", "off"),
        ("TIDEGATE_PRESSURE", "off"),
        ("TIDEGATE_XYZ", "1"),
    ]);
    assert_eq!(
        config.problems,
        [
            "TIDEGATE_SKILL_GATE_MOD: no setting has this variable; did you mean `TIDEGATE_SKILL_GATE_MODE`?",
            "TIDEGATE_PRESSURE: no setting has this variable",
            "TIDEGATE_XYZ: no setting has this variable"
        ]
    );
    let config = scene.read_with(&[("TIDEGATE_CONTEXT_WARNING_MODE", "loud")]);
    assert_eq!(config.policies.pressure.mode, PressureMode::Off);
    assert!(config.problems[0].contains("use one of \"off\", \"shadow\", \"advise\""));
}

#[test]
fn a_mistake_beside_it_does_not_loosen() {
    let config = user_config("preset = \"strict\"\nlang = \"fr\"\ntext_budget = 300\n");
    assert_eq!(config.general.preset, Preset::Strict, "it only makes things stricter");
    assert_eq!(config.general.text_budget.get(), 1200, "the rest of the section is left out");
    let config = user_config("preset = \"observe\"\nlang = \"fr\"\n");
    assert_eq!(config.general.preset, Preset::Guide);
    assert_eq!((config.problems.len(), config.waiting.len()), (1, 0));
}

#[test]
fn names_that_others_wrote_are_made_plain() {
    let scene = Scene::new();
    let long = "x".repeat(100_000);
    scene.set("", &format!("\"\\u001b[31mX\" = 1\n[\"\\u001b]0;t\\u0007\"]\na = 1\n[{long}]\nb = 1\n"), "");
    let problems = scene.read().problems;
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(
        problems.iter().all(|problem| !problem.contains('\u{1b}') && problem.len() < 400),
        "{problems:?}"
    );
}

#[test]
fn a_table_of_projects_is_looked_at() {
    let config = user_config("[project]\n\"/p\" = 3\n[project.\"~/x\"]\npreset = \"strict\"\n");
    assert_eq!(config.problems.len(), 2, "{:?}", config.problems);
    assert!(config.problems[0].contains(":2: [project] takes tables named by absolute paths"));
}

#[test]
fn a_flood_is_bounded() {
    let scene = Scene::new();
    let keys = |count: usize| (0..count).map(|n| format!("k{n} = 1")).collect::<Vec<_>>().join("\n");
    scene.set("", &keys(MOST_KEYS + 1), &"x = 1\n".repeat(50_000));
    let config = scene.read();
    assert_eq!(config.problems.len(), 2, "{:?}", config.problems);
    scene.set("", &keys(100), "");
    let config = scene.read();
    assert_eq!(config.problems.len(), MOST_PROBLEMS + 1);
    assert_eq!(config.problems.last().unwrap(), "and 80 more");
}

#[test]
fn sections_within_sections_and_keys_that_are_patterns() {
    let config = user_config(
        "[skill_gate]\nmode = \"remind\"\nexempt = [\"generated/\"]\n\
         [skill_gate.require]\ncode = [\"a\", \"b\"]\n\"migrations/**/*.sql\" = [\"sql\"]\n\
         [activity]\nship.skills = [\"release\"]\n[verify_stop]\ncommands = { test = [\"make check\"] }\n",
    );
    assert_eq!(config.problems, Vec::<String>::new());
    let gates = &config.policies;
    assert_eq!(gates.skill_gate.require.skills("migrations/1/up.sql"), ["a", "b", "sql"]);
    assert_eq!(gates.skill_gate.require.skills("src/main.rs"), ["a", "b"]);
    assert_eq!(gates.skill_gate.require.skills("README.md"), Vec::<&str>::new());
    assert!(gates.skill_gate.exempt.0[0].matches("generated/x.rs"));
    assert_eq!(gates.phase.label("ship").unwrap().names().collect::<Vec<_>>(), ["release"]);
    assert_eq!(gates.verify_stop.commands.test.0[0].0, "make check");
    assert_eq!(
        tidegate_core::feature::skills(&config),
        ["a", "b", "sql", "verification-before-completion", "release"]
    );
    let origin = config.origin("skill_gate.require.\"migrations/**/*.sql\"").to_string();
    assert!(origin.ends_with("config.toml:6"), "{origin}");
}

#[test]
fn what_is_wrong_within_sections_is_said() {
    // The file, the problem.
    for (text, said) in [
        (
            "[skill_gate.requir]\ncode = []\n",
            "1: there is no section `skill_gate.requir`; did you mean `require`?",
        ),
        (
            "[activity.implment]\nskills = []\n",
            "1: there is no section `activity.implment`; did you mean `implement`?",
        ),
        (
            "[activity]\nimplement = 3\n",
            "2: `activity.implement` is a section, not a key: write it as [activity.implement]",
        ),
        ("activity = 3\n", "1: `activity` is a section, not a key: write it as [activity]"),
        (
            "[\"activity.ship\"]\nskills = []\n",
            "2: there is no section [\"activity.ship\"]; did you mean `activity.ship`?",
        ),
        (
            "[skill_gate.require]\ncdoe = []\n",
            "2: there is no key `skill_gate.require.cdoe`; did you mean `code`?",
        ),
        (
            "[skill_gate.require]\nMakefile = [\"x\"]\n",
            "2: there is no key `skill_gate.require.Makefile`; a pattern for files of this name is written \"**/Makefile\"",
        ),
        (
            "[skill_gate.require]\nmain.rs = [\"x\"]\n",
            "2: there is no section `skill_gate.require.main`; put a pattern with a dot in it into quotes",
        ),
        (
            "[tools]\nwriters = [\"Write\"]\n",
            "2: `tools.writers`: \"Write\" is left out of the list of names of MCP tools: it does not begin with `mcp__`; the other names count",
        ),
        (
            "[skill_gate.require]\n\"src/[a\" = []\n",
            "2: `skill_gate.require.\"src/[a\"`: this is not a path pattern: a `[` is not closed; [skill_gate.require] is left out here",
        ),
        (
            "[skill_gate.require]\n\"*.rs\" = \"a\"\n",
            "2: `skill_gate.require.\"*.rs\"`: \"a\" does not fit: use a list of names of skills, such as [\"code-quality-rules\"]; [skill_gate.require] is left out here",
        ),
        (
            "[skill_gate.require.code]\nx = 1\n",
            "1: `skill_gate.require.code`: a table does not fit: use a list of names of skills, such as [\"code-quality-rules\"]; [skill_gate.require] is left out here",
        ),
        (
            "[skill_gate]\nexempt = [\"a**\"]\n",
            "2: `skill_gate.exempt`: \"a**\" does not fit in a list of path patterns: `**` stands for whole folders, between slashes: `a/**/b`; [skill_gate] is left out here",
        ),
        (
            "[context_warning.mode]\n",
            "1: `context_warning.mode`: a table does not fit: use one of \"off\", \"shadow\", \"advise\"; [context_warning] is left out here",
        ),
    ] {
        let config = user_config(text);
        assert_eq!(config.policies, Config::default().policies, "{text}");
        assert_eq!(config.problems.len(), 1, "{text}: {:?}", config.problems);
        let problem = &config.problems[0];
        assert!(problem.ends_with(&format!("config.toml:{said}")), "{text}: {problem}");
    }
}

#[test]
fn a_project_adds_to_what_is_required_and_drops_nothing() {
    let scene = Scene::new();
    let user = "[skill_gate]\nexempt = [\"gen/\", \"vendor/\"]\n[skill_gate.require]\ncode = [\"a\"]\n\"*.rs\" = [\"rust\"]\n";
    let project = "[skill_gate]\nexempt = [\"gen/\"]\nsubagents = \"exempt\"\n[skill_gate.require]\ncode = [\"x\"]\n\"*.rs\" = []\n\"*.sql\" = [\"sql\"]\n[verify_stop.commands]\ntest = [\"true\"]\n";
    scene.set(user, project, "[skill_gate]\nexempt = [\"src/\"]\n[skill_gate.require]\ncode = []\n");
    let config = scene.read();
    let gate = &config.policies.skill_gate;
    assert_eq!(gate.require.skills("a.rs"), ["a", "x", "rust"]);
    assert_eq!(gate.require.skills("a.sql"), ["a", "x", "sql"]);
    let exempt: Vec<&str> = gate.exempt.0.iter().map(tidegate_core::text::glob::Glob::text).collect();
    assert_eq!(exempt, ["gen/"], "a shorter list tightens, another one does not");
    assert!(config.policies.verify_stop.commands.test.0.is_empty());
    let waiting: Vec<String> = config.waiting.iter().map(|waiting| waiting.assignment.path()).collect();
    let expected = [
        "skill_gate.subagents",
        "skill_gate.require.code",
        "skill_gate.require.\"*.rs\"",
        "verify_stop.commands.test",
        "skill_gate.exempt",
        "skill_gate.require.code",
    ];
    assert_eq!(waiting, expected);
    let origin = config.origin("skill_gate.require.code").to_string();
    assert!(origin.contains("config.toml:4 and ") && origin.ends_with("tidegate.toml:5"), "{origin}");

    trust::remember(&scene.state(), &scene.root().join(PROJECT_FILES[0]), project).unwrap();
    let config = scene.read();
    assert_eq!(config.policies.skill_gate.require.skills("a.rs"), ["x"]);
}

#[test]
fn everything_that_a_file_sets_is_told() {
    let text = "moon = 1\n[skill_gate]\nmode = \"loud\"\n[skill_gate.require]\nmain.rs = [\"x\"]\n\
                [recorder]\nsince = 2026-01-01\nargs = [{ a = \"b\\u001b\" }]\nempty = {}\n\
                [project.\"/p\"]\nlang = \"ja\"\n[[list]]\nx = 1\n";
    let told: Vec<String> = list_assignments(text, "f", &Config::default())
        .into_iter()
        .map(|(found, value)| format!("{}: {} = {value}", line_of(&found), found.path()))
        .collect();
    let expected = [
        "1: moon = 1",
        "3: skill_gate.mode = \"loud\"",
        "5: skill_gate.require.main.rs = [\"x\"]",
        "7: recorder.since = 2026-01-01",
        "8: recorder.args = [{a = \"b\\u001b\"}]",
        "9: recorder.empty = {}",
        "11: project.\"/p\".lang = \"ja\"",
        "12: list = [{x = 1}]",
    ];
    assert_eq!(told, expected);
}

#[test]
fn presets_and_variables_set_lists() {
    let scene = Scene::new();
    scene.set("preset = \"strict\"\n", "", "");
    let config = scene.read();
    assert_eq!(config.policies.skill_gate.require.skills("README.md"), ["document-quality-rules"]);
    assert_eq!(config.policies.verify_stop.blocks.get(), 3);
    scene.set("[skill_gate.require]\ndocument = [\"mine\"]\n", "preset = \"strict\"\n", "");
    let config = scene.read();
    assert_eq!(config.policies.skill_gate.require.skills("a.md"), ["mine", "document-quality-rules"]);
    let origin = config.origin("skill_gate.require.document").to_string();
    assert!(origin.contains(" and preset at "), "{origin}");
    // What a person requires everywhere, they require in a project with a preset of its own.
    let of_project =
        |preset: &str| format!("[project.\"{}\"]\npreset = \"{preset}\"\n", scene.root().display());
    let mine = "[skill_gate.require]\ncode = [\"mine\"]\n";
    for (top, preset, expected) in [
        (mine, "observe", vec!["mine"]),
        (mine, "guide", vec!["mine"]),
        (mine, "strict", vec!["mine", "code-quality-rules"]),
        ("preset = \"strict\"\n", "guide", vec![]),
    ] {
        scene.set(&format!("{top}{}", of_project(preset)), "", "");
        let config = scene.read();
        assert_eq!(config.policies.skill_gate.require.skills("a.rs"), expected, "{top} {preset}");
    }
    scene.set("", "", "");
    let config = scene.read_with(&[
        ("TIDEGATE_SKILL_GATE_REQUIRE_CODE", "a, b"),
        ("TIDEGATE_ACTIVITY_SHIP_SKILLS", "c"),
        ("TIDEGATE_FRICTION_STEP_DOWN", "false"),
    ]);
    assert_eq!(config.problems, Vec::<String>::new());
    assert_eq!(config.policies.skill_gate.require.skills("a.rs"), ["a", "b"]);
    assert_eq!(config.policies.phase.ship.names().collect::<Vec<_>>(), ["c"]);
    assert!(!config.policies.friction.step_down);
}
