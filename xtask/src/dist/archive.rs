//! Archives whose bytes depend on their content only: sorted, with the time of the commit and the owner 0.

use std::collections::BTreeMap;
use std::io::Write;

use flate2::{Compression, GzBuilder};
use xtask::failure::{Done, While};

#[derive(Clone)]
pub(crate) struct File {
    pub(crate) content: Vec<u8>,
    pub(crate) executable: bool,
}

/// By path, with `/`.
#[derive(Clone, Default)]
pub(crate) struct Tree(BTreeMap<String, File>);

impl Tree {
    pub(crate) fn add(&mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) {
        self.0.insert(path.into(), File { content: content.into(), executable: false });
    }

    pub(crate) fn add_program(&mut self, path: impl Into<String>, content: impl Into<Vec<u8>>) {
        self.0.insert(path.into(), File { content: content.into(), executable: true });
    }

    pub(crate) fn add_all(&mut self, other: Tree) {
        self.0.extend(other.0);
    }

    /// The same files in a folder.
    pub(crate) fn below(self, folder: &str) -> Tree {
        Tree(self.0.into_iter().map(|(path, file)| (format!("{folder}/{path}"), file)).collect())
    }

    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.0.iter().map(|(path, file)| (path.as_str(), file))
    }

    pub(crate) fn tar(&self, time: u64) -> Done<Vec<u8>> {
        let mut archive = tar::Builder::new(Vec::new());
        archive.mode(tar::HeaderMode::Deterministic);
        let mut folders = std::collections::BTreeSet::new();
        for (path, file) in self.files() {
            for (end, _) in path.match_indices('/').filter(|(end, _)| *end > 0) {
                let folder = &path[..=end];
                if folder != "./" && folders.insert(folder.to_owned()) {
                    let mut header = header(time, 0o755, 0);
                    header.set_entry_type(tar::EntryType::Directory);
                    archive.append_data(&mut header, folder, std::io::empty()).while_(folder)?;
                }
            }
            let mode = if file.executable { 0o755 } else { 0o644 };
            let mut header = header(time, mode, file.content.len() as u64);
            archive.append_data(&mut header, path, file.content.as_slice()).while_(path)?;
        }
        archive.into_inner().while_("an archive in memory")
    }

    pub(crate) fn tar_gz(&self, time: u64) -> Done<Vec<u8>> {
        gzip(&self.tar(time)?)
    }
}

fn header(time: u64, mode: u32, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_mtime(time);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(size);
    header
}

/// Without a name and a time.
pub(crate) fn gzip(bytes: &[u8]) -> Done<Vec<u8>> {
    let mut out = GzBuilder::new().write(Vec::new(), Compression::best());
    out.write_all(bytes).while_("compressing")?;
    out.finish().while_("compressing")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_same_files_give_the_same_bytes_in_any_order() {
        let archive = |paths: [&str; 2]| {
            let mut tree = Tree::default();
            for path in paths {
                tree.add(path, path);
            }
            tree.tar_gz(7).unwrap()
        };
        assert_eq!(archive(["a/x", "b"]), archive(["b", "a/x"]));
    }

    #[test]
    fn tar_unpacks_it_with_modes_and_times() {
        let folder = tempfile::tempdir().unwrap();
        let mut tree = Tree::default();
        tree.add("README", "text");
        tree.add_program("bin/program", "#!/bin/sh\n");
        std::fs::write(folder.path().join("a.tar.gz"), tree.below("top").tar_gz(86_400).unwrap()).unwrap();
        let mut tar = Command::new("tar");
        tar.env("TZ", "UTC").current_dir(folder.path());
        let listed = tar.args(["-tvzf", "a.tar.gz", "--numeric-owner"]).output().unwrap();
        assert!(listed.status.success());
        let listed = String::from_utf8(listed.stdout).unwrap();
        let rows: Vec<String> =
            listed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            rows,
            [
                "drwxr-xr-x 0/0 0 1970-01-02 00:00 top/",
                "-rw-r--r-- 0/0 4 1970-01-02 00:00 top/README",
                "drwxr-xr-x 0/0 0 1970-01-02 00:00 top/bin/",
                "-rwxr-xr-x 0/0 10 1970-01-02 00:00 top/bin/program",
            ]
        );
    }
}
