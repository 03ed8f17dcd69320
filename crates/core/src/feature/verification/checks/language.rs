//! Languages of code, by file name, and sets of them: a check proves nothing about code that it does not read.

use serde::{Deserialize, Serialize};

use crate::text::word_list::{Words, among};

/// A set of languages. [`Languages::TESTS`] is an entry of its own: tests are read by other checks than the
/// code that they test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Languages(u32);

/// Endings of file names, by language; the position is the bit.
static ENDINGS: [Words; 17] = [
    "rs",
    "js jsx mjs cjs ts tsx mts cts vue svelte astro css scss sass less styl html htm mdx graphql gql",
    "py pyi pyx ipynb",
    "go templ",
    "java kt kts scala groovy",
    "rb erb rake haml slim gemspec",
    "php phtml",
    "cs fs vb cshtml razor xaml",
    "swift",
    "c h cc cpp cxx hh hpp hxx m mm cu",
    "sh bash zsh bats ksh",
    "ex exs heex eex leex",
    "dart",
    "zig",
    "hs lhs",
    "ml mli re rei",
    "clj cljs cljc",
];

const fn only(position: u32) -> Languages {
    Languages(1 << position)
}

impl Languages {
    pub const NONE: Languages = Languages(0);
    pub const RUST: Languages = only(0);
    pub const JAVASCRIPT: Languages = only(1);
    pub const PYTHON: Languages = only(2);
    pub const GO: Languages = only(3);
    pub const JVM: Languages = only(4);
    pub const RUBY: Languages = only(5);
    pub const PHP: Languages = only(6);
    pub const DOTNET: Languages = only(7);
    pub const SWIFT: Languages = only(8);
    pub const C: Languages = only(9);
    pub const SHELL: Languages = only(10);
    pub const ELIXIR: Languages = only(11);
    pub const DART: Languages = only(12);
    pub const ZIG: Languages = only(13);
    pub const HASKELL: Languages = only(14);
    pub const OCAML: Languages = only(15);
    pub const CLOJURE: Languages = only(16);
    /// Files of languages without an entry: `Dockerfile`, `schema.sql`.
    pub const OTHER: Languages = only(30);
    /// Files of tests, in whatever language.
    pub const TESTS: Languages = only(31);
    pub const ALL: Languages = Languages(u32::MAX);

    #[must_use]
    pub const fn and(self, other: Languages) -> Languages {
        Languages(self.0 | other.0)
    }

    #[must_use]
    pub const fn without(self, other: Languages) -> Languages {
        Languages(self.0 & !other.0)
    }

    #[must_use]
    pub const fn common(self, other: Languages) -> Languages {
        Languages(self.0 & other.0)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    pub(super) fn is_none(&self) -> bool {
        self.0 == 0
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub const fn has(self, other: Languages) -> bool {
        self.0 & other.0 == other.0
    }

    /// The language of a file.
    pub fn of_file(path: &str) -> Languages {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some((_, ending)) = name.rsplit_once('.') else { return Languages::OTHER };
        let position = ENDINGS.iter().position(|endings| among(endings, ending));
        position.map_or(Languages::OTHER, |position| only(position as u32))
    }
}

/// Folders that hold only tests.
const TEST_FOLDERS: Words = "tests test __tests__ spec e2e testing integration-tests";

/// By its name or folder. A file of Rust or Python with tests among its code does not count.
pub fn is_test_file(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    is_named_test(path) || folders.split('/').any(|folder| among(TEST_FOLDERS, folder))
}

/// By its own name.
pub(super) fn is_named_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let told = |word: &str| {
        stem.strip_suffix(word).is_some_and(|rest| rest.ends_with(['.', '_', '-']))
            || stem.strip_prefix(word).is_some_and(|rest| rest.starts_with(['.', '_', '-']))
    };
    let camel =
        Languages::of_file(path) != Languages::PYTHON && (stem.ends_with("Test") || stem.ends_with("Tests"));
    ["test", "tests", "spec"].into_iter().any(told) || camel || name == "conftest.py"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_language_of_its_ending() {
        assert_eq!(Languages::of_file("src/a.rs"), Languages::RUST);
        assert_eq!(Languages::of_file("web/App.vue"), Languages::JAVASCRIPT);
        assert_eq!(Languages::of_file("run.bats"), Languages::SHELL);
        assert_eq!(Languages::of_file("lib/core.cljs"), Languages::CLOJURE);
        assert_eq!(Languages::of_file("Dockerfile"), Languages::OTHER);
        assert_eq!(Languages::of_file("schema.sql"), Languages::OTHER);
        assert!(!Languages::CLOJURE.has(Languages::TESTS));
    }

    #[test]
    fn tests_are_told_by_name_or_folder() {
        for path in [
            "a_test.go",
            "tests/it.rs",
            "src/a.test.ts",
            "src/a.spec.tsx",
            "test_a.py",
            "src/AppTest.java",
            "e2e/x.js",
        ] {
            assert!(is_test_file(path), "{path}");
        }
        for path in ["src/latest.ts", "src/contest.rs", "testimony.py", "src/a.rs", "attest/a.go"] {
            assert!(!is_test_file(path), "{path}");
        }
    }
}
