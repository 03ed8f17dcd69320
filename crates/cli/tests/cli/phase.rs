//! `activity classify`: a line for each line, also for those that cannot be read, and answers that do not wait.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::answer::Ran;
use crate::sandbox::Sandbox;

fn classify(input: impl AsRef<[u8]>) -> Ran {
    Sandbox::new().run_with(&["activity", "classify"], input.as_ref())
}

fn lines(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn phases_in_order() {
    let prompts = [
        ("undo/redoの実装を調べて", "research"),
        ("commit this and push", "ship"),
        ("なんかテストが落ちるんだけど", "debug"),
        ("review my changes please", "review"),
        ("", "other"),
        ("ok, thanks", "other"),
    ];
    let input: String =
        prompts.iter().map(|(prompt, _)| json!({ "prompt": prompt }).to_string() + "\n").collect();
    let ran = classify(input);
    ran.ok();
    let answers = lines(&ran);
    assert_eq!(answers.len(), prompts.len(), "{ran:?}");
    for ((prompt, phase), answer) in prompts.iter().zip(answers) {
        assert_eq!(answer["phase"], *phase, "{prompt}: {answer}");
        let confidence = answer["confidence"].as_f64().expect("a number");
        assert!(confidence > 0.0 && confidence <= 1.0, "{prompt}: {answer}");
        assert_eq!(answer.as_object().map(serde_json::Map::len), Some(2), "{answer}");
    }
}

#[test]
fn lines_that_cannot_be_read_keep_their_place() {
    let ran = classify(
        "{\"prompt\": \"commit this\", \"id\": 7, \"more\": [1]}\r\n{\"prompt\": \n\n[]\n{\"text\": \"x\"}\n\
         {\"prompt\": 7}\n{\"prompt\": \"commit this\"}",
    );
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let answers = lines(&ran);
    assert_eq!(answers.len(), 7, "{ran:?}");
    assert_eq!(answers[0], answers[6], "the last line needs no newline; other members are ignored");
    let wrong = [
        (2, "not JSON: EOF while parsing a value at column 0"),
        (3, "not JSON: EOF while parsing a value at column 0"),
        (4, "not an object"),
        (5, "no `prompt` in the object"),
        (6, "`prompt` is not a string"),
    ];
    let mut told = String::new();
    for (number, error) in wrong {
        assert_eq!(answers[number - 1], json!({ "error": error }));
        writeln!(told, "error: line {number}: {error}").expect("a text takes it");
    }
    assert_eq!(ran.stderr, told);
}

#[test]
fn bytes_that_are_no_text() {
    let ran = classify(b"\xff\xfe\n{\"prompt\": \"\xff\"}\n{\"prompt\": \"ok\"}\n");
    assert_eq!((ran.code, lines(&ran).len()), (Some(1), 3), "{ran:?}");
    assert_eq!(lines(&ran)[2]["phase"], "other");
}

#[test]
fn nothing_in_nothing_out() {
    assert_eq!(classify("").ok(), "");
}

#[test]
fn a_prompt_of_a_megabyte() {
    let ran = classify(
        json!({ "prompt": "why does this fail?\n".to_owned() + &"x = 1;\n".repeat(150_000) }).to_string(),
    );
    ran.ok();
    assert_eq!(lines(&ran)[0]["phase"], "debug");
    let former = Sandbox::new().run_with(&["phase", "classify"], b"{\"prompt\": \"commit this\"}\n");
    assert_eq!(lines(&former)[0]["phase"], "ship", "by the former name");
}

#[test]
fn an_answer_does_not_wait_for_the_next_prompt() {
    let mut command = Sandbox::new().command(&["activity", "classify", "--time"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.current_dir("/").spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    for _ in 0..3 {
        // The beginning of the next line does not hold the answer back.
        stdin.write_all(b"{\"prompt\": \"commit this\"}\n{\"prom").expect("it reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it answers");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert!(answer["phase"] == "ship" && answer["us"].as_f64().is_some_and(|us| us > 0.0), "{answer}");
        stdin.write_all(b"pt\": \"commit this\"}\n").expect("it reads");
        line.clear();
        stdout.read_line(&mut line).expect("it answers");
    }
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
}
