//! `tidegate memory search`.

use std::process::ExitCode;

use serde::Serialize;
use tidegate_core::feature::config::Config;
use tidegate_core::feature::memory::relay_log;
use tidegate_core::feature::memory::said::shorten_decision;
use tidegate_memory::act::{self, Authored};
use tidegate_memory::sqlite::StoreSizes;
use tidegate_memory::view::{HitKind, Query};

use super::row_filter::RowFilter;
use super::row_words::{describe_author, describe_end, dotted, local_minute, short_uid, topic_of};
use super::{Opened, count_waiting_jobs, is_none, line, say_waiting, team};
use crate::bilingual::{Bilingual, both};
use crate::command::Outcome;
use crate::local_time::LocalClock;
use crate::print::page::Page;
use crate::print::text::{Text, data, marked_words};
use crate::print::{self, remark};
use crate::sessions::Here;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tidegate memory search busy timeout
  tidegate memory search '\"busy timeout\"' --project . --since 30d
  tidegate memory search 設計 --kind decision --kind log
  tidegate memory search why did we drop redis last month
  tidegate memory search parser --json | jq -r '.results[] | .at + \" \" + .title'

Finds texts with any of the words in any form, also in the other of English and
Japanese; those that fit best come first. Whole questions work. A phrase in double
quotes has to occur as it is. A project's name and words such as `last week`
narrow the search if something fits. The last word may be the beginning of one.
Words that no result has are named. Searches logs, decisions and topics of all
projects, and the learnings and progress notes of projects that were worked in.")]
pub(crate) struct Args {
    /// Words to look for
    #[arg(value_name = "QUERY", required = true, num_args = 1..)]
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: RowFilter,
    /// Only this kind; can be repeated
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Vec<KindName>,
    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=200))]
    pub(crate) limit: u16,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum KindName {
    Log,
    Decision,
    Topic,
    #[value(name = "learning", alias = "stock")]
    Stock,
    Progress,
}

impl KindName {
    pub(crate) fn kind(self) -> HitKind {
        match self {
            KindName::Log => HitKind::Log,
            KindName::Decision => HitKind::Decision,
            KindName::Topic => HitKind::Topic,
            KindName::Stock => HitKind::Stock,
            KindName::Progress => HitKind::Progress,
        }
    }
}

#[derive(Serialize)]
struct Results {
    results: Vec<Authored>,
    /// Words that no result has, if any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    without: Vec<String>,
    /// Jobs that wait for a worker, if any.
    #[serde(skip_serializing_if = "is_none")]
    waiting: usize,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (hits, without, note, waiting, empty) = match Opened::look()? {
        None => {
            let here = Here::find()?;
            (Vec::new(), Vec::new(), None, count_waiting_jobs(&here), Some(empty_page(&here.config)))
        }
        Some(mut opened) => {
            let filter = opened.filter(&args.filter)?;
            // The project's own files may have changed since the worker read them.
            if let (Some(root), Some(own)) = (opened.here.root.clone(), opened.own.clone()) {
                opened.memory.refresh_notes(&root, &own.key)?;
            }
            let kinds: Vec<HitKind> = args.kind.iter().map(|kind| kind.kind()).collect();
            let local = Some(LocalClock::of_system(opened.here.now).local_time());
            let query = Query { text: args.query.join(" "), kinds, filter, limit: args.limit.into(), local };
            let found = team::search_with_team(&opened.here, &mut opened.memory, &query)?;
            let note = found.unreachable.clone();
            let hits = act::with_authors(&mut opened.memory, found.hits, &found.authors)?;
            let is_empty = hits.is_empty() && is_without_rows(&opened.memory.sizes()?);
            let empty = is_empty.then(|| empty_page(&opened.here.config));
            (hits, found.without, note, count_waiting_jobs(&opened.here), empty)
        }
    };
    if let Some(why) = &note {
        remark::note(both!(
            "cannot reach the team's store, so these are results of this machine only ({why})",
            "チームの保存先に接続できないため、このマシンの結果だけを表示します（{why}）"
        ));
    }
    say_waiting(waiting);
    if args.json {
        print::json(&Results { results: hits, without, waiting });
        return Ok(ExitCode::SUCCESS);
    }
    if hits.is_empty() {
        empty.unwrap_or_else(|| nothing_page(&without)).print_to_stderr();
        return Ok(ExitCode::SUCCESS);
    }
    hits_page(&LocalClock::of_system(tidegate_state::clock::now()), &hits, &without).print();
    Ok(ExitCode::SUCCESS)
}

fn is_without_rows(sizes: &StoreSizes) -> bool {
    sizes.logs + sizes.decisions + sizes.topics + sizes.notes == 0
}

/// Why there is nothing to find, and what to do about it.
fn empty_page(config: &Config) -> Page {
    let mut page = Page::of(both!(
        "The memory is empty: nothing has been recorded yet.",
        "記憶は空です。まだ何も記録されていません。"
    ));
    if !relay_log::is_on(config) {
        page.item(both!(
            "Recording is off here; `tidegate off` shows why",
            "ここでは会話の記録がオフです。理由は `tidegate off` で確認できます"
        ));
    } else if !config.memory.headless {
        page.item(both!(
            "Sessions without a person, such as `claude -p`, are recorded only with `headless = true` under `[memory]` in \
             your config",
            "`claude -p` のような人のいないセッションは、設定の `[memory]` に `headless = true` があるときだけ記録します"
        ));
    }
    page.item(both!(
        "`tidegate memory import` adds past conversations",
        "`tidegate memory import` で過去の会話を追加できます"
    ));
    page
}

/// `without`: words that no text has.
fn nothing_page(without: &[String]) -> Page {
    let mut page = Page::of(both!(
        "Nothing found. Try fewer words, or leave out filters such as --project and --since.",
        "見つかりませんでした。言葉を減らすか、--project や --since などの条件を外してみてください。"
    ));
    if !without.is_empty() {
        let words: Vec<String> = without.iter().map(|word| line(word, 40)).collect();
        page.paragraph(both!(
            "No text has: {words}.",
            "どこにもない言葉: {ja}。",
            words = words.join(", "),
            ja = words.join("、")
        ));
    }
    page
}

pub(crate) fn hits_page(clock: &LocalClock, hits: &[Authored], without: &[String]) -> Page {
    let mut page = Page::new();
    for Authored { hit, by, standing } in hits {
        page.gap();
        let title = match hit.kind {
            HitKind::Decision => shorten_decision(&hit.title, 160),
            _ => line(&hit.title, 160),
        };
        page.paragraph(data(title).strong());
        let mut details = vec![describe_kind(hit.kind, &hit.id)];
        details.extend(match (&hit.project, &hit.topic) {
            (Some(project), Some(topic)) if hit.kind != HitKind::Topic => Some(topic_of(project, topic)),
            (project, _) => project.as_ref().map(|project| Bilingual::data(line(project, 40))),
        });
        details.push(local_minute(clock, &hit.at));
        details.extend(by.as_deref().map(describe_author));
        details.extend(standing.as_ref().and_then(describe_end).map(|end| {
            let Bilingual { en, ja } = end;
            if hit.kind == HitKind::Log {
                both!("its decision: {en}", "この決定は{ja}")
            } else {
                Bilingual { en, ja }
            }
        }));
        page.indented(|page| {
            page.paragraph(Text::from(dotted(&details)).dim());
            if !hit.snippet.is_empty() {
                page.paragraph(marked_words(&hit.snippet));
            }
        });
    }
    if !without.is_empty() {
        let words: Vec<String> = without.iter().map(|word| line(word, 40)).collect();
        page.gap();
        page.paragraph(
            Text::from(both!(
                "Without: {words}. No result has this.",
                "除いた言葉: {ja}。どの結果にもありません。",
                words = words.join(", "),
                ja = words.join("、")
            ))
            .dim(),
        );
    }
    page
}

/// With the id that `memory show` takes.
fn describe_kind(kind: HitKind, id: &str) -> Bilingual {
    match kind {
        HitKind::Log => {
            let id = short_uid(id);
            both!("log {id}", "ログ {id}")
        }
        HitKind::Decision => both!("decision {id}", "決定 {id}"),
        HitKind::Topic => both!("topic {id}", "トピック {id}"),
        HitKind::Stock => both!("learning", "学び"),
        HitKind::Progress => both!("progress note", "作業メモ"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::looks::assert_looks;
    use tidegate_core::time::Millis;
    use tidegate_memory::act::{DecisionStatus, Standing};
    use tidegate_memory::view::Hit;

    #[test]
    fn hits_look_well() {
        let hit = |kind, id: &str, title: &str, snippet: &str| Hit {
            kind,
            id: id.to_owned(),
            uid: id.to_owned(),
            title: title.to_owned(),
            snippet: snippet.to_owned(),
            project: Some("shop".to_owned()),
            topic: Some("Search in two languages".to_owned()),
            at: "2026-11-15T11:51:28.000Z".to_owned(),
            score: 0.0,
        };
        let hits = [
            Authored {
                hit: hit(
                    HitKind::Log,
                    "3f9a2c11-0000-4000-8000-000000000001",
                    "検索の設計を変更し、二文字ずつ索引に入れることにした",
                    "検索の**設計**を変更し、二文字ずつ索引に入れる。辞書は持たない。",
                ),
                by: Some("conversation, session 91b38a40".to_owned()),
                standing: Some(Standing {
                    status: DecisionStatus::Superseded,
                    superseded_by: Some(9),
                    conflicts: Vec::new(),
                }),
            },
            Authored {
                hit: hit(HitKind::Decision, "7", "Bigrams for Japanese, whole words for everything else", ""),
                by: Some("author not recorded".to_owned()),
                standing: Some(Standing {
                    status: DecisionStatus::Retracted,
                    superseded_by: None,
                    conflicts: Vec::new(),
                }),
            },
            Authored {
                hit: hit(HitKind::Stock, "x", "One lock per project", "**lock**"),
                by: None,
                standing: None,
            },
        ];
        let clock = LocalClock::utc(Millis(1_794_963_600_000));
        assert_looks("memory-search", &hits_page(&clock, &hits, &[]));
        let without = ["kubernetes".to_owned(), "先週".to_owned()];
        assert_looks("memory-search-without", &hits_page(&clock, &hits[2..], &without));
    }
}
