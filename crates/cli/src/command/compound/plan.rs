//! A promotion as it is typed, as it is checked, and as changes of files.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tidegate_core::feature::knowledge::entry_id::EntryId;
use tidegate_core::feature::knowledge::stock;
use tidegate_core::feature::knowledge::stock::{CountForm, Learning, NewLearning, Stock};
use tidegate_core::text::one_line::one_line;

use super::promote::Args;
use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::knowledge::{Knowledge, Project, StockName, check_unique, fix_file, is_named, required_line};

/// One promotion as a person or a model writes it, on the command line or in a plan.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Typed {
    #[serde(default)]
    entry: Option<OneOrMore>,
    to: Option<StockName>,
    title: Option<String>,
    learning: Option<String>,
    context: Option<String>,
    implication: Option<String>,
    phase: Option<String>,
    confirm: Option<String>,
    merge: Option<Vec<String>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn list(self) -> Vec<String> {
        match self {
            OneOrMore::One(one) => vec![one],
            OneOrMore::More(more) => more,
        }
    }
}

impl Typed {
    pub(super) fn of(args: &Args) -> Typed {
        Typed {
            entry: (!args.entry.is_empty()).then(|| OneOrMore::More(args.entry.clone())),
            to: args.to,
            title: args.title.clone(),
            learning: args.learning.clone(),
            context: args.context.clone(),
            implication: args.implication.clone(),
            phase: args.phase.clone(),
            confirm: args.confirm.clone(),
            merge: (!args.merge.is_empty()).then(|| args.merge.clone()),
        }
    }

    pub(super) fn all(text: &str) -> Result<Vec<Typed>, CliError> {
        let hint = || {
            both!(
                "`tidegate compound promote --help` shows a plan",
                "計画の例は `tidegate compound promote --help` にあります"
            )
        };
        let plan: Vec<Typed> =
            serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
                CliError::new(both!("the plan cannot be read: {error}", "計画を読めません: {error}"))
                    .hint(hint())
            })?;
        if plan.is_empty() {
            return Err(CliError::new(both!("the plan is empty", "計画が空です")).hint(hint()));
        }
        Ok(plan)
    }

    /// Resolves ids and checks members.
    pub(super) fn step(self, knowledge: &Knowledge) -> Result<Step, CliError> {
        let phase = self.phase.as_deref().map(one_line).filter(|phase| !phase.is_empty());
        let of_learning = [&self.title, &self.learning, &self.context, &self.implication];
        let new = self.entry.is_some() || self.to.is_some() || of_learning.iter().any(|text| text.is_some());
        match (new, self.confirm, self.merge) {
            (false, Some(named), None) => {
                let place = LearningPlace::of(knowledge, &named)?;
                Ok(Step::Confirm { learning: place, phase })
            }
            (false, None, Some(merge)) => {
                let [keep, away] = merge.as_slice() else {
                    return Err(CliError::new(both!(
                        "`merge` takes two ids",
                        "`merge` には ID が2つ必要です"
                    ))
                    .hint(both!("the second goes into the first", "2つ目を1つ目にまとめます")));
                };
                if phase.is_some() {
                    return Err(CliError::new(both!(
                        "`merge` takes no phase: those of both are kept",
                        "`merge` に phase は指定できません（両方のものが残ります）"
                    )));
                }
                let (keep, away) = LearningPlace::two(knowledge, keep, away)?;
                Ok(Step::Merge { keep, away })
            }
            (true, None, None) => {
                let text = |name: &str, text: Option<String>| {
                    required_line(
                        name,
                        &text.ok_or_else(|| {
                            CliError::new(both!("`{name}` is missing", "`{name}` がありません"))
                        })?,
                    )
                };
                let entries = self.entry.map(OneOrMore::list).unwrap_or_default();
                if entries.is_empty() {
                    return Err(CliError::new(both!("`entry` is missing", "`entry` がありません")).hint(
                        both!(
                            "`tidegate compound list` shows the notes with their ids",
                            "メモの ID は `tidegate compound list` で表示されます"
                        ),
                    ));
                }
                let entries: Result<Vec<EntryId>, CliError> =
                    entries.iter().map(|named| knowledge.entry(named).map(|entry| entry.id)).collect();
                Ok(Step::Learn {
                    entries: entries?,
                    to: self.to.ok_or_else(|| {
                        CliError::new(both!("`to` is missing", "`to` がありません")).hint(both!(
                            "one of coding, design, feature-spec, general, global",
                            "coding、design、feature-spec、general、global のどれかです"
                        ))
                    })?,
                    title: text("title", self.title)?,
                    learning: text("learning", self.learning)?,
                    context: text("context", self.context)?,
                    implication: text("implication", self.implication)?,
                    phase,
                })
            }
            (false, None, None) => {
                Err(CliError::new(both!("there is nothing to save", "保存するものがありません")).hint(both!(
                    "give a new learning, or `confirm` with an id, or `merge` with two",
                    "新しい学びか、ID つきの `confirm`、または2つの ID つきの `merge` を指定してください"
                )))
            }
            _ => Err(CliError::new(both!(
                "a new learning, `confirm` and `merge` cannot be one element",
                "新しい学び、`confirm`、`merge` は1つの要素にまとめられません"
            ))
            .hint(both!("make each an element of the plan", "計画の別々の要素にしてください"))),
        }
    }
}

/// One promotion, with ids that exist.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Step {
    Learn {
        entries: Vec<EntryId>,
        to: StockName,
        title: String,
        learning: String,
        context: String,
        implication: String,
        phase: Option<String>,
    },
    Confirm {
        learning: LearningPlace,
        phase: Option<String>,
    },
    Merge {
        keep: LearningPlace,
        away: LearningPlace,
    },
}

impl Step {
    /// Merging only tidies.
    pub(super) fn promotes(&self) -> bool {
        !matches!(self, Step::Merge { .. })
    }

    /// For the person who is asked to agree.
    pub(super) fn text(&self, knowledge: &Knowledge) -> String {
        match self {
            // The whole text: a person approves that, not its title.
            Step::Learn { to, title, learning, context, implication, .. } => format!(
                "\"{title}\" → {}: {learning} · context: {context} · implication: {implication}",
                to.shown()
            ),
            Step::Confirm { learning, .. } => format!("{} +1", learning.shown(knowledge)),
            Step::Merge { keep, away } => {
                format!("{} → {}", away.shown(knowledge), keep.shown(knowledge))
            }
        }
    }
}

/// A learning, and its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LearningPlace {
    id: EntryId,
    file: StockName,
}

fn where_ids_are() -> Bilingual {
    both!(
        "`tidegate learnings` shows the learnings with their ids",
        "学びの ID は `tidegate learnings` で表示されます"
    )
}

impl LearningPlace {
    fn shown(self, knowledge: &Knowledge) -> String {
        let file = knowledge.stock.iter().find(|file| file.file == self.file);
        let learnings = file.map(|file| Stock::parse(&file.text).entries).unwrap_or_default();
        let title = learnings.iter().find(|learning| learning.id == self.id).map(|learning| learning.title);
        format!("\"{}\" ({})", title.unwrap_or_default(), self.file.shown())
    }

    fn all(knowledge: &Knowledge, named: &str) -> Result<Vec<LearningPlace>, CliError> {
        let mut found = Vec::new();
        for file in &knowledge.stock {
            let named = Stock::parse(&file.text).entries.into_iter().filter(|it| is_named(it.id, named));
            found.extend(named.map(|learning| LearningPlace { id: learning.id, file: file.file }));
        }
        let ids = found.iter().map(|place| place.id.to_string()).collect();
        check_unique(named, &both!("learning", "学び"), ids, where_ids_are())?;
        Ok(found)
    }

    fn of(knowledge: &Knowledge, named: &str) -> Result<LearningPlace, CliError> {
        match LearningPlace::all(knowledge, named)?.as_slice() {
            [place] => Ok(*place),
            _ => Err(CliError::new(both!(
                "the learning `{named}` is there more than once",
                "学び `{named}` が複数あります"
            ))
            .hint(both!(
                "merge them first: `tidegate compound promote --merge {named} {named}`",
                "先にまとめてください: `tidegate compound promote --merge {named} {named}`"
            ))),
        }
    }

    /// The same id twice means a learning that stands there twice.
    fn two(
        knowledge: &Knowledge,
        keep: &str,
        away: &str,
    ) -> Result<(LearningPlace, LearningPlace), CliError> {
        let (first, second) = (LearningPlace::all(knowledge, keep)?, LearningPlace::all(knowledge, away)?);
        let pair = match (first.as_slice(), second.as_slice()) {
            ([one], [other]) if one != other => Some((*one, *other)),
            ([one, other], _) if first == second => Some((*one, *other)),
            _ => None,
        };
        pair.ok_or_else(|| {
            CliError::new(both!(
                "`{keep}` and `{away}` are not two learnings",
                "`{keep}` と `{away}` は別々の学びではありません"
            ))
            .hint(where_ids_are())
        })
    }
}

#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) file: StockName,
    pub(super) path: PathBuf,
    pub(super) old: Option<String>,
    pub(super) new: String,
    /// Something moves from here to another file, which therefore has to be written first.
    pub(super) loses: bool,
}

/// One change per file, in the order in which they are to be written.
pub(super) fn plan_changes(
    project: &Project,
    knowledge: &Knowledge,
    steps: &[Step],
    date: &str,
    form: CountForm,
) -> Result<Vec<Change>, CliError> {
    let mut changes = Changes { project, knowledge, list: Vec::new() };
    for step in steps {
        match step {
            Step::Learn { to, title, learning, context, implication, phase, .. } => {
                let change = changes.of(*to)?;
                let phase = phase.as_deref();
                let new = NewLearning { title, learning, context, implication, date, phase, form };
                let text = stock::append_learning(&change.new, &new);
                let added = Stock::parse(&text).entries.pop().map(|added| added.id);
                let known = Stock::parse(&change.new);
                if let Some(same) = known.entries.iter().find(|known| Some(known.id) == added) {
                    return Err(CliError::new(both!(
                        "`{title}` is there already, in line {line}",
                        "`{title}` はすでに{line}行目にあります",
                        line = same.line
                    ))
                    .hint(both!(
                        "confirm it instead: `tidegate compound promote --confirm {id}`",
                        "代わりに確認してください: `tidegate compound promote --confirm {id}`",
                        id = same.id
                    )));
                }
                change.new = text;
            }
            Step::Confirm { learning, phase } => {
                let change = changes.of(learning.file)?;
                let text = stock::confirm_learning(&change.new, learning.id, date, phase.as_deref());
                change.new = text.ok_or_else(|| learning_gone(learning.id))?;
            }
            Step::Merge { keep, away } => changes.merge(*keep, *away)?,
        }
    }
    let Changes { mut list, .. } = changes;
    list.retain(|change| change.old.as_deref() != Some(&change.new));
    list.sort_by_key(|change| change.loses);
    if list.iter().filter(|change| change.loses).count() > 1 {
        return Err(CliError::new(both!(
            "learnings would move from one file to another and back",
            "学びが2つのファイルの間を行き来します"
        ))
        .hint(both!(
            "merge those of one file with one command, and the others with the next",
            "ファイルごとに別のコマンドでまとめてください"
        )));
    }
    Ok(list)
}

fn learning_gone(id: EntryId) -> CliError {
    CliError::new(both!("there is no learning `{id}` any more", "学び `{id}` はもうありません"))
        .hint(where_ids_are())
}

struct Changes<'a> {
    project: &'a Project,
    knowledge: &'a Knowledge,
    list: Vec<Change>,
}

impl Changes<'_> {
    fn of(&mut self, file: StockName) -> Result<&mut Change, CliError> {
        if let Some(at) = self.list.iter().position(|change| change.file == file) {
            return Ok(&mut self.list[at]);
        }
        let path = self.project.path_of(file)?;
        if let Some((_, why)) = self.knowledge.broken.iter().find(|(broken, _)| *broken == path) {
            return Err(CliError::new(why.clone()).hint(fix_file()));
        }
        let old = self.knowledge.stock.iter().find(|stock| stock.file == file);
        let old = old.map(|stock| stock.text.clone());
        let new = old.clone().unwrap_or_default();
        Ok(self.list.push_mut(Change { file, path, old, new, loses: false }))
    }

    fn merge(&mut self, keep: LearningPlace, away: LearningPlace) -> Result<(), CliError> {
        if keep.file == away.file {
            let change = self.of(keep.file)?;
            change.new = stock::merge_learnings(&change.new, keep.id, away.id)
                .ok_or_else(|| learning_gone(away.id))?;
            return Ok(());
        }
        let from = self.of(away.file)?.new.clone();
        let find = |learning: &Learning<'_>| learning.id == away.id;
        let range = Stock::parse(&from).entries.into_iter().find(find).map(|learning| learning.range);
        let range = range.ok_or_else(|| learning_gone(away.id))?;
        let kept = self.of(keep.file)?;
        // As if both were in one file: the lower learning is merged into the upper one.
        let end = kept.new.trim_end().len();
        let both = format!("{}\n\n{}", &kept.new[..end], &from[range.clone()]);
        let merged = stock::merge_learnings(&both, keep.id, away.id).ok_or_else(|| learning_gone(keep.id))?;
        kept.new = format!("{}{}", merged.trim_end(), &kept.new[end..]);
        let change = self.of(away.file)?;
        change.loses = true;
        change.new = format!("{}{}", &from[..range.start], &from[range.end..]);
        Ok(())
    }
}
