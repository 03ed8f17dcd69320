//! The text that `apply_patch` takes, a tool and a command with which OpenAI's models edit files.

/// Heads of its parts. Blanks before them and the one behind them do not matter to all programs that read them.
const HEADS: [&str; 4] = ["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];

/// The part whose lines follow. A line of its text may look like a head.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    None,
    Added,
    Updated,
}

/// The files that a patch adds, changes, deletes or renames, in its order, each once.
pub fn patched_files(patch: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let mut part = Part::None;
    for line in patch.lines() {
        let is_text = match part {
            Part::None => false,
            Part::Added => line.starts_with('+'),
            Part::Updated => line.starts_with(['+', '-', ' ', '@']),
        };
        if is_text {
            continue;
        }
        let line = line.trim();
        if line == "*** End of File" {
            part = Part::None;
        }
        let Some((head, file)) = HEADS.iter().find_map(|head| Some((*head, line.strip_prefix(head)?))) else {
            continue;
        };
        part = match head {
            "*** Add File:" => Part::Added,
            "*** Delete File:" => Part::None,
            _ => Part::Updated,
        };
        let file = file.trim();
        if !file.is_empty() && !files.iter().any(|known| known == file) {
            files.push(file.to_owned());
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_file_of_a_patch_is_found() {
        let patch = "*** Begin Patch\n*** Add File: src/new.rs\n+x\n+*** Add File: text.rs\n*** Update File: a.rs\n\
                     *** Move to: b.rs\n@@ fn x\n-old\n *** Delete File: context.rs\n+new\n*** End of File\n  *** Delete File: c.rs\n\
                     *** Update File: a.rs\n@@\n-1\n+2\n*** End Patch\n";
        assert_eq!(patched_files(patch), ["src/new.rs", "a.rs", "b.rs", "c.rs"]);
        // As a shell would pass it, and with the line ends of Windows.
        assert_eq!(patched_files("<<'EOF'\n*** Begin Patch\r\n*** Update File: a b.rs\r\n"), ["a b.rs"]);
        // After an added file a line that begins with a space is not its text.
        assert_eq!(patched_files("*** Add File: a\n+x\n *** Delete File: b\n"), ["a", "b"]);
        for empty in ["", "*** Begin Patch\n*** End Patch", "*** Add File: \n+x", "Add File: a"] {
            assert_eq!(patched_files(empty), Vec::<String>::new(), "{empty}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(patch in "(\\*\\*\\* (Add|Update|Delete) File: |\\*\\*\\* Move to: |[+ @a-z-]|\n){0,60}") {
            let files = patched_files(&patch);
            prop_assert!(files.iter().all(|file| !file.is_empty() && patch.contains(file.as_str())));
        }
    }
}
