//! The marketplace of the repository with the program in the plugin.

use std::fs;

use super::Release;
use super::archive::Tree;
use xtask::failure::{Done, While};
use xtask::workspace;

pub(crate) fn make(release: &Release) -> Done<Vec<u8>> {
    let mut listed = std::process::Command::new("git");
    listed.args(["ls-files", "-s", "--", "plugin", ".claude-plugin"]).current_dir(workspace::root());
    let listed = workspace::read_output(&mut listed)?;
    let mut tree = Tree::default();
    // MODE OBJECT STAGE<tab>PATH
    for (mode, path) in
        listed.lines().filter_map(|line| Some((line.split(' ').next()?, line.split_once('\t')?.1)))
    {
        let file = workspace::root().join(path);
        let content = fs::read(&file).while_(file.display())?;
        if mode == "100755" {
            tree.add_program(path, content);
        } else {
            tree.add(path, content);
        }
    }
    tree.add_program(
        format!("plugin/bin/tidegate-bin{}", std::env::consts::EXE_SUFFIX),
        release.program.clone(),
    );
    for name in ["LICENSE", "THIRD-PARTY-NOTICES.md"] {
        tree.add(name, release.text(name));
    }
    tree.below(&format!("tidegate-plugin-{}", release.version)).tar_gz(release.time)
}
