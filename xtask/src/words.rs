//! `cargo xtask words`: texts for people and models avoid words that readers stumbled over. `STYLE.md` has the list with what to
//! write instead.
//!
//! Looks at string literals of the program and at the documentation. What it cannot tell, a reader has to.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Done, Failure, While};
use crate::print;
use crate::workspace;

/// As whole words, in any case.
const AVOIDED: [&str; 26] = [
    "mend",
    "mends",
    "mended",
    "mending",
    "cure",
    "cures",
    "nobody",
    "somebody",
    "of ours",
    "so many",
    "beside",
    "go on",
    "goes on",
    "let through",
    "lets through",
    "stands in",
    "in the field",
    "is told",
    "are told",
    "is held",
    "are held",
    "was held",
    "were held",
    "had the agent",
    "let go of",
    "lets go of",
];

/// Documentation that is not for readers of today.
const HISTORY: [&str; 2] = ["CHANGELOG.md", "written_by"];

/// Programs whose texts people and models read.
const PROGRAMS: [&str; 5] = ["core", "state", "hook", "memory", "cli"];

pub(crate) fn check() -> Done {
    let root = workspace::root();
    let mut found = Vec::new();
    let mut files = 0;
    for program in PROGRAMS {
        let folder = root.join("crates").join(program).join("src");
        for file in find_files(&folder, "rs")? {
            let text = fs::read_to_string(&file).while_(file.display())?;
            if !is_test(&file) {
                report(&file, sentences(&text), &mut found);
            }
            files += 1;
        }
    }
    for file in find_files(&root.join("docs"), "md")?
        .into_iter()
        .chain(find_files(&root.join("plugin"), "md")?)
        .chain([root.join("README.md"), root.join("SECURITY.md"), root.join("CONTRIBUTING.md")])
    {
        let text = fs::read_to_string(&file).while_(file.display())?;
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.to_owned())).collect();
        if !HISTORY.iter().any(|name| file.to_string_lossy().contains(name)) {
            report(&file, lines, &mut found);
        }
        files += 1;
    }
    if found.is_empty() {
        print::line(&format!("    {files} files"));
        return Ok(());
    }
    Err(Failure::new(format!("{} texts with words to avoid:\n{}", found.len(), found.join("\n")))
        .next("write it with the words of STYLE.md"))
}

fn report(file: &Path, texts: Vec<(usize, String)>, found: &mut Vec<String>) {
    let name = file.strip_prefix(workspace::root()).unwrap_or(file);
    for (line, text) in texts {
        for word in avoided_words(&text) {
            found.push(format!("  {}:{line}: `{word}` in: {}", name.display(), text.trim()));
        }
    }
}

fn is_test(file: &Path) -> bool {
    file.iter().any(|part| part == "tests" || part == "tests.rs")
}

fn find_files(folder: &Path, extension: &str) -> Done<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).while_(folder.display())? {
        let path = entry.while_(folder.display())?.path();
        if path.is_dir() {
            files.extend(find_files(&path, extension)?);
        } else if path.extension().is_some_and(|end| end == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn avoided_words(text: &str) -> Vec<&'static str> {
    let text = text.to_lowercase();
    let is_word = |word: &str| {
        text.match_indices(word).any(|(at, _)| {
            let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
            let before = text[..at].chars().next_back().is_some_and(letter);
            !before && !text[at + word.len()..].chars().next().is_some_and(letter)
        })
    };
    let mut words: Vec<&str> = AVOIDED.into_iter().filter(|word| is_word(word)).collect();
    // "there is no file" and "no longer" are fine, "is no file" is not.
    let no = text.match_indices("is no ").any(|(at, _)| {
        let whole = text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        whole && !text[..at].trim_end().ends_with("there") && !text[at..].starts_with("is no longer")
    });
    words.extend(no.then_some("is no"));
    words
}

/// String literals of at least three words outside of tests, with their lines. Words for maintainers (`expect`, reasons of
/// attributes) do not count.
fn sentences(source: &str) -> Vec<(usize, String)> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut sentences = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '\'' if rest.starts_with("'\"'") => 3,
            '\'' if rest.starts_with("'\\\"'") => 4,
            '"' => {
                let end = literal_end(rest);
                let before = &source[..source.len() - rest.len()];
                let for_maintainers =
                    ["expect(", "reason = ", "panic!("].iter().any(|word| before.ends_with(word));
                let text = rest[1..end - 1].split("\\\n").map(str::trim_start).collect::<String>();
                if !for_maintainers && text.split_whitespace().count() >= 3 {
                    sentences.push((line, text));
                }
                end
            }
            c => c.len_utf8(),
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    sentences
}

/// Behind the closing quote.
fn literal_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_as_words() {
        assert_eq!(avoided_words("Mend it; nobody is told."), ["mend", "nobody", "is told"]);
        assert_eq!(avoided_words("besides, a recommendation of amendments"), Vec::<&str>::new());
        assert_eq!(avoided_words("`x` is no file"), ["is no"]);
        assert_eq!(avoided_words("there is no file, and it is no longer true"), Vec::<&str>::new());
    }

    #[test]
    fn only_texts_of_the_program_are_read() {
        let source = "// \"a comment with mend\"\nlet a = \"one two \\\n     three\";\nlet b = '\"';\n\
                      x.expect(\"a b c d\");\nlet c = \"short one\";\n#[cfg(test)]\nmod tests { \"x y z\" }";
        assert_eq!(sentences(source), [(2, "one two three".to_owned())]);
    }
}
