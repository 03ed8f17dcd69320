//! Packages for npm: `tidegate` starts the program that an optional package brings for the platform. No script runs when they
//! are installed.

use serde_json::{Value, json};

use super::Release;
use super::archive::Tree;
use xtask::failure::Done;

const LAUNCHER: &[u8] = include_bytes!("../../../packaging/npm/tidegate.js");

/// Rust's names and npm's, of all platforms that a release is built for.
const PLATFORMS: [(&str, &str, &str); 5] = [
    ("linux-x86_64", "linux", "x64"),
    ("linux-aarch64", "linux", "arm64"),
    ("macos-x86_64", "darwin", "x64"),
    ("macos-aarch64", "darwin", "arm64"),
    ("windows-x86_64", "win32", "x64"),
];

/// The file names of the packages and their archives.
pub(crate) fn make(release: &Release) -> Done<Vec<(String, Vec<u8>)>> {
    let version = &release.version;
    let platform = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
    let mut packages = vec![(
        format!("npm/tidegate-{version}.tgz"),
        launcher(release, None).below("package").tar_gz(release.time)?,
    )];
    if let Some((_, os, cpu)) = PLATFORMS.iter().find(|(name, ..)| *name == platform) {
        let name = platform_package(os, cpu);
        let program = program(release, &name, os, cpu);
        packages.push((
            format!("npm/{name}-{version}.tgz"),
            program.clone().below("package").tar_gz(release.time)?,
        ));
        // For `npx ./FILE`: no registry is asked for the program.
        let mut alone = launcher(release, Some(&name));
        alone.add_all(program.below(&format!("node_modules/{name}")));
        packages.push((format!("tidegate-{version}.tgz"), alone.below("package").tar_gz(release.time)?));
    }
    Ok(packages)
}

fn platform_package(os: &str, cpu: &str) -> String {
    format!("tidegate-{os}-{cpu}")
}

/// `bundled` is the platform's package that comes in the same archive.
fn launcher(release: &Release, bundled: Option<&str>) -> Tree {
    let mut manifest = manifest(release, "tidegate");
    manifest["bin"] = json!({"tidegate": "bin/tidegate.js"});
    manifest["engines"] = json!({"node": ">=16"});
    if let Some(name) = bundled {
        manifest["dependencies"] = json!({name: release.version});
        manifest["bundleDependencies"] = json!([name]);
    } else {
        let packages =
            PLATFORMS.iter().map(|(_, os, cpu)| (platform_package(os, cpu), json!(release.version)));
        manifest["optionalDependencies"] = packages.collect();
    }
    let mut tree = texts(release, &manifest);
    tree.add_program("bin/tidegate.js", LAUNCHER);
    tree
}

fn program(release: &Release, name: &str, os: &str, cpu: &str) -> Tree {
    let mut manifest = manifest(release, name);
    manifest["os"] = json!([os]);
    manifest["cpu"] = json!([cpu]);
    let mut tree = texts(release, &manifest);
    tree.add("THIRD-PARTY-NOTICES.md", release.text("THIRD-PARTY-NOTICES.md"));
    tree.add_program(format!("bin/tidegate{}", std::env::consts::EXE_SUFFIX), release.program.clone());
    tree
}

fn manifest(release: &Release, name: &str) -> Value {
    let mut manifest = json!({
        "name": name,
        "version": release.version,
        "description": release.description,
        "license": "MIT",
        "files": ["bin"],
    });
    if let Some(repository) = &release.repository {
        manifest["repository"] = json!({"type": "git", "url": repository});
    }
    manifest
}

fn texts(release: &Release, manifest: &Value) -> Tree {
    let mut tree = Tree::default();
    tree.add("package.json", format!("{manifest:#}\n"));
    tree.add("README.md", release.text("README.md"));
    tree.add("LICENSE", release.text("LICENSE"));
    tree
}
