//! The program itself: on PATH, behind its stable link, runnable, and of this version.

use std::fs;
use std::path::Path;

use crate::bilingual::{Bilingual, both};
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::program::{find_on_path, is_program, read_version};
use crate::shell::quote_path;

const VERSION: &str = concat!("tidegate ", env!("CARGO_PKG_VERSION"));

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    check_path(seen, found);
    let init = seen.callable(&seen.init_of_installed());
    let again = || {
        both!(
            "Run `{init}`: it points the link to this program.",
            "`{init}` を実行すると、リンクをこのプログラムに向けます。"
        )
    };
    match &seen.link {
        Some(link) if fs::symlink_metadata(link).is_ok() => match is_program(link) {
            Ok(()) => {
                let place = both!("Tidegate's link", "Tidegate のリンク");
                check_program(link, &place, again(), found);
            }
            Err(Bilingual { en, ja }) => {
                let link = link.display();
                found
                    .problem(
                        both!("Tidegate's link {link} {en}.", "Tidegate のリンク {link} {ja}。"),
                        again(),
                    )
                    .unless_caused_by(&["paths"]);
            }
        },
        // `init` writes the link into a person's settings; shared hooks look on PATH, too.
        Some(link) if seen.ours().any(|command| !command.selected) => {
            let link = link.display();
            found
                .warning(
                    both!("Tidegate's link {link} is missing.", "Tidegate のリンク {link} がありません。"),
                    again(),
                )
                .unless_caused_by(&["paths"]);
        }
        _ => {}
    }
    if found.is_empty() {
        found.ok(both!("{VERSION} is on PATH and runs.", "{VERSION} が PATH にあり、動作します。"));
    }
}

fn check_path(seen: &Gathered, found: &mut Findings) {
    match find_on_path(&seen.path, "tidegate") {
        None => {
            let text = both!(
                "Your shell does not find `tidegate`: it is not on PATH.",
                "`tidegate` が PATH にありません。"
            );
            found.warning(text, put_on_path(seen)).unless_caused_by(&["paths"]);
        }
        Some(path) if seen.is_in_project(&path) => {
            let path = path.display();
            found.warning(
                both!(
                    "`tidegate` on PATH is {path}, inside this project. A repository may have put it there, so it was not run.",
                    "PATH の `tidegate` はこのプロジェクトの中の {path} です。リポジトリのものかもしれないため、実行していません。"
                ),
                both!(
                    "Remove its folder from PATH, unless you put it there.",
                    "自分で追加したのでなければ、そのフォルダを PATH から外してください。"
                ),
            );
        }
        Some(path) => {
            let fix = match &seen.exe {
                Some(exe) => both!(
                    "Replace it with {exe}, or remove its folder from PATH.",
                    "{exe} に置き換えるか、そのフォルダを PATH から外してください。",
                    exe = quote_path(exe)
                ),
                None => both!(
                    "Install Tidegate again, or remove its folder from PATH.",
                    "Tidegate をインストールし直すか、そのフォルダを PATH から外してください。"
                ),
            };
            check_program(&path, &both!("first on PATH", "PATH の先頭"), fix, found);
        }
    }
}

/// Runs it: the person put it there.
fn check_program(path: &Path, place: &Bilingual, fix: Bilingual, found: &mut Findings) {
    let (path, version) = (path.display(), read_version(path));
    let Bilingual { en: place_en, ja: place_ja } = place;
    match version {
        Ok(text) if text == VERSION => {}
        Ok(text) => {
            found.warning(
                both!(
                    "{path} ({place_en}) is `{text}`, but this program is `{VERSION}`.",
                    "{path}（{place_ja}）は `{text}` ですが、このプログラムは `{VERSION}` です。"
                ),
                fix,
            );
        }
        Err(Bilingual { en, ja }) => {
            found.problem(both!("{path} ({place_en}) {en}.", "{path}（{place_ja}）{ja}。"), fix);
        }
    }
}

pub(crate) fn put_on_path(seen: &Gathered) -> Bilingual {
    let link = seen.link.as_deref().filter(|link| is_program(link).is_ok());
    match link.or(seen.exe.as_deref()).and_then(Path::parent) {
        Some(folder) => both!(
            "Run `export PATH={folder}:\"$PATH\"`, also in your shell's startup file.",
            "`export PATH={folder}:\"$PATH\"` を実行し、シェルの設定ファイルにも書いてください。",
            folder = quote_path(folder)
        ),
        None => both!("Add its folder to PATH.", "そのフォルダを PATH に追加してください。"),
    }
}
