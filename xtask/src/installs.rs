//! `cargo xtask installs`: installs each package of `cargo xtask dist` into a clean home without a toolchain, and uses the program from
//! there: `demo`, `init`, a hook, `doctor`, `uninstall`. The program from npm and the plugin with the program in it also work behind the
//! real client.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask::failure::{Done, Failure, While};
use xtask::workspace::{self, step};
use xtask::{print, shipped};

use crate::{dist, e2e, hosts};

/// By every package alike.
const PAYLOAD: &str = r#"{"session_id":"11111111-2222-4333-8444-555555555555","hook_event_name":"SessionStart","source":"startup","cwd":"."}"#;

pub(crate) fn run() -> Done {
    step("program", || workspace::run(&mut shipped::cargo_for_program("build")))?;
    let program = workspace::target_folder()?.join("debug/tidegate");
    step("scenarios", || {
        workspace::run(&mut workspace::cargo(&["build", "--package", "tidegate", "--locked"]))
    })?;
    check(&program, &|| workspace::cargo(&["test", "--package", "tidegate-e2e", "--locked", "--"]))
}

/// Of the program that was built last. `scenarios` is their test program, and `debug` the program they are made for.
pub(crate) fn check(debug: &Path, scenarios: &dyn Fn() -> Command) -> Done {
    let folder = tempfile::tempdir().while_("a temporary folder")?;
    let packages = folder.path().join("packages");
    dist::make(&packages)?;
    let bed = Bed { root: folder.path().to_owned(), packages, node: hosts::program("node")? };
    let npm = step("from npm packages", || bed.install_by_npm())?;
    step("from the archive", || bed.unpack_archive())?;
    if cfg!(target_os = "linux") && xtask::tools::is_on_path("dpkg") {
        step("from the Debian package", || bed.install_by_dpkg())?;
    }
    step("by npx", || bed.by_npx())?;
    let plugin = bed.unpack_plugin()?;
    step("from npm, behind the client", || {
        e2e::run_built(&npm, scenarios(), &["scenario::first_session::"])
    })?;
    step("the plugin with the program, in the client", || {
        let mut of_plugin = scenarios();
        of_plugin.env("TIDEGATE_MARKETPLACE", &plugin);
        let name = "scenario::plugin::the_plugin_of_a_release_brings_its_program";
        e2e::run_built(debug, of_plugin, &["--ignored", name])
    })
}

struct Bed {
    root: PathBuf,
    packages: PathBuf,
    node: PathBuf,
}

impl Bed {
    /// Without cargo, and without a variable of this process.
    fn alone(&self, program: impl AsRef<std::ffi::OsStr>, home: &Path) -> Command {
        let node = self.node.parent().unwrap_or(Path::new("/usr/bin"));
        let path = std::env::join_paths([node, Path::new("/usr/bin"), Path::new("/bin")]).unwrap_or_default();
        let mut command = Command::new(program);
        command.env_clear().env("HOME", home).env("PATH", path).env("LANG", "C.UTF-8").current_dir(home);
        command
    }

    fn home(&self, name: &str) -> Done<PathBuf> {
        let home = self.root.join(name);
        fs::create_dir(&home).while_(home.display())?;
        Ok(home)
    }

    /// As a person does it, from the installed program to its end.
    fn use_it(&self, program: &Path, home: &Path) -> Done {
        let run = |arguments: &[&str]| {
            let mut command = self.alone(program, home);
            let others = command.get_envs().find_map(|(name, value)| value.filter(|_| name == "PATH"));
            let others = others.map(|path| std::env::split_paths(path).collect::<Vec<_>>());
            let folders =
                program.parent().map(Path::to_owned).into_iter().chain(others.into_iter().flatten());
            let path = std::env::join_paths(folders).while_("PATH")?;
            workspace::read_output(command.env("PATH", path).args(arguments).stdin(Stdio::null()))
        };
        let said = run(&["--version"])?;
        expect(&said, dist::version(), "--version")?;
        run(&["demo"])?;
        let project = home.join("project");
        fs::create_dir_all(&project).while_(project.display())?;
        let project = project.display().to_string();
        run(&["init", "--project", &project])?;
        let link = home.join(".local/share/tidegate/bin/tidegate");
        let mut hook = self.alone(&link, home);
        let hook = hook.args(["hook", "--event", "SessionStart"]).current_dir(&project);
        let answered = read_with_input(hook, PAYLOAD)?;
        expect(&answered, "systemMessage", "the hook")?;
        run(&["doctor", "--project", &project])?;
        run(&["uninstall", "--project", &project])?;
        let settings = Path::new(&project).join(".claude");
        if settings.exists() || fs::symlink_metadata(&link).is_ok() {
            return Err(Failure::new(format!(
                "`uninstall` left {} or {}",
                settings.display(),
                link.display()
            )));
        }
        print::line(&format!("    {}: works", program.strip_prefix(&self.root).unwrap_or(program).display()));
        Ok(())
    }

    /// The two packages that npm would choose for this platform. Returns the program.
    fn install_by_npm(&self) -> Done<PathBuf> {
        let home = self.home("npm")?;
        let archives = files_in(&self.packages.join("npm"))?;
        let mut npm = self.alone("npm", &home);
        npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--offline"]);
        workspace::read_output(npm.args(&archives))?;
        self.use_it(&home.join("node_modules/.bin/tidegate"), &home)?;
        let packages = files_in(&home.join("node_modules"))?;
        let programs = packages.iter().map(|package| package.join("bin/tidegate"));
        programs
            .into_iter()
            .find(|program| program.is_file())
            .ok_or_else(|| Failure::new("npm installed no package with a program"))
    }

    fn unpack_archive(&self) -> Done {
        let home = self.home("archive")?;
        let archive = self.package("tidegate-", ".tar.gz")?;
        workspace::read_output(self.alone("tar", &home).arg("-xzf").arg(archive))?;
        let unpacked = files_in(&home)?.into_iter().find(|path| path.join("tidegate").is_file());
        let unpacked = unpacked.ok_or_else(|| Failure::new("the archive has no program"))?;
        self.use_it(&unpacked.join("tidegate"), &home)
    }

    fn install_by_dpkg(&self) -> Done {
        let home = self.home("debian")?;
        let package = self.package("tidegate_", ".deb")?;
        let root = home.join("root");
        for folder in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"] {
            fs::create_dir_all(root.join(folder)).while_("a folder of dpkg")?;
        }
        fs::write(root.join("var/lib/dpkg/status"), "").while_("dpkg's list")?;
        let mut dpkg = self.alone("dpkg", &home);
        let path = "/usr/sbin:/usr/bin:/sbin:/bin";
        dpkg.env("PATH", path).args(["--force-not-root", "--log=/dev/null"]);
        dpkg.arg(format!("--root={}", root.display())).arg("--install").arg(package);
        workspace::read_output(&mut dpkg)?;
        self.use_it(&root.join("usr/bin/tidegate"), &home)
    }

    /// The first look: one file, no installation.
    fn by_npx(&self) -> Done {
        let home = self.home("npx")?;
        let archive = self.package("tidegate-", ".tgz")?;
        let name = archive.file_name().unwrap_or_default();
        fs::copy(&archive, home.join(name)).while_(archive.display())?;
        // npx would start a file with an absolute path as a program.
        let named = Path::new(".").join(name);
        let npx = |arguments: &[&str]| {
            let mut npx = self.alone("npx", &home);
            npx.args(["--yes", "--offline"]).arg(&named).args(arguments).stdin(Stdio::null());
            workspace::read_output(&mut npx)
        };
        let said = npx(&["demo"])?;
        expect(&said, "Tidegate", "npx … demo")?;
        let project = home.join("project");
        fs::create_dir_all(&project).while_(project.display())?;
        npx(&["init", "--project", &project.display().to_string()])?;
        // npm clears its cache when it likes.
        fs::remove_dir_all(home.join(".npm/_npx")).while_("npm's cache")?;
        let mut hook = self.alone(home.join(".local/share/tidegate/bin/tidegate"), &home);
        let answered = read_with_input(hook.args(["hook", "--event", "SessionStart"]), PAYLOAD)?;
        expect(&answered, "systemMessage", "the hook after npm's cache is gone")?;
        print::line("    npx: works, and its hooks do without npm's cache");
        Ok(())
    }

    fn unpack_plugin(&self) -> Done<PathBuf> {
        let home = self.home("plugin")?;
        let archive = self.package("tidegate-plugin-", ".tar.gz")?;
        workspace::read_output(self.alone("tar", &home).arg("-xzf").arg(archive))?;
        files_in(&home)?.pop().ok_or_else(|| Failure::new("the plugin's archive is empty"))
    }

    fn package(&self, prefix: &str, suffix: &str) -> Done<PathBuf> {
        let is_it = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let rest = name.strip_prefix(prefix).unwrap_or_default();
            rest.starts_with(|first: char| first.is_ascii_digit()) && name.ends_with(suffix)
        };
        let found = files_in(&self.packages)?.into_iter().find(is_it);
        found.ok_or_else(|| Failure::new(format!("no package {prefix}…{suffix}")))
    }
}

fn files_in(folder: &Path) -> Done<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).while_(folder.display())?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}

fn expect(said: &str, part: &str, by: &str) -> Done {
    if said.contains(part) {
        return Ok(());
    }
    Err(Failure::new(format!("{by} says {said:?}, without {part:?}")))
}

fn read_with_input(command: &mut Command, input: &str) -> Done<String> {
    let name = workspace::command_line(command);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().while_(&name)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).while_(&name)?;
    }
    let ended = child.wait_with_output().while_(&name)?;
    if !ended.status.success() {
        return Err(Failure::new(format!("`{name}` ended with {}", ended.status)));
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}
