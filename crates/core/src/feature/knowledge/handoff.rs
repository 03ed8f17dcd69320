//! `handoff.md`: everything a session needs to continue another session's work. Made of files and marks
//! alone.
//!
//! Unknown parts are left out. The first line shows that Tidegate wrote the text and whether it was changed
//! since.

use std::fmt::Write as _;

use crate::feature::CONTEXT_FOLDER;
use crate::feature::facts::Steps;
use crate::feature::knowledge::facts::Knowledge;
use crate::feature::knowledge::plan;
use crate::feature::knowledge::tracked::TRACKED;
use crate::feature::marks::Marks;
use crate::text::cut::cut_to;
use crate::text::fnv;
use crate::text::quoted::quoted_line;
use crate::time::Millis;

/// For this long a starting session is told of a handoff.
pub const NEWS_MS: u64 = 24 * 3_600_000;

/// Most points of one kind.
const MOST: usize = 20;

/// Most characters of one point.
const LONGEST: usize = 240;

const MARK: &str = "<!-- tidegate handoff ";

/// Everything known when a handoff is written.
#[derive(Clone, Debug, Default)]
pub struct HandoffSources<'a> {
    pub at: Millis,
    /// The session whose work is handed off.
    pub session: Option<&'a str>,
    pub marks: Option<&'a Marks>,
    /// The text of the plan.
    pub plan: Option<&'a str>,
    /// Flow and stock.
    pub knowledge: Option<&'a Knowledge>,
    /// Cycles and workflows under way.
    pub work: Vec<Steps>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handoff {
    pub at: Millis,
    session: Option<String>,
    goal: Option<String>,
    constraints: Vec<String>,
    work: Vec<Steps>,
    decisions: Vec<String>,
    unverified: Vec<String>,
    unpromoted: Vec<String>,
    next: Vec<String>,
    open: Vec<String>,
    questions: Vec<String>,
    edited: Vec<String>,
    files: Vec<String>,
    transcript: Option<String>,
}

impl Handoff {
    pub fn collect(sources: &HandoffSources<'_>) -> Handoff {
        let HandoffSources { at, session, marks, plan, knowledge, work } = sources;
        let plan = plan.unwrap_or_default();
        let lines = |texts: &[&str]| -> Vec<String> {
            texts.iter().map(|text| short_point(text)).filter(|text| !text.is_empty()).collect()
        };
        let of_knowledge = |list: fn(&Knowledge) -> &Vec<String>| -> Vec<String> {
            let list = knowledge.map(list).map(Vec::as_slice).unwrap_or_default();
            lines(&list.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let questions = plan::questions(plan);
        let open: Vec<&str> =
            plan::open_items(plan).into_iter().filter(|item| !questions.contains(item)).collect();
        let mut unverified = Vec::new();
        if let Some(changes) = marks.and_then(|marks| marks.verification.changes.as_ref()) {
            let named = changes.named_files();
            unverified = lines(&named);
            let more = changes.count() - named.len();
            if more > 0 {
                unverified.push(format!("and at least {more} more"));
            }
            let failed = changes.failure().and_then(|failed| failed.shown());
            unverified.extend(failed.map(|check| format!("`{}` failed since", short_point(check))));
            let hidden = changes.hidden.as_ref().map(|hidden| hidden.line.as_str());
            unverified.extend(
                hidden.map(|line| format!("`{}` ran since; its exit status was hidden", short_point(line))),
            );
        }
        let edited = marks.map(|marks| marks.verification.wrote.files.as_slice()).unwrap_or_default();
        let tracked = knowledge.map(|knowledge| knowledge.tracked.as_slice()).unwrap_or_default();
        let is_there = |name: &&&str| tracked.iter().any(|file| file.name == **name);
        let files = TRACKED.iter().filter(is_there);
        Handoff {
            at: *at,
            session: session.map(str::to_owned),
            goal: plan::task_title(plan).map(short_point),
            constraints: lines(&plan::constraints(plan)),
            work: work.iter().filter(|work| !work.steps.is_empty()).cloned().collect(),
            decisions: of_knowledge(|knowledge| &knowledge.decisions),
            unverified,
            unpromoted: of_knowledge(|knowledge| &knowledge.unpromoted),
            next: of_knowledge(|knowledge| &knowledge.next),
            open: lines(&open),
            questions: lines(&questions),
            edited: lines(&edited.iter().rev().map(String::as_str).collect::<Vec<_>>()),
            files: files.map(|name| format!("{CONTEXT_FOLDER}/{name}")).collect(),
            transcript: marks.and_then(|marks| marks.session.transcript.as_deref()).map(short_point),
        }
    }

    /// Whether another session would have nothing to continue.
    pub fn is_empty(&self) -> bool {
        self.goal.is_none()
            && self.work.is_empty()
            && [
                &self.constraints,
                &self.decisions,
                &self.unverified,
                &self.unpromoted,
                &self.next,
                &self.open,
                &self.questions,
                &self.edited,
            ]
            .iter()
            .all(|list| list.is_empty())
    }

    pub fn text(&self) -> String {
        let body = self.body();
        format!("{MARK}{} {:016x} -->\n{body}", self.at.iso(), digest(&body))
    }

    fn body(&self) -> String {
        let session = self.session.as_ref().map(|id| format!(" of session {id}")).unwrap_or_default();
        let mut text = format!("# Handoff{session}, {}\n", self.at.iso_seconds());
        let labelled = |label: &str, texts: &[String]| -> Vec<String> {
            texts.iter().map(|text| format!("{label}: {text}")).collect()
        };
        let mut goal: Vec<String> = labelled("task_plan.md", self.goal.as_slice());
        // The file lies in the repository, where the person's prompts do not belong.
        if goal.is_empty() && self.transcript.is_some() {
            goal.push("No plan names it. The transcript below has the prompts.".into());
        }
        goal.extend(labelled("task_plan.md, constraint", &self.constraints));
        write_section(&mut text, "Goal", &goal);
        for Steps { of, steps } in &self.work {
            let steps: Vec<String> = steps
                .iter()
                .map(|(name, state)| format!("{}: {}", short_point(name), short_point(state)))
                .collect();
            write_section(&mut text, &format!("State of the work: {}", short_point(of)), &steps);
        }
        write_section(&mut text, "Decisions in progress.md", &self.decisions);
        write_section(&mut text, "Edited, without a passed check since", &self.unverified);
        write_section(&mut text, "Progress notes that are not reviewed", &self.unpromoted);
        write_section(&mut text, "Next in progress.md", &self.next);
        write_section(&mut text, "Open in task_plan.md", &self.open);
        write_section(&mut text, "Open questions in task_plan.md", &self.questions);
        let mut paths = labelled("edited", &self.edited);
        paths.extend(self.files.iter().cloned());
        paths.extend(self.transcript.iter().map(|path| format!("transcript: {path}")));
        write_section(&mut text, "Paths", &paths);
        text
    }
}

fn write_section(text: &mut String, title: &str, points: &[String]) {
    if points.is_empty() {
        return;
    }
    // Writing to a String cannot fail.
    let _ = write!(text, "\n## {title}\n\n");
    for point in points.iter().take(MOST) {
        let _ = writeln!(text, "- {point}");
    }
    if points.len() > MOST {
        let _ = writeln!(text, "- and {} more", points.len() - MOST);
    }
}

/// Without control characters, and not too long.
fn short_point(text: &str) -> String {
    cut_to(&quoted_line(text), LONGEST).into_owned()
}

fn digest(body: &str) -> u64 {
    fnv::hash(body.bytes())
}

/// The first line of a handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandoffHead {
    pub at: Millis,
    /// As Tidegate wrote it.
    pub unchanged: bool,
}

impl HandoffHead {
    /// `None` if Tidegate did not write it.
    pub fn parse(text: &str) -> Option<HandoffHead> {
        let (head, body) = text.split_once('\n')?;
        let (at, written) = head.trim_end().strip_prefix(MARK)?.strip_suffix(" -->")?.split_once(' ')?;
        let unchanged = u64::from_str_radix(written, 16) == Ok(digest(body)) && !head.ends_with('\r');
        Some(HandoffHead { at: Millis::from_iso(at)?, unchanged })
    }

    /// Among sets of entries, the one that means this handoff.
    pub fn set(at: Millis) -> u64 {
        fnv::hash(format!("handoff {}", at.0).bytes())
    }

    /// Whether a starting session is told of it.
    pub fn is_news(at: Millis, now: Millis) -> bool {
        // The clock may have been set back.
        now.since(at) < NEWS_MS && at.since(now) < NEWS_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::knowledge::facts::{Persisted, PromotionMemory};
    use crate::feature::knowledge::flow;
    use crate::feature::marks::SessionMark;
    use crate::feature::verification::marks::Mark as VerificationMark;
    use crate::feature::verification::work::{Edit, HiddenBy, HiddenCheck, WrittenCode};
    use proptest::prelude::*;

    const AT: Millis = Millis(1_794_795_005_123);

    const PLAN: &str = "# Current Task: 認証を直す\n## Constraints\n- Node 18 のまま\n## Remaining\n- [ ] logout\n\
        - [ ] which key?\n## Open questions\n- who rotates it\n";

    const FLOW: &str = "## [2026-11-16T02:00:00Z] — Tokens are refreshed\n- Decision: at 80%\n- Next: logout\n\n\
        ## [2026-11-15T02:00:00Z] — Parser\n- Decision: one pass\n";

    fn knowledge() -> Knowledge {
        let file = |name, text| Persisted { name, modified: AT, text: Some(text) };
        Knowledge::from_files(
            &[file(plan::FILE, PLAN), file(flow::FILE, FLOW)],
            &PromotionMemory::default(),
            None,
        )
    }

    fn marks() -> Marks {
        let edit = |file: &str| {
            VerificationMark::Edit(Edit { file: file.into(), at: AT, shell: false, removed: false })
        };
        let files = vec!["src/a.rs".into(), "src/b.rs".into()];
        let mut marks = Marks::default();
        marks.apply(SessionMark::Transcript("/t/s.jsonl".into()));
        marks.apply(VerificationMark::Wrote(WrittenCode { files, last: AT, began: AT }));
        marks.apply(edit("src/a.rs"));
        marks.apply(edit("src/b.rs"));
        marks.apply(VerificationMark::Hidden(HiddenCheck {
            line: "cargo test | tail".into(),
            by: HiddenBy::Pipe,
        }));
        marks
    }

    #[test]
    fn everything_that_is_known() {
        let (knowledge, marks) = (knowledge(), marks());
        let steps = [("sprint", "done"), ("audit", "not begun")];
        let sources = HandoffSources {
            at: AT,
            session: Some("s1"),
            marks: Some(&marks),
            plan: Some(PLAN),
            knowledge: Some(&knowledge),
            work: vec![
                Steps {
                    of: "cycle dev-cycle, stopped".into(),
                    steps: steps.map(|(name, state)| (name.into(), state.into())).into(),
                },
                Steps { of: "nothing".into(), steps: Vec::new() },
            ],
        };
        let handoff = Handoff::collect(&sources);
        let body = "# Handoff of session s1, 2026-11-16T02:10:05Z\n\n\
            ## Goal\n\n- task_plan.md: 認証を直す\n- task_plan.md, constraint: Node 18 のまま\n\n\
            ## State of the work: cycle dev-cycle, stopped\n\n- sprint: done\n- audit: not begun\n\n\
            ## Decisions in progress.md\n\n- at 80%\n- one pass\n\n\
            ## Edited, without a passed check since\n\n- src/a.rs\n- src/b.rs\n\
            - `cargo test | tail` ran since; its exit status was hidden\n\n\
            ## Progress notes that are not reviewed\n\n- Tokens are refreshed\n- Parser\n\n\
            ## Next in progress.md\n\n- logout\n\n## Open in task_plan.md\n\n- logout\n\n\
            ## Open questions in task_plan.md\n\n- which key?\n- who rotates it\n\n\
            ## Paths\n\n- edited: src/b.rs\n- edited: src/a.rs\n- .claude/context/task_plan.md\n\
            - .claude/context/progress.md\n- transcript: /t/s.jsonl\n";
        let text = handoff.text();
        let (head, rest) = text.split_once('\n').unwrap();
        assert_eq!(rest, body);
        assert!(head.starts_with("<!-- tidegate handoff 2026-11-16T02:10:05.123Z "), "{head}");
        assert!(!handoff.is_empty());
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let nothing = Handoff::collect(&HandoffSources { at: AT, ..HandoffSources::default() });
        assert!(nothing.is_empty());
        assert_eq!(nothing.body(), "# Handoff, 2026-11-16T02:10:05Z\n");
        let mut marks = Marks::default();
        marks.apply(SessionMark::Transcript("/t/s.jsonl".into()));
        let prompt =
            Handoff::collect(&HandoffSources { at: AT, marks: Some(&marks), ..HandoffSources::default() });
        assert!(prompt.is_empty(), "a conversation alone is no handoff");
        assert!(
            prompt
                .body()
                .contains("The transcript below has the prompts.\n\n## Paths\n\n- transcript: /t/s.jsonl\n")
        );
    }

    #[test]
    fn a_long_list_ends() {
        let plan = format!("- [ ] {}\n", "x".repeat(300)).repeat(30);
        let body =
            Handoff::collect(&HandoffSources { at: AT, plan: Some(&plan), ..HandoffSources::default() })
                .body();
        assert!(body.ends_with("…\n- and 10 more\n"), "{body}");
        assert!(body.lines().all(|line| line.chars().count() <= LONGEST + 2), "{body}");
    }

    #[test]
    fn what_somebody_changed_is_not_as_we_wrote_it() {
        let text =
            Handoff::collect(&HandoffSources { at: AT, plan: Some(PLAN), ..HandoffSources::default() })
                .text();
        assert_eq!(HandoffHead::parse(&text), Some(HandoffHead { at: AT, unchanged: true }));
        let changed = Some(HandoffHead { at: AT, unchanged: false });
        for other in [format!("{text}mine\n"), text.replace("logout", "login"), text.replace('\n', "\r\n")] {
            assert_eq!(HandoffHead::parse(&other), changed, "{other}");
        }
        for other in ["", "# Handoff\n", "<!-- tidegate handoff x y -->\n", &format!("\n{text}")] {
            assert_eq!(HandoffHead::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_day_is_news() {
        let hour = 3_600_000;
        let now = Millis(100 * hour);
        for (at, news) in [(100, true), (77, true), (76, false), (0, false), (123, true), (124, false)] {
            assert_eq!(HandoffHead::is_news(Millis(at * hour), now), news, "{at}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_handed_off_reads_back_as_ours(plan in "[#*\\[\\]x \\n\\r`1.あ:?\\-]{0,80}", state in "(?s).{0,40}") {
            let work = vec![Steps { of: state.clone(), steps: vec![(state.clone(), state)] }];
            let handoff = Handoff::collect(&HandoffSources { at: AT, plan: Some(&plan), work, ..HandoffSources::default() });
            let text = handoff.text();
            prop_assert_eq!(HandoffHead::parse(&text), Some(HandoffHead { at: AT, unchanged: true }));
            prop_assert!(text.lines().skip(1).all(|line| line.is_empty() || line.starts_with(['#', '-'])));
        }
    }
}
