//! What a command says to a person: headings, paragraphs, lists and tables, folded when it is printed.

use std::io::Write;

use tidegate_core::text::hidden::show_hidden;
use tidegate_core::text::lang::Lang;

use super::fold::{fold, width};
use super::table::Table;
use super::terminal::Terminal;
use super::text::{Spoken, Text, Tone};
use crate::bilingual::both;
use crate::language;

/// A key with its value begins the value's column at most here.
const WIDEST_KEY: usize = 18;

#[derive(Clone, Debug)]
pub(super) enum PageBlock {
    Gap,
    Heading(Text),
    Paragraph(Text),
    /// Its first line begins with the label, the others below the first word after it.
    Labelled(Text, Text),
    Item(Text),
    Pairs {
        least: usize,
        pairs: Vec<(Text, Text)>,
    },
    Table(Table),
    /// Lines of a file or a command: never folded.
    Verbatim(String),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    blocks: Vec<(usize, PageBlock)>,
    indent: usize,
}

impl Page {
    pub(crate) fn new() -> Page {
        Page::default()
    }

    /// A page of one paragraph.
    pub(crate) fn of(text: impl Into<Text>) -> Page {
        let mut page = Page::new();
        page.paragraph(text);
        page
    }

    /// With the columns by which each is indented.
    pub(super) fn blocks(&self) -> &[(usize, PageBlock)] {
        &self.blocks
    }

    fn push(&mut self, block: PageBlock) {
        self.blocks.push((self.indent, block));
    }

    pub(crate) fn heading(&mut self, text: impl Into<Text>) {
        self.push(PageBlock::Heading(text.into()));
    }

    pub(crate) fn paragraph(&mut self, text: impl Into<Text>) {
        self.push(PageBlock::Paragraph(text.into()));
    }

    /// `label: text`, with a hanging indent.
    pub(crate) fn labelled(&mut self, label: impl Into<Text>, text: impl Into<Text>) {
        self.push(PageBlock::Labelled(label.into(), text.into()));
    }

    /// Something that does not work, and how to fix it.
    pub(crate) fn problem(&mut self, problem: impl Into<Text>, fix: Option<Text>) {
        self.with_fix(Text::from(both!("problem", "問題")).bad(), problem, fix);
    }

    /// Something that works less well than it could, and how to fix it.
    pub(crate) fn warning(&mut self, warning: impl Into<Text>, fix: Option<Text>) {
        self.with_fix(Text::from(both!("warning", "警告")).warning(), warning, fix);
    }

    fn with_fix(&mut self, label: Text, text: impl Into<Text>, fix: Option<Text>) {
        self.labelled(label, text);
        if let Some(fix) = fix {
            self.indented(|page| {
                page.labelled(Text::from(both!("fix", "直し方")).good(), fix);
            });
        }
    }

    pub(crate) fn item(&mut self, text: impl Into<Text>) {
        self.push(PageBlock::Item(text.into()));
    }

    /// Keys in one column, values in the next.
    pub(crate) fn pairs(&mut self, pairs: impl IntoIterator<Item = (Text, Text)>) {
        self.aligned_pairs(0, pairs);
    }

    /// The column of the keys has at least this width: several blocks have the same.
    pub(crate) fn aligned_pairs(&mut self, least: usize, pairs: impl IntoIterator<Item = (Text, Text)>) {
        self.push(PageBlock::Pairs { least, pairs: pairs.into_iter().collect() });
    }

    pub(crate) fn table(&mut self, table: Table) {
        self.push(PageBlock::Table(table));
    }

    pub(crate) fn verbatim(&mut self, text: impl Into<String>) {
        self.push(PageBlock::Verbatim(text.into()));
    }

    /// An empty line, unless there is one.
    pub(crate) fn gap(&mut self) {
        self.push(PageBlock::Gap);
    }

    /// What `write` adds stands two columns further to the right.
    pub(crate) fn indented(&mut self, write: impl FnOnce(&mut Page)) {
        self.indent += 2;
        write(self);
        self.indent -= 2;
    }

    /// Returns `false` once the reader is gone.
    pub(crate) fn print(&self) -> bool {
        let text = self.render(language::current(), Terminal::stdout());
        super::to_stdout(text.as_bytes())
    }

    /// For remarks next to the output.
    pub(crate) fn print_to_stderr(&self) {
        let unfolded = Terminal { width: usize::MAX / 2, has_colors: false, breaks_words: false };
        let text = self.render(language::current(), Terminal::stderr().unwrap_or(unfolded));
        let _ = write!(std::io::stderr().lock(), "{text}");
    }

    pub(crate) fn render(&self, lang: Lang, terminal: Terminal) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (indent, block) in &self.blocks {
            let needs_gap = matches!(block, PageBlock::Gap | PageBlock::Heading(_));
            if needs_gap && lines.last().is_some_and(|line| !line.is_empty()) {
                lines.push(String::new());
            }
            render_block(block, *indent, lang, terminal, &mut lines);
        }
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines.into_iter().map(|line| line + "\n").collect()
    }
}

fn render_block(block: &PageBlock, indent: usize, lang: Lang, terminal: Terminal, lines: &mut Vec<String>) {
    let blank = Spoken::default();
    let mut hang = |first: &Spoken, column: usize, text: &Spoken| {
        lines.extend(hanging(first, column, text, indent, terminal));
    };
    match block {
        PageBlock::Gap => {}
        PageBlock::Heading(text) => hang(&blank, 0, &text.clone().strong().spoken(lang)),
        PageBlock::Paragraph(text) => hang(&blank, 0, &text.spoken(lang)),
        PageBlock::Item(text) => {
            let mut bullet = Spoken::default();
            bullet.push(Tone::Dim, "-");
            hang(&bullet, 2, &text.spoken(lang));
        }
        PageBlock::Labelled(label, text) => {
            let mut label = label.spoken(lang);
            label.push(Tone::Plain, ":");
            hang(&label, width(&label.text) + 1, &text.spoken(lang));
        }
        PageBlock::Pairs { least, pairs } => {
            let pairs: Vec<(Spoken, Spoken)> =
                pairs.iter().map(|(key, value)| (key.spoken(lang), value.spoken(lang))).collect();
            let keys = pairs.iter().map(|(key, _)| width(&key.text)).filter(|key| *key <= WIDEST_KEY);
            let column = keys.max().unwrap_or(0).max(*least) + 2;
            for (key, value) in &pairs {
                hang(key, column, value);
            }
        }
        PageBlock::Table(table) => lines.extend(table.render(lang, terminal, indent)),
        PageBlock::Verbatim(text) => {
            lines.extend(show_hidden(text).lines().map(|line| indented(indent, line)));
        }
    }
}

/// `text` in a column that begins after `first`, or in the line below if `first` reaches into it.
fn hanging(first: &Spoken, column: usize, text: &Spoken, indent: usize, terminal: Terminal) -> Vec<String> {
    let column = column.min(terminal.width / 2);
    let head = width(&first.text);
    let is_beside = head < column;
    let mut lines = Vec::new();
    if !is_beside && head > 0 {
        let room = terminal.width - indent;
        lines.extend(fold(first, room, terminal).iter().map(|line| indented(indent, line)));
    }
    let mut folded = fold(text, terminal.width.saturating_sub(indent + column), terminal).into_iter();
    if is_beside {
        let label = fold(first, column, terminal).concat();
        let begin = folded.next().unwrap_or_default();
        let gap = if begin.is_empty() { 0 } else { column - head };
        lines.push(indented(indent, &format!("{label}{:gap$}{begin}", "")));
    }
    lines.extend(folded.map(|line| indented(indent + column, &line)));
    lines
}

pub(super) fn indented(columns: usize, line: &str) -> String {
    if line.is_empty() { String::new() } else { format!("{:columns$}{line}", "") }
}
