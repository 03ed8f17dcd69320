//! A question below the view, in the ordinary terminal. Esc, Ctrl-C, Ctrl-D and an empty answer cancel.

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal;

use crate::bilingual::Bilingual;
use crate::error::{CliError, io_words};
use crate::language;
use crate::print;

/// `None` if it was cancelled.
pub(crate) fn ask(question: &Bilingual) -> Result<Option<String>, CliError> {
    print::to_stderr(question.get(language::current()));
    let asked = terminal::enable_raw_mode().and_then(|()| read_line());
    let usual = terminal::disable_raw_mode();
    print::to_stderr("");
    let answer = asked.map_err(|error| CliError::new(io_words(&error)))?;
    usual.map_err(|error| CliError::new(io_words(&error)))?;
    Ok(answer)
}

fn read_line() -> std::io::Result<Option<String>> {
    let mut line = String::new();
    loop {
        let Event::Key(key) = event::read()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match type_key(&mut line, key) {
            Typed::More => print::typed(&line)?,
            Typed::Given => return Ok(Some(line.trim().to_owned())),
            Typed::Cancelled => return Ok(None),
        }
    }
}

#[derive(Debug, PartialEq)]
enum Typed {
    More,
    Given,
    Cancelled,
}

fn type_key(line: &mut String, key: KeyEvent) -> Typed {
    let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Esc => return Typed::Cancelled,
        KeyCode::Char('c' | 'd') if has_control => return Typed::Cancelled,
        KeyCode::Enter if line.trim().is_empty() => return Typed::Cancelled,
        KeyCode::Enter => return Typed::Given,
        KeyCode::Backspace => _ = line.pop(),
        KeyCode::Char(letter) if !has_control => line.push(letter),
        _ => {}
    }
    Typed::More
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_keys(keys: &[KeyEvent]) -> (String, Typed) {
        let mut line = String::new();
        let mut typed = Typed::More;
        for key in keys {
            assert_eq!(typed, Typed::More, "nothing is typed after the end");
            typed = type_key(&mut line, *key);
        }
        (line, typed)
    }

    fn key(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    fn control(letter: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL)
    }

    #[test]
    fn only_a_typed_answer_counts() {
        let letters = |text: &str| text.chars().map(|c| key(KeyCode::Char(c))).collect::<Vec<_>>();
        let with = |text: &str, last: KeyEvent| type_keys(&[letters(text), vec![last]].concat());
        assert_eq!(with("2h", key(KeyCode::Enter)), ("2h".to_owned(), Typed::Given));
        for last in [key(KeyCode::Esc), control('c'), control('d')] {
            assert_eq!(with("2h", last).1, Typed::Cancelled, "{last:?}");
            assert_eq!(with("", last).1, Typed::Cancelled, "{last:?}");
        }
        for blank in ["", " "] {
            assert_eq!(with(blank, key(KeyCode::Enter)).1, Typed::Cancelled);
        }
        assert_eq!(with("2hx", key(KeyCode::Backspace)), ("2h".to_owned(), Typed::More));
        assert_eq!(with("2h", control('u')), ("2h".to_owned(), Typed::More));
    }
}
