//! The plugin of this checkout, installed into a home by the client's own commands.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::client;
use crate::home::Home;
use crate::model::Model;
use crate::slots::Slot;
use crate::tidegate;

/// The marketplace that offers the plugin.
pub fn checkout() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the checkout's real path")
}

/// The unpacked plugin of a release, which contains the program.
pub fn release() -> PathBuf {
    std::env::var_os("TIDEGATE_MARKETPLACE").expect("`cargo xtask installs` sets it").into()
}

/// Runs one of the client's own commands, which must succeed, and returns its output.
pub fn client(home: &Home, model: &Model, arguments: &[&str]) -> String {
    let _slot = Slot::take();
    let mut command = home.command(client::binary());
    let output =
        command.envs(home.client_environment(model)).args(arguments).output().expect("the client starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, complaint) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "client {arguments:?}: {} {out} {complaint}", output.status);
    out
}

/// Adds this checkout as a marketplace and installs the plugin from it.
pub fn install(home: &Home, model: &Model) {
    install_from(home, model, &checkout());
}

/// Copies the files of the marketplace.
pub fn copy(home: &Home, to: &Path) {
    fs::create_dir_all(to).expect("a folder in the temporary home");
    let parts = ["plugin", ".claude-plugin"].map(|part| checkout().join(part));
    let copied = home.command("cp").arg("-R").args(parts).arg(to).status().expect("cp on the path");
    assert!(copied.success(), "cp: {copied}");
}

/// From another folder.
pub fn install_from(home: &Home, model: &Model, marketplace: &Path) {
    client(home, model, &["plugin", "marketplace", "add", &marketplace.display().to_string()]);
    client(home, model, &["plugin", "install", "tidegate@tidegate"]);
}

/// Links the binary where the plugin looks for one.
pub fn link_binary(home: &Home) {
    let folder = home.data().join("tidegate/bin");
    fs::create_dir_all(&folder).expect("a folder in the temporary home");
    symlink(tidegate::binary(), folder.join("tidegate")).expect("a link to the binary");
}
