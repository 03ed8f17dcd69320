//! The floor program and the binary, linked in several ways.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary::{self, Link};
use crate::stage::Stage;
use xtask::failure::{Done, While};
use xtask::print;
use xtask::workspace;

/// `None` for a way of linking that this platform does not support.
pub(crate) struct Programs {
    pub(crate) floor: PathBuf,
    pub(crate) floor_static: Option<PathBuf>,
    pub(crate) shipped: PathBuf,
    pub(crate) dynamic: Option<PathBuf>,
    pub(crate) static_pie: Option<PathBuf>,
}

/// The binary as shipped comes last, so that it remains in cargo's directory.
pub(crate) fn build(stage: &Stage) -> Done<Programs> {
    let at = |name: &str| stage.at("bin").join(name);
    let others = [(Link::Dynamic, "dynamic"), (Link::StaticPie, "static-pie")]
        .map(|(link, name)| left_out(name, binary::build_copy(link, &at(name))));
    let shipped = binary::build_copy(Link::Shipped, &at("shipped"))?;
    let [dynamic, static_pie] = others;
    let floor = compile_floor(&at("floor"), &[])?;
    let floor_static = compile_floor(&at("floor-static"), &["-Ctarget-feature=+crt-static"]);
    let size = fs::metadata(&shipped).while_(shipped.display())?.len();
    print::line(&format!("    binary as shipped: {} KiB in one file", size / 1024));
    Ok(Programs { floor, floor_static: left_out("floor-static", floor_static), shipped, dynamic, static_pie })
}

fn left_out(name: &str, built: Done<PathBuf>) -> Option<PathBuf> {
    built.map_err(|failure| print::line(&format!("    left out: {name}: {}", failure.what()))).ok()
}

pub(crate) fn compile_floor(executable: &Path, flags: &[&str]) -> Done<PathBuf> {
    let source = executable.with_extension("rs");
    fs::write(&source, include_str!("../../floor/floor.rs")).while_(source.display())?;
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["-O", "--edition=2024", "--crate-name=floor"]).args(flags);
    command.arg("-o").arg(executable).arg(&source).current_dir(workspace::root());
    workspace::read_output(&mut command)?;
    Ok(executable.to_owned())
}
