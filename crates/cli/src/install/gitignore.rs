//! Tidegate's block in a project's `.gitignore`: text in, text out.
//!
//! The block has the file's line endings and is set off by exactly one added line break, so removing it restores the
//! file to the byte, with or without a line break at its end.

use crate::host::claude_code::IGNORED;

const BEGIN: &str = "# tidegate: what runs leave behind";
const END: &str = "# tidegate: end";

/// Adds or updates the block. `None` stands for no file.
pub(crate) fn add_block(text: Option<&str>) -> String {
    let Some(text) = text else { return render_block("\n") };
    if let Some((before, there, after)) = split_at_block(text) {
        return format!("{before}{}{after}", render_block(line_ending(there)));
    }
    let newline = line_ending(text);
    format!("{text}{newline}{}", render_block(newline))
}

/// Removes the block; `None` if there was nothing else.
pub(crate) fn remove_block(text: &str) -> Option<String> {
    let Some((before, there, after)) = split_at_block(text) else { return Some(text.to_owned()) };
    let Some(theirs) = before.strip_suffix(line_ending(there)) else {
        // A block at the very start: there was no file before.
        return (!after.is_empty()).then(|| after.to_owned());
    };
    let joins = !after.is_empty() && !theirs.is_empty() && !theirs.ends_with('\n');
    Some(format!("{}{after}", if joins { before } else { theirs }))
}

fn render_block(newline: &str) -> String {
    let lines = [BEGIN].into_iter().chain(IGNORED).chain([END]);
    lines.flat_map(|line| [line, newline]).collect()
}

fn line_ending(text: &str) -> &'static str {
    if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" }
}

/// Text before, in and after the block. Without its last line the block ends with the known entries.
fn split_at_block(text: &str) -> Option<(&str, &str, &str)> {
    let lines = || {
        text.split_inclusive('\n').scan(0, |end, line| {
            *end += line.len();
            Some((*end, line.trim_end()))
        })
    };
    let begin = lines().find(|(_, line)| *line == BEGIN).map(|(end, _)| end)?;
    let start = text[..begin].rfind(BEGIN)?;
    let inside = || lines().filter(|(end, _)| *end > begin);
    let end = inside()
        .find(|(_, line)| *line == END)
        .map(|(end, _)| end)
        .or_else(|| inside().take_while(|(_, line)| IGNORED.contains(line)).last().map(|(end, _)| end));
    let end = end.unwrap_or(begin);
    Some((&text[..start], &text[start..end], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_is_there_once_and_goes_again() {
        let new = add_block(None);
        assert_eq!(add_block(Some(&new)), new);
        assert_eq!(remove_block(&new), None);
        for text in
            ["", "\n", "target", "target\n", "target\n\n", "a\r\nb\r\n", "a\r\nb", "a\r", "\r\n", "# x\n"]
        {
            let with = add_block(Some(text));
            assert_eq!(add_block(Some(&with)), with, "{text:?}");
            assert!(with.contains(".claude/context/*.json"), "{with}");
            assert_eq!(remove_block(&with).as_deref(), Some(text), "{with:?}");
            assert_eq!(remove_block(text).as_deref(), Some(text));
        }
        assert_eq!(add_block(Some("a\r\n")).matches("\r\n").count(), 2 + 9);
    }

    #[test]
    fn what_came_later_stays() {
        for (before, left) in [("a", "a\nlater\n"), ("a\n", "a\nlater\n"), ("", "later\n")] {
            let edited = format!("{}later\n", add_block(Some(before)));
            assert_eq!(remove_block(&edited).as_deref(), Some(left));
            assert_eq!(add_block(Some(&edited)), edited);
        }
        assert_eq!(remove_block(&format!("{}later\n", add_block(None))).as_deref(), Some("later\n"));
        let without_end = add_block(Some("a\n")).replace("# tidegate: end\n", "theirs\n");
        assert_eq!(remove_block(&without_end).as_deref(), Some("a\ntheirs\n"));
    }

    #[test]
    fn an_earlier_block_is_brought_up_to_date_in_place() {
        let earlier = format!("a\n\n{BEGIN}\n.claude/old\n{END}\nb\n");
        assert_eq!(add_block(Some(&earlier)), format!("a\n\n{}b\n", render_block("\n")));
        assert_eq!(remove_block(&earlier).as_deref(), Some("a\nb\n"));
    }

    proptest! {
        #[test]
        fn removing_undoes_adding(text in "([a-z# ]{0,3}(\r?\n|\r)?){0,6}") {
            prop_assert_eq!(remove_block(&add_block(Some(&text))), Some(text));
        }
    }
}
