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
}

impl IgnoreBlock {
    /// For a file in the project's own folder.
    pub(crate) fn of_project(lines: impl IntoIterator<Item = String>) -> IgnoreBlock {
        IgnoreBlock { begin: BEGIN.to_owned(), lines: lines.into_iter().collect() }
    }

    /// For the repository's own file. `below` is the project's path below the top folder.
    pub(crate) fn of_repository(below: &str, lines: impl IntoIterator<Item = String>) -> IgnoreBlock {
        let prefix = if below.is_empty() { String::new() } else { format!("{}/", escape(below)) };
        let begin = if below.is_empty() { BEGIN.to_owned() } else { format!("{BEGIN} in {}", escape(below)) };
        IgnoreBlock { begin, lines: lines.into_iter().map(|line| format!("/{prefix}{line}")).collect() }
    }

    /// Adds or updates the block. `None` stands for no file.
    pub(crate) fn add(&self, text: Option<&str>) -> String {
        let Some(text) = text else { return self.render("\n") };
        if let Some((before, there, after)) = self.split(text) {
            return format!("{before}{}{after}", self.render(line_ending(there)));
        }
        let newline = line_ending(text);
        format!("{text}{newline}{}", self.render(newline))
    }

    /// Removes the block; `None` if there was nothing else.
    pub(crate) fn remove(&self, text: &str) -> Option<String> {
        let Some((before, there, after)) = self.split(text) else { return Some(text.to_owned()) };
        let Some(theirs) = before.strip_suffix(line_ending(there)) else {
            // A block at the very start: there was no file before.
            return (!after.is_empty()).then(|| after.to_owned());
        };
        let joins = !after.is_empty() && !theirs.is_empty() && !theirs.ends_with('\n');
        Some(format!("{}{after}", if joins { before } else { theirs }))
    }

    fn render(&self, newline: &str) -> String {
        let lines =
            [self.begin.as_str()].into_iter().chain(self.lines.iter().map(String::as_str)).chain([END]);
        lines.flat_map(|line| [line, newline]).collect()
    }

    /// Text before, in and after the block. Without its last line the block ends with the known entries.
    fn split<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str, &'t str)> {
        let lines = || {
            text.split_inclusive('\n').scan(0, |end, line| {
                let start = *end;
                *end += line.len();
                Some((start, *end, line.trim_end()))
            })
        };
        let (start, begin, _) = lines().find(|(_, _, line)| *line == self.begin)?;
        let inside = || lines().filter(|(start, _, _)| *start >= begin);
        let is_ours = |line: &str| self.lines.iter().any(|known| known == line);
        let end = inside()
            .find(|(_, _, line)| *line == END)
            .or_else(|| inside().take_while(|(_, _, line)| is_ours(line)).last())
            .map_or(begin, |(_, end, _)| end);
        Some((&text[..start], &text[start..end], &text[end..]))
    }
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
    fn an_earlier_block_is_brought_up_to_date_in_place() {
        let block = block();
        let earlier = format!("a\n\n{BEGIN}\n.claude/old\n{END}\nb\n");
        assert_eq!(block.add(Some(&earlier)), format!("a\n\n{}b\n", block.render("\n")));
        assert_eq!(block.remove(&earlier).as_deref(), Some("a\nb\n"));
    }

    #[test]
    fn projects_of_one_repository_have_their_own() {
        let of = |below: &str| IgnoreBlock::of_repository(below, [".claude/a".to_owned()]);
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
