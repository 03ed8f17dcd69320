//! An endpoint, by `curl`: everything, the key and the prompt above all, goes through its stdin, since other users can read
//! a command line.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tidegate_core::language_model::ModelQuestion;
use tidegate_core::language_model::backend::{BackendKind, EndpointTarget};
use tidegate_core::pipeline::record::BackendOutcome;

use super::{Asked, LARGEST_ANSWER};
use crate::program;

/// `curl` keeps the time limit itself; it is killed only when it does not.
const GRACE: Duration = Duration::from_secs(2);

/// Exit status of `curl` after its time limit.
const TOO_LATE: i32 = 28;

pub(super) struct Request<'a> {
    pub(super) form: BackendKind,
    pub(super) target: &'a EndpointTarget,
    pub(super) key: Option<&'a str>,
    pub(super) limit: Duration,
}

impl Request<'_> {
    pub(super) fn ask(&self, curl: &Path, model: &str, question: &ModelQuestion) -> Asked {
        let mut command = Command::new(curl);
        // Without the user's own options file, which could send the key elsewhere.
        command.args(["-q", "--config", "-"]).env_remove(&self.target.key_variable);
        let options = self.options(&question.body(self.form, model));
        let ran = match program::run(&mut command, options.as_bytes(), LARGEST_ANSWER, self.limit + GRACE) {
            Err(why) => return Asked::not_run(&why),
            Ok(ran) => ran,
        };
        match ran.status.code() {
            Some(0) => {}
            Some(TOO_LATE) => return Asked { outcome: BackendOutcome::Timeout, ..Asked::default() },
            _ => return Asked::failed(format!("curl: {}", ran.status)),
        }
        let text = String::from_utf8_lossy(&ran.stdout);
        match text.rsplit_once('\n') {
            Some((answer, "200")) => Asked::read(self.form, answer),
            Some((_, status)) if status.bytes().all(|b| b.is_ascii_digit()) => {
                Asked::failed(format!("status {status}"))
            }
            _ => Asked::failed("longer than an answer is"),
        }
    }

    /// As an options file for `curl`, which follows no redirection unless told to.
    fn options(&self, body: &str) -> String {
        let mut options = String::from("silent\ngloboff\n");
        let mut set = |name: &str, value: &str| {
            let _ = writeln!(options, "{name} = {}", quote_value(value));
        };
        set("url", &self.target.url);
        set("proto", if self.target.url.starts_with("https:") { "=https" } else { "=http" });
        set("max-time", &self.limit.as_secs().to_string());
        set("max-filesize", &LARGEST_ANSWER.to_string());
        if self.target.loopback {
            set("noproxy", "*");
        }
        set("header", "content-type: application/json");
        match self.form {
            BackendKind::OpenAi => {
                if let Some(key) = self.key {
                    set("header", &format!("authorization: Bearer {key}"));
                }
            }
            BackendKind::Off | BackendKind::Claude | BackendKind::Anthropic => {
                set("header", "anthropic-version: 2023-06-01");
                if let Some(key) = self.key {
                    set("header", &format!("x-api-key: {key}"));
                }
            }
        }
        set("data-raw", body);
        set("write-out", "\n%{http_code}");
        options
    }
}

/// With the escapes that `curl` knows.
fn quote_value(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tidegate_core::feature::activity::question::phase_question;

    proptest! {
        /// Whatever a prompt holds, it is one line of the options and reads back as the body.
        #[test]
        fn a_prompt_cannot_become_an_option(prompt in "\\PC{0,60}|(\"|\\\\|\n|\r|url = |\u{0}){0,20}") {
            let body = phase_question(&prompt).body(BackendKind::OpenAi, "m");
            let line = quote_value(&body);
            let breaks = line.chars().any(char::is_control);
            prop_assert!(!breaks, "more than one line");
            let mut read = String::new();
            let mut escaped = false;
            for c in line[1..line.len() - 1].chars() {
                match (escaped, c) {
                    (false, '\\') => escaped = true,
                    (false, '"') => prop_assert!(false, "the quotes end early"),
                    (_, c) => {
                        read.push(c);
                        escaped = false;
                    }
                }
            }
            prop_assert_eq!(read, body);
        }
    }
}
