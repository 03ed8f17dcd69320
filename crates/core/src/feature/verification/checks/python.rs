//! Python.

use crate::shell::Word;
use crate::text::word_list::{Words, among};

use crate::feature::verification::checks::kind::{CheckKind, Kinds};
use crate::feature::verification::checks::language::Languages;
use crate::feature::verification::checks::recipe::kinds_of_name;
use crate::feature::verification::checks::tool::{Tool, has_option, judge_tool, operands, option_text, tool};
use crate::feature::verification::checks::{
    CheckCall, Contents, Ecosystem, ProjectChecks, ProjectFile, runs_nothing,
};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "pyproject.toml setup.py setup.cfg tox.ini noxfile.py requirements.txt pytest.ini \
        conftest.py manage.py Pipfile",
    other_files: "mypy.ini pyrightconfig.json ruff.toml .flake8 .pylintrc uv.lock poetry.lock",
    texts: "pyproject.toml setup.cfg tox.ini requirements.txt",
    commands: "pytest py.test python python3 tox nox mypy dmypy pyright basedpyright ty pyre pytype ruff \
        flake8 pylint coverage hatch rye manage.py maturin nose2 ward behave poe inv invoke",
    alone: "pytest py.test python python3",
    read,
    judge: |call| judge_python(call).into(),
    reads: Languages::PYTHON.and(Languages::TESTS).and(Languages::OTHER),
    folder_options: "",
    runs: runs_nothing,
    examples,
};

static TOOLS: &[Tool] = &[
    tool("pytest", "", Kinds::TEST)
        .unless("--fixtures --markers --setup-plan --setup-only --cache-show -V -f"),
    tool("py.test", "", Kinds::TEST).unless("--fixtures --markers --setup-plan"),
    tool("unittest", "", Kinds::TEST),
    tool("doctest", "", Kinds::TEST),
    tool("nose2", "", Kinds::TEST),
    tool("ward", "", Kinds::TEST),
    tool("behave", "", Kinds::TEST),
    tool("hatch", "test", Kinds::TEST).unless("--show -s"),
    tool("rye", "test", Kinds::TEST),
    tool("mypy", "", Kinds::TYPECHECK).unless("-V"),
    tool("dmypy", "run check", Kinds::TYPECHECK),
    tool("pyright", "", Kinds::TYPECHECK),
    tool("basedpyright", "", Kinds::TYPECHECK),
    tool("ty", "check", Kinds::TYPECHECK),
    tool("pyre", "check", Kinds::TYPECHECK),
    tool("pytype", "", Kinds::TYPECHECK),
    tool("ruff", "check", Kinds::LINT).unless("--show-files --show-settings --exit-zero -e --add-noqa"),
    tool("flake8", "", Kinds::LINT).unless("--exit-zero --bug-report"),
    tool("pylint", "", Kinds::LINT).unless("--exit-zero --list-msgs --generate-rcfile"),
    tool("maturin", "build develop", Kinds::COMPILES),
    // They check only the syntax.
    tool("py_compile", "", Kinds::LINT),
    tool("compileall", "", Kinds::LINT),
];

fn judge_python(call: &CheckCall<'_>) -> Kinds {
    judge_words(call, call.name, call.arguments)
}

fn judge_words(call: &CheckCall<'_>, name: &str, arguments: &[Word]) -> Kinds {
    match name {
        "python" | "python3" => interpreter(call, arguments),
        "coverage" => match arguments.first().map(|word| word.text.as_str()) {
            Some("run") => interpreter(call, &arguments[1..]),
            _ => Kinds::NONE,
        },
        "manage.py" => match arguments.first().map(|word| word.text.as_str()) {
            Some("test") => Kinds::TEST,
            _ => Kinds::NONE,
        },
        "tox" | "nox" => environments(name, arguments),
        "hatch" if arguments.first().is_some_and(|word| word.text == "run") => {
            let name = operands(&arguments[1..], "").next().unwrap_or_default();
            kinds_of_name(name.rsplit(':').next().unwrap_or(name))
        }
        // A task that ran exists.
        "poe" | "inv" | "invoke" => operands(arguments, "-c -C").next().map_or(Kinds::NONE, kinds_of_name),
        _ => judge_tool(TOOLS, name, arguments).unwrap_or_default(),
    }
}

/// `python -m pytest`, `python manage.py test`.
fn interpreter(call: &CheckCall<'_>, arguments: &[Word]) -> Kinds {
    const VALUED: Words = "-W -X --source --rcfile";
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        match word.text.as_str() {
            "-m" => {
                let rest = arguments.get(at + 2..).unwrap_or_default();
                return arguments.get(at + 1).map_or(Kinds::NONE, |module| match module.text.as_str() {
                    // A module that runs modules would run itself without end.
                    "python" | "python3" | "coverage" if call.depth > 2 => Kinds::NONE,
                    "python" | "python3" => Kinds::NONE,
                    module => judge_words(&CheckCall { depth: call.depth + 1, ..*call }, module, rest),
                });
            }
            "-c" => return Kinds::NONE,
            text if text.starts_with('-') => at += 1 + usize::from(among(VALUED, text)),
            text => {
                let name = text.rsplit('/').next().unwrap_or_default();
                return match name {
                    "manage.py" => judge_words(call, name, &arguments[at + 1..]),
                    "setup.py" if has_option(&arguments[at + 1..], "test") => Kinds::TEST,
                    // A file of tests that runs itself.
                    name if name.starts_with("test_")
                        || name.ends_with("_test.py")
                        || name == "runtests.py" =>
                    {
                        Kinds::TEST
                    }
                    _ => Kinds::NONE,
                };
            }
        }
    }
    Kinds::NONE
}

/// tox and nox run environments and sessions that are named after their purpose.
fn environments(name: &str, arguments: &[Word]) -> Kinds {
    let lists = "-l -a --listenvs --notest -n list config l c devenv --showconfig --devenv";
    if has_option(arguments, lists) {
        return Kinds::NONE;
    }
    let options: Words = if name == "tox" { "-e --env" } else { "-s --session --sessions -e" };
    let Some(chosen) = option_text(arguments, options) else { return Kinds::TEST };
    let of = |name: &str| {
        if ["lint", "flake", "ruff", "style", "pylint", "pre-commit"].iter().any(|word| name.contains(word)) {
            Kinds::LINT
        } else if name.contains("type") || name.contains("mypy") || name.contains("pyright") {
            Kinds::TYPECHECK
        } else if ["doc", "format", "fmt", "build", "release", "clean"].iter().any(|word| name.contains(word))
        {
            Kinds::NONE
        } else {
            Kinds::TEST
        }
    };
    chosen.split(',').map(of).fold(Kinds::NONE, Kinds::and)
}

fn read(name: &str, text: &str) -> Contents {
    let mut shows = match name {
        "tox.ini" | "noxfile.py" | "pytest.ini" | "conftest.py" | "manage.py" => Kinds::TEST,
        "mypy.ini" | "pyrightconfig.json" => Kinds::TYPECHECK,
        "ruff.toml" | ".flake8" | ".pylintrc" => Kinds::LINT,
        _ => Kinds::NONE,
    };
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&["[tool.pytest", "[tool:pytest]", "\npytest", "\"pytest"]) || text.starts_with("pytest") {
        shows = shows.and(Kinds::TEST);
    }
    if says(&["[tool.mypy", "[mypy]", "[tool.pyright", "[tool.basedpyright", "[tool.ty"]) {
        shows = shows.and(Kinds::TYPECHECK);
    }
    if says(&["[tool.ruff", "[flake8]", "[tool.pylint", "[tool.flake8"]) {
        shows = shows.and(Kinds::LINT);
    }
    Contents::shows(shows)
}

fn examples(project: &ProjectChecks, file: &ProjectFile) -> Vec<(CheckKind, String)> {
    let at = |name: &str| project.nearest(&file.folder, name).is_some();
    let run = if at("uv.lock") {
        "uv run "
    } else if at("poetry.lock") {
        "poetry run "
    } else if at("Pipfile") {
        "pipenv run "
    } else {
        ""
    };
    let test = if at("manage.py") && !at("pytest.ini") { "python manage.py test" } else { "pytest" };
    let types = if at("pyrightconfig.json") { "pyright" } else { "mypy ." };
    let lint = if at(".flake8") { "flake8" } else { "ruff check" };
    [(CheckKind::Test, test), (CheckKind::Typecheck, types), (CheckKind::Lint, lint)]
        .map(|(kind, command)| (kind, format!("{run}{command}")))
        .into()
}
