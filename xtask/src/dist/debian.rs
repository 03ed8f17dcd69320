//! A Debian package: an `ar` archive of two tar archives (deb(5)).

use super::Release;
use super::archive::{Tree, gzip};
use xtask::failure::Done;

pub(crate) fn name(release: &Release) -> String {
    format!("tidegate_{}_{}.deb", release.version, architecture())
}

pub(crate) fn make(release: &Release) -> Done<Vec<u8>> {
    let data = data(release)?;
    let size: usize = data.files().map(|(_, file)| file.content.len().div_ceil(1024)).sum();
    let mut control = Tree::default();
    control.add(
        "./control",
        format!(
            "Package: tidegate\nVersion: {}\nArchitecture: {}\nMaintainer: The Tidegate authors\n\
             Installed-Size: {size}\nSection: devel\nPriority: optional\nDescription: {}\n \
             Meters the context, checks that finished work was tested, keeps what a\n \
             compaction would lose, and searches earlier conversations.\n",
            release.version,
            architecture(),
            release.description,
        ),
    );
    let mut package = b"!<arch>\n".to_vec();
    for (name, content) in [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", control.tar_gz(release.time)?),
        ("data.tar.gz", data.tar_gz(release.time)?),
    ] {
        // ar(5): name, time, owner, group, mode and size, in columns.
        let (time, size) = (release.time, content.len());
        package.extend(format!("{name:<16}{time:<12}0     0     100644  {size:<10}`\n").into_bytes());
        package.extend(&content);
        if size % 2 == 1 {
            package.push(b'\n');
        }
    }
    Ok(package)
}

/// What is installed, from the root.
fn data(release: &Release) -> Done<Tree> {
    let mut data = Tree::default();
    data.add_program("./usr/bin/tidegate", release.program.clone());
    for (name, page) in &release.man_pages {
        data.add(format!("./usr/share/man/man1/{name}.gz"), gzip(page)?);
    }
    for (folder, (_, script)) in [
        "bash-completion/completions/tidegate",
        "zsh/vendor-completions/_tidegate",
        "fish/vendor_completions.d/tidegate.fish",
    ]
    .iter()
    .zip(&release.completions)
    {
        data.add(format!("./usr/share/{folder}"), script.clone());
    }
    let copyright = [release.text("LICENSE"), release.text("THIRD-PARTY-NOTICES.md")].join(&b"\n\n"[..]);
    data.add("./usr/share/doc/tidegate/copyright", copyright);
    data.add("./usr/share/doc/tidegate/changelog.gz", gzip(release.text("CHANGELOG.md"))?);
    data.add("./usr/share/doc/tidegate/README.md", release.text("README.md"));
    Ok(data)
}

/// Debian's name of this machine's.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
