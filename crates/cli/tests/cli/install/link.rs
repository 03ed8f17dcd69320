//! The stable link, by which settings call the program.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use super::{Scope, init, json, tree};
use crate::sandbox::{Sandbox, copy_program};

fn link(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".local/share/tidegate/bin/tidegate")
}

fn program() -> PathBuf {
    fs::canonicalize(env!("CARGO_BIN_EXE_tidegate")).expect("the executable")
}

#[test]
fn it_leads_to_the_program_and_goes_with_the_last_who_uses_it() {
    let sandbox = Sandbox::new();
    let said = Scope::Project.init(&sandbox);
    assert!(said.contains("bin/tidegate: written; link to "), "{said}");
    assert_eq!(fs::read_link(link(&sandbox)).expect("a link"), program());
    Scope::User.init(&sandbox);
    let said = Scope::Project.uninstall(&sandbox);
    assert!(said.contains("still needs it") && link(&sandbox).exists(), "{said}");
    // An uninstall where nothing was installed takes nothing away.
    Scope::Project.uninstall(&sandbox);
    assert!(link(&sandbox).exists());
    Scope::User.uninstall(&sandbox);
    assert!(!sandbox.home().join(".local/share/tidegate").exists());
}

#[test]
fn what_the_registrations_call_runs() {
    let sandbox = Sandbox::new().with("XDG_DATA_HOME", "/nowhere");
    let data = sandbox.path().join("data");
    let sandbox = sandbox.with("XDG_DATA_HOME", &data);
    Scope::Project.init(&sandbox);
    let settings = json(&Scope::Project.read(&sandbox));
    for (_, handler) in super::handlers(&settings) {
        let command = handler["command"].as_str().expect("a path");
        assert_eq!(command, data.join("tidegate/bin/tidegate").to_string_lossy());
        let help = std::process::Command::new(command).arg("--version").output().expect("it runs");
        assert!(help.status.success());
    }
}

#[test]
fn it_leads_through_the_path_where_that_is_the_same_program() {
    let sandbox = Sandbox::new();
    let bin = sandbox.path().join("brew/bin");
    fs::create_dir_all(&bin).expect("new folders");
    symlink(program(), bin.join("tidegate")).expect("a link");
    let sandbox = sandbox.with("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    Scope::Project.init(&sandbox);
    assert_eq!(fs::read_link(link(&sandbox)).expect("a link"), bin.join("tidegate"));
    // The link's own folder on the path must not lead it to itself.
    let own = link(&sandbox).parent().expect("a folder").display().to_string();
    let sandbox = sandbox.with("PATH", format!("{own}:/usr/bin:/bin"));
    Scope::Project.init(&sandbox);
    assert_eq!(fs::read_link(link(&sandbox)).expect("a link"), program());
}

#[test]
fn a_stale_one_is_refreshed_and_a_file_is_refused() {
    let sandbox = Sandbox::new();
    let path = link(&sandbox);
    fs::create_dir_all(path.parent().expect("a folder")).expect("new folders");
    symlink("/old/version/tidegate", &path).expect("a link");
    Scope::Project.init(&sandbox);
    assert_eq!(fs::read_link(&path).expect("a link"), program());
    // Where it leads to need not be ours to write.
    let system = sandbox.path().join("usr-bin");
    fs::create_dir(&system).expect("a new folder");
    fs::write(system.join("tidegate"), "").expect("a new file");
    fs::set_permissions(&system, fs::Permissions::from_mode(0o555)).expect("our own");
    fs::remove_file(&path).expect("our own");
    symlink(system.join("tidegate"), &path).expect("a link");
    Scope::Project.init(&sandbox);
    assert_eq!(fs::read_link(&path).expect("a link"), program());
    fs::set_permissions(&system, fs::Permissions::from_mode(0o755)).expect("our own");
    Scope::Project.uninstall(&sandbox);

    fs::create_dir_all(path.parent().expect("a folder")).expect("new folders");
    fs::write(&path, "another program").expect("a file");
    let before = tree(&sandbox);
    assert!(Scope::Project.refused(&sandbox, "init").contains("not Tidegate's link"));
    assert_eq!(tree(&sandbox), before);
    // This program itself, put there by an installer, is as good as a link.
    fs::remove_file(&path).expect("our own file");
    copy_program(&program(), &path);
    let mut installed = std::process::Command::new(&path);
    let plain = sandbox.command(&[]);
    installed.args(["init", "--user"]).env_clear().current_dir(sandbox.project());
    installed.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = installed.output().expect("it runs");
    assert!(output.status.success() && output.stderr.is_empty(), "no build, no warning: {output:?}");
    assert!(json(&Scope::User.read(&sandbox)).to_string().contains(&*path.to_string_lossy()));
    let said = Scope::User.uninstall(&sandbox);
    assert!(path.is_file(), "{said}");
}

#[test]
fn a_build_is_warned_of_in_one_line() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["init"]);
    assert!(ran.stderr.starts_with("warning: ") && ran.stderr.lines().count() == 1, "{ran:?}");
    init(&sandbox, &[]);
}

/// npm clears the folder that `npx` runs programs from.
#[test]
fn a_program_that_npx_runs_is_copied_and_the_copy_goes_again() {
    let sandbox = Sandbox::new();
    let cached = sandbox.home().join(".npm/_npx/1a2b/node_modules/tidegate-linux-x64/bin/tidegate");
    fs::create_dir_all(cached.parent().expect("a folder")).expect("new folders");
    copy_program(&program(), &cached);
    let run = |words: &[&str]| {
        let plain = sandbox.command(&[]);
        let mut command = std::process::Command::new(&cached);
        command.args(words).env_clear().current_dir(sandbox.project());
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = command.output().expect("it runs");
        assert!(ran.status.success(), "{words:?}: {ran:?}");
    };
    let copy = sandbox.home().join(".local/share/tidegate/program/tidegate");
    for _ in 0..2 {
        run(&["init"]);
        assert_eq!(fs::read_link(link(&sandbox)).expect("a link"), copy);
        assert_eq!(fs::read(&copy).expect("a copy"), fs::read(&cached).expect("a program"));
    }
    fs::remove_dir_all(sandbox.home().join(".npm")).expect("our own");
    let version = std::process::Command::new(link(&sandbox)).arg("--version").output().expect("it runs");
    assert!(version.status.success());
    let ended = std::process::Command::new(link(&sandbox))
        .args(["uninstall", "--project", "."])
        .env_clear()
        .envs(sandbox.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(sandbox.project())
        .output()
        .expect("it runs");
    assert!(ended.status.success(), "{ended:?}");
    assert!(!sandbox.home().join(".local/share/tidegate").exists());
}

/// An `init` that moves hooks to another link, or the link to another program, is an uninstall by another name.
#[cfg(target_os = "linux")]
#[test]
fn an_init_that_leads_hooks_elsewhere_needs_a_person() {
    use crate::people::{SESSION, attended};
    use crate::sandbox::Running;

    let sandbox = attended();
    let copy = sandbox.path().join("copy/tidegate");
    fs::create_dir(copy.parent().expect("a folder")).expect("a new folder");
    copy_program(&program(), &copy);
    let (data, home) = (sandbox.path().join("data"), sandbox.path().join("home2"));
    let links = sandbox.path().join("links");
    for folder in [&data, &home, &links] {
        fs::create_dir(folder).expect("a new folder");
    }
    symlink(program(), links.join("tidegate")).expect("a link");
    let start =
        |of_host: &[&str], program: &std::path::Path, by_agent: bool, variable: Option<(&str, PathBuf)>| {
            let plain = sandbox.command(&[]);
            let mut command = std::process::Command::new(program);
            command.args(["init", "--project", "."]).args(of_host).env_clear().current_dir(sandbox.project());
            command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
            if by_agent {
                command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", SESSION);
            }
            command.envs(variable);
            let mut running = Running::start(command);
            running.close();
            running.end()
        };
    let hosts: [&[&str]; 2] = [&[], &["--host", "opencode"]];
    // A first install, and one that changes nothing.
    for of_host in [hosts, hosts].concat() {
        let ran = start(of_host, &program(), true, None);
        assert_eq!(ran.code, Some(0), "{of_host:?}: {ran:?}");
    }
    let before = tree(&sandbox);
    let path = std::env::join_paths([&links, &PathBuf::from("/usr/bin")]).expect("a path");
    let ways = [
        (program(), Some(("XDG_DATA_HOME", data))),
        (program(), Some(("PATH", path.into()))),
        (program(), Some(("HOME", home))),
        (copy, None),
    ];
    for (of_host, (program, variable)) in
        hosts.into_iter().flat_map(|it| ways.iter().map(move |way| (it, way)))
    {
        let ran = start(of_host, program, true, variable.clone());
        assert_eq!(ran.code, Some(4), "{of_host:?} {variable:?}: {ran:?}");
        assert!(ran.stdout.contains("approve") && ran.stdout.contains("instead of"), "{ran:?}");
        let ran = start(of_host, program, false, variable.clone());
        assert!(ran.failed().contains("needs a person's yes"), "{of_host:?} {variable:?}: {ran:?}");
        assert_eq!(tree(&sandbox), before, "{of_host:?} {variable:?}");
    }
}

/// At a terminal of their own a person asks for it by the command itself; nobody else does.
#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_init_leads_hooks_elsewhere() {
    let sandbox = Sandbox::new();
    Scope::Project.init(&sandbox);
    let data = sandbox.path().join("data");
    let sandbox = sandbox.with("XDG_DATA_HOME", &data);
    // An agent drives a terminal, and clears the variables of what it starts there.
    let before = tree(&sandbox);
    let ran = crate::people::at_terminal_below(&sandbox, &["init"], "", &[("CLAUDECODE", "1")]);
    assert!(ran.code != Some(0) && ran.stdout.contains("needs a person's yes"), "{ran:?}");
    assert_eq!(tree(&sandbox), before);
    let ran = crate::people::at_terminal(&sandbox, &["init"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let settings = Scope::Project.read(&sandbox);
    assert!(settings.contains(&*data.join("tidegate/bin/tidegate").to_string_lossy()), "{settings}");
}

/// Whoever may still call it would be passed over without a word.
#[test]
fn it_stays_where_others_may_call_it() {
    const KEPT: &str = "kept; other installs may need it";
    // A project that was moved since.
    let sandbox = Sandbox::new();
    let (moved, other) = (sandbox.path().join("moved"), sandbox.path().join("other"));
    fs::create_dir(&other).expect("a new folder");
    let other = other.to_str().expect("UTF-8");
    init(&sandbox, &["--project", other]);
    Scope::Project.init(&sandbox);
    fs::rename(other, &moved).expect("our own");
    let said = Scope::Project.uninstall(&sandbox);
    assert!(said.contains(KEPT) && link(&sandbox).exists(), "{said}");

    // No record of any, by a cleaned state directory or by another one.
    for forget in [true, false] {
        let sandbox = Sandbox::new();
        Scope::User.init(&sandbox);
        Scope::Project.init(&sandbox);
        let state = sandbox.path().join("other-state");
        let sandbox = if forget {
            fs::remove_dir_all(sandbox.state()).expect("the state");
            sandbox
        } else {
            sandbox.with("TIDEGATE_STATE_DIR", state)
        };
        let said = Scope::Project.uninstall(&sandbox);
        assert!(said.contains(KEPT) && link(&sandbox).exists(), "{said}");
    }
}
