//! Tidegate's block in a file with patterns for git, `.gitignore` or `.git/info/exclude`: text in, text out.
//!
//! The block has the file's line endings and is set off by exactly one added line break, so removing it restores the
//! file to the byte, with or without a line break at its end.

const BEGIN: &str = "# tidegate: what runs leave behind";
const END: &str = "# tidegate: end";

/// The patterns of one project. Several projects of a repository share its exclude file, each with its own block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IgnoreBlock {
    begin: String,
    lines: Vec<String>,
    /// Lines that an earlier install, or another choice of skills, may have written.
    earlier: Vec<String>,
}

impl IgnoreBlock {
    /// For a file in the project's own folder.
    pub(crate) fn of_project(lines: impl IntoIterator<Item = String>) -> IgnoreBlock {
        IgnoreBlock { begin: BEGIN.to_owned(), lines: lines.into_iter().collect(), earlier: Vec::new() }
    }

    /// For the repository's own file. `below` is the project's path below the top folder.
    pub(crate) fn of_repository(
        below: &str,
        lines: impl IntoIterator<Item = String>,
        earlier: impl IntoIterator<Item = String>,
    ) -> IgnoreBlock {
        let prefix = if below.is_empty() { String::new() } else { format!("{}/", escape(below)) };
        let begin = if below.is_empty() { BEGIN.to_owned() } else { format!("{BEGIN} in {}", escape(below)) };
        let of = |line: String| format!("/{prefix}{line}");
        let (lines, earlier) = (lines.into_iter().map(of).collect(), earlier.into_iter().map(of).collect());
        IgnoreBlock { begin, lines, earlier }
    }

    /// Adds or updates the block. `None` stands for no file.
    pub(crate) fn add(&self, text: Option<&str>) -> String {
        let Some(text) = text else { return self.render("\n") };
        if let Some(found) = self.find(text) {
            let block = self.render(line_ending(&text[found.start..]));
            return format!("{}{block}{}{}", &text[..found.start], found.theirs, &text[found.end..]);
        }
        let newline = line_ending(text);
        format!("{text}{newline}{}", self.render(newline))
    }

    /// Removes the block; `None` if there was nothing else.
    pub(crate) fn remove(&self, text: &str) -> Option<String> {
        let Some(found) = self.find(text) else { return Some(text.to_owned()) };
        let before = &text[..found.start];
        let after = format!("{}{}", found.theirs, &text[found.end..]);
        let Some(theirs) = before.strip_suffix(line_ending(&text[found.start..])) else {
            // A block at the very start: there was no file before.
            return (!after.is_empty()).then_some(after);
        };
        let joins = !after.is_empty() && !theirs.is_empty() && !theirs.ends_with('\n');
        Some(format!("{}{after}", if joins { before } else { theirs }))
    }

    fn render(&self, newline: &str) -> String {
        let lines =
            [self.begin.as_str()].into_iter().chain(self.lines.iter().map(String::as_str)).chain([END]);
        lines.flat_map(|line| [line, newline]).collect()
    }

    /// A block ends with its last line or before the next block. Without its last line it is as long as its known lines.
    fn find(&self, text: &str) -> Option<FoundBlock> {
        let lines = || {
            text.split_inclusive('\n').scan(0, |end, line| {
                let start = *end;
                *end += line.len();
                Some((start, *end, line.trim_end()))
            })
        };
        let (start, begin, _) = lines().find(|(_, _, line)| *line == self.begin)?;
        let inside =
            || lines().skip_while(|(start, _, _)| *start < begin).take_while(|(_, _, line)| !is_begin(line));
        let is_known = |line: &str| self.lines.iter().chain(&self.earlier).any(|known| known == line);
        let Some((last, end, _)) = inside().find(|(_, _, line)| *line == END) else {
            let known = inside().take_while(|(_, _, line)| is_known(line));
            return Some(FoundBlock {
                start,
                end: known.last().map_or(begin, |it| it.1),
                theirs: String::new(),
            });
        };
        let theirs =
            inside().take_while(|(start, _, _)| *start < last).filter(|(_, _, line)| !is_known(line));
        let theirs = theirs.map(|(start, end, _)| &text[start..end]).collect();
        Some(FoundBlock { start, end, theirs })
    }
}

struct FoundBlock {
    start: usize,
    end: usize,
    /// Lines in it that a person added.
    theirs: String,
}

fn is_begin(line: &str) -> bool {
    line.strip_prefix(BEGIN).is_some_and(|rest| rest.is_empty() || rest.starts_with(" in "))
}

/// As git takes it literally.
fn escape(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | '\\' | ' ') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn line_ending(text: &str) -> &'static str {
    if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block() -> IgnoreBlock {
        IgnoreBlock::of_project([".claude/a", ".claude/context/*.json"].map(str::to_owned))
    }

    #[test]
    fn it_is_there_once_and_goes_again() {
        let block = block();
        let new = block.add(None);
        assert_eq!(block.add(Some(&new)), new);
        assert_eq!(block.remove(&new), None);
        for text in
            ["", "\n", "target", "target\n", "target\n\n", "a\r\nb\r\n", "a\r\nb", "a\r", "\r\n", "# x\n"]
        {
            let with = block.add(Some(text));
            assert_eq!(block.add(Some(&with)), with, "{text:?}");
            assert!(with.contains(".claude/context/*.json"), "{with}");
            assert_eq!(block.remove(&with).as_deref(), Some(text), "{with:?}");
            assert_eq!(block.remove(text).as_deref(), Some(text));
        }
        assert_eq!(block.add(Some("a\r\n")).matches("\r\n").count(), 2 + 4);
    }

    #[test]
    fn what_came_later_stays() {
        let block = block();
        for (before, left) in [("a", "a\nlater\n"), ("a\n", "a\nlater\n"), ("", "later\n")] {
            let edited = format!("{}later\n", block.add(Some(before)));
            assert_eq!(block.remove(&edited).as_deref(), Some(left));
            assert_eq!(block.add(Some(&edited)), edited);
        }
        assert_eq!(block.remove(&format!("{}later\n", block.add(None))).as_deref(), Some("later\n"));
        let without_end = block.add(Some("a\n")).replace("# tidegate: end\n", "theirs\n");
        assert_eq!(block.remove(&without_end).as_deref(), Some("a\ntheirs\n"));
    }

    #[test]
    fn lines_in_the_block_that_are_not_known_stay() {
        let block = block();
        let edited = block.add(Some("a\n")).replace(".claude/a\n", ".claude/a\nsecrets.env\n");
        assert_eq!(block.remove(&edited).as_deref(), Some("a\nsecrets.env\n"));
        let updated = block.add(Some(&edited));
        assert_eq!(updated, format!("a\n\n{}secrets.env\n", block.render("\n")));
        assert_eq!(block.add(Some(&updated)), updated);
    }

    /// The next last line in the file is another block's.
    #[test]
    fn a_block_without_its_last_line_ends_before_the_next_block() {
        let of = |below: &str| IgnoreBlock::of_repository(below, [".claude/a".to_owned()], []);
        let (top, app) = (of(""), of("app"));
        let torn = top.add(Some("a\n")).replace(&format!("{END}\n"), "secrets.env\n");
        let both = app.add(Some(&torn));
        assert_eq!(top.remove(&both), Some(app.add(Some("a\nsecrets.env\n"))));
        let repaired = top.add(Some(&both));
        assert_eq!(repaired, app.add(Some(&format!("{}secrets.env\n", top.add(Some("a\n"))))));
    }

    #[test]
    fn an_earlier_block_is_brought_up_to_date_in_place() {
        let block = IgnoreBlock { earlier: vec![".claude/old".to_owned()], ..block() };
        let earlier = format!("a\n\n{BEGIN}\n.claude/old\n{END}\nb\n");
        assert_eq!(block.add(Some(&earlier)), format!("a\n\n{}b\n", block.render("\n")));
        assert_eq!(block.remove(&earlier).as_deref(), Some("a\nb\n"));
    }

    #[test]
    fn projects_of_one_repository_have_their_own() {
        let of = |below: &str| IgnoreBlock::of_repository(below, [".claude/a".to_owned()], []);
        let (top, app, odd) = (of(""), of("app"), of("app/a [b]"));
        let all = odd.add(Some(&app.add(Some(&top.add(Some("theirs\n"))))));
        for line in ["/.claude/a", "/app/.claude/a", r"/app/a\ \[b]/.claude/a"] {
            assert!(all.lines().any(|there| there == line), "{all}");
        }
        let left = app.remove(&all).unwrap();
        assert!(!left.contains("\n/app/.claude") && left.contains("a\\ \\[b]"), "{left}");
        assert_eq!(odd.remove(&top.remove(&left).unwrap()).as_deref(), Some("theirs\n"));
    }

    proptest! {
        #[test]
        fn removing_undoes_adding(text in "([a-z# ]{0,3}(\r?\n|\r)?){0,6}") {
            prop_assert_eq!(block().remove(&block().add(Some(&text))), Some(text));
        }
    }
}
