use proptest::prelude::*;
use tidegate_core::text::hidden::is_plain_text;
use tidegate_core::text::lang::Lang;

use super::page::Page;
use super::table::{Column, Table};
use super::terminal::Terminal;
use super::text::{Text, data};
use crate::bilingual::both;

const WIDTHS: [usize; 4] = [40, 60, 80, 120];

fn plain(width: usize) -> Terminal {
    Terminal { width, has_colors: false, breaks_words: true }
}

fn sample() -> Page {
    let mut page = Page::new();
    page.heading(both!("What is checked here", "ここで確認すること"));
    page.paragraph(both!(
        "Tidegate pauses an edit until Claude has loaded the skills that your team requires. Run `tidegate off skill-gate --for 1h` to work without it.",
        "Tidegate は、チームが必須にしたスキルを Claude が読み込むまで編集を保留します。使わずに作業するには `tidegate off skill-gate --for 1h` を実行してください。"
    ));
    page.item(both!("one short thing", "短い項目"));
    page.item(both!(
        "one that is long enough to need a second line on each of the narrower screens",
        "狭い画面では二行目が必要になるくらいには長い、「かっこ」も句点も入っている項目。"
    ));
    page.pairs([
        (both!("project", "プロジェクト").into(), data("/home/someone/code/東京/アプリケーション")),
        (both!("context", "コンテキスト").into(), Text::from(both!("62% in use", "62%使用")).warning()),
        (
            both!("a key that is far too long for its column", "列に収まらないほど長い見出しの例です").into(),
            data("x"),
        ),
    ]);
    let mut table = Table::new([
        Column::text(both!("policy", "ポリシー")),
        Column::text(both!("state", "状態")),
        Column::number(both!("times", "回数")),
        Column::text(both!("what it does", "すること")),
    ]);
    table.row([
        data("skill-gate").strong(),
        Text::from(both!("off until 14:05 JST", "14:05 JST までオフ")).warning(),
        data(3),
        both!(
            "Pauses an edit until the required skills are loaded",
            "必須のスキルが読み込まれるまで編集を保留します"
        )
        .into(),
    ]);
    table.row([
        data("verify-stop"),
        Text::from(both!("on", "オン")).good(),
        data(1024),
        both!(
            "Holds a \"done\" once while changed code has no passing check",
            "変更したコードの確認が通るまで「完了」を一度だけ止めます。"
        )
        .into(),
    ]);
    page.heading(both!("Policies", "ポリシー"));
    page.table(table);
    page.gap();
    page.problem(
        both!("the hooks of this project never ran", "このプロジェクトのフックは一度も動いていません"),
        Some(
            both!(
                "start `claude` here and trust the folder",
                "ここで `claude` を起動し、フォルダを信頼してください"
            )
            .into(),
        ),
    );
    page
}

#[test]
fn pages_look_well_at_every_width() {
    for (name, lang) in [("en", Lang::En), ("ja", Lang::Ja)] {
        for width in WIDTHS {
            let text = sample().render(lang, plain(width));
            let too_wide = text.lines().find(|line| super::fold::width(line) > width);
            assert_eq!(too_wide, None, "{width}");
            assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
            insta::assert_snapshot!(format!("page-{name}-{width}"), text);
        }
    }
}

#[test]
fn colours_change_nothing_but_colours() {
    for width in WIDTHS {
        let colored = sample().render(Lang::Ja, Terminal { width, has_colors: true, breaks_words: true });
        let stripped = anstream::adapter::strip_str(&colored).to_string();
        assert_eq!(stripped, sample().render(Lang::Ja, plain(width)));
        assert_ne!(stripped, colored);
    }
}

#[test]
fn japanese_lines_do_not_begin_with_a_full_stop() {
    for width in 40..=120 {
        let text = sample().render(Lang::Ja, plain(width));
        let wrong = text.lines().find(|line| line.trim_start().starts_with(['。', '、', '」']));
        assert_eq!(wrong, None, "{width}");
    }
}

#[test]
fn names_options_and_paths_stay_whole() {
    for width in 40..=120 {
        let text = sample().render(Lang::En, plain(width));
        for word in ["skill-gate", "verify-stop", "--for"] {
            assert!(text.contains(word), "{width}: {text}");
        }
    }
}

#[test]
fn a_word_with_a_leading_dot_is_a_word() {
    let page = Page::of(both!("Use the manifest .claude/features/MANIFEST.yaml here", "x"));
    let text = page.render(Lang::En, plain(40));
    assert_eq!(text, "Use the manifest\n.claude/features/MANIFEST.yaml here\n");
}

#[test]
fn a_long_path_is_broken_after_a_slash_on_a_screen_and_stays_whole_for_programs() {
    let path = "/home/someone/.local/state/tidegate/installs/home-someone-code-application-0123456789abcdef";
    let page = Page::of(data(format!("your files: {path} (a copy)")));
    let shown = page.render(Lang::En, plain(60));
    assert_eq!(
        shown,
        "your files: /home/someone/.local/state/tidegate/installs/\nhome-someone-code-application-0123456789abcdef (a copy)\n"
    );
    let read = page.render(Lang::En, Terminal { breaks_words: false, ..plain(40) });
    assert_eq!(read, format!("your files:\n{path}\n(a copy)\n"));
}

#[test]
fn a_text_is_cut_between_words() {
    let cut = |text: &str, columns| {
        let page = Page::of(data(text).shortened(columns));
        page.render(Lang::Ja, plain(80)).trim_end().to_owned()
    };
    assert_eq!(cut("one two three", 13), "one two three");
    assert_eq!(cut("one two three", 12), "one two…");
    assert_eq!(cut("run `npm test` and more", 12), "run `npm…`");
    assert_eq!(cut("one, two", 7), "one…");
    assert_eq!(cut("編集を保留します", 9), "編集を保…");
    let two = data("one ").strong() + data("two three") + data("four");
    assert_eq!(Page::of(two.shortened(9)).render(Lang::En, plain(80)), "one two…\n");
}

proptest! {
    #[test]
    fn nothing_of_others_steers_and_no_line_is_too_wide(text in any::<String>(), width in 40..=120_usize) {
        let mut page = Page::new();
        page.paragraph(data(&text));
        page.item(data(&text).dim());
        page.pairs([(data(&text), data(&text)), (data("key"), data(&text))]);
        let mut table = Table::new([Column::text(both!("a", "あ")), Column::text(both!("b", "い"))]);
        table.row([data("row"), data(format!("{text}\u{1b}[2J"))]);
        page.table(table);
        page.problem(data(&text), Some(data(&text)));
        let shown = page.render(Lang::En, plain(width));
        prop_assert!(is_plain_text(&shown), "{shown:?}");
        let colored = page.render(Lang::En, Terminal { width, has_colors: true, breaks_words: true });
        prop_assert_eq!(anstream::adapter::strip_str(&colored).to_string(), shown.as_str());
        for line in shown.lines() {
            prop_assert!(super::fold::width(line) <= width, "{line:?}");
        }
    }
}
