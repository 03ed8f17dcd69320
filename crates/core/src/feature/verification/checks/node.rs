//! JavaScript and TypeScript: npm, pnpm, Yarn, Bun, Deno, and the tools their scripts run.

use serde_json::Value;

use crate::shell::Word;
use crate::text::word_list::{Words, among};

use crate::feature::verification::checks::kind::{CheckKind, Kinds};
use crate::feature::verification::checks::language::Languages;
use crate::feature::verification::checks::proven::Proven;
use crate::feature::verification::checks::recipe::{Recipe, kinds_of_name};
use crate::feature::verification::checks::tool::{Tool, has_option, judge_tool, tool};
use crate::feature::verification::checks::{
    CheckCall, Contents, Ecosystem, ProjectChecks, ProjectFile, examples_of, watch,
};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "package.json deno.json deno.jsonc",
    other_files: "tsconfig.json pnpm-workspace.yaml pnpm-lock.yaml yarn.lock bun.lock bun.lockb turbo.json \
        nx.json lerna.json eslint.config.js eslint.config.mjs eslint.config.ts .eslintrc.json \
        .eslintrc.js .eslintrc.cjs .eslintrc biome.json biome.jsonc",
    texts: "package.json deno.json tsconfig.json",
    commands: "npm pnpm yarn bun deno node tsx vitest jest mocha ava tap jasmine karma playwright cypress \
        wdio tsc tsgo vue-tsc svelte-check flow eslint biome @biomejs/biome oxlint stylelint xo \
        standard tslint vite webpack rollup esbuild tsup tsdown next nuxt nuxi astro ng \
        react-scripts vue-cli-service parcel remix gatsby c8 nyc turbo nx lerna run-s run-p \
        npm-run-all npm-run-all2 web-test-runner wtr typescript react-router svelte-kit ember \
        qunit hardhat forge concurrently",
    alone: "node",
    read,
    judge: judge_node,
    // Type checkers and linters of a project read its tests too; bundlers do not, see `judge_node`.
    reads: Languages::JAVASCRIPT.and(Languages::OTHER),
    folder_options: "npm:--prefix pnpm:-C pnpm:--dir yarn:--cwd bun:--cwd",
    runs,
    examples: |project, file| {
        let at = |name: &str| project.nearest(&file.folder, name).is_some();
        let typed = at("tsconfig.json").then_some((CheckKind::Typecheck, "npx tsc --noEmit"));
        let nx = at("nx.json").then_some((CheckKind::Test, "npx nx run-many -t test"));
        examples_of(&typed.into_iter().chain(nx).collect::<Vec<_>>())
    },
};

const EMITS_OR_CHECKS: Words = "--init --listFilesOnly --all -v --build-info --clean";

static TOOLS: &[Tool] = &[
    tool("vitest", "list init bench dev", Kinds::NONE),
    tool("vitest", "", Kinds::TEST).unless("--clearCache --ui --standalone"),
    tool("jest", "", Kinds::TEST).unless("--init --clearCache"),
    tool("mocha", "init", Kinds::NONE),
    tool("mocha", "", Kinds::TEST),
    tool("ava", "", Kinds::TEST).unless("reset-cache"),
    tool("tap", "", Kinds::TEST).unless("list dump-config plugin config repl"),
    tool("jasmine", "init examples help", Kinds::NONE),
    tool("jasmine", "", Kinds::TEST),
    tool("qunit", "", Kinds::TEST),
    tool("karma", "start run", Kinds::TEST).needs("--single-run --singleRun run"),
    tool("playwright", "test", Kinds::TEST).unless("--ui"),
    tool("cypress", "run", Kinds::TEST),
    tool("wdio", "", Kinds::TEST).unless("config install repl"),
    tool("web-test-runner", "", Kinds::TEST),
    tool("wtr", "", Kinds::TEST),
    tool("ember", "test exam", Kinds::TEST),
    tool("hardhat", "test", Kinds::TEST),
    tool("hardhat", "compile", Kinds::COMPILES),
    tool("node", "", Kinds::TEST).needs("--test"),
    tool("node", "", Kinds::LINT).needs("--check -c"),
    tool("tsx", "", Kinds::TEST).needs("--test"),
    tool("bun", "test", Kinds::TEST),
    tool("bun", "build", Kinds::BUILD),
    tool("deno", "test", Kinds::TEST.and(Kinds::TYPECHECK)).unless("--no-check"),
    tool("deno", "check", Kinds::TYPECHECK),
    tool("deno", "lint", Kinds::LINT).unless("--rules"),
    tool("deno", "compile bundle", Kinds::COMPILES),
    tool("tsc", "", Kinds::TYPECHECK).needs("--noEmit").unless(EMITS_OR_CHECKS),
    tool("tsc", "", Kinds::COMPILES).unless(EMITS_OR_CHECKS),
    tool("tsgo", "", Kinds::TYPECHECK).unless(EMITS_OR_CHECKS),
    tool("vue-tsc", "", Kinds::TYPECHECK).unless(EMITS_OR_CHECKS),
    tool("svelte-check", "", Kinds::TYPECHECK),
    tool("flow", "check status", Kinds::TYPECHECK),
    tool("eslint", "", Kinds::LINT).unless("--init --env-info --inspect-config"),
    tool("biome", "check lint ci", Kinds::LINT),
    tool("@biomejs/biome", "check lint ci", Kinds::LINT),
    tool("oxlint", "", Kinds::LINT).unless("--init --rules"),
    tool("stylelint", "", Kinds::LINT),
    tool("xo", "", Kinds::LINT),
    tool("standard", "", Kinds::LINT),
    tool("tslint", "", Kinds::LINT),
    tool("vite", "build", Kinds::BUILD),
    tool("webpack", "serve watch info init version", Kinds::NONE),
    tool("webpack", "", Kinds::BUILD),
    tool("rollup", "", Kinds::BUILD).needs("-c --config -i --input"),
    tool("esbuild", "", Kinds::BUILD).unless("--serve"),
    tool("tsup", "", Kinds::BUILD),
    tool("tsdown", "", Kinds::BUILD),
    tool("next", "build", Kinds::BUILD),
    tool("next", "lint", Kinds::LINT),
    tool("nuxt", "build generate", Kinds::BUILD),
    tool("nuxt", "typecheck", Kinds::TYPECHECK),
    tool("nuxi", "build generate", Kinds::BUILD),
    tool("nuxi", "typecheck", Kinds::TYPECHECK),
    tool("astro", "check", Kinds::TYPECHECK),
    tool("astro", "build", Kinds::BUILD),
    tool("ng", "test t e2e", Kinds::TEST),
    tool("ng", "build b", Kinds::COMPILES),
    tool("ng", "lint", Kinds::LINT),
    tool("react-scripts", "test", Kinds::TEST),
    tool("react-scripts", "build", Kinds::BUILD),
    tool("vue-cli-service", "test:unit test:e2e", Kinds::TEST),
    tool("vue-cli-service", "build", Kinds::BUILD),
    tool("vue-cli-service", "lint", Kinds::LINT),
    tool("parcel", "build", Kinds::BUILD),
    tool("remix", "build vite:build", Kinds::BUILD),
    tool("react-router", "build", Kinds::BUILD),
    tool("gatsby", "build", Kinds::BUILD),
];

/// Options of package managers that take the next word as a value.
const VALUED: Words = "--prefix -C --dir --cwd --filter -F -w --workspace --loglevel --reporter \
        --workspace-concurrency --config --userconfig";

/// Options that select scripts of other packages.
const ELSEWHERE: Words = "--filter -F -w --workspace --workspaces -ws -r --recursive workspace workspaces";

fn judge_node(call: &CheckCall<'_>) -> Proven {
    let proven = judge_call(call);
    // A type checker reads the tests of a project too, a bundler does not.
    let types = proven.reads.is_empty() && proven.kinds.has(CheckKind::Typecheck);
    let tests = if types { Languages::TESTS } else { Languages::NONE };
    let proven = proven.reading(ECOSYSTEM.reads);
    Proven { reads: proven.reads.and(tests), ..proven }
}

fn judge_call(call: &CheckCall<'_>) -> Proven {
    match call.name {
        "npm" | "pnpm" | "yarn" => manager(call),
        "bun" => match judge_tool(TOOLS, call.name, call.arguments) {
            Some(kinds) => kinds.into(),
            None => manager(call),
        },
        "deno" if first_operand(call.arguments) == Some("task") => manager(call),
        "c8" | "nyc" => carried(call),
        "turbo" | "nx" | "lerna" => orchestrator(call).into(),
        "tsc" if checks_nothing(call) => Proven { hollow: true, ..Proven::NONE },
        "run-s" | "run-p" | "npm-run-all" | "npm-run-all2" => several(call, call.arguments),
        "concurrently" => concurrently(call),
        name => program(call, name, call.arguments).into(),
    }
}

/// A `tsconfig.json` that only refers to others: without `--build` nothing is compiled.
fn checks_nothing(call: &CheckCall<'_>) -> bool {
    let told = has_option(call.arguments, "-b --build -p --project");
    !told && call.nearest("tsconfig.json").is_some_and(|file| file.contents.open)
}

fn program(call: &CheckCall<'_>, name: &str, arguments: &[Word]) -> Kinds {
    if watch::watches(name, arguments) || call.project.background && watch::may_watch(name, arguments) {
        return Kinds::NONE;
    }
    judge_tool(TOOLS, name, arguments).unwrap_or_default()
}

fn first_operand(arguments: &[Word]) -> Option<&str> {
    crate::feature::verification::checks::tool::operands(arguments, VALUED).next()
}

/// `npm run test`, `yarn test`.
fn manager(call: &CheckCall<'_>) -> Proven {
    let mut at = 0;
    let mut words: Vec<(usize, &str)> = Vec::new();
    while let Some(word) = call.arguments.get(at) {
        if word.text == "--" {
            break;
        }
        if word.text.starts_with('-') {
            at += 1 + usize::from(among(VALUED, &word.text));
            continue;
        }
        words.push((at, word.text.as_str()));
        at += 1;
    }
    let elsewhere = has_option(call.arguments, ELSEWHERE);
    // `yarn workspace NAME run test`, `yarn workspaces foreach -A run test`.
    let skipped = match (call.name, words.first()) {
        ("yarn", Some((_, "workspace" | "workspaces"))) => 2,
        ("pnpm", Some((_, "recursive"))) => 1,
        ("deno", Some((_, "task"))) => 0,
        _ => 0,
    };
    let mut words = words.get(skipped..).unwrap_or_default().iter();
    let Some((verb_at, verb)) = words.next() else { return Proven::NONE };
    let (script_at, script) = match (call.name, *verb) {
        (_, "run" | "run-script" | "rum" | "urn") | ("deno", "task") => match words.next() {
            Some((at, script)) => (*at, *script),
            // Without a script it only lists them.
            None => return Proven::NONE,
        },
        ("npm", "test" | "t" | "tst") | ("pnpm", "t" | "tst") => (*verb_at, "test"),
        ("npm", _) => return Proven::NONE,
        (_, script) => (*verb_at, script),
    };
    // The remaining words go to the script: npm needs `--` before options, the others do not.
    let more = call.arguments.get(script_at + 1..).unwrap_or_default();
    let more: Vec<Word> = more.iter().filter(|word| word.text != "--").cloned().collect();
    // A script that is missing is no failure then.
    let if_present = has_option(call.arguments, "--if-present");
    if elsewhere && if_present {
        return Proven::NONE;
    }
    if elsewhere {
        let spread = call.nearest("pnpm-workspace.yaml lerna.json turbo.json nx.json").is_some()
            || call.project.files.iter().any(|file| file.name == "package.json" && file.contents.open);
        return if spread { kinds_of_name(script).into() } else { Proven::NONE };
    }
    let Some(file) = call.nearest(ECOSYSTEM.manifests) else { return Proven::NONE };
    if let Some(proven) = call.recipe(file, script, &more) {
        return proven;
    }
    if if_present {
        return Proven { hollow: true, ..Proven::NONE };
    }
    // pnpm, Yarn and Bun also run programs of packages.
    if call.name == "npm" || call.name == "deno" {
        return Proven::NONE;
    }
    program(call, script, &more).into()
}

/// `c8 node --test`, `nyc --reporter=text mocha`.
fn carried(call: &CheckCall<'_>) -> Proven {
    let Some(at) = call.arguments.iter().position(|word| !word.text.starts_with('-')) else {
        return Proven::NONE;
    };
    let rest = &call.arguments[at..];
    if matches!(rest[0].text.as_str(), "report" | "check-coverage" | "merge" | "instrument") {
        return Proven::NONE;
    }
    match rest[0].text.as_str() {
        "npm" | "pnpm" | "yarn" => {
            manager(&CheckCall { name: &rest[0].text, arguments: &rest[1..], ..*call })
        }
        name => program(call, name, &rest[1..]).into(),
    }
}

/// These run scripts of many packages, so only the names tell.
fn orchestrator(call: &CheckCall<'_>) -> Kinds {
    let mut tasks: Vec<&str> = crate::feature::verification::checks::tool::operands(
        call.arguments,
        "--filter -F --scope --projects -p",
    )
    .collect();
    for option in ["-t", "--target", "--targets"] {
        if let Some(names) = crate::feature::verification::checks::tool::option_text(call.arguments, option) {
            tasks.extend(names.split(','));
        }
    }
    match (call.name, tasks.first().copied()) {
        ("turbo" | "lerna", Some("run")) => {}
        ("turbo", Some(_)) => {}
        ("nx", Some("run" | "run-many" | "affected")) => {}
        ("nx", Some(_)) => tasks.truncate(1),
        _ => return Kinds::NONE,
    }
    let name = |task: &&str| kinds_of_name(task.rsplit(':').next().unwrap_or(task));
    tasks.iter().map(name).fold(Kinds::NONE, Kinds::and)
}

/// `run-s lint test`.
fn several(call: &CheckCall<'_>, arguments: &[Word]) -> Proven {
    let Some(file) = call.nearest("package.json") else { return Proven::NONE };
    let mut proven: Option<Proven> = None;
    for pattern in crate::feature::verification::checks::tool::operands(arguments, "") {
        let fits = |name: &str| match pattern.split_once('*') {
            Some((before, _)) => name.starts_with(before),
            None => name == pattern,
        };
        for recipe in file.contents.recipes.iter().filter(|recipe| fits(&recipe.name)) {
            let recipe = call.recipe(file, &recipe.name, &[]).unwrap_or_default();
            proven = Some(proven.map_or(recipe, |all| all.and(recipe)));
        }
    }
    proven.unwrap_or_default()
}

/// `concurrently "npm:lint" "vitest run"`: it fails if one of them does, unless it is told otherwise.
fn concurrently(call: &CheckCall<'_>) -> Proven {
    if has_option(call.arguments, "-s --success -P --passthrough-arguments") {
        return Proven::NONE;
    }
    let valued =
        "-n --names -c --prefix-colors -p --prefix -m --max-processes --restart-tries --restart-after -l";
    let lines = crate::feature::verification::checks::tool::operands(call.arguments, valued);
    let judged = lines.map(|line| match line.split_once(':') {
        Some(("npm" | "pnpm" | "yarn" | "bun", script)) => several(call, &[Word::literal(script)]),
        _ => call.nearest("package.json").map_or(Proven::NONE, |file| {
            crate::feature::verification::checks::recipe::judge_line(call.project, file, line, call.depth + 1)
        }),
    });
    judged.reduce(Proven::and).unwrap_or_default()
}

fn read(name: &str, text: &str) -> Contents {
    match name {
        "package.json" | "deno.json" => scripts(text, if name == "deno.json" { "tasks" } else { "scripts" }),
        "tsconfig.json" => Contents { open: only_refers(text), ..Contents::shows(Kinds::TYPECHECK) },
        "pnpm-lock.yaml"
        | "yarn.lock"
        | "bun.lock"
        | "bun.lockb"
        | "deno.jsonc"
        | "pnpm-workspace.yaml"
        | "turbo.json"
        | "lerna.json" => Contents::default(),
        // Its targets are in the files of its packages.
        "nx.json" => Contents::shows(Kinds::TEST),
        _ => Contents::shows(Kinds::LINT),
    }
}

/// `"files": []` with references. Comments are allowed there, so only the text is looked at.
fn only_refers(text: &str) -> bool {
    let empty = text.split_once("\"files\"").is_some_and(|(_, rest)| {
        let rest = rest.trim_start().strip_prefix(':').unwrap_or_default().trim_start();
        rest.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(']'))
    });
    empty && text.contains("\"references\"") && !text.contains("\"include\"")
}

pub(super) fn scripts(text: &str, member: &str) -> Contents {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let package = value.get("name").and_then(Value::as_str).map(str::to_owned);
    let mut contents = Contents { open: value.get("workspaces").is_some(), package, ..Contents::default() };
    for (name, body) in value.get(member).and_then(Value::as_object).into_iter().flatten() {
        let lines = match body {
            Value::String(line) => vec![line.clone()],
            Value::Array(lines) => lines.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Value::Object(task) => {
                task.get("command").and_then(Value::as_str).map(str::to_owned).into_iter().collect()
            }
            _ => continue,
        };
        contents.recipes.push(Recipe { name: name.clone(), lines, first: Vec::new() });
    }
    contents
}

fn runs(project: &ProjectChecks, file: &ProjectFile) -> &'static str {
    let at = |name: &str| project.nearest(&file.folder, name).is_some();
    if file.name.starts_with("deno") {
        "deno task"
    } else if at("pnpm-lock.yaml") {
        "pnpm run"
    } else if at("yarn.lock") {
        "yarn run"
    } else if at("bun.lock") || at("bun.lockb") {
        "bun run"
    } else {
        "npm run"
    }
}
