//! Our block in a project's `.gitignore`: what runs leave behind. Text in, text out.
//!
//! The block ends every line as the file does and is set off by exactly one line break of ours, so taking it out gives
//! the file back to the byte, with or without a line break at its end.

use crate::host::claude_code::IGNORED;

const BEGIN: &str = "# tidegate: what runs leave behind";
const END: &str = "# tidegate: end";

/// The file with our block. `None` stands for no file.
pub(crate) fn install(text: Option<&str>) -> String {
    let Some(text) = text else { return block("\n") };
    if let Some((before, there, after)) = parts(text) {
        return format!("{before}{}{after}", block(newline(there)));
    }
    let newline = newline(text);
    format!("{text}{newline}{}", block(newline))
}

/// The file without our block; `None` when it was ours alone.
pub(crate) fn uninstall(text: &str) -> Option<String> {
    let Some((before, there, after)) = parts(text) else { return Some(text.to_owned()) };
    let Some(theirs) = before.strip_suffix(newline(there)) else {
        // Ours began the file: there was none.
        return (!after.is_empty()).then(|| after.to_owned());
    };
    let joins = !after.is_empty() && !theirs.is_empty() && !theirs.ends_with('\n');
    Some(format!("{}{after}", if joins { before } else { theirs }))
}

fn block(newline: &str) -> String {
    let lines = [BEGIN].into_iter().chain(IGNORED).chain([END]);
    lines.flat_map(|line| [line, newline]).collect()
}

fn newline(text: &str) -> &'static str {
    if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" }
}

/// What stands before, in and after our block. Without its last line it ends where our entries do.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
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
        let new = install(None);
        assert_eq!(install(Some(&new)), new);
        assert_eq!(uninstall(&new), None);
        for text in
            ["", "\n", "target", "target\n", "target\n\n", "a\r\nb\r\n", "a\r\nb", "a\r", "\r\n", "# x\n"]
        {
            let with = install(Some(text));
            assert_eq!(install(Some(&with)), with, "{text:?}");
            assert!(with.contains(".claude/context/*.json"), "{with}");
            assert_eq!(uninstall(&with).as_deref(), Some(text), "{with:?}");
            assert_eq!(uninstall(text).as_deref(), Some(text));
        }
        assert_eq!(install(Some("a\r\n")).matches("\r\n").count(), 2 + 9);
    }

    #[test]
    fn what_came_later_stays() {
        for (before, left) in [("a", "a\nlater\n"), ("a\n", "a\nlater\n"), ("", "later\n")] {
            let edited = format!("{}later\n", install(Some(before)));
            assert_eq!(uninstall(&edited).as_deref(), Some(left));
            assert_eq!(install(Some(&edited)), edited);
        }
        assert_eq!(uninstall(&format!("{}later\n", install(None))).as_deref(), Some("later\n"));
        let without_end = install(Some("a\n")).replace("# tidegate: end\n", "theirs\n");
        assert_eq!(uninstall(&without_end).as_deref(), Some("a\ntheirs\n"));
    }

    #[test]
    fn an_earlier_block_is_brought_up_to_date_in_place() {
        let earlier = format!("a\n\n{BEGIN}\n.claude/old\n{END}\nb\n");
        assert_eq!(install(Some(&earlier)), format!("a\n\n{}b\n", block("\n")));
        assert_eq!(uninstall(&earlier).as_deref(), Some("a\nb\n"));
    }

    proptest! {
        #[test]
        fn removing_undoes_adding(text in "([a-z# ]{0,3}(\r?\n|\r)?){0,6}") {
            prop_assert_eq!(uninstall(&install(Some(&text))), Some(text));
        }
    }
}
