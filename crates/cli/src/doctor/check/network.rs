//! Folders on network file systems. SQLite's write-ahead log needs memory that all processes share, and `O_APPEND` is
//! not atomic there: a write of another machine can overwrite one from here.

use std::path::Path;

use tidegate_memory::memory::MemoryHome;

use crate::bilingual::both;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::shell::quote_path;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    let state = seen.env.place.state().ok();
    let memory = MemoryHome::of(&seen.env.place).ok();
    let places = Places {
        state: state.as_deref(),
        memory: memory.as_ref().map(MemoryHome::folder),
        client: seen.client.folder.as_deref(),
    };
    check_places(&places, file_system, found);
}

struct Places<'a> {
    state: Option<&'a Path>,
    memory: Option<&'a Path>,
    client: Option<&'a Path>,
}

/// `file_system` names the network file system of a folder, if it is on one.
fn check_places(
    places: &Places<'_>,
    file_system: impl Fn(&Path) -> Option<&'static str>,
    found: &mut Findings,
) {
    // A folder that does not exist yet will be on the file system of the nearest one above it.
    let on_network =
        |folder: &Path| file_system(folder.ancestors().find(|above| above.exists()).unwrap_or(folder));
    if let Some((folder, name)) = places.state.and_then(|folder| Some((folder, on_network(folder)?))) {
        found.warning(
            both!(
                "Tidegate's state folder {folder} is on {name}: hooks that write at the same time can lose records.",
                "状態のフォルダ {folder} が {name} 上にあります。同時に書き込むと、記録が失われることがあります。",
                folder = folder.display()
            ),
            both!(
                "Set TIDEGATE_STATE_DIR to a folder of your own on a local disk, in the shell that starts your agent, too.",
                "TIDEGATE_STATE_DIR に、ローカルディスクにある自分のフォルダを指定してください。エージェントを起動するシェルでも必要です。"
            ),
        );
    }
    if let Some((folder, name)) = places.memory.and_then(|folder| Some((folder, on_network(folder)?))) {
        found.warning(
            both!(
                "Tidegate's memory {folder} is on {name}: SQLite is not safe there, and the store can be damaged.",
                "メモリ {folder} が {name} 上にあります。SQLite は安全に動かず、壊れることがあります。",
                folder = folder.display()
            ),
            both!(
                "End your agent and move {folder} into a folder of your own on a local disk. Set TIDEGATE_DATA_DIR to that \
                 folder, in the shell that starts your agent, too.",
                "エージェントを終了し、{folder} をローカルディスクにある自分のフォルダへ移してください。そのフォルダを TIDEGATE_DATA_DIR に \
                 指定します（エージェントを起動するシェルでも）。",
                folder = quote_path(folder)
            ),
        );
    }
    if let Some((folder, name)) = places.client.and_then(|folder| Some((folder, on_network(folder)?))) {
        found.note_with(
            both!(
                "Claude Code's folder {folder} is on {name}: transcripts can arrive late, and with them Tidegate's numbers.",
                "Claude Code のフォルダ {folder} が {name} 上にあります。会話の記録が遅れ、Tidegate の数値も遅れることがあります。",
                folder = folder.display()
            ),
            both!(
                "If sessions run on several machines at once, set CLAUDE_CONFIG_DIR to a folder on a local disk.",
                "複数のマシンで同時に使う場合は、CLAUDE_CONFIG_DIR にローカルディスクのフォルダを指定してください。"
            ),
        );
    }
    if found.is_empty() {
        found.ok(both!(
            "Tidegate's and Claude Code's folders are not on a network file system.",
            "Tidegate と Claude Code のフォルダは、ネットワークファイルシステム上にありません。"
        ));
    }
}

#[cfg(target_os = "linux")]
fn file_system(folder: &Path) -> Option<&'static str> {
    let magic = rustix::fs::statfs(folder).ok()?.f_type;
    let mounts = || {
        let text = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
        mount_type(&text, &std::fs::canonicalize(folder).ok()?)
    };
    // Some architectures have a signed 32-bit field.
    network_name(magic as u32, mounts)
}

#[cfg(not(target_os = "linux"))]
fn file_system(_: &Path) -> Option<&'static str> {
    None
}

/// The numbers of `statfs(2)`. FUSE has one number for all its file systems, so their type is asked for.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has these numbers"))]
fn network_name(magic: u32, mount_type: impl FnOnce() -> Option<String>) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => "SMB",
        0x0102_1997 => "9p",
        0x5346_414f | 0x6b41_4653 => "AFS",
        0x7375_7245 => "Coda",
        0x564c => "NCP",
        0x00c3_6400 => "Ceph",
        0x0bd0_0bd0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x786f_4256 => "a VirtualBox shared folder",
        0x6573_5546 => match mount_type()?.strip_prefix("fuse.")? {
            "sshfs" => "sshfs",
            "rclone" => "rclone",
            "glusterfs" => "GlusterFS",
            "ceph" | "ceph-fuse" => "Ceph",
            "s3fs" | "goofys" | "gcsfuse" | "blobfuse" | "blobfuse2" | "juicefs" => "object storage",
            "davfs" | "davfs2" => "WebDAV",
            "curlftpfs" => "FTP",
            "gvfsd-fuse" => "GVfs",
            _ => return None,
        },
        _ => return None,
    })
}

/// The type of the file system that a folder is on: `ID PARENT DEV ROOT MOUNTPOINT OPTIONS… - TYPE SOURCE …`. Of mounts at one
/// point the last one counts.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has this table"))]
fn mount_type(mountinfo: &str, folder: &Path) -> Option<String> {
    let mounts = mountinfo.lines().filter_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        let point = mount.split(' ').nth(4)?.replace("\\040", " ");
        Some((point, kind.split(' ').next()?))
    });
    let above = mounts.filter(|(point, _)| folder.starts_with(point));
    above.max_by_key(|(point, _)| point.len()).map(|(_, kind)| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::State;

    #[test]
    fn network_file_systems_are_known_by_their_numbers() {
        let none = || None;
        for (magic, name) in [
            (0x6969, "NFS"),
            (0x517b, "SMB"),
            (0xff53_4d42, "SMB"),
            (0xfe53_4d42, "SMB"),
            (0x0102_1997, "9p"),
            (0x5346_414f, "AFS"),
            (0x6b41_4653, "AFS"),
            (0x7375_7245, "Coda"),
            (0x564c, "NCP"),
            (0x00c3_6400, "Ceph"),
            (0x0bd0_0bd0, "Lustre"),
            (0x4750_4653, "GPFS"),
            (0x786f_4256, "a VirtualBox shared folder"),
        ] {
            assert_eq!(network_name(magic, none), Some(name), "{magic:#x}");
        }
        // ext4, btrfs, xfs, tmpfs, zfs, overlay, f2fs, ecryptfs, FUSE of an unknown type.
        for magic in [
            0xef53,
            0x9123_683e,
            0x5846_5342,
            0x0102_1994,
            0x2fc1_2fc1,
            0x794c_7630,
            0xf2f5_2010,
            0xf15f,
            0x6573_5546,
        ] {
            assert_eq!(network_name(magic, none), None, "{magic:#x}");
        }
        for (kind, name) in [
            ("fuse.sshfs", Some("sshfs")),
            ("fuse.rclone", Some("rclone")),
            ("fuse.gvfsd-fuse", Some("GVfs")),
            ("fuse.gocryptfs", None),
            ("fuse.mergerfs", None),
            ("fuseblk", None),
        ] {
            assert_eq!(network_name(0x6573_5546, || Some(kind.to_owned())), name, "{kind}");
        }
    }

    #[test]
    fn the_innermost_mount_counts() {
        let mountinfo = "22 1 0:1 / / rw shared:1 - ext4 /dev/sda1 rw\n\
                         30 22 0:50 / /home/ann rw - fuse.sshfs ann@host: rw\n\
                         31 22 0:51 / /home/ann/my\\040disk rw - fuse.rclone x rw\n\
                         32 30 0:52 / /home/ann/.local rw shared:2 master:1 - xfs /dev/sdb rw\n";
        for (folder, kind) in [
            ("/home/ann/.claude", "fuse.sshfs"),
            ("/home/ann/my disk/x", "fuse.rclone"),
            ("/home/ann/.local/state", "xfs"),
            ("/home/anna", "ext4"),
        ] {
            assert_eq!(mount_type(mountinfo, Path::new(folder)).as_deref(), Some(kind), "{folder}");
        }
    }

    #[test]
    fn each_folder_is_named_with_the_variable_that_moves_it() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        std::fs::create_dir(at("state")).unwrap();
        std::fs::create_dir(at("data")).unwrap();
        let (state, memory, client) = (at("state/not/yet"), at("data/memory"), at("client"));
        let places = Places { state: Some(&state), memory: Some(&memory), client: Some(&client) };
        let findings = |network: &[&str]| {
            let mut found = Findings::of("network");
            let on = |folder: &Path| {
                assert!(folder.exists(), "{folder:?}");
                network.iter().any(|name| at(name) == folder).then_some("NFS")
            };
            check_places(&places, on, &mut found);
            found.into_vec()
        };
        let local = findings(&[]);
        assert!(local.len() == 1 && local[0].state == State::Ok, "{local:?}");
        for (folder, named, state, variable) in [
            ("state", &state, State::Warning, "TIDEGATE_STATE_DIR"),
            ("data", &memory, State::Warning, "TIDEGATE_DATA_DIR"),
            ("", &client, State::Note, "CLAUDE_CONFIG_DIR"),
        ] {
            let found = findings(&[folder]);
            assert!(found.len() == 1 && found[0].state == state, "{found:?}");
            for text in [&found[0].found.en, &found[0].found.ja] {
                assert!(text.contains("NFS") && text.contains(&named.display().to_string()), "{text}");
            }
            assert!(found[0].fix.as_ref().is_some_and(|fix| fix.en.contains(variable)), "{found:?}");
        }
        assert_eq!(findings(&["state", "data", ""]).len(), 3);
    }
}
