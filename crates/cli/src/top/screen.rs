//! Draws the board.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Cell, Clear, Paragraph, Row, Sparkline, Table, TableState, Wrap};
use tidegate_core::meter::{short_tokens, words};
use tidegate_core::pipeline::record::MeterRecord;
use tidegate_core::text::cut::cut_to;
use tidegate_core::text::hidden::show_name;
use tidegate_core::text::one_line::one_line;
use tidegate_core::text::short_id::short_id;
use tidegate_core::time::Millis;

use super::board::{Board, Cover, SessionRow};
use crate::bilingual::{Bilingual, both, count_en};
use crate::command::record_words::{headline, said_text};
use crate::local_time::LocalClock;

pub(super) fn draw(frame: &mut Frame<'_>, board: &Board, clock: &LocalClock) {
    let parts = [Constraint::Length(1), Constraint::Min(5), Constraint::Length(12), Constraint::Length(1)];
    let [head, list, details, keys] = Layout::vertical(parts).areas(frame.area());
    let open = board.rows.iter().filter(|row| row.is_open).count();
    let queue = board.queue;
    let title = if frame.area().width < NARROW {
        both!("Tidegate: {open} open, {queue} in the queue", "Tidegate: 実行中{open}件、保存待ち{queue}件")
    } else {
        both!(
            "Tidegate: {sessions} open, {jobs} in the queue",
            "Tidegate: 実行中のセッション{open}件、保存待ち{queue}件",
            sessions = count_en(open, "session"),
            jobs = count_en(queue, "job"),
            open = open,
            queue = queue
        )
    };
    frame.render_widget(Line::from(title.get(board.lang).to_owned()).bold(), head);
    draw_list(frame, list, board, clock);
    if let Some(row) = board.row() {
        draw_details(frame, details, row, board, clock);
    }
    let help = if frame.area().width < NARROW {
        both!("↑↓ e explain / search o off q quit", "↑↓ e 説明 / 検索 o オフ q 終了")
    } else {
        both!(
            "↑↓ choose  e explain  / search  o switch off  q quit",
            "↑↓ 選択   e 説明   / 検索   o ポリシーをオフ   q 終了"
        )
    };
    frame.render_widget(Line::from(help.get(board.lang).to_owned()).dim(), keys);
    draw_cover(frame, board);
}

fn draw_list(frame: &mut Frame<'_>, area: Rect, board: &Board, clock: &LocalClock) {
    let titles = [
        both!("project", "プロジェクト"),
        both!("session", "セッション"),
        both!("context", "コンテキスト"),
        both!("left", "残り"),
        both!("not checked", "未検証"),
        both!("last", "最終"),
    ];
    let say = |text: &Bilingual| text.get(board.lang).to_owned();
    let block = Block::bordered().title(say(&both!(" Sessions ", " セッション ")));
    if board.rows.is_empty() {
        let text = both!(
            "No session has been seen yet. `tidegate init` installs the hooks; then start your agent.",
            "セッションはまだありません。`tidegate init` でフックを入れてからエージェントを起動してください。"
        );
        frame.render_widget(Paragraph::new(say(&text)).wrap(Wrap { trim: true }).block(block), area);
        return;
    }
    let columns = Columns::of(area);
    let rows = board.rows.iter().map(|row| list_row(row, board, clock, columns));
    let of_ids = board.rows.iter().map(|row| short_id(&row.id).chars().count()).max().unwrap_or_default();
    let mut widths = vec![
        Constraint::Fill(2),
        Constraint::Length(of_ids.max(8) as u16 + 1),
        Constraint::Length(14),
        Constraint::Length(7),
        Constraint::Length(12),
        Constraint::Length(16),
    ];
    let mut titles: Vec<Cell<'_>> = titles.iter().map(say).map(Cell::from).collect();
    columns.choose(&mut widths);
    columns.choose(&mut titles);
    let head = Row::new(titles).style(Style::new().bold());
    let table = Table::new(rows, widths).header(head).block(block).row_highlight_style(Modifier::REVERSED);
    let mut state = TableState::default().with_selected(board.chosen);
    frame.render_stateful_widget(table, area, &mut state);
}

fn list_row<'a>(row: &'a SessionRow, board: &Board, clock: &LocalClock, columns: Columns) -> Row<'a> {
    let name = row.root.as_deref().map_or("?", |root| root.rsplit(['/', '\\']).next().unwrap_or(root));
    let (bar, left) = show_meter(&row.meter);
    let unchecked = match row.unchecked {
        0 => Span::from(""),
        files => {
            Span::from(both!("{n}", "{files}個", n = count_en(files, "file")).get(board.lang).to_owned())
                .fg(Color::Yellow)
        }
    };
    let last = row.last.map(|last| clock.ago(last).get(board.lang).to_owned()).unwrap_or_default();
    let style = if row.is_open { Style::new() } else { Style::new().dim() };
    let mut cells = vec![
        Cell::from(show_name(name).into_owned()),
        Cell::from(show_name(short_id(&row.id)).into_owned()),
        Cell::from(bar),
        Cell::from(left),
        Cell::from(unchecked),
        Cell::from(last),
    ];
    columns.choose(&mut cells);
    Row::new(cells).style(style)
}

/// As `tidegate status` shows it: the bar to the compaction, the percentage of the window.
fn show_meter(meter: &MeterRecord) -> (Span<'static>, String) {
    let Some(used) = meter.used else { return (Span::from("-").dim(), String::new()) };
    let (Some(window), Some(percent)) = (meter.window, meter.used_pct) else {
        return (Span::from(short_tokens(used)), String::new());
    };
    let color = match meter.level {
        Some(75..) => Color::Red,
        Some(60..) => Color::Yellow,
        _ => Color::Green,
    };
    let bar = format!("{} {}%", words::bar(used, meter.compact_at.unwrap_or(window)), percent.round());
    (Span::from(bar).fg(color), meter.left.map(short_tokens).unwrap_or_default())
}

/// Columns of a terminal with room for only the most important.
const NARROW: u16 = 60;

/// A narrow terminal leaves the session and the time out: the project's name says more. A narrower one keeps what is left.
#[derive(Clone, Copy)]
enum Columns {
    All,
    Few,
    Fewest,
}

impl Columns {
    fn of(area: Rect) -> Columns {
        match area.width {
            ..NARROW => Columns::Fewest,
            NARROW..84 => Columns::Few,
            84.. => Columns::All,
        }
    }

    fn choose<T>(self, cells: &mut Vec<T>) {
        let left_out: &[usize] = match self {
            Columns::All => &[],
            Columns::Few => &[5, 1],
            Columns::Fewest => &[5, 4, 1],
        };
        for at in left_out {
            cells.remove(*at);
        }
    }
}

fn draw_details(frame: &mut Frame<'_>, area: Rect, row: &SessionRow, board: &Board, clock: &LocalClock) {
    let say = |text: &Bilingual| text.get(board.lang).to_owned();
    // Words say more than a curve where there is room for one of them.
    let share = if area.width < NARROW { 0 } else { 45 };
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(share), Constraint::Percentage(100 - share)]).areas(area);
    let curve = Block::bordered().title(say(&both!(" Context over time ", " コンテキストの推移 ")));
    let room = usize::from(left.width.saturating_sub(2));
    let points = &row.curve.points;
    let used: Vec<u64> = points[points.len().saturating_sub(room)..].iter().map(|point| point.used).collect();
    frame.render_widget(
        Sparkline::default().data(used).max(row.curve.top()).style(Color::Cyan).block(curve),
        left,
    );
    let mut lines: Vec<Line<'_>> = Vec::new();
    // Two lines of words for the newest, so that there is room for those before it.
    let longest = 2 * usize::from(right.width.saturating_sub(3));
    for (at, record) in row.events.iter().enumerate() {
        let time = Millis::from_iso(&record.at).map(|at| clock.minute(at)).unwrap_or_default();
        let text = headline(record).map(|text| text.plain(board.lang)).unwrap_or_default();
        lines.push(Line::from(format!("{time} {}", one_line(&text))));
        let said = said_text(record).filter(|_| at == 0);
        lines.extend(said.map(|said| Line::from(cut_to(&one_line(&said), longest).into_owned()).dim()));
    }
    if !board.decisions.is_empty() {
        lines.push(Line::from(say(&both!("Last decisions", "最近の決定"))).bold());
        lines.extend(board.decisions.iter().map(|text| Line::from(format!("- {}", show_name(text)))));
    }
    let block = Block::bordered().title(say(&both!(" Last results ", " 最近の結果 ")));
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }).block(block), right);
}

fn draw_cover(frame: &mut Frame<'_>, board: &Board) {
    let say = |text: &Bilingual| text.get(board.lang).to_owned();
    let whole = frame.area();
    match &board.cover {
        Cover::None => {}
        Cover::Asking(words) => {
            let area = Rect { y: whole.height / 3, height: 3.min(whole.height), ..whole };
            let block = Block::bordered()
                .title(say(&both!(" Search the memory (Enter, Esc) ", " 記憶を検索（Enter、Esc） ")));
            frame.render_widget(Clear, area);
            frame.render_widget(Paragraph::new(format!("{words}▏")).block(block), area);
        }
        Cover::Reading { text, from } => {
            let block =
                Block::bordered().title(say(&both!(" ↑↓ scroll, Esc back ", " ↑↓ スクロール、Esc 戻る ")));
            frame.render_widget(Clear, whole);
            let page = Paragraph::new(text.as_str()).wrap(Wrap { trim: false }).scroll((*from, 0));
            frame.render_widget(page.block(block), whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::page::Page;
    use crate::top::board::tests::row;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use tidegate_core::pipeline::record::{Deeds, Record};
    use tidegate_core::text::lang::Lang;

    const NOW: u64 = 1_794_963_600_000;

    fn shown(board: &Board, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a screen");
        let clock = LocalClock::utc(Millis(NOW));
        terminal.draw(|frame| draw(frame, board, &clock)).expect("a picture");
        terminal.backend().to_string()
    }

    fn board(lang: Lang) -> Board {
        let mut board = Board::new(lang);
        let event = Record {
            at: Millis(NOW - 60_000).iso(),
            event: "SessionStart".to_owned(),
            ruling: "pass".to_owned(),
            cause: Some("startup".to_owned()),
            ..Record::default()
        };
        let mut blocked = Record {
            at: Millis(NOW).iso(),
            event: "Stop".to_owned(),
            ruling: "deny".to_owned(),
            ..Record::default()
        };
        blocked.said.user = Some("Tidegate blocked \"done\": login.ts changed.".to_owned());
        let passed = Record {
            at: Millis(NOW - 30_000).iso(),
            event: "PostToolUse".to_owned(),
            ruling: "pass".to_owned(),
            did: Deeds {
                verified: vec!["test".to_owned()],
                passed: Some("npm test".to_owned()),
                ..Deeds::default()
            },
            ..Record::default()
        };
        let events = vec![blocked, passed, event];
        let busy = SessionRow { unchecked: 3, events, ..row("shop", true, NOW - 60_000, 120_000) };
        board.put_rows(vec![busy, row("東京\u{1b}[31m", false, NOW - 7_200_000, 30_000)]);
        board.decisions = vec!["a signed cookie, valid for 30 days".to_owned()];
        board
    }

    #[test]
    fn the_screen_looks_well() {
        insta::assert_snapshot!("top", shown(&board(Lang::En), 100, 24));
        insta::assert_snapshot!("top-japanese", shown(&board(Lang::Ja), 100, 24));
        insta::assert_snapshot!("top-empty", shown(&Board::new(Lang::En), 80, 20));
        insta::assert_snapshot!("top-40", shown(&board(Lang::En), 40, 24));
        insta::assert_snapshot!("top-40-japanese", shown(&board(Lang::Ja), 40, 24));
    }

    #[test]
    fn a_small_screen_and_text_of_others_do_no_harm() {
        let mut board = board(Lang::En);
        for (width, height) in [(1, 1), (20, 4), (40, 10), (300, 100)] {
            assert!(!shown(&board, width, height).contains('\u{1b}'));
        }
        board.put_page(&Page::of(crate::print::text::data("evil\u{1b}[2J\u{202e}")), 80);
        let covered = shown(&board, 60, 12);
        assert!(covered.contains("evil") && !covered.contains(['\u{1b}', '\u{202e}']), "{covered}");
    }
}
