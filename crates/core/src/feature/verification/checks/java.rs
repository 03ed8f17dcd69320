//! Java, Kotlin and Scala: Maven, Gradle, sbt.

use crate::text::word_list::Words;

use crate::feature::verification::checks::kind::{CheckKind, Kinds};
use crate::feature::verification::checks::language::Languages;
use crate::feature::verification::checks::tool::{Tool, has_option, judge_tool, operands, tool};
use crate::feature::verification::checks::{
    CheckCall, Contents, Ecosystem, ProjectChecks, ProjectFile, runs_nothing,
};

pub(super) static ECOSYSTEM: Ecosystem = Ecosystem {
    manifests: "pom.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts build.sbt",
    other_files: "gradlew mvnw",
    texts: "",
    commands: "mvn mvnw mvnd gradle gradlew sbt",
    alone: "",
    read: |name, _| match name {
        "gradlew" | "mvnw" => Contents::default(),
        _ => Contents::shows(Kinds::COMPILED_TEST),
    },
    judge: |call| judge_java(call).into(),
    reads: Languages::JVM.and(Languages::OTHER),
    folder_options: "mvn:-f mvn:--file mvnw:-f gradle:-p gradlew:-p gradle:--project-dir gradlew:--project-dir",
    runs: runs_nothing,
    examples,
};

static SBT: &[Tool] = &[
    tool("sbt", "test testQuick testOnly", Kinds::COMPILED_TEST),
    tool("sbt", "compile Test/compile", Kinds::COMPILES),
];

const MAVEN_VALUED: Words = "-f --file -pl --projects -P --activate-profiles -s --settings -T --threads -rf \
        --resume-from -l --log-file";

const GRADLE_VALUED: Words = "-p --project-dir -x --exclude-task -I --init-script -b --build-file -c --tests -g \
        --gradle-user-home --max-workers --console";

fn judge_java(call: &CheckCall<'_>) -> Kinds {
    match call.name {
        "mvn" | "mvnw" | "mvnd" => maven(call),
        "gradle" | "gradlew" => gradle(call),
        _ => judge_tool(SBT, call.name, call.arguments).unwrap_or_default(),
    }
}

fn maven(call: &CheckCall<'_>) -> Kinds {
    let ignores = "-fn --fail-never -Dmaven.test.failure.ignore -Dmaven.test.failure.ignore=true -v";
    if has_option(call.arguments, ignores) {
        return Kinds::NONE;
    }
    let mut kinds = Kinds::NONE;
    for goal in operands(call.arguments, MAVEN_VALUED) {
        if goal.ends_with(":watch") {
            return Kinds::NONE;
        }
        kinds = kinds.and(match goal {
            "test" | "verify" | "package" | "install" | "deploy" | "integration-test" | "surefire:test" => {
                Kinds::COMPILED_TEST
            }
            "compile" | "test-compile" | "process-classes" | "compiler:compile" => Kinds::COMPILES,
            "checkstyle:check" | "pmd:check" | "spotbugs:check" => Kinds::LINT,
            _ => Kinds::NONE,
        });
    }
    let skips = call.arguments.iter().any(|word| {
        let (option, value) = word.text.split_once('=').unwrap_or((&word.text, "true"));
        matches!(option, "-DskipTests" | "-Dmaven.test.skip") && value != "false"
    });
    if skips { kinds.without(Kinds::TEST) } else { kinds }
}

fn gradle(call: &CheckCall<'_>) -> Kinds {
    if has_option(call.arguments, "-m --test-dry-run -t --continuous -v") {
        return Kinds::NONE;
    }
    let mut kinds = Kinds::NONE;
    for task in operands(call.arguments, GRADLE_VALUED) {
        let task = task.rsplit(':').next().unwrap_or(task);
        kinds = kinds.and(match task {
            "test" | "check" | "build" | "allTests" | "connectedCheck" | "buildNeeded"
            | "integrationTest" => Kinds::COMPILED_TEST,
            "assemble" | "classes" | "testClasses" | "jar" | "bootJar" | "shadowJar" | "installDist" => {
                Kinds::COMPILES
            }
            "lint" | "detekt" | "ktlintCheck" | "checkstyleMain" | "pmdMain" | "spotbugsMain" => Kinds::LINT,
            task if task.starts_with("test") && task.ends_with("Test") => Kinds::COMPILED_TEST,
            task if task.starts_with("connected") && task.ends_with("Test") => Kinds::COMPILED_TEST,
            task if task.starts_with("compile") || task.starts_with("assemble") => Kinds::COMPILES,
            task if task.starts_with("lint") && !task.contains("Fix") => Kinds::LINT,
            _ => Kinds::NONE,
        });
    }
    let excluded = call.arguments.windows(2).any(|pair| {
        let task = pair[1].text.rsplit(':').next().unwrap_or_default();
        matches!(pair[0].text.as_str(), "-x" | "--exclude-task") && matches!(task, "test" | "check")
    });
    if excluded { kinds.without(Kinds::TEST) } else { kinds }
}

fn examples(project: &ProjectChecks, file: &ProjectFile) -> Vec<(CheckKind, String)> {
    let at = |name: &str| project.nearest(&file.folder, name).is_some();
    let (test, compile) = match file.name.as_str() {
        "pom.xml" if at("mvnw") => ("./mvnw test", "./mvnw compile"),
        "pom.xml" => ("mvn test", "mvn compile"),
        "build.sbt" => ("sbt test", "sbt compile"),
        _ if at("gradlew") => ("./gradlew test", "./gradlew assemble"),
        _ => ("gradle test", "gradle assemble"),
    };
    vec![
        (CheckKind::Test, test.into()),
        (CheckKind::Typecheck, compile.into()),
        (CheckKind::Build, compile.into()),
    ]
}
