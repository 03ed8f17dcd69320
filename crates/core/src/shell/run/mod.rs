//! Goes through a parsed line as a shell would, and notes of each command whether the line can succeed without it.
//!
//! Two questions are asked of every node on the way down. Does the line's success imply this node's success
//! (`decides`)? And is it certain to run at all in a line that succeeds (`certain`)? The second matters because a
//! command can end the whole shell from anywhere: `a || exit 1; b`.
//!
//! `set -e` does nothing for the line itself: the host runs it as `eval … && pwd …` (client 2.1.325), and on the left
//! of `&&` a shell ignores it, in subshells too. It counts in shells that the line starts (`bash -ec …`).

mod builtins;
mod ends;
mod expand;
mod state;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::shell::syntax;
use crate::shell::syntax::{Body, Command, Document, Item, Joint, List, Parsed, Part, Pipeline, Redirect};
use crate::shell::wrappers;
use crate::shell::wrappers::Stripped;
use crate::shell::{Script, Sort, Spot, Status, Step, Surroundings, Why, Word, Write, writes};
use ends::{End, end_of_list, end_of_pipeline, keeps_status, takes_first_stage};
use expand::{expand_value, expand_word};
use state::{Called, Shell, harmless_path};

/// Most commands of one line; loops are written out.
const MOST_STEPS: usize = 512;

/// Most values of a loop that are written out.
const MOST_VALUES: usize = 16;

/// Most work for one line, in bytes visited: loops, inner shells and variables multiply the text.
const MOST_WORK: usize = 1024 * 1024;

/// Most variables, and most functions, that are remembered.
const MOST_NAMES: usize = 64;

/// Longest value of a variable that is remembered.
const LONGEST_VALUE: usize = 4096;

/// Deepest nesting of shells (`bash -c "bash -c …"`).
const DEEPEST_SHELL: usize = 4;

/// The relation of a node's status to that of the line.
#[expect(clippy::struct_excessive_bools, reason = "independent questions, each asked by its own name")]
#[derive(Clone, Copy, Debug)]
struct Context {
    /// The line succeeds only if this succeeds.
    decides: bool,
    /// The line succeeds only if this runs.
    certain: bool,
    /// The line fails if the shell that runs this ends with a failure.
    shell: bool,
    /// `set -e` has no effect here.
    guarded: bool,
    /// The reason if it does not decide.
    why: Why,
    background: bool,
    /// A loop of unknown length is around it.
    repeats: bool,
}

impl Context {
    const LINE: Context = Context {
        decides: true,
        certain: true,
        shell: true,
        guarded: true,
        why: Why::Followed,
        background: false,
        repeats: false,
    };

    /// A node that may not run, or whose failure has no effect.
    fn hidden(self, why: Why) -> Context {
        let why = if self.decides { why } else { self.why };
        Context { decides: false, certain: false, guarded: true, why, ..self }
    }

    /// A node whose status is not part of the line's.
    fn apart(self, why: Why) -> Context {
        Context { why, shell: false, decides: false, certain: false, guarded: true, ..self }
    }

    /// A subshell, which decides as this does.
    fn subshell(self) -> Context {
        Context { shell: self.decides, ..self }
    }
}

/// The steps of the host's own line.
pub(super) fn list_steps(parsed: &Parsed, surroundings: Surroundings<'_>) -> Option<Script> {
    run_parsed(parsed, Context::LINE, surroundings)
}

/// The steps of a text that has a shell to itself.
pub(super) fn list_steps_of_process(parsed: &Parsed) -> Option<Script> {
    run_parsed(parsed, Context { guarded: false, ..Context::LINE }, Surroundings::default())
}

fn run_parsed(parsed: &Parsed, context: Context, surroundings: Surroundings<'_>) -> Option<Script> {
    let known = [("HOME", surroundings.home), ("CLAUDE_PROJECT_DIR", surroundings.project)];
    let known = known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Word::literal(value?))));
    let mut shell = Shell {
        start: surroundings.cwd.map(Rc::from),
        folder: Spot::Start(String::new()),
        errexit: false,
        pipefail: false,
        left: false,
        cut: false,
        path: false,
        variables: known.collect(),
        exported: Vec::new(),
        functions: BTreeMap::new(),
    };
    let mut run = Run { documents: &parsed.documents, depth: 0, out: Out::default() };
    run.run_list(&parsed.list, context, &mut shell);
    let Out { mut steps, mut writes, trapped, too_many, .. } = run.out;
    if too_many {
        return None;
    }
    let end = match &shell.folder {
        Spot::End(path) => Some(path.as_str()),
        _ => None,
    };
    for step in &mut steps {
        step.folder.settle(end);
    }
    for write in &mut writes {
        write.path.settle(end);
    }
    if trapped {
        for step in &mut steps {
            step.status = Status::Hidden(Why::Trap);
        }
    }
    Some(Script { steps, writes })
}

#[derive(Default)]
struct Out {
    steps: Vec<Step>,
    writes: Vec<Write>,
    trapped: bool,
    /// The line has changed to an unknown folder.
    lost: bool,
    /// A limit was reached: the line is given up.
    too_many: bool,
    work: usize,
}

struct Run<'a> {
    documents: &'a [Document],
    depth: usize,
    out: Out,
}

impl Run<'_> {
    fn spend(&mut self, work: usize) {
        self.out.work = self.out.work.saturating_add(work);
        self.out.too_many |= self.out.work > MOST_WORK;
    }

    fn run_list(&mut self, list: &List, context: Context, shell: &mut Shell) {
        let last = list.0.len().saturating_sub(1);
        for (number, item) in list.0.iter().enumerate() {
            if self.out.too_many {
                return;
            }
            if item.background {
                let apart = Context { background: true, ..context.apart(Why::Background) };
                self.run_chain(item, item.rest.len(), apart, false, &mut shell.clone());
                continue;
            }
            let kept = context.certain && context.shell && !shell.left && !shell.cut;
            let handed_on = kept && keeps_status(&list.0[number..]);
            let decides = handed_on || number == last && context.decides;
            let why =
                if number == last || handed_on || !context.decides { context.why } else { Why::Followed };
            let by_errexit = kept && shell.errexit && !context.guarded;
            let context = Context { decides, why, ..context };
            if kept && takes_first_stage(list.0.get(number + 1)) && item.rest.is_empty() {
                self.run_with_first_status(&item.first, context, shell);
            } else {
                self.run_chain(item, item.rest.len(), context, by_errexit, shell);
            }
        }
    }

    /// A pipe whose first status the next command takes (`exit ${PIPESTATUS[0]}`).
    fn run_with_first_status(&mut self, pipeline: &Pipeline, context: Context, shell: &mut Shell) {
        for (number, stage) in pipeline.stages.iter().enumerate() {
            let decides = number == 0;
            let why = Why::Piped;
            let context = Context { decides, why, ..context }.subshell();
            self.run_command(stage, context, &mut shell.clone());
        }
    }

    /// The first `upto` joints of an item. `by_errexit`: the shell ends if the last command of the item fails.
    fn run_chain(&mut self, item: &Item, upto: usize, context: Context, by_errexit: bool, shell: &mut Shell) {
        let whole = upto == item.rest.len();
        let Some((joint, right)) = upto.checked_sub(1).and_then(|number| item.rest.get(number)) else {
            let decides = context.decides || by_errexit && whole;
            let guarded = context.guarded || !item.rest.is_empty();
            return self.run_pipeline(&item.first, Context { decides, guarded, ..context }, shell);
        };
        let left = Context { guarded: true, ..context };
        match joint {
            Joint::And => {
                self.run_chain(item, upto - 1, left, false, shell);
                let guarded = context.guarded || !whole;
                if context.decides {
                    self.run_pipeline(right, Context { guarded, ..context }, shell);
                } else {
                    let right_context = Context { guarded, ..context.hidden(Why::Followed) };
                    let mut copy = shell.clone();
                    self.run_pipeline(right, right_context, &mut copy);
                    shell.merge(copy);
                }
            }
            Joint::Or => {
                let end = end_of_pipeline(right, true);
                let kept = context.certain && context.shell && !shell.left && !shell.cut;
                let decides = context.decides && end != End::Open
                    || kept && end == End::Leaves
                    || by_errexit && whole && end == End::Fails;
                let why = if context.decides { Why::Alternative } else { context.why };
                self.run_chain(item, upto - 1, Context { decides, why, ..left }, false, shell);
                let mut copy = shell.clone();
                self.run_pipeline(right, context.hidden(Why::Alternative), &mut copy);
                if end == End::Open {
                    shell.merge(copy);
                }
            }
        }
    }

    fn run_pipeline(&mut self, pipeline: &Pipeline, context: Context, shell: &mut Shell) {
        let context = if pipeline.negated {
            let why = if context.decides { Why::Negated } else { context.why };
            Context { decides: false, guarded: true, why, ..context }
        } else {
            context
        };
        if let [stage] = pipeline.stages.as_slice() {
            return self.run_command(stage, context, shell);
        }
        let last = pipeline.stages.len() - 1;
        for (number, stage) in pipeline.stages.iter().enumerate() {
            let decides = context.decides && (number == last || shell.pipefail);
            let why = if context.decides { Why::Piped } else { context.why };
            self.run_command(stage, Context { decides, why, ..context }.subshell(), &mut shell.clone());
        }
    }

    fn run_command(&mut self, command: &Command, context: Context, shell: &mut Shell) {
        self.spend(64);
        if let Body::Simple { assigned, words } = &command.body {
            return self.run_simple(assigned, words, &command.redirects, context, shell);
        }
        for redirect in &command.redirects {
            self.run_substitutions(&redirect.target, context, shell);
        }
        let before = shell.clone();
        match &command.body {
            Body::Simple { .. } | Body::Test => {}
            Body::Group(list) => self.run_list(list, context, shell),
            Body::Subshell(list) => {
                let mut inner = shell.clone();
                self.run_list(list, context.subshell(), &mut inner);
            }
            Body::If { arms, otherwise } => self.run_if(arms, otherwise.as_ref(), context, shell),
            Body::While { condition, body } => {
                let hidden = Context { repeats: true, ..context.hidden(Why::Loop) };
                let mut copy = shell.clone();
                self.run_list(condition, hidden, &mut copy);
                self.run_list(body, hidden, &mut copy);
                copy.cut = shell.cut;
                shell.merge(copy);
            }
            Body::For { name, values, body } => {
                self.run_for(name, values.as_deref(), body, context, shell);
            }
            Body::Case { arms } => {
                for arm in arms {
                    self.run_maybe(arm, context.hidden(Why::Conditional), shell);
                }
            }
            Body::Function { name, body } => {
                let mut copy = shell.clone();
                self.run_command(body, context.apart(Why::Function), &mut copy);
                let called = Called {
                    moves: copy.folder != shell.folder,
                    leaves: copy.left != shell.left,
                    loosens: (copy.errexit, copy.pipefail) != (shell.errexit, shell.pipefail),
                };
                shell.functions.insert(name.clone(), called);
                self.out.too_many |= shell.functions.len() > MOST_NAMES;
            }
        }
        let step = self.out.steps.len().saturating_sub(1);
        for redirect in &command.redirects {
            let target = self.expand_words(std::slice::from_ref(&redirect.target), &before);
            self.out.writes.extend(writes::of_redirect(redirect.kind, &target, &before.folder, step));
        }
    }

    fn run_maybe(&mut self, list: &List, context: Context, shell: &mut Shell) {
        let mut copy = shell.clone();
        self.run_list(list, context, &mut copy);
        shell.merge(copy);
    }

    fn run_if(
        &mut self,
        arms: &[(List, List)],
        otherwise: Option<&List>,
        context: Context,
        shell: &mut Shell,
    ) {
        let hidden = context.hidden(Why::Conditional);
        let kept = context.certain && context.shell && !shell.left && !shell.cut;
        // `if ! a; then exit 1; fi` and `if a; then …; else exit 1; fi`: the line continues only if `a` succeeds.
        if let [(condition, body)] = arms
            && let [Item { first, rest, background: false }] = condition.0.as_slice()
            && rest.is_empty()
        {
            let (on_failure, on_success) =
                if first.negated { (Some(body), otherwise) } else { (otherwise, Some(body)) };
            let end = on_failure.map_or(End::Open, |list| end_of_list(list, false));
            if end == End::Leaves && kept || end != End::Open && context.decides {
                let plain = Pipeline { negated: false, stages: first.stages.clone() };
                self.run_pipeline(&plain, Context { decides: true, guarded: true, ..context }, shell);
                // In the order in which they are written.
                let failed = shell.clone();
                for list in [Some(body), otherwise].into_iter().flatten() {
                    if on_success.is_some_and(|success| std::ptr::eq(success, list)) {
                        self.run_list(list, context, shell);
                    } else {
                        self.run_list(list, hidden, &mut failed.clone());
                    }
                }
                return;
            }
        }
        for (condition, body) in arms {
            self.run_list(condition, hidden, shell);
            self.run_maybe(body, hidden, shell);
        }
        if let Some(list) = otherwise {
            self.run_maybe(list, hidden, shell);
        }
    }

    fn run_for(
        &mut self,
        name: &str,
        values: Option<&[syntax::Parts]>,
        body: &List,
        context: Context,
        shell: &mut Shell,
    ) {
        for parts in values.unwrap_or_default() {
            self.run_substitutions(parts, context, shell);
        }
        let words = self.expand_words(values.unwrap_or_default(), shell);
        let known = !words.is_empty() && words.iter().all(|word| word.sort == Sort::Literal);
        let before = shell.cut;
        if known && words.len() <= MOST_VALUES {
            // Each turn is certain as long as none before it may have ended the loop.
            let why = if context.decides { Why::Loop } else { context.why };
            let context = Context { decides: false, why, ..context };
            for word in &words {
                if self.out.too_many {
                    return;
                }
                shell.variables.insert(name.to_owned(), word.clone());
                self.run_list(body, context, shell);
            }
        } else {
            shell.variables.remove(name);
            self.run_maybe(body, Context { repeats: true, ..context.hidden(Why::Loop) }, shell);
        }
        shell.cut = before;
    }

    /// The commands inside a word.
    fn run_substitutions(&mut self, parts: &[Part], context: Context, shell: &Shell) {
        for part in parts {
            if let Part::Commands { list, .. } = part {
                self.run_list(list, context.apart(Why::Substitution), &mut shell.clone());
            }
        }
    }

    fn run_simple(
        &mut self,
        assigned: &[(String, syntax::Parts)],
        words: &[syntax::Parts],
        redirects: &[Redirect],
        context: Context,
        shell: &mut Shell,
    ) {
        if self.out.steps.len() >= MOST_STEPS {
            self.out.too_many = true;
            return;
        }
        let all = assigned.iter().map(|(_, parts)| parts).chain(words);
        for parts in all.chain(redirects.iter().map(|redirect| &redirect.target)) {
            self.run_substitutions(parts, context, shell);
        }
        let mut set: Vec<(String, Word)> =
            assigned.iter().map(|(name, parts)| (name.clone(), expand_value(parts, shell))).collect();
        let resolved = self.expand_words(words, shell);
        let folder = shell.folder.clone();
        let targets: Vec<(Redirect, Vec<Word>)> = redirects
            .iter()
            .map(|redirect| {
                (redirect.clone(), self.expand_words(std::slice::from_ref(&redirect.target), shell))
            })
            .collect();
        let documents = self.documents;
        let document = redirects.iter().rev().find_map(|redirect| match redirect.kind {
            syntax::RedirectKind::Document(number) => documents.get(number).map(Cow::Borrowed),
            _ => None,
        });
        let document = document.or_else(|| {
            let text = targets.iter().rev().find(|(redirect, _)| redirect.kind == syntax::RedirectKind::Text);
            let text = text?.1.first()?.known()?.to_owned();
            Some(Cow::Owned(Document { text, literal: true }))
        });
        let document = document.as_deref();
        self.spend(document.map_or(0, |document| document.text.len()));

        let redefined = resolved.first().and_then(|word| shell.functions.get(&word.text)).copied();
        let Stripped { words, set: more, folder: at, replaces, contained, limited } =
            wrappers::strip_wrappers(resolved, &folder);
        set.extend(more);
        let step = self.out.steps.len();
        for (redirect, words) in &targets {
            self.out.writes.extend(writes::of_redirect(redirect.kind, words, &folder, step));
        }
        if words.is_empty() {
            for (name, value) in set.drain(..) {
                shell.assign(name, value);
            }
        }
        if let Some(text) = wrappers::inner_text(&words, document) {
            self.spend(text.text.len());
            let parsed = if self.depth < DEEPEST_SHELL { syntax::parse(&text.text) } else { None };
            match parsed {
                Some(parsed) => return self.run_inner(&parsed, &text, context, at, shell),
                // `eval` of an unknown text can end this shell.
                None => shell.left |= text.same_shell,
            }
        }

        let path = shell.path || set.iter().any(|(name, value)| name == "PATH" && !harmless_path(value));
        let status = if shell.left || shell.cut {
            Status::Hidden(Why::NotReached)
        } else if redefined.is_some() || path {
            Status::Hidden(Why::Redefined)
        } else if context.decides {
            Status::Decides
        } else {
            Status::Hidden(context.why)
        };
        self.out.writes.extend(writes::of_command(&words, document, &at, step));
        let fed_by = targets.iter().rev().find(|(redirect, _)| redirect.kind == syntax::RedirectKind::Read);
        let patch = fed_by.and_then(|(_, words)| words.first()).and_then(Word::known);
        self.out.writes.extend(writes::of_mass(&words, &self.out.steps, patch, &at, step));
        self.run_builtin(&words, shell);
        if let Some(called) = redefined {
            shell.left |= called.leaves;
            if called.moves {
                shell.folder = Spot::Unknown;
            }
            if called.loosens {
                (shell.errexit, shell.pipefail) = (false, false);
            }
        }
        shell.left |= replaces && !words.is_empty();
        let Context { background, repeats, .. } = context;
        for (name, value) in &shell.exported {
            if !set.iter().any(|(own, _)| own == name) {
                set.push((name.clone(), value.clone()));
            }
        }
        self.spend(shell.exported.len() * 64);
        let fed = redirects.iter().any(|redirect| {
            use syntax::RedirectKind::{Document, Read, Text};
            matches!(redirect.kind, Read | Document(_) | Text)
        });
        self.out.steps.push(Step {
            words,
            assigned: set,
            status,
            folder: at,
            fed,
            background,
            repeats,
            contained,
            limited,
        });
    }

    /// A shell within the shell, or `eval`.
    fn run_inner(
        &mut self,
        parsed: &Parsed,
        text: &wrappers::Inner,
        context: Context,
        at: Spot,
        shell: &mut Shell,
    ) {
        let mut run =
            Run { documents: &parsed.documents, depth: self.depth + 1, out: std::mem::take(&mut self.out) };
        if text.same_shell {
            run.run_list(&parsed.list, context, shell);
        } else {
            let mut inner = Shell {
                folder: at,
                errexit: text.errexit,
                pipefail: text.pipefail,
                functions: BTreeMap::new(),
                ..shell.clone()
            };
            let trapped = run.out.trapped;
            let first = run.out.steps.len();
            let context = if text.hides { context.hidden(Why::Followed) } else { context };
            run.run_list(&parsed.list, Context { guarded: false, ..context.subshell() }, &mut inner);
            if run.out.trapped && !trapped {
                for step in &mut run.out.steps[first..] {
                    step.status = Status::Hidden(Why::Trap);
                }
                run.out.trapped = false;
            }
        }
        self.out = run.out;
    }

    fn expand_words(&mut self, words: &[syntax::Parts], shell: &Shell) -> Vec<Word> {
        let mut resolved = Vec::new();
        for parts in words {
            if self.out.too_many {
                break;
            }
            let first = resolved.len();
            expand_word(parts, shell, &mut resolved);
            self.spend(resolved[first..].iter().map(|word: &Word| word.text.len()).sum());
        }
        resolved
    }
}
