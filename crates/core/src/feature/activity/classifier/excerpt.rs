//! The part of a prompt that is classified: its beginning and its end, line by line, without pasted text.

use crate::text::cut::{first_bytes, last_bytes};

/// Bytes of a long prompt. The request stands before or after pasted text, not inside.
const HEAD: usize = 700;
const TAIL: usize = 400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptLine<'a> {
    /// By a person.
    Written(&'a str),
    /// A program's error message. Its words tell as much as a person's.
    Failure(&'a str),
    /// Code, logs, tables: one line or many.
    Pasted,
}

/// Without blank lines.
pub(super) fn lines(prompt: &str) -> impl Iterator<Item = PromptLine<'_>> {
    let (head, tail) = if prompt.len() <= HEAD + TAIL {
        (prompt, "")
    } else {
        (first_bytes(prompt, HEAD), last_bytes(prompt, TAIL))
    };
    let only = tail.is_empty() && !prompt.trim().contains('\n');
    let mut fenced = false;
    let mut pasted = false;
    let lines = head.lines().chain(tail.lines()).map(str::trim).filter(|line| !line.is_empty());
    lines.filter_map(move |line| {
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
            let first = !std::mem::replace(&mut pasted, true);
            return first.then_some(PromptLine::Pasted);
        }
        if is_failure(line) && !only {
            pasted = false;
            return Some(PromptLine::Failure(line));
        }
        if fenced || (!only && is_pasted(line)) {
            let first = !std::mem::replace(&mut pasted, true);
            return first.then_some(PromptLine::Pasted);
        }
        pasted = false;
        Some(PromptLine::Written(line))
    })
}

fn is_failure(line: &str) -> bool {
    const SIGNS: [&str; 14] = [
        "Error:",
        "error:",
        "error[",
        "Exception",
        "panicked at",
        "FAILED",
        "FATAL",
        "fatal:",
        "Traceback",
        "ERROR",
        "Caused by",
        "failed:",
        "ERR!",
        "Segmentation fault",
    ];
    SIGNS.iter().any(|sign| line.contains(sign))
}

/// Code or a program's output rather than a sentence.
fn is_pasted(line: &str) -> bool {
    const BEGINNINGS: [&str; 9] = ["at ", "File \"", "$ ", "> ", "|", "+++", "---", "@@", "}"];
    if BEGINNINGS.iter().any(|beginning| line.starts_with(beginning)) && !line.starts_with("at least") {
        return line.starts_with(['$', '>', '|', '+', '-', '@', '}']) || line.contains(['(', '"', ':']);
    }
    if line.ends_with(['{', ';']) {
        return true;
    }
    let (mut all, mut signs) = (0_usize, 0_usize);
    for c in line.chars() {
        all += 1;
        signs += usize::from(c.is_ascii_punctuation() || c.is_ascii_digit());
    }
    all > 12 && signs * 3 > all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(prompt: &str) -> Vec<PromptLine<'_>> {
        lines(prompt).collect()
    }

    #[test]
    fn what_was_pasted_is_one_line() {
        assert_eq!(
            read("why is this slow?\n```rust\nfn main() {}\nlet fix = 1;\n```\nthanks"),
            [PromptLine::Written("why is this slow?"), PromptLine::Pasted, PromptLine::Written("thanks")]
        );
        assert_eq!(
            read(
                "12:00:01.123 [main] 10.2.3.4:8080 -> 200 OK\n12:00:02.123 [main] 10.2.3.4:8080 -> 200 OK\nok?"
            ),
            [PromptLine::Pasted, PromptLine::Written("ok?")]
        );
    }

    #[test]
    fn a_failure_keeps_its_words() {
        assert_eq!(
            read("npm run build\n\nError: Cannot find module 'x'"),
            [PromptLine::Written("npm run build"), PromptLine::Failure("Error: Cannot find module 'x'")]
        );
    }

    #[test]
    fn a_prompt_of_one_line_was_written() {
        for prompt in ["Error: Cannot find module 'x'", "let x = f(1, 2, 3)[0] + {};", "```"] {
            assert!(!matches!(read(prompt).first(), Some(PromptLine::Failure(_))), "{prompt}");
        }
        assert_eq!(read("a = b[1] + (c[2]);"), [PromptLine::Written("a = b[1] + (c[2]);")]);
    }

    #[test]
    fn beginning_and_end_of_a_long_prompt() {
        let prompt = format!("look at this\n{}\nand tell me why", "あいう えお\n".repeat(1000));
        let lines = read(&prompt);
        assert_eq!(lines.first(), Some(&PromptLine::Written("look at this")));
        assert_eq!(lines.last(), Some(&PromptLine::Written("and tell me why")));
        assert!(lines.len() < 200);
    }

    #[test]
    fn nothing() {
        assert_eq!(read(""), []);
        assert_eq!(read(" \n\t\n"), []);
    }
}
