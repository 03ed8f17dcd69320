//! The class of a file by its name alone: one table.

use crate::text::word_list::among;

/// The purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileClass {
    /// Something that runs, is compiled or decides how that happens.
    Code,
    /// Text for people.
    Document,
    /// Values that a program reads.
    Config,
    /// Everything else.
    Other,
}

impl FileClass {
    /// Every class.
    pub const ALL: [FileClass; 4] =
        [FileClass::Code, FileClass::Document, FileClass::Config, FileClass::Other];

    /// The name in the config.
    pub fn name(self) -> &'static str {
        match self {
            FileClass::Code => "code",
            FileClass::Document => "document",
            FileClass::Config => "config",
            FileClass::Other => "other",
        }
    }

    /// The class of a path. Names count more than extensions, and case does not count.
    pub fn of(path: &str) -> FileClass {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_lowercase();
        if let Some(class) = find_class(NAMES, &name) {
            return class;
        }
        // A leading dot begins no extension: `.env` is a name, `.eslintrc.js` ends in `js`.
        let rest = name.strip_prefix('.').unwrap_or(&name);
        let Some((stem, extension)) = rest.rsplit_once('.') else { return FileClass::Other };
        if let Some(class) = find_class(EXTENSIONS, extension) {
            return class;
        }
        // `Dockerfile.prod`, `.env.local`, `config.yaml.example`: the rest of the name tells the class.
        let stem = &name[..name.len() - rest.len() + stem.len()];
        if find_class(NAMES, stem).is_some() || has_word(VARIANTS, extension) {
            return FileClass::of(stem);
        }
        FileClass::Other
    }
}

/// One text per class: a list of texts would cost every start of the program a relocation each.
type Table = &'static [(FileClass, &'static str)];

fn find_class(table: Table, word: &str) -> Option<FileClass> {
    table.iter().find(|(_, words)| has_word(words, word)).map(|(class, _)| *class)
}

fn has_word(words: &str, word: &str) -> bool {
    !word.contains(' ') && among(words, word)
}

/// Whole names, in lower case.
#[rustfmt::skip]
const NAMES: Table = &[
    (FileClass::Code, "\
        dockerfile containerfile makefile gnumakefile bsdmakefile justfile .justfile rakefile gemfile \
        guardfile capfile vagrantfile podfile fastfile appfile dangerfile brewfile thorfile berksfile \
        puppetfile procfile jenkinsfile earthfile tiltfile caddyfile snakefile sconstruct sconscript wscript \
        meson.build build build.bazel workspace workspace.bazel module.bazel cmakelists.txt go.mod go.work \
        dune dune-project gradlew mvnw configure pkgbuild .bashrc .bash_profile .bash_aliases .zshrc .zshenv \
        .zprofile .profile .envrc .vimrc .emacs pom.xml taskfile.yml taskfile.yaml"),
    (FileClass::Document, "\
        readme license licence copying notice changelog changes history news authors contributors \
        contributing maintainers install todo security code_of_conduct llms.txt robots.txt humans.txt"),
    (FileClass::Config, "\
        .env .gitignore .gitattributes .gitmodules .gitconfig .mailmap .dockerignore .containerignore \
        .npmignore .npmrc .yarnrc .nvmrc .node-version .python-version .ruby-version .tool-versions \
        .editorconfig .prettierrc .prettierignore .eslintrc .eslintignore .stylelintrc .babelrc \
        .browserslistrc .swcrc .clang-format .clang-tidy .flake8 .pylintrc .coveragerc .pypirc .netrc \
        .inputrc .htaccess .helmignore .terraformignore .rgignore .ignore codeowners pipfile kconfig \
        requirements.txt constraints.txt go.sum .terraform.lock.hcl package.json tsconfig.json chart.yaml"),
];

/// Extensions, in lower case.
#[rustfmt::skip]
const EXTENSIONS: Table = &[
    (FileClass::Code, "\
        rs c h cc cpp cxx c++ hh hpp hxx h++ inl ipp ixx cppm m mm go zig zon d di nim nims cr v vh sv svh \
        vhd vhdl s asm ada adb ads f for f77 f90 f95 f03 f08 pas pp swift odin jai hx hare ha cu cuh cl ispc \
        ino pde mojo carbon vala vapi cob cbl java kt kts scala sc sbt groovy gradle clj cljs cljc edn bb cs \
        csx fs fsi fsx vb erl hrl ex exs heex leex eex gleam dart jl hs lhs purs elm idr agda lean coq ml \
        mli mll mly re rei res resi roc unison pl pm t raku rakumod lua luau moon fnl tcl r rmd qmd lisp lsp \
        el scm ss rkt hy pro prolog apl bqn st factor forth 4th sol vy move cairo nr circom wat wast py pyi \
        pyx pxd pyw ipynb rb erb rake gemspec ru podspec php phtml php3 php4 php5 sh bash zsh fish ksh csh \
        tcsh nu elv bats ps1 psm1 psd1 bat cmd vbs applescript awk sed ahk au3 gd gdshader vim js mjs cjs \
        jsx es6 ts mts cts tsx vue svelte astro riot marko html htm xhtml css scss sass less styl pcss \
        postcss hbs handlebars mustache ejs pug jade haml slim liquid njk nunjucks twig jinja jinja2 j2 tmpl \
        gotmpl gohtml templ razor cshtml vbhtml aspx jsp jspx ftl blade coffee litcoffee civet imba wgsl \
        glsl vert frag comp geom hlsl metal qml xaml axaml fxml storyboard xib sql psql plsql pgsql ddl dml \
        prisma dbml graphql graphqls gql proto thrift avdl avsc capnp fbs smithy wit tsp cue dhall jsonnet \
        libsonnet nix tf tfvars hcl bicep rego sentinel nomad pkl ncl kcl star bzl bazel cmake mk mak make \
        just ninja gn gni dockerfile containerfile meson xsl xslt xquery sparql rq peg pest y yy l lex g4 \
        bnf ebnf csproj fsproj vbproj sln pbxproj cabal feature robot http typ ll td mlir dts dtsi ld lds x"),
    (FileClass::Document, "\
        md mdx markdown mdown mkd mdc rst rest adoc asciidoc asc txt text org tex latex ltx sty bib textile \
        wiki mediawiki creole pod rdoc rtf doc docx odt pdf man 1 5 7 8 texi texinfo norg neorg puml \
        plantuml mmd mermaid dot gv d2 drawio excalidraw"),
    (FileClass::Config, "\
        json json5 jsonc jsonl ndjson geojson webmanifest yaml yml toml ini cfg conf config cnf env lock \
        lockb properties props prefs plist xml xsd dtd rc reg desktop service socket timer mount target \
        rules editorconfig csv tsv kdl ron hjson cson pem crt cer pub sum code-workspace iml targets ruleset \
        po pot xlf xliff arb strings resx"),
];

/// Extensions of variants: the class is that of the name before them.
const VARIANTS: &str = "example sample template dist default in bak backup orig old new tpl";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn classes_by_name() {
        let rows: &[(FileClass, &[&str])] = &[
            (FileClass::Code, &[
                "src/main.rs", "a/B.TSX", "x.jsx", "App.vue", "App.svelte", "analysis.ipynb", "1.sql", "run.sh",
                "run.ps1", "api.proto", "api.graphql", "main.tf", "flake.nix", "build.zig", "x.test.ts", "types.d.ts",
                ".eslintrc.js", "Dockerfile", "Dockerfile.prod", "dev.Dockerfile", "Containerfile", "sub/Makefile",
                "GNUmakefile", "rules.mk", "justfile", ".justfile", "Rakefile", "Gemfile", "CMakeLists.txt",
                "Jenkinsfile", "go.mod", "BUILD.bazel", "page.html", "style.css", "C:\\src\\Main.CS", "x.blade.php",
                "configure", "deploy.sh.example", "Makefile.in", ".bashrc", "vite.config.ts", "x.py.bak",
            ]),
            (FileClass::Document, &[
                "README", "README.md", "docs/a.MD", "a.mdx", "a.rst", "a.adoc", "notes.txt", "todo.org", "paper.tex",
                "LICENSE", "LICENSE.txt", "CHANGELOG", "README.ja.md", "COPYING", "tidegate.1",
            ]),
            (FileClass::Config, &[
                "package.json", "a.yaml", "a.yml", "Cargo.toml", "Cargo.lock", "setup.cfg", "a.ini", ".env",
                ".env.local", ".env.production", "prod.env", ".gitignore", ".eslintrc", ".eslintrc.json", "yarn.lock",
                "requirements.txt", ".prettierrc", "config.yaml.example", "uv.lock", "tsconfig.json",
            ]),
            (FileClass::Other, &[
                "", "a", "logo.png", "a.bin", "font.woff2", "dir/", ".hidden", "x.unheardof", ".", "..", "a.", "日本語",
                "data.parquet", "x.tar.gz",
            ]),
        ];
        for (class, paths) in rows {
            for path in *paths {
                assert_eq!(FileClass::of(path), *class, "{path:?}");
            }
        }
    }

    #[test]
    fn a_word_has_one_class() {
        for table in [NAMES, EXTENSIONS] {
            let mut words: Vec<&str> = table.iter().flat_map(|(_, words)| words.split(' ')).collect();
            assert!(words.iter().all(|word| *word == word.to_lowercase()));
            words.sort_unstable();
            let all = words.len();
            words.dedup();
            assert_eq!(words.len(), all, "a word stands there twice");
        }
    }
}
