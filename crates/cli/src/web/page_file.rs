//! Writes a page into a file that a person named. A slip of the hand must not cost a file: only a new one is written, and only
//! a page that Tidegate wrote is replaced.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use maud::Markup;
use tidegate_core::text::hidden::show_name;
use tidegate_state::file::{bounded, replace};

use super::document;
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::error::{CliError, io_words};
use crate::language;
use crate::print;
use crate::print::page::Page;

/// A new one is private: pages hold commands and words of conversations. `-` is stdout.
pub(crate) fn write(path: &Path, title: &Bilingual, body: &Markup) -> Outcome {
    let lang = language::current();
    let text = document::alone(lang, title.get(lang), body);
    if path == Path::new("-") {
        print::html(&text);
        return Ok(ExitCode::SUCCESS);
    }
    let shown = path.display().to_string();
    let shown = show_name(&shown);
    let written = find_target(path).and_then(|target| match target {
        Target::File(path) => {
            replace::durable_private(&path, text.as_bytes()).map_err(|error| io_words(&error))
        }
        #[cfg(unix)]
        Target::Pipe => write_to_pipe(path, &text),
    });
    written.map_err(|why| {
        let Bilingual { en, ja } = why;
        CliError::new(both!("cannot write {shown}: {en}", "{shown} に書き込めません: {ja}")).hint(both!(
            "name a new file in a folder of your own, or `-` for stdout; Tidegate replaces only pages that it wrote itself",
            "自分のフォルダの新しいファイルか、標準出力なら `-` を指定してください。Tidegate が置き換えるのは、自分で書いたページだけです"
        ))
    })?;
    Page::of(both!("Report written to {shown}", "レポートを {shown} に書きました")).print_to_stderr();
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, PartialEq)]
enum Target {
    /// Behind all links.
    File(PathBuf),
    #[cfg(unix)]
    Pipe,
}

fn find_target(path: &Path) -> Result<Target, Bilingual> {
    // Before its path is looked up: `/dev/fd/63` leads to a pipe without one.
    #[cfg(unix)]
    if fs::metadata(path).is_ok_and(|found| std::os::unix::fs::FileTypeExt::is_fifo(&found.file_type())) {
        return Ok(Target::Pipe);
    }
    let real = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(path).is_ok() {
                return Err(both!(
                    "it is a link to a file that is not there",
                    "リンク先のファイルがありません"
                ));
            }
            let new = std::path::absolute(path).map_err(|error| io_words(&error))?;
            if new.parent().is_some_and(|folder| !folder.is_dir()) {
                return Err(both!("its folder does not exist", "フォルダがありません"));
            }
            return Ok(Target::File(new));
        }
        found => found.map_err(|error| io_words(&error))?,
    };
    let found = fs::metadata(&real).map_err(|error| io_words(&error))?;
    if found.is_dir() {
        return Err(both!("it is a folder", "フォルダです"));
    }
    if !found.is_file() {
        return Err(both!("it is a device, not a file", "ファイルではなくデバイスです"));
    }
    if !is_own_page(&real) {
        return Err(both!(
            "the file exists, and Tidegate did not write it",
            "すでにあるファイルで、Tidegate が書いたものではありません"
        ));
    }
    if found.permissions().readonly() {
        return Err(both!("the file is read-only", "読み取り専用のファイルです"));
    }
    Ok(Target::File(real))
}

fn is_own_page(path: &Path) -> bool {
    document::BEGINNINGS.iter().any(|beginning| {
        let mut found = vec![0; beginning.len()];
        bounded::open(path).and_then(|mut file| file.read_exact(&mut found)).is_ok()
            && found == beginning.as_bytes()
    })
}

/// Without waiting for a program that reads it. One that went away is no error.
#[cfg(unix)]
fn write_to_pipe(path: &Path, text: &str) -> Result<(), Bilingual> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::{OFlags, fcntl_setfl};

    let mut options = fs::OpenOptions::new();
    options.write(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let mut pipe = match options.open(path) {
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
            return Err(both!(
                "it is a pipe, and no program reads from it",
                "パイプですが、読み取るプログラムがありません"
            ));
        }
        opened => opened.map_err(|error| io_words(&error))?,
    };
    fcntl_setfl(&pipe, OFlags::empty()).map_err(|error| io_words(&error.into()))?;
    match pipe.write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(io_words(&error)),
        _ => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_new_files_and_own_pages_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let at = |name: &str| root.join(name);
        let mark = document::BEGINNINGS[1];
        fs::write(at("own.html"), format!("{mark}<p>x")).unwrap();
        fs::write(at("read-only.html"), mark).unwrap();
        fs::set_permissions(at("read-only.html"), fs::Permissions::from_mode(0o444)).unwrap();
        fs::write(at("other.html"), "<!DOCTYPE html><html lang=\"en\"><head>").unwrap();
        fs::write(at("t.jsonl"), "{}\n").unwrap();
        fs::write(at("empty"), "").unwrap();
        for (link, to) in
            [("to-own", "own.html"), ("to-other", "t.jsonl"), ("dangling", "gone"), ("circle", "circle")]
        {
            symlink(to, at(link)).unwrap();
        }
        for (name, file) in [("new.html", "new.html"), ("own.html", "own.html"), ("to-own", "own.html")] {
            assert_eq!(find_target(&at(name)), Ok(Target::File(at(file))), "{name}");
        }
        for (name, why) in [
            ("", "a folder"),
            ("none/new.html", "its folder does not exist"),
            ("t.jsonl/new.html", "not a folder"),
            ("read-only.html", "read-only"),
            ("other.html", "did not write it"),
            ("t.jsonl", "did not write it"),
            ("empty", "did not write it"),
            ("to-other", "did not write it"),
            ("dangling", "a link to a file that is not there"),
            ("circle", "symbolic links"),
        ] {
            let refused = find_target(&at(name)).unwrap_err();
            assert!(refused.en.contains(why), "{name}: {refused:?}");
        }
        // As a shell writes `>(cat)`.
        let (_reader, writer) = io::pipe().unwrap();
        let named = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writer));
        assert_eq!(find_target(Path::new(&named)), Ok(Target::Pipe));
        assert!(find_target(Path::new("/dev/null")).unwrap_err().en.contains("a device"));
    }
}
