//! A folder that takes the place of the machine on which a session ran: the hook's readers look at files, and a transcript comes
//! without them.
//!
//! Paths of the session's home and project lead into the folder; all others stay as they are, and nothing is written
//! there. A transcript is the text of others: each path that is written, changed or removed passes [`Scratch::holds`].

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::error::{Result, While};
use tempfile::TempDir;
use tidegate_core::feature::verification::checks::restored_files;
use tidegate_core::file_class::FileClass;
use tidegate_core::shell::{self, How, Script, Step, Surroundings};
use tidegate_core::time::Millis;

use crate::seen_files::with_slashes;

pub struct Scratch {
    #[expect(dead_code, reason = "removed when it is dropped")]
    folder: TempDir,
    /// Its real path.
    base: PathBuf,
    /// Beginnings of paths, longest first, each with its place in the folder.
    places: Vec<(String, PathBuf)>,
    pub root: PathBuf,
    pub home: PathBuf,
    /// The project's files as they were written last.
    written: BTreeMap<String, Arc<str>>,
    /// Names that no file can have.
    odd_names: Cell<usize>,
}

/// Folders of packages and worktrees: the project is above the first ones, and is the second ones.
const PACKAGES: [&str; 3] = ["/packages/", "/apps/", "/crates/"];
const WORKTREES: [&str; 2] = ["/.worktrees/", "/.claude/worktrees/"];

/// The project's root by the folders in which a session worked: the first, or one above it in which it worked later.
pub fn find_root(folders: &[String]) -> Option<String> {
    let folders: Vec<String> = folders.iter().map(|folder| with_slashes(folder)).collect();
    let is_above =
        |above: &str, folder: &str| folder.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
    let depth = |folder: &str| folder.split('/').filter(|part| !part.is_empty()).count();
    let (first, later) = folders.split_first()?;
    let mut root = first.as_str();
    for folder in later.iter().filter(|folder| depth(folder) > 2) {
        if is_above(folder, root) {
            root = folder;
        }
    }
    for worktrees in WORKTREES {
        if let Some((above, below)) = root.split_once(worktrees) {
            let name = below.split('/').next().unwrap_or(below);
            return Some(format!("{above}{worktrees}{name}"));
        }
    }
    let cut = PACKAGES.iter().filter_map(|packages| root.find(packages)).min();
    Some(cut.map_or(root, |cut| &root[..cut]).to_owned())
}

impl Scratch {
    /// `root` as [`find_root`] gives it.
    pub fn new(root: &str) -> Result<Scratch> {
        let folder =
            tempfile::Builder::new().prefix("tidegate-replay-").tempdir().while_("a temporary folder")?;
        let base = fs::canonicalize(folder.path()).while_("the temporary folder")?;
        let place_of = |path: &str, else_named: &str| {
            let place = base.join(path.replace(':', "").trim_start_matches('/'));
            if is_strictly_below(&base, &place) { place } else { base.join(else_named) }
        };
        let root_place = place_of(root, "project");
        let mut places: Vec<(String, PathBuf)> =
            spellings(root).into_iter().map(|path| (path, root_place.clone())).collect();
        let home = home_of(root);
        let home_place = place_of(home.as_deref().unwrap_or_default(), "home");
        places.extend(home.map(|home| (home, home_place.clone())));
        places.retain(|(path, _)| !path.is_empty());
        places.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        fs::create_dir_all(root_place.join(".git")).while_(root_place.display())?;
        Ok(Scratch {
            folder,
            base,
            places,
            root: root_place,
            home: home_place,
            written: BTreeMap::new(),
            odd_names: Cell::new(0),
        })
    }

    /// Names so far that no file can have: their edits are not replayed.
    pub fn odd_names(&self) -> usize {
        self.odd_names.get()
    }

    /// The text with all paths of home and project replaced.
    pub fn map(&self, text: &str) -> String {
        let is_named = |path: &String| memchr::memmem::find(text.as_bytes(), path.as_bytes()).is_some();
        if !self.places.iter().any(|(path, _)| is_named(path)) {
            return text.to_owned();
        }
        let mut mapped = String::with_capacity(text.len());
        let mut rest = text;
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        'text: while let Some(first) = rest.chars().next() {
            if !mapped.ends_with(|c| is_part(c) || c == '/') {
                for (path, place) in &self.places {
                    let Some(after) = rest.strip_prefix(path.as_str()) else { continue };
                    if !after.starts_with(is_part) {
                        mapped.push_str(&place.to_string_lossy());
                        rest = after;
                        continue 'text;
                    }
                }
            }
            mapped.push(first);
            rest = &rest[first.len_utf8()..];
        }
        mapped
    }

    /// A path of the session, in this folder.
    pub fn map_path(&self, path: &str) -> String {
        let mapped = self.map(path);
        if mapped != path {
            return with_slashes(&mapped);
        }
        // `C:\a` is a whole path, not one below the current folder.
        match path.as_bytes() {
            [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic() => {
                format!("/{}{}", char::from(*drive), with_slashes(&path[2..]))
            }
            _ => mapped,
        }
    }

    /// A path of this folder as the session knows it.
    pub fn unmap(&self, text: &str) -> String {
        self.places
            .iter()
            .fold(text.to_owned(), |text, (path, place)| text.replace(place.to_string_lossy().as_ref(), path))
    }

    /// Writes the project's files as they were at a time.
    pub fn write_project(&mut self, files: BTreeMap<String, Arc<str>>) -> Result {
        for (path, text) in &files {
            if self.written.get(path) != Some(text) {
                let whole = self.root.join(path);
                self.write(&whole, || fs::write(&whole, text.as_bytes()))?;
            }
        }
        for gone in self.written.keys().filter(|path| !files.contains_key(*path)) {
            let whole = self.root.join(gone);
            if self.holds(&whole) {
                drop(fs::remove_file(whole));
            }
        }
        self.written = files;
        Ok(())
    }

    /// An edited file exists afterwards. Its content does not matter.
    pub fn note_edit(&self, path: &str) -> Result {
        let path = self.root.join(path);
        if path.exists() || is_below_file(&path) {
            return Ok(());
        }
        self.write(&path, || fs::write(&path, ""))
    }

    /// The only way to a new file. A name that no file can have is counted: the session continues without it.
    fn write(&self, path: &Path, write: impl FnOnce() -> io::Result<()>) -> Result {
        if !self.holds(path) {
            return Ok(());
        }
        match path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| write()) {
            Err(error) if is_for_its_name(&error) => {
                self.odd_names.set(self.odd_names.get() + 1);
                Ok(())
            }
            written => written.while_(path.display()),
        }
    }

    /// Changes the files that a command line changed, as far as its text tells.
    pub fn note_run(&self, line: &str, start: &str, end: &str, succeeded: bool, at: Millis) -> Result {
        let surroundings = Surroundings { home: self.home.to_str(), project: None, cwd: Some(start) };
        let Some(script) = shell::parse_in(line, surroundings) else { return Ok(()) };
        let root = self.root.to_string_lossy();
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(at.0);
        if succeeded {
            for step in &script.steps {
                self.remove_and_move(step, &root, start);
            }
            for restored in restored_files(&script).iter().filter(|restored| !restored.stashed) {
                let path = restored.path.resolve(&root, start, Some(end)).map(PathBuf::from);
                if let Some(path) = path.filter(|path| path.is_file()) {
                    self.write(&path, || touch(&path, time))?;
                }
            }
        }
        for write in
            script.writes().iter().filter(|write| is_written(&script, write.step, write.how, line, succeeded))
        {
            let Some(path) = write.path.resolve(&root, start, Some(end)).map(PathBuf::from) else { continue };
            let name = path.to_string_lossy();
            if !path.is_dir() && !is_below_file(&path) && FileClass::of(&name) == FileClass::Code {
                self.write(&path, || touch(&path, time))?;
            }
        }
        Ok(())
    }

    fn remove_and_move(&self, step: &Step, root: &str, start: &str) {
        let words: Vec<&str> = step.words.iter().filter_map(|word| word.known()).collect();
        let (name, arguments) = match words.as_slice() {
            ["git", name @ ("rm" | "mv"), rest @ ..] | [name @ ("rm" | "mv"), rest @ ..] => (*name, rest),
            _ => return,
        };
        let place = |word: &&str| step.folder.join(word).resolve(root, start, None).map(PathBuf::from);
        let paths: Vec<PathBuf> = arguments
            .iter()
            .filter(|word| !word.starts_with('-'))
            .filter_map(place)
            .filter(|path| self.holds(path) && !self.root.starts_with(path))
            .collect();
        match (name, paths.as_slice()) {
            ("rm", paths) => paths.iter().for_each(|path| {
                drop(if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) });
            }),
            (_, [from, to]) => {
                let into = to.is_dir().then(|| from.file_name()).flatten().map(|name| to.join(name));
                let to = into.as_ref().unwrap_or(to);
                if self.holds(to) {
                    drop(fs::rename(from, to));
                }
            }
            _ => {}
        }
    }

    /// Nothing outside of the folder is ever written. There are no links in it, since nothing here makes one.
    fn holds(&self, path: &Path) -> bool {
        is_strictly_below(&self.base, path)
    }
}

fn is_strictly_below(base: &Path, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(base) else { return false };
    let is_name = |part: Component<'_>| match part {
        Component::Normal(name) => name.len() <= LONGEST_NAME && !name.as_encoded_bytes().contains(&0),
        _ => false,
    };
    below.components().next().is_some() && below.components().all(is_name)
}

/// Bytes of a name that file systems take.
const LONGEST_NAME: usize = 255;

/// The file system works, but has no place for a file of this name.
fn is_for_its_name(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidFilename
            | ErrorKind::InvalidInput
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::AlreadyExists
    )
}

fn touch(path: &Path, time: SystemTime) -> io::Result<()> {
    fs::OpenOptions::new().create(true).append(true).open(path)?.set_modified(time)
}

/// `cp a b` names `b/a` too, in case that `b` is a folder.
fn is_below_file(path: &Path) -> bool {
    path.ancestors().skip(1).any(Path::is_file)
}

/// `/Users/me` and `/home/me`.
fn home_of(root: &str) -> Option<String> {
    let mut parts = root.split('/').skip(1);
    let (top, name) = (parts.next()?, parts.next()?);
    (matches!(top, "Users" | "home") && parts.next().is_some()).then(|| format!("/{top}/{name}"))
}

/// The ways to write a path of Windows: `D:/a`, `D:\a`, and `/d/a` in its bash.
fn spellings(root: &str) -> Vec<String> {
    let mut all = vec![root.to_owned()];
    if let Some((drive, path)) = root.split_once(":/") {
        all.push(root.replace('/', "\\"));
        all.push(format!("/{}/{path}", drive.to_lowercase()));
    }
    all
}

/// Commands that write the files they name. Any other writer is a formatter, which seldom changes a file and never its meaning.
const WRITERS: [&str; 27] = [
    "tee",
    "sponge",
    "sed",
    "gsed",
    "perl",
    "ruby",
    "awk",
    "gawk",
    "patch",
    "apply_patch",
    "git",
    "cp",
    "mv",
    "install",
    "ln",
    "rsync",
    "touch",
    "truncate",
    "dd",
    "ed",
    "ex",
    "vi",
    "vim",
    "sd",
    "curl",
    "wget",
    "sort",
];

/// A line that failed may have written before: the shell opens files before a command runs.
fn is_written(script: &Script, step: usize, how: How, line: &str, succeeded: bool) -> bool {
    let name = script.steps.get(step).and_then(Step::name).unwrap_or_default();
    match how {
        How::Redirect => true,
        How::Pattern | How::Patch | How::Unknown | How::Removal => false,
        How::Command => WRITERS.contains(&name) && (succeeded || name == "tee"),
        How::Script => {
            succeeded
                && ["write", "'w'", "\"w\"", "dump", "rename", "copyfile"]
                    .iter()
                    .any(|word| line.contains(word))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_of(folders: &[&str]) -> String {
        find_root(&folders.iter().map(|folder| (*folder).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_project_is_found_by_the_folders_of_its_session() {
        assert_eq!(root_of(&["/home/me/shop", "/home/me/shop/web"]), "/home/me/shop");
        assert_eq!(root_of(&["/home/me/shop/web", "/home/me/shop"]), "/home/me/shop");
        assert_eq!(root_of(&["/home/me/shop", "/home/me"]), "/home/me/shop");
        assert_eq!(root_of(&["/w/shop/packages/api"]), "/w/shop");
        assert_eq!(root_of(&["/w/shop/.worktrees/2/cmd"]), "/w/shop/.worktrees/2");
        assert_eq!(root_of(&["D:\\shop", "D:\\shop\\src"]), "D:/shop");
    }

    #[test]
    fn paths_of_the_session_lead_into_the_folder() {
        let scratch = Scratch::new("/home/me/shop").unwrap();
        let (base, root) = (scratch.base.to_str().unwrap(), scratch.root.to_str().unwrap());
        assert_eq!(root, format!("{base}/home/me/shop"));
        assert_eq!(
            scratch.map("cd /home/me/shop && ls '/home/me/x'"),
            format!("cd {root} && ls '{base}/home/me/x'")
        );
        assert_eq!(
            scratch.map("/home/me/shop-two /x/home/me/shop"),
            format!("{base}/home/me/shop-two /x/home/me/shop")
        );
        assert_eq!(scratch.map("/tmp/a"), "/tmp/a");
        let scratch = Scratch::new("D:/shop").unwrap();
        let root = scratch.root.to_str().unwrap();
        assert_eq!(scratch.map_path("D:\\shop\\src\\a.go"), format!("{root}/src/a.go"));
        assert_eq!(scratch.map_path("C:\\Temp\\a.go"), "/C/Temp/a.go");
        assert_eq!(scratch.map("cd /d/shop/src && go test"), format!("cd {root}/src && go test"));
    }

    #[test]
    fn command_lines_change_only_files_in_the_folder() {
        let scratch = Scratch::new("/home/me/shop").unwrap();
        let root = scratch.root.to_str().unwrap().to_owned();
        let outside = tempfile::tempdir().unwrap();
        let other = outside.path().join("a.rs");
        let run =
            |line: &str, succeeded| scratch.note_run(line, &root, &root, succeeded, Millis(5_000)).unwrap();
        run(&format!("echo x > a.rs; echo x > {}", other.display()), true);
        assert!(scratch.root.join("a.rs").exists() && !other.exists());
        let changed = fs::metadata(scratch.root.join("a.rs")).unwrap().modified().unwrap();
        assert_eq!(changed, SystemTime::UNIX_EPOCH + Duration::from_secs(5));
        run("sed -i s/a/b/ b.rs", false);
        run("gofmt -w c.go", true);
        run("python3 -c \"print(open('d.py').read())\"", true);
        for untouched in ["b.rs", "c.go", "d.py"] {
            assert!(!scratch.root.join(untouched).exists(), "{untouched}");
        }
        run("cp a.rs f.rs", true);
        assert!(scratch.root.join("f.rs").is_file());
        run("mv a.rs e.rs", true);
        assert!(!scratch.root.join("a.rs").exists() && scratch.root.join("e.rs").exists());
        run("rm e.rs", true);
        assert!(!scratch.root.join("e.rs").exists());
    }
    /// All files and folders below one, with the content of files.
    fn list(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            assert!(!entry.is_symlink(), "{}", entry.display());
            if entry.is_dir() {
                found.extend(list(&entry));
            }
            found.insert(entry.clone(), fs::read(&entry).ok());
        }
        found
    }

    #[test]
    fn nothing_outside_of_the_folder_is_written_whatever_a_transcript_says() {
        let outside = tempfile::tempdir().unwrap();
        let victim = fs::canonicalize(outside.path()).unwrap();
        fs::write(victim.join("deploy.sh"), "mine").unwrap();
        fs::write(victim.join("old.sh"), "mine").unwrap();
        fs::create_dir(victim.join("kept")).unwrap();
        let before = list(&victim);
        let there = victim.to_str().unwrap();
        let up = "../".repeat(40);
        let long = "x".repeat(300);
        let roots = [
            "/w/shop".to_owned(),
            format!("/w/../{up}{there}/dir"),
            format!("/home/{up}{there}/dir/shop"),
            format!("/{up}"),
            "..".to_owned(),
            "/".to_owned(),
            String::new(),
            format!("/w/{long}"),
            "/w/a\0b".to_owned(),
            format!("{there}/kept"),
        ];
        for root in &roots {
            let mut scratch = Scratch::new(root).unwrap_or_else(|error| panic!("{root:?}: {error}"));
            assert!(scratch.root.starts_with(&scratch.base) && scratch.home.starts_with(&scratch.base));
            let here = scratch.root.to_str().unwrap().to_owned();
            let path = |path: &str| (path.to_owned(), Arc::from("theirs"));
            let odd = [
                format!("{up}{there}/deploy.sh"),
                format!("{there}/deploy.sh"),
                format!("a/../{up}{there}/new.sh"),
                format!("{long}.sh"),
                "a\0b.sh".to_owned(),
                "ok.sh/below.sh".to_owned(),
                ".git".to_owned(),
            ];
            let files = odd.iter().map(|odd| path(odd)).chain([path("ok.sh")]).collect();
            scratch.write_project(files).unwrap();
            assert_eq!(fs::read_to_string(scratch.root.join("ok.sh")).unwrap(), "theirs");
            for odd in &odd {
                scratch.note_edit(odd).unwrap();
                scratch.note_edit(&scratch.map_path(odd)).unwrap();
                let lines = [
                    format!("echo x > {odd}; cp ok.sh {odd}; tee {odd} < ok.sh"),
                    format!("mv ok.sh {odd}"),
                    format!("mv {odd} ok.sh"),
                    format!("rm -rf {odd} {up}{there} {there} ../../../.. .. / ~"),
                    format!("ln -s {there} link; echo x > link/deploy.sh; rm -rf link/old.sh"),
                    format!("git checkout {odd}"),
                ];
                for line in &lines {
                    scratch.note_run(line, &here, &here, true, Millis(5_000)).unwrap();
                }
            }
            scratch.write_project(BTreeMap::new()).unwrap();
            assert!(scratch.root.is_dir(), "{root}");
            list(&scratch.base);
            assert_eq!(list(&victim), before, "{root}");
        }
    }
}
