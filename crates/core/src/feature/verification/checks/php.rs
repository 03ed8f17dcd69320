//! PHP.

use crate::feature::verification::checks::kind::{CheckKind, Kinds};
use crate::feature::verification::checks::language::Languages;
use crate::feature::verification::checks::proven::Proven;
use crate::feature::verification::checks::tool::{Tool, has_option, judge_tool, tool};
use crate::feature::verification::checks::{CheckCall, Contents, Ecosystem, examples_of, node};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "composer.json",
    other_files: "phpunit.xml phpunit.xml.dist phpstan.neon phpstan.neon.dist psalm.xml psalm.xml.dist \
        phpcs.xml phpcs.xml.dist artisan",
    texts: "composer.json",
    commands: "composer php phpunit pest paratest phpstan psalm phpcs artisan codecept",
    // A file can be checked by itself.
    alone: "php",
    read: |name, text| match name {
        "composer.json" => scripts(text),
        name if name.starts_with("phpunit") => Contents::shows(Kinds::TEST),
        "artisan" => Contents::default(),
        name if name.starts_with("phpcs") => Contents::shows(Kinds::LINT),
        _ => Contents::shows(Kinds::TYPECHECK),
    },
    judge: judge_php,
    reads: Languages::PHP.and(Languages::TESTS).and(Languages::OTHER),
    folder_options: "composer:-d composer:--working-dir",
    runs: |_, _| "composer",
    examples: |_, _| {
        examples_of(&[
            (CheckKind::Test, "vendor/bin/phpunit"),
            (CheckKind::Typecheck, "vendor/bin/phpstan analyse"),
            (CheckKind::Lint, "vendor/bin/phpcs"),
        ])
    },
};

static TOOLS: &[Tool] = &[
    tool("phpunit", "", Kinds::TEST).unless(
        "--list-suites --list-groups --list-tests-xml --list-test-files --generate-configuration \
        --migrate-configuration",
    ),
    tool("pest", "", Kinds::TEST).unless("--init"),
    tool("paratest", "", Kinds::TEST),
    tool("codecept", "run", Kinds::TEST),
    tool("artisan", "test", Kinds::TEST),
    tool("phpstan", "analyse analyze", Kinds::TYPECHECK).unless("--generate-baseline"),
    tool("psalm", "", Kinds::TYPECHECK).unless("--init --set-baseline"),
    tool("phpcs", "", Kinds::LINT).unless("-i -e"),
];

fn judge_php(call: &CheckCall<'_>) -> Proven {
    match call.name {
        "composer" => composer(call),
        "php" if has_option(call.arguments, "-l --syntax-check") => Kinds::LINT.into(),
        // `php artisan test`, `php vendor/bin/phpunit`.
        "php" => {
            let Some(at) = call.arguments.iter().position(|word| !word.text.starts_with('-')) else {
                return Proven::NONE;
            };
            let name = call.arguments[at].text.rsplit('/').next().unwrap_or_default();
            judge_tool(TOOLS, name, &call.arguments[at + 1..]).unwrap_or_default().into()
        }
        name => judge_tool(TOOLS, name, call.arguments).unwrap_or_default().into(),
    }
}

/// `@test` is another script, `@php` the interpreter that runs Composer.
fn scripts(text: &str) -> Contents {
    let mut contents = node::scripts(text, "scripts");
    for line in contents.recipes.iter_mut().flat_map(|recipe| &mut recipe.lines) {
        if let Some(rest) = line.strip_prefix('@') {
            let own = rest.starts_with("php ") || rest.starts_with("composer ");
            *line = if own { rest.to_owned() } else { format!("composer run {rest}") };
        }
    }
    contents
}

fn composer(call: &CheckCall<'_>) -> Proven {
    let words: Vec<&str> =
        crate::feature::verification::checks::tool::operands(call.arguments, "-d --working-dir --timeout")
            .collect();
    let script = match words.as_slice() {
        ["run" | "run-script", script, ..] => script,
        [script, ..] => script,
        [] => return Proven::NONE,
    };
    let Some(file) = call.nearest("composer.json") else { return Proven::NONE };
    call.recipe(file, script, &[]).unwrap_or_default()
}
