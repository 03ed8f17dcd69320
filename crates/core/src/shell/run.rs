//! Goes through a parsed line as a shell would, and notes of each command whether the line can succeed without it.
//!
//! Two questions are asked of every node on the way down. Does the line's success imply this node's success
//! (`decides`)? And is it certain to run at all in a line that succeeds (`certain`)? The second matters because a
//! command can end the whole shell from anywhere: `a || exit 1; b`.
//!
//! `set -e` does nothing for the line itself: the host runs it as `eval … && pwd …` (client 2.1.325), and on the left
//! of `&&` a shell ignores it, in subshells too. It counts in shells that the line starts (`bash -ec …`).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::shell::syntax;
use crate::shell::syntax::{Body, Command, Document, Item, Joint, List, Parsed, Part, Pipeline, Redirect};
use crate::shell::wrappers;
use crate::shell::wrappers::Stripped;
use crate::shell::{
    Script, Sort, Spot, Status, Step, Surroundings, Why, Word, Words, Write, among, tidy, writes,
};

/// Most commands of one line; loops are written out.
const MOST_STEPS: usize = 512;

/// Most values of a loop that are written out.
const MOST_VALUES: usize = 16;

/// Most work that is put into one line, in bytes gone through: loops, inner shells and variables multiply what is written.
const MOST_WORK: usize = 1024 * 1024;

/// Most variables, and most functions, that are kept in mind.
const MOST_NAMES: usize = 64;

/// Longest value of a variable that is kept in mind.
const LONGEST_VALUE: usize = 4096;

/// Shells within shells (`bash -c "bash -c …"`).
const DEEPEST_SHELL: usize = 4;

/// How far the status of a node is that of the line.
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
    /// Why it does not decide.
    why: Why,
    background: bool,
}

impl Context {
    const LINE: Context = Context {
        decides: true,
        certain: true,
        shell: true,
        guarded: true,
        why: Why::Followed,
        background: false,
    };

    /// What may not run at all, or whose failure nobody sees.
    fn hidden(self, why: Why) -> Context {
        let why = if self.decides { why } else { self.why };
        Context { decides: false, certain: false, guarded: true, why, ..self }
    }

    /// What is apart from the line.
    fn apart(self, why: Why) -> Context {
        Context { why, shell: false, decides: false, certain: false, guarded: true, ..self }
    }

    /// A shell of its own, which decides as this does.
    fn subshell(self) -> Context {
        Context { shell: self.decides, ..self }
    }
}

/// What one shell knows while it runs.
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
#[derive(Clone, Debug)]
struct Shell {
    /// Where the line started, if that is known.
    start: Option<Rc<str>>,
    folder: Spot,
    errexit: bool,
    pipefail: bool,
    /// It may have ended with success.
    left: bool,
    /// The body of the loop may have ended.
    cut: bool,
    /// What is found under a command's name is no longer certain.
    path: bool,
    variables: BTreeMap<String, Word>,
    /// Names the line gives a meaning, and what a call may do to the shell.
    functions: BTreeMap<String, Called>,
}

/// What calling a function of the line may do to the shell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Called {
    moves: bool,
    leaves: bool,
    loosens: bool,
}

impl Shell {
    /// The value of a variable, where it is known.
    fn variable(&self, name: &str) -> Option<Cow<'_, Word>> {
        if let Some(value) = self.variables.get(name) {
            return Some(Cow::Borrowed(value));
        }
        match (&self.folder, &self.start) {
            (Spot::Absolute(path), _) if name == "PWD" => Some(Cow::Owned(Word::literal(path))),
            (Spot::Start(path), Some(start)) if name == "PWD" => {
                Some(Cow::Owned(Word::literal(tidy(&format!("{start}/{path}")))))
            }
            _ => None,
        }
    }

    /// What a leading `~` stands for, where it is the person's own folder. `alone`: nothing stands behind the text.
    fn at_home(&self, text: &str, alone: bool) -> Option<String> {
        let rest = text.strip_prefix('~').filter(|rest| rest.starts_with('/') || rest.is_empty() && alone)?;
        let home = self.variables.get("HOME")?.known()?;
        Some(format!("{home}{rest}"))
    }

    /// After something that may or may not have happened.
    fn merge(&mut self, other: Shell) {
        if self.folder != other.folder {
            self.folder = Spot::Unknown;
        }
        self.errexit &= other.errexit;
        self.pipefail &= other.pipefail;
        self.left |= other.left;
        self.cut |= other.cut;
        self.path |= other.path;
        self.variables.retain(|name, value| other.variables.get(name) == Some(value));
        self.functions.extend(other.functions);
    }
}

/// How a command that is only there for a failure ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It may succeed.
    Open,
    /// It fails.
    Fails,
    /// It ends the shell with a failure.
    Leaves,
}

/// The steps of a line.
pub(super) fn script(parsed: &Parsed, surroundings: Surroundings<'_>) -> Option<Script> {
    flat(parsed, Context::LINE, surroundings)
}

/// The steps of a text that somebody runs with a shell of its own.
pub(super) fn process(parsed: &Parsed) -> Option<Script> {
    flat(parsed, Context { guarded: false, ..Context::LINE }, Surroundings::default())
}

fn flat(parsed: &Parsed, context: Context, surroundings: Surroundings<'_>) -> Option<Script> {
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
        functions: BTreeMap::new(),
    };
    let mut run = Run { documents: &parsed.documents, depth: 0, out: Out::default() };
    run.list(&parsed.list, context, &mut shell);
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
    /// The line has changed to a folder that nobody knows.
    lost: bool,
    /// More than anybody writes: the line is given up.
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

    fn list(&mut self, list: &List, context: Context, shell: &mut Shell) {
        let last = list.0.len().saturating_sub(1);
        for (number, item) in list.0.iter().enumerate() {
            if self.out.too_many {
                return;
            }
            if item.background {
                let apart = Context { background: true, ..context.apart(Why::Background) };
                self.chain(item, item.rest.len(), apart, false, &mut shell.clone());
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
                self.first_stage(&item.first, context, shell);
            } else {
                self.chain(item, item.rest.len(), context, by_errexit, shell);
            }
        }
    }

    /// A pipe whose first status the next command takes (`exit ${PIPESTATUS[0]}`).
    fn first_stage(&mut self, pipeline: &Pipeline, context: Context, shell: &mut Shell) {
        for (number, stage) in pipeline.stages.iter().enumerate() {
            let decides = number == 0;
            let why = Why::Piped;
            let context = Context { decides, why, ..context }.subshell();
            self.command(stage, context, &mut shell.clone());
        }
    }

    /// The first `upto` joints of an item. `by_errexit`: the shell ends if the last command of the item fails.
    fn chain(&mut self, item: &Item, upto: usize, context: Context, by_errexit: bool, shell: &mut Shell) {
        let whole = upto == item.rest.len();
        let Some((joint, right)) = upto.checked_sub(1).and_then(|number| item.rest.get(number)) else {
            let decides = context.decides || by_errexit && whole;
            let guarded = context.guarded || !item.rest.is_empty();
            return self.pipeline(&item.first, Context { decides, guarded, ..context }, shell);
        };
        let left = Context { guarded: true, ..context };
        match joint {
            Joint::And => {
                self.chain(item, upto - 1, left, false, shell);
                let guarded = context.guarded || !whole;
                if context.decides {
                    self.pipeline(right, Context { guarded, ..context }, shell);
                } else {
                    let right_context = Context { guarded, ..context.hidden(Why::Followed) };
                    let mut copy = shell.clone();
                    self.pipeline(right, right_context, &mut copy);
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
                self.chain(item, upto - 1, Context { decides, why, ..left }, false, shell);
                let mut copy = shell.clone();
                self.pipeline(right, context.hidden(Why::Alternative), &mut copy);
                if end == End::Open {
                    shell.merge(copy);
                }
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, context: Context, shell: &mut Shell) {
        let context = if pipeline.negated {
            let why = if context.decides { Why::Negated } else { context.why };
            Context { decides: false, guarded: true, why, ..context }
        } else {
            context
        };
        if let [stage] = pipeline.stages.as_slice() {
            return self.command(stage, context, shell);
        }
        let last = pipeline.stages.len() - 1;
        for (number, stage) in pipeline.stages.iter().enumerate() {
            let decides = context.decides && (number == last || shell.pipefail);
            let why = if context.decides { Why::Piped } else { context.why };
            self.command(stage, Context { decides, why, ..context }.subshell(), &mut shell.clone());
        }
    }

    fn command(&mut self, command: &Command, context: Context, shell: &mut Shell) {
        self.spend(64);
        if let Body::Simple { assigned, words } = &command.body {
            return self.simple(assigned, words, &command.redirects, context, shell);
        }
        for redirect in &command.redirects {
            self.substitutions(&redirect.target, context, shell);
        }
        let before = shell.clone();
        match &command.body {
            Body::Simple { .. } | Body::Test => {}
            Body::Group(list) => self.list(list, context, shell),
            Body::Subshell(list) => {
                let mut inner = shell.clone();
                self.list(list, context.subshell(), &mut inner);
            }
            Body::If { arms, otherwise } => self.if_clause(arms, otherwise.as_ref(), context, shell),
            Body::While { condition, body } => {
                let hidden = context.hidden(Why::Loop);
                let mut copy = shell.clone();
                self.list(condition, hidden, &mut copy);
                self.list(body, hidden, &mut copy);
                copy.cut = shell.cut;
                shell.merge(copy);
            }
            Body::For { name, values, body } => {
                self.for_clause(name, values.as_deref(), body, context, shell);
            }
            Body::Case { arms } => {
                for arm in arms {
                    self.maybe(arm, context.hidden(Why::Conditional), shell);
                }
            }
            Body::Function { name, body } => {
                let mut copy = shell.clone();
                self.command(body, context.apart(Why::Function), &mut copy);
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
            let target = self.words(std::slice::from_ref(&redirect.target), &before);
            self.out.writes.extend(writes::of_redirect(redirect.kind, &target, &before.folder, step));
        }
    }

    fn maybe(&mut self, list: &List, context: Context, shell: &mut Shell) {
        let mut copy = shell.clone();
        self.list(list, context, &mut copy);
        shell.merge(copy);
    }

    fn if_clause(
        &mut self,
        arms: &[(List, List)],
        otherwise: Option<&List>,
        context: Context,
        shell: &mut Shell,
    ) {
        let hidden = context.hidden(Why::Conditional);
        let kept = context.certain && context.shell && !shell.left && !shell.cut;
        // `if ! a; then exit 1; fi` and `if a; then …; else exit 1; fi`: only the success of `a` gets past.
        if let [(condition, body)] = arms
            && let [Item { first, rest, background: false }] = condition.0.as_slice()
            && rest.is_empty()
        {
            let (on_failure, on_success) =
                if first.negated { (Some(body), otherwise) } else { (otherwise, Some(body)) };
            let end = on_failure.map_or(End::Open, |list| end_of_list(list, false));
            if end == End::Leaves && kept || end != End::Open && context.decides {
                let plain = Pipeline { negated: false, stages: first.stages.clone() };
                self.pipeline(&plain, Context { decides: true, guarded: true, ..context }, shell);
                // In the order in which they are written.
                let failed = shell.clone();
                for list in [Some(body), otherwise].into_iter().flatten() {
                    if on_success.is_some_and(|success| std::ptr::eq(success, list)) {
                        self.list(list, context, shell);
                    } else {
                        self.list(list, hidden, &mut failed.clone());
                    }
                }
                return;
            }
        }
        for (condition, body) in arms {
            self.list(condition, hidden, shell);
            self.maybe(body, hidden, shell);
        }
        if let Some(list) = otherwise {
            self.maybe(list, hidden, shell);
        }
    }

    fn for_clause(
        &mut self,
        name: &str,
        values: Option<&[syntax::Parts]>,
        body: &List,
        context: Context,
        shell: &mut Shell,
    ) {
        for parts in values.unwrap_or_default() {
            self.substitutions(parts, context, shell);
        }
        let words = self.words(values.unwrap_or_default(), shell);
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
                self.list(body, context, shell);
            }
        } else {
            shell.variables.remove(name);
            self.maybe(body, context.hidden(Why::Loop), shell);
        }
        shell.cut = before;
    }

    /// The commands inside a word.
    fn substitutions(&mut self, parts: &[Part], context: Context, shell: &Shell) {
        for part in parts {
            if let Part::Commands { list, .. } = part {
                self.list(list, context.apart(Why::Substitution), &mut shell.clone());
            }
        }
    }

    fn simple(
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
            self.substitutions(parts, context, shell);
        }
        let mut set: Vec<(String, Word)> =
            assigned.iter().map(|(name, parts)| (name.clone(), value(parts, shell))).collect();
        let resolved = self.words(words, shell);
        let folder = shell.folder.clone();
        let targets: Vec<(Redirect, Vec<Word>)> = redirects
            .iter()
            .map(|redirect| (redirect.clone(), self.words(std::slice::from_ref(&redirect.target), shell)))
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
        let Stripped { words, set: more, folder: at, replaces, contained } =
            wrappers::strip(resolved, &folder);
        set.extend(more);
        let step = self.out.steps.len();
        for (redirect, words) in &targets {
            self.out.writes.extend(writes::of_redirect(redirect.kind, words, &folder, step));
        }
        if words.is_empty() {
            for (name, value) in set.drain(..) {
                assign(shell, name, value);
            }
        }
        if let Some(text) = wrappers::inner_text(&words, document) {
            self.spend(text.text.len());
            let parsed = if self.depth < DEEPEST_SHELL { syntax::parse(&text.text) } else { None };
            match parsed {
                Some(parsed) => return self.inner(&parsed, &text, context, at, shell),
                // Nobody knows what it does to this shell.
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
        self.builtin(&words, shell);
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
        let background = context.background;
        self.out.steps.push(Step { words, assigned: set, status, folder: at, background, contained });
    }

    /// A shell within the shell, or `eval`.
    fn inner(
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
            run.list(&parsed.list, context, shell);
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
            run.list(&parsed.list, Context { guarded: false, ..context.subshell() }, &mut inner);
            if run.out.trapped && !trapped {
                for step in &mut run.out.steps[first..] {
                    step.status = Status::Hidden(Why::Trap);
                }
                run.out.trapped = false;
            }
        }
        self.out = run.out;
    }

    /// What a builtin does to the shell.
    fn builtin(&mut self, words: &[Word], shell: &mut Shell) {
        let Some(name) = words.first().and_then(Word::known) else { return };
        let arguments = &words[1..];
        match name {
            "cd" | "pushd" => {
                shell.folder = match changed_folder(name, arguments, shell) {
                    // Only of the first one the end of the line can tell.
                    Spot::Unknown if !std::mem::replace(&mut self.out.lost, true) => Spot::End(String::new()),
                    folder => folder,
                };
            }
            "popd" => shell.folder = Spot::Unknown,
            "exit" => shell.left |= !fails(arguments),
            "break" | "continue" | "return" => shell.cut = true,
            "set" => set_options(arguments, shell),
            "trap" => {
                let off = arguments
                    .first()
                    .and_then(Word::known)
                    .is_some_and(|first| first == "-" || first.is_empty() || first == "-p" || first == "-l");
                self.out.trapped |= !off && !arguments.is_empty();
            }
            "alias" => {
                for (name, _) in arguments.iter().filter_map(|word| word.text.split_once('=')) {
                    shell.functions.insert(name.to_owned(), Called::default());
                }
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                for word in arguments {
                    if let Some((name, value)) = word.text.split_once('=') {
                        assign(shell, name.to_owned(), Word { text: value.to_owned(), sort: word.sort });
                    }
                }
            }
            "unset" | "read" | "mapfile" | "readarray" | "getopts" | "printf" => {
                for word in arguments {
                    shell.variables.remove(&word.text);
                }
            }
            _ => {}
        }
    }

    fn words(&mut self, words: &[syntax::Parts], shell: &Shell) -> Vec<Word> {
        let mut resolved = Vec::new();
        for parts in words {
            if self.out.too_many {
                break;
            }
            let first = resolved.len();
            resolve(parts, shell, &mut resolved);
            self.spend(resolved[first..].iter().map(|word: &Word| word.text.len()).sum());
        }
        resolved
    }
}

fn assign(shell: &mut Shell, name: String, value: Word) {
    if name == "PATH" {
        shell.path |= !harmless_path(&value);
    }
    let kept = value.text.len() <= LONGEST_VALUE && shell.variables.len() < MOST_NAMES;
    if kept {
        shell.variables.insert(name, value);
    } else {
        shell.variables.remove(&name);
    }
}

/// A search path that only adds whole folders, or those a package manager fills, to what was there.
fn harmless_path(value: &Word) -> bool {
    let keeps = value.text.contains("$PATH") || value.text.contains("${PATH");
    let folder = |entry: &str| {
        entry.starts_with('/')
            || entry.starts_with('~')
            || entry.starts_with('$')
            || entry.ends_with("node_modules/.bin")
            || entry.ends_with("venv/bin")
    };
    // Expansions such as `${PATH:+:$PATH}` have colons of their own.
    keeps && value.text.split(':').all(|entry| folder(entry) || entry.ends_with('}'))
}

/// The value of an assignment: one word whatever is in it.
fn value(parts: &[Part], shell: &Shell) -> Word {
    let mut word = Word::literal("");
    for (number, part) in parts.iter().enumerate() {
        match part {
            Part::Plain(text) if number == 0 && text.starts_with('~') => {
                match shell.at_home(text, parts.len() == 1) {
                    Some(path) => word.text = path,
                    None => unknown(&mut word, text),
                }
            }
            Part::Plain(text) | Part::Quoted(text) => word.text.push_str(text),
            Part::Pattern(pattern) => word.text.push(*pattern),
            Part::Variable { name, .. } => match shell.variable(name) {
                Some(known) if word.text.len() <= LONGEST_VALUE => {
                    word.text.push_str(&known.text);
                    word.sort = word.sort.max(known.sort);
                }
                _ => unknown(&mut word, &format!("${name}")),
            },
            Part::Commands { raw, .. } | Part::Other(raw) => unknown(&mut word, raw),
        }
    }
    word
}

fn unknown(word: &mut Word, raw: &str) {
    word.text.push_str(raw);
    word.sort = Sort::Unknown;
}

/// The words that one word becomes.
fn resolve(parts: &[Part], shell: &Shell, out: &mut Vec<Word>) {
    let mut word: Option<Word> = None;
    let mut braces = false;
    for (number, part) in parts.iter().enumerate() {
        match part {
            Part::Plain(text) => {
                let current = word.get_or_insert_with(|| Word::literal(""));
                braces |= text.contains('{');
                match shell.at_home(text, parts.len() == 1).filter(|_| number == 0) {
                    Some(path) => current.text.push_str(&path),
                    None => current.text.push_str(text),
                }
                if number == 0 && current.text.starts_with('~') {
                    current.sort = Sort::Unknown;
                }
            }
            Part::Quoted(text) => word.get_or_insert_with(|| Word::literal("")).text.push_str(text),
            Part::Pattern(pattern) => {
                let current = word.get_or_insert_with(|| Word::literal(""));
                current.text.push(*pattern);
                // `[` alone is a command.
                if parts.len() > 1 || *pattern != '[' {
                    current.sort = current.sort.max(Sort::Pattern);
                }
            }
            Part::Variable { name, quoted } => match shell
                .variable(name)
                .filter(|_| word.as_ref().is_none_or(|word| word.text.len() <= LONGEST_VALUE))
            {
                Some(known) if *quoted || known.sort == Sort::Unknown => {
                    let current = word.get_or_insert_with(|| Word::literal(""));
                    current.text.push_str(&known.text);
                    current.sort = current.sort.max(if *quoted && known.sort == Sort::Pattern {
                        Sort::Literal
                    } else {
                        known.sort
                    });
                }
                Some(known) => {
                    let sort =
                        if known.text.contains(['*', '?', '[']) { Sort::Pattern } else { Sort::Literal };
                    for (number, field) in known.text.split_whitespace().enumerate() {
                        if number > 0 || known.text.starts_with(char::is_whitespace) {
                            out.extend(word.take());
                        }
                        let current = word.get_or_insert_with(|| Word::literal(""));
                        current.text.push_str(field);
                        current.sort = current.sort.max(sort);
                    }
                    if known.text.ends_with(char::is_whitespace) {
                        out.extend(word.take());
                    }
                }
                None => unknown(word.get_or_insert_with(|| Word::literal("")), &format!("${name}")),
            },
            Part::Commands { raw, .. } | Part::Other(raw) => {
                unknown(word.get_or_insert_with(|| Word::literal("")), raw);
            }
        }
    }
    match word {
        Some(word) if braces && parts.len() == 1 => expand_braces(&word, out),
        Some(word) => out.push(word),
        None => {}
    }
}

/// `src/{a,b}.rs`, one level of it; deeper ones and ranges are patterns.
fn expand_braces(word: &Word, out: &mut Vec<Word>) {
    let inner = word.text.split_once('{').and_then(|(before, rest)| {
        let (inner, after) = rest.split_once('}')?;
        (inner.contains(',') || inner.contains("..")).then_some((before, inner, after))
    });
    let Some((before, inner, after)) = inner else { return out.push(word.clone()) };
    if inner.contains('{') || after.contains('{') || !inner.contains(',') || word.text.len() > LONGEST_VALUE {
        return out.push(Word { text: word.text.clone(), sort: word.sort.max(Sort::Pattern) });
    }
    for choice in inner.split(',').take(64) {
        out.push(Word { text: format!("{before}{choice}{after}"), sort: word.sort });
    }
}

const TOP_LEVEL: [&str; 2] =
    ["$(git rev-parse --show-toplevel)", "$(git rev-parse --show-toplevel 2>/dev/null)"];

fn changed_folder(command: &str, arguments: &[Word], shell: &Shell) -> Spot {
    let folder = &shell.folder;
    let mut names = arguments.iter().filter(|word| !matches!(word.text.as_str(), "-P" | "-L" | "--" | "-e"));
    let (name, more) = (names.next(), names.next());
    if name.is_none() && command == "cd" {
        return shell.at_home("~", true).map_or(Spot::Unknown, |home| folder.join(&home));
    }
    let (Some(name), None) = (name, more) else { return Spot::Unknown };
    if let Some(path) = name.known() {
        return if path.starts_with(['-', '+']) || path.is_empty() {
            Spot::Unknown
        } else {
            folder.join(path)
        };
    }
    for top in TOP_LEVEL {
        if let Some(rest) = name.text.strip_prefix(top).filter(|rest| !rest.contains(['$', '`'])) {
            return Spot::Top(String::new()).join(rest.trim_start_matches('/'));
        }
    }
    Spot::Unknown
}

fn set_options(arguments: &[Word], shell: &mut Shell) {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.known() else {
            (shell.errexit, shell.pipefail) = (false, false);
            return;
        };
        let on = text.starts_with('-');
        if text == "--" || !(on || text.starts_with('+')) {
            return;
        }
        for letter in text.chars().skip(1) {
            match letter {
                'e' => shell.errexit = on,
                // Nothing is run any more.
                'n' => shell.left |= on,
                'o' => match words.next().and_then(Word::known) {
                    Some("errexit") => shell.errexit = on,
                    Some("pipefail") => shell.pipefail = on,
                    Some("noexec") => shell.left |= on,
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

/// Whether `exit` or `return` with these arguments is certain to be a failure.
fn fails(arguments: &[Word]) -> bool {
    matches!(arguments, [word] if word.known().and_then(|text| text.parse::<u64>().ok()).is_some_and(|n| n % 256 != 0))
}

/// The words of an item that is one simple command, as they are written.
fn simple_words(item: &Item) -> Option<Vec<String>> {
    if item.background || !item.rest.is_empty() {
        return None;
    }
    let words = simple_of(&item.first)?;
    Some(words.iter().map(|parts| syntax::as_written(parts)).collect())
}

fn simple_of(pipeline: &Pipeline) -> Option<&[syntax::Parts]> {
    match pipeline {
        Pipeline { negated: false, stages } => match stages.as_slice() {
            [Command { body: Body::Simple { assigned, words }, .. }] if assigned.is_empty() => Some(words),
            _ => None,
        },
        Pipeline { .. } => None,
    }
}

/// The name in `name=$?`.
fn saved_status(item: &Item) -> Option<&str> {
    if item.background || !item.rest.is_empty() || item.first.negated {
        return None;
    }
    let [Command { body: Body::Simple { assigned, words }, .. }] = item.first.stages.as_slice() else {
        return None;
    };
    let [(name, parts)] = assigned.as_slice() else { return None };
    (words.is_empty() && syntax::as_written(parts) == "$?").then_some(name)
}

/// Whether what follows the first of `items` ends the shell with its status: `exit`, `exit $?`, or `rc=$?; …; exit $rc`
/// with nothing in between that could end it otherwise.
fn keeps_status(items: &[Item]) -> bool {
    let Some(next) = items.get(1) else { return false };
    if simple_words(next).is_some_and(|words| words == ["exit"] || words == ["exit", "$?"]) {
        return true;
    }
    let Some(name) = saved_status(next) else { return false };
    leaves_with(&items[2..], name)
}

/// Commands that cannot end the shell or change its variables.
const HARMLESS: Words = "echo printf cat tail head grep rm ls sleep true tee sed awk wc mv cp";

/// Whether these end in `exit $name`, past harmless commands only.
fn leaves_with(items: &[Item], name: &str) -> bool {
    for item in items {
        let Some(words) = simple_words(item) else {
            // A pipe of plain commands is harmless, too: none of its stages can end this shell.
            let plain = |command: &Command| matches!(&command.body, Body::Simple { assigned, .. } if assigned.is_empty());
            if !item.background
                && item.rest.is_empty()
                && item.first.stages.len() > 1
                && item.first.stages.iter().all(plain)
            {
                continue;
            }
            return false;
        };
        if words == ["exit".to_owned(), format!("${name}")] {
            return true;
        }
        if !words.first().is_some_and(|word| among(HARMLESS, word))
            || words[0] == "printf" && words.iter().any(|word| word == "-v")
        {
            return false;
        }
    }
    false
}

/// `exit ${PIPESTATUS[0]}`.
fn takes_first_stage(item: Option<&Item>) -> bool {
    item.and_then(simple_words).is_some_and(|words| words == ["exit", "${PIPESTATUS[0]}"])
}

/// How a list ends that runs only after a failure. `after`: that failure is still `$?` at its beginning.
fn end_of_list(list: &List, after: bool) -> End {
    for (number, item) in list.0.iter().enumerate() {
        let first = after && number == 0;
        let end = end_of_item(item, first);
        if end == End::Leaves {
            return End::Leaves;
        }
        if number + 1 == list.0.len() {
            return end;
        }
        if first && saved_status(item).is_some_and(|name| leaves_with(&list.0[1..], name)) {
            return End::Leaves;
        }
        if may_leave(item) {
            return End::Open;
        }
    }
    End::Open
}

/// Whether an item contains anything that could end the shell or the list.
fn may_leave(item: &Item) -> bool {
    let simple = |command: &Command| match &command.body {
        Body::Simple { words, .. } => {
            let name = words.first().map(|parts| syntax::as_written(parts)).unwrap_or_default();
            matches!(
                name.as_str(),
                "exit" | "return" | "exec" | "eval" | "break" | "continue" | "source" | "." | "trap"
            ) || name.starts_with('$')
        }
        Body::Test => false,
        _ => true,
    };
    std::iter::once(&item.first)
        .chain(item.rest.iter().map(|(_, pipeline)| pipeline))
        .any(|pipeline| pipeline.stages.iter().any(simple))
}

fn end_of_item(item: &Item, after: bool) -> End {
    if item.background {
        return End::Open;
    }
    let Some((joint, last)) = item.rest.last() else { return end_of_pipeline(&item.first, after) };
    match (joint, end_of_pipeline(last, false)) {
        // Whatever stands before: where it fails, the whole fails.
        (Joint::And, End::Fails | End::Leaves) => End::Fails,
        _ => End::Open,
    }
}

fn end_of_pipeline(pipeline: &Pipeline, after: bool) -> End {
    let Pipeline { negated: false, stages } = pipeline else { return End::Open };
    let [command] = stages.as_slice() else { return End::Open };
    match &command.body {
        Body::Simple { words, .. } => {
            let words: Vec<String> = words.iter().map(|parts| syntax::as_written(parts)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let failure = |text: &str| text.parse::<u64>().is_ok_and(|status| status % 256 != 0);
            match words.as_slice() {
                ["false"] => End::Fails,
                ["exit"] | ["exit", "$?"] if after => End::Leaves,
                ["exit", status] if failure(status) => End::Leaves,
                ["return"] | ["return", "$?"] if after => End::Fails,
                ["return", status] if failure(status) => End::Fails,
                _ => End::Open,
            }
        }
        Body::Group(list) => end_of_list(list, after),
        Body::Subshell(list) => match end_of_list(list, after) {
            End::Open => End::Open,
            End::Fails | End::Leaves => End::Fails,
        },
        _ => End::Open,
    }
}
