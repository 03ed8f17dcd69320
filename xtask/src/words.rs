//! `cargo xtask words`: texts for people and models avoid words and forms that readers stumbled over. `STYLE.md` says what to
//! write instead.
//!
//! Looks at string literals of the program and at the documentation. What it cannot tell, a reader has to.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Done, Failure, While};
use crate::print;
use crate::workspace;

/// Whole words, in any case.
const AVOIDED: [&str; 34] = [
    "mend",
    "mends",
    "mended",
    "mending",
    "cure",
    "cures",
    "nobody",
    "nobody's",
    "somebody",
    "somebody's",
    "of ours",
    "so many",
    "beside",
    "go on",
    "goes on",
    "let through",
    "lets through",
    "stand in",
    "stands in",
    "in the field",
    "is told",
    "are told",
    "was told",
    "were told",
    "is held",
    "are held",
    "was held",
    "were held",
    "hold back",
    "holds back",
    "held back",
    "had the agent",
    "let go of",
    "lets go of",
];

/// Words of the code that the documentation has other words for.
const OF_THE_CODE: [&str; 8] =
    ["relay", "relays", "unpromoted", "flow", "stock", "key fact", "key facts", "verdict"];

/// Names of levels, which have no percentage.
const LEVELS: [&str; 4] = ["level", "levels", "early", "late"];

/// A longer sentence has to be read twice. Words in backticks count as one.
const LONGEST_SENTENCE: usize = 40;

/// Programs whose texts people and models read.
const PROGRAMS: [&str; 5] = ["core", "state", "hook", "memory", "cli"];

const PAGES: [&str; 4] = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"];

pub(crate) fn check() -> Done {
    let root = workspace::root();
    let (mut found, mut files) = (Vec::new(), 0);
    for program in PROGRAMS {
        let folder = root.join("crates").join(program).join("src");
        for file in find_files(&folder, "rs")?.into_iter().filter(|file| !is_test(file)) {
            let text = fs::read_to_string(&file).while_(file.display())?;
            for (line, text) in literals(&text) {
                for sentence in split_sentences(&text) {
                    let forms = avoided_forms(sentence);
                    found.extend(forms.iter().map(|form| describe(&file, line, form, sentence)));
                }
            }
            files += 1;
        }
    }
    let mut pages = find_files(&root.join("docs"), "md")?;
    pages.extend(find_files(&root.join("plugin"), "md")?);
    pages.extend(PAGES.map(|name| root.join(name)));
    for file in pages {
        let text = fs::read_to_string(&file).while_(file.display())?;
        for passage in passages(of_today(&text)) {
            let forms = passage.avoided_forms();
            found.extend(forms.iter().map(|(form, sentence)| describe(&file, passage.line, form, sentence)));
        }
        files += 1;
    }
    if found.is_empty() {
        print::line(&format!("    {files} files"));
        return Ok(());
    }
    Err(Failure::new(format!("{} texts to write in other words:\n{}", found.len(), found.join("\n")))
        .next("STYLE.md, \"Words to avoid\", says what to write instead"))
}

fn describe(file: &Path, line: usize, form: &str, sentence: &str) -> String {
    let name = file.strip_prefix(workspace::root()).unwrap_or(file).display();
    let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("  {name}:{line}: {form} in: {sentence}")
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

/// Leaves out what a changelog says of versions that were released.
fn of_today(text: &str) -> &str {
    let is_changelog = text.starts_with("# Changelog\n");
    let released = text.match_indices("\n## ").nth(1).filter(|_| is_changelog);
    released.map_or(text, |(at, _)| &text[..at])
}

/// A part of a page that is read in one go.
#[derive(Debug, PartialEq)]
struct Passage {
    line: usize,
    text: String,
    /// Not a heading, and not code.
    is_prose: bool,
}

impl Passage {
    /// Each with its sentence.
    fn avoided_forms(&self) -> Vec<(String, &str)> {
        let mut all = Vec::new();
        for sentence in split_sentences(&self.text) {
            let (plain, mut forms) = (plain_text(sentence), avoided_forms(sentence));
            forms.extend(OF_THE_CODE.into_iter().filter(|word| has_word(&plain, word)).map(quote));
            let words = count_words(&plain);
            if self.is_prose && words > LONGEST_SENTENCE {
                forms.push(format!("{words} words"));
            }
            all.extend(forms.into_iter().map(|form| (form, sentence)));
        }
        all
    }
}

/// Paragraphs, items of lists, cells of tables and headings; code line by line.
fn passages(page: &str) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let (mut in_code, mut continues) = (false, false);
    for (at, line) in page.lines().enumerate() {
        let (line, text) = (at + 1, line.trim());
        let is_fence = text.starts_with("```");
        in_code ^= is_fence;
        let starts_item = text.starts_with("- ") || text.split_once(". ").is_some_and(|(n, _)| is_number(n));
        let new = |text: &str, is_prose| Passage { line, text: text.to_owned(), is_prose };
        match passages.last_mut() {
            _ if is_fence || text.is_empty() => {}
            _ if in_code => passages.push(new(text, false)),
            _ if text.starts_with('#') => passages.push(new(text, false)),
            _ if text.starts_with('|') => passages.extend(text.split('|').map(|cell| new(cell.trim(), true))),
            Some(last) if continues && !starts_item => {
                last.text.push(' ');
                last.text.push_str(text);
            }
            _ => passages.push(new(text, true)),
        }
        continues = !(is_fence || in_code || text.is_empty() || text.starts_with(['#', '|']));
    }
    passages.retain(|passage| !passage.text.is_empty());
    passages
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// With `x` for each part in backticks, and without the targets of links.
fn plain_text(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let plain: String = parts.map(|(at, part)| if at % 2 == 1 { "x" } else { part }).collect();
    let mut parts = plain.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or(part, |(_, rest)| rest))
}

fn split_sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, mark) in text.match_indices(['.', '?', '!']) {
        let end = at + mark.len();
        // Brackets, quotes and emphasis close after the mark.
        let rest = text[end..].trim_start_matches(['"', ')', '*', '”']);
        if rest.is_empty() || rest.starts_with(char::is_whitespace) {
            let end = text.len() - rest.len();
            sentences.push(text[start..end].trim());
            start = end;
        }
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

fn count_words(text: &str) -> usize {
    text.split_whitespace().filter(|part| part.contains(char::is_alphanumeric)).count()
}

fn quote(word: &str) -> String {
    format!("`{word}`")
}

/// Of one sentence.
fn avoided_forms(text: &str) -> Vec<String> {
    let mut forms: Vec<String> = AVOIDED.into_iter().filter(|word| has_word(text, word)).map(quote).collect();
    forms.extend(negated_verb(text).map(quote));
    forms.extend(has_level_in_percent(text).then(|| "`%` as the name of a level".to_owned()));
    forms.extend(clause_as_subject(text).map(|word| format!("a clause with `{word}` as the subject")));
    forms
}

fn has_word(text: &str, word: &str) -> bool {
    let text = text.to_lowercase();
    text.match_indices(word).any(|(at, _)| {
        let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let before = text[..at].chars().next_back().is_some_and(letter);
        !before && !text[at + word.len()..].chars().next().is_some_and(letter)
    })
}

/// "There is no file" and "no longer" are fine, "is no file" is not.
fn negated_verb(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    ["is no", "are no", "was no", "were no"].into_iter().find(|form| {
        text.match_indices(&format!("{form} ")).any(|(at, found)| {
            let before = text[..at].trim_end();
            let is_whole = text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
            let is_fine = ["longer", "more", "less", "fewer"]
                .into_iter()
                .any(|word| text[at + found.len()..].starts_with(word));
            is_whole && !before.ends_with("there") && !is_fine
        })
    })
}

/// A value in quotes is what a person types.
fn has_level_in_percent(text: &str) -> bool {
    let plain: String = plain_text(text).split('"').step_by(2).collect();
    let is_percentage = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '%');
        word.strip_suffix('%').is_some_and(is_number)
    };
    let words: Vec<&str> = plain.split_whitespace().collect();
    let named = LEVELS.into_iter().any(|level| has_word(&plain, level));
    let from_on = |w: &[&str]| w[0] == "from" && is_percentage(w[1]) && w[2].starts_with("on");
    words.windows(3).any(from_on) || (named && words.iter().any(|word| is_percentage(word)))
}

/// "What you changed stays." and the like.
fn clause_as_subject(sentence: &str) -> Option<&'static str> {
    let sentence = sentence.trim_start_matches(['*', '-', ' ']);
    let is_statement = sentence.ends_with('.') || sentence.ends_with(".**");
    let first = sentence.split_whitespace().next()?;
    ["What", "Who", "Whoever", "Whatever"].into_iter().find(|word| is_statement && first == *word)
}

/// String literals of at least three words outside of tests, with their lines. Words for maintainers (`expect`, reasons of
/// attributes) do not count.
fn literals(source: &str) -> Vec<(usize, String)> {
    let source = &source[..find_tests(source)];
    let mut literals = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '\'' if rest.starts_with("'\"'") => 3,
            '\'' if rest.starts_with("'\\\"'") => 4,
            '"' => {
                let end = literal_end(rest);
                let before = &source[..source.len() - rest.len()];
                let for_maintainers = ["expect(", "reason = ", "panic!(", "WordList = "]
                    .iter()
                    .any(|word| before.ends_with(word));
                let text = rest[1..end - 1].split("\\\n").map(str::trim_start).collect::<String>();
                if !for_maintainers && text.split_whitespace().count() >= 3 {
                    literals.push((line, text));
                }
                end
            }
            c => c.len_utf8(),
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    literals
}

/// Where the tests in this file begin: after an attribute, a block and not a name.
fn find_tests(source: &str) -> usize {
    let attributes = source.match_indices("#[cfg(test)]").chain(source.match_indices("#[cfg(all(test,"));
    let is_block = |at: &usize| {
        let rest = &source[*at..];
        rest.find('{').is_some_and(|block| rest.find(';').is_none_or(|name| block < name))
    };
    attributes.map(|(at, _)| at).filter(is_block).min().unwrap_or(source.len())
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

    fn passage(line: usize, text: &str, is_prose: bool) -> Passage {
        Passage { line, text: text.to_owned(), is_prose }
    }

    #[test]
    fn words_are_found_as_words() {
        assert_eq!(avoided_forms("Mend it; nobody is told."), ["`mend`", "`nobody`", "`is told`"]);
        assert_eq!(avoided_forms("besides, a recommendation of amendments"), Vec::<String>::new());
    }

    #[test]
    fn no_is_not_a_predicate() {
        assert_eq!(avoided_forms("`x` is no file"), ["`is no`"]);
        assert_eq!(avoided_forms("these are no folders"), ["`are no`"]);
        assert_eq!(avoided_forms("there is no file, and it is no longer true"), Vec::<String>::new());
    }

    #[test]
    fn a_percentage_does_not_name_a_level() {
        for wrong in ["The level of 80% warns.", "Agents are blocked from 85% on.", "late (95%)"] {
            assert_eq!(avoided_forms(wrong), ["`%` as the name of a level"], "{wrong}");
        }
        for right in
            ["43% of 200k tokens are used", "`early = \"75%\"` is a level", "write \"75%\" for a level"]
        {
            assert_eq!(avoided_forms(right), Vec::<String>::new(), "{right}");
        }
    }

    #[test]
    fn a_clause_is_not_a_subject() {
        for wrong in ["What you changed stays.", "**Who asks gets it.**"] {
            assert_eq!(avoided_forms(wrong).len(), 1, "{wrong}");
        }
        for right in ["What is stored where", "What now?", "Say what you changed."] {
            assert_eq!(avoided_forms(right), Vec::<String>::new(), "{right}");
        }
    }

    #[test]
    fn code_and_links_are_not_read() {
        assert_eq!(plain_text("see `a b` in [c](d/relay.md#x), [e](f)"), "see x in [c, [e");
    }

    #[test]
    fn pages_are_read_as_they_are_shown() {
        let page = "# A page\n\nOne\n  two.\n- three\n- four\n\n```text\nfive\nsix\n```\n| a | b |\n";
        let expected = [
            passage(1, "# A page", false),
            passage(3, "One two.", true),
            passage(5, "- three", true),
            passage(6, "- four", true),
            passage(9, "five", false),
            passage(10, "six", false),
            passage(12, "a", true),
            passage(12, "b", true),
        ];
        assert_eq!(passages(page), expected);
    }

    #[test]
    fn sentences_of_a_page_are_short() {
        let words = |n: usize| vec!["word"; n].join(" ");
        let forms = |text: String| {
            let passage = passage(1, &text, true);
            passage.avoided_forms().into_iter().map(|(form, _)| form).collect::<Vec<String>>()
        };
        assert_eq!(forms(format!("{}. {}.", words(40), words(40))), Vec::<String>::new());
        assert_eq!(forms(words(41)), ["41 words"]);
        assert_eq!(forms(format!("{} `{}`", words(39), words(9))), Vec::<String>::new());
    }

    #[test]
    fn released_versions_are_history() {
        let log = "# Changelog\n\n## 2\n\nnew\n\n## 1\n\nold\n";
        assert_eq!(of_today(log), "# Changelog\n\n## 2\n\nnew\n");
        assert_eq!(of_today("# Page\n\n## 2\n\n## 1\n"), "# Page\n\n## 2\n\n## 1\n");
    }

    #[test]
    fn only_texts_of_the_program_are_read() {
        let source = "// \"a comment with mend\"\nlet a = \"one two \\\n     three\";\nlet b = '\"';\n\
                      x.expect(\"a b c d\");\nlet c = \"short one\";\n#[cfg(test)]\nmod tests { \"x y z\" }";
        assert_eq!(literals(source), [(2, "one two three".to_owned())]);
    }

    #[test]
    fn the_style_guide_has_every_word() {
        let guide = fs::read_to_string(workspace::root().join("STYLE.md")).expect("STYLE.md");
        let (_, list) = guide.split_once("## Words to avoid").expect("the section");
        for word in AVOIDED.into_iter().chain(OF_THE_CODE) {
            assert!(has_word(list, word), "{word}");
        }
    }
}
