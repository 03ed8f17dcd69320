//! The files with Tidegate's hooks for another host, as `doctor` finds them: everything that these hosts have in common.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tidegate_core::host::Host;

use super::claude_code::registrations::{OwnEntry, Starts, is_ours};
use super::claude_code::settings_file::{Scope, read_text};
use super::opencode;
use super::registered::HostHooks;
use crate::bilingual::{Bilingual, both};
use crate::config_words::describe_file_fault;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::install::record::Records;
use crate::json_text::Document;
use crate::path::is_same_place;
use crate::program::is_program;
use crate::shell::quote_path;

/// A file that has Tidegate's hooks, and that the host reads.
pub(crate) struct HookFile {
    pub(crate) scope: Scope,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl HookFile {
    /// `Null` for a plugin, which is a script.
    pub(crate) fn value(&self) -> Value {
        Document::parse(&self.text).map(|document| document.value(&document.root)).unwrap_or_default()
    }

    /// Each once.
    fn programs(&self, hooks: &HostHooks, call: &str) -> Vec<String> {
        if hooks.host == Host::OpenCode {
            return opencode::called_program(&self.text).into_iter().collect();
        }
        let value = self.value();
        let events = value["hooks"].as_object().into_iter().flatten();
        let groups = events.flat_map(|(_, groups)| groups.as_array().into_iter().flatten());
        let handlers = groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten());
        let entries = handlers.filter(|handler| is_ours(handler, call)).filter_map(OwnEntry::read);
        let mut programs: Vec<String> = entries
            .filter_map(|entry| match entry.starts {
                Starts::Program(program) => Some(program),
                Starts::Selector | Starts::PluginSelector => None,
            })
            .collect();
        programs.sort();
        programs.dedup();
        programs
    }
}

pub(crate) struct Installed<'a> {
    seen: &'a Gathered,
    hooks: &'static HostHooks,
    /// The folder whose file the host reads as the project's.
    project: Option<&'a Path>,
    pub(crate) files: Vec<HookFile>,
    /// A file with hooks that the host does not run was reported.
    pub(crate) has_lost: bool,
}

impl<'a> Installed<'a> {
    /// Reports hooks that are gone, and files that the host refuses as a whole.
    pub(crate) fn find(hooks: &'static HostHooks, seen: &'a Gathered, found: &mut Findings) -> Installed<'a> {
        Installed::find_in(seen.project.as_deref(), hooks, seen, found)
    }

    /// The same for a host that reads the project's file in another folder.
    pub(crate) fn find_in(
        project: Option<&'a Path>,
        hooks: &'static HostHooks,
        seen: &'a Gathered,
        found: &mut Findings,
    ) -> Installed<'a> {
        let mut installed = Installed { seen, hooks, project, files: Vec::new(), has_lost: false };
        let recorded = Records::look(&seen.env).map(|records| records.settings()).unwrap_or_default();
        for (scope, path) in hooks.files(project, &seen.env.place) {
            let is_recorded = || recorded.iter().any(|(_, file)| is_same_place(file, &path));
            let text = read_text(&path);
            let fault = text
                .as_deref()
                .and_then(hooks.fault)
                .filter(|_| text.as_deref().is_some_and(|text| text.contains("tidegate")));
            match (text, fault) {
                (Some(_), Some(fault)) => {
                    let (place, Bilingual { en, ja }) = (
                        format!("{}:{}:{}", path.display(), fault.line, fault.column),
                        describe_file_fault(&fault.what),
                    );
                    found.problem(
                        both!(
                            "{host} does not read {place}: {en}. It runs none of the hooks in it.",
                            "{host} は {place} を読み込みません（{ja}）。その中のフックは実行されません。",
                            host = hooks.title()
                        ),
                        both!(
                            "Correct the file. Then run `{init}`.",
                            "ファイルを直してから `{init}` を実行してください。",
                            init = installed.init(scope)
                        ),
                    );
                    installed.has_lost = true;
                }
                (Some(text), None) if hooks.has_ours(&text, &seen.call) => {
                    installed.files.push(HookFile { scope, path, text });
                }
                _ if is_recorded() => {
                    found.problem(
                        both!(
                            "{file} has none of Tidegate's hooks any more, so {host} does not call it.",
                            "{file} の Tidegate のフックがなくなったため、{host} から呼び出されません。",
                            file = path.display(),
                            host = hooks.title()
                        ),
                        both!(
                            "Run `{init}`. To work without Tidegate, run `{uninstall}`.",
                            "`{init}` を実行してください。使うのをやめるには `{uninstall}` です。",
                            init = installed.init(scope),
                            uninstall = installed.uninstall(scope)
                        ),
                    );
                    installed.has_lost = true;
                }
                _ => {}
            }
        }
        installed
    }

    pub(crate) fn init(&self, scope: Scope) -> String {
        self.command("init", scope)
    }

    fn uninstall(&self, scope: Scope) -> String {
        self.command("uninstall", scope)
    }

    fn command(&self, name: &str, scope: Scope) -> String {
        let elsewhere =
            self.project.filter(|_| scope == Scope::Local && self.project != self.seen.project.as_deref());
        let place = elsewhere.map_or_else(
            || self.seen.scope_arguments(scope),
            |project| format!("--project {}", quote_path(project)),
        );
        self.seen.callable(&format!("tidegate {name} {place} --host {}", self.hooks.host.name()))
    }

    /// A program that cannot be started, and hooks that are missing next to others. Returns whether all is well.
    pub(crate) fn check_entries(&self, file: &HookFile, found: &mut Findings) -> bool {
        let (shown, host) = (file.path.display(), self.hooks.title());
        let mut is_well = true;
        for program in file.programs(self.hooks, &self.seen.call) {
            // Another form is a person's own, and looked for on a path that only the host knows.
            let Err(Bilingual { en, ja }) = is_startable(&program) else { continue };
            let effect = if self.hooks.denies_without_program {
                both!("{host} denies every edit", "{host} がすべての編集を拒否します")
            } else {
                both!("Tidegate checks nothing in {host}", "{host} では何も確認しません")
            };
            found.problem(
                both!(
                    "{effect}: {shown} starts {program}, which {en}.",
                    "{effect_ja}。{shown} から起動する {program} {ja}。",
                    effect = effect.en,
                    effect_ja = effect.ja
                ),
                both!(
                    "Run `{init}`: it registers this program. To work without Tidegate, run `{uninstall}`.",
                    "`{init}` を実行すると、このプログラムを登録します。Tidegate を使わない場合は `{uninstall}` を実行してください。",
                    init = self.init(file.scope),
                    uninstall = self.uninstall(file.scope)
                ),
            );
            is_well = false;
        }
        if self.hooks.host == Host::OpenCode {
            return is_well;
        }
        let missing = self.hooks.missing_registrations(&file.value(), &self.seen.call);
        if !missing.is_empty() {
            let names = missing.join(", ");
            found.problem(
                both!(
                    "{shown} lacks Tidegate's hooks for {names}.",
                    "{shown} に Tidegate のフック（{names}）がありません。"
                ),
                both!(
                    "Run `{init}`: it registers all hooks.",
                    "`{init}` を実行すると、すべてのフックを登録します。",
                    init = self.init(file.scope)
                ),
            );
            is_well = false;
        }
        is_well
    }

    /// That hooks are there twice, that none is there, or that none was called. `run`: the files whose hooks the host runs.
    /// `hint` follows the last.
    pub(crate) fn finish(&self, run: &[&HookFile], hint: Bilingual, found: &mut Findings) {
        let host = self.hooks.title();
        if let [one, other] = run {
            let (one, other) = (one.path.display(), other.path.display());
            found.warning(
                both!(
                    "{host} reads both {one} and {other}, so every hook runs twice.",
                    "{host} は {one} と {other} の両方を読み込むため、どのフックも2回実行されます。"
                ),
                both!(
                    "Run `{here}`, or `{everywhere}`.",
                    "`{here}` か `{everywhere}` を実行してください。",
                    here = self.uninstall(Scope::Local),
                    everywhere = self.uninstall(Scope::User)
                ),
            );
        }
        if self.files.is_empty() {
            if !self.has_lost && self.hooks.is_found(&self.seen.env.place) {
                found.ok(both!(
                    "Tidegate is not installed for {host}.",
                    "{host} 用にはインストールされていません。"
                ));
            }
            return;
        }
        let name = self.hooks.host.name();
        if !self.seen.history.records.iter().any(|record| record.host == name) {
            let Bilingual { en, ja } = hint;
            found.note(both!(
                "{host} has not called Tidegate in the last days.{en}",
                "この数日、{host} から Tidegate は呼び出されていません。{ja}"
            ));
        }
    }

    /// That the file has everything.
    pub(crate) fn is_complete(&self, file: &HookFile, found: &mut Findings) {
        let (shown, host) = (file.path.display(), self.hooks.title());
        found.ok(both!(
            "{shown} has all of Tidegate's hooks for {host}.",
            "{shown} に {host} 用の Tidegate のフックがすべてあります。"
        ));
    }
}

fn is_startable(program: &str) -> Result<(), Bilingual> {
    let path = Path::new(program);
    if path.is_absolute() { is_program(path) } else { Ok(()) }
}
