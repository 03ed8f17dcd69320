//! What came back, and what every answer of a hook has to be.

use serde_json::Value;

/// What a process printed and how it ended.
#[must_use]
#[derive(Debug)]
pub(crate) struct Ran {
    /// `None`: by a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// What it printed, if it went well.
    pub(crate) fn ok(&self) -> &str {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{self:?}");
        &self.stdout
    }

    /// The same without its folding: every gap is one space.
    pub(crate) fn words(&self) -> String {
        unfold(self.ok())
    }

    /// The JSON it printed, if it went well.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.ok()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// An error for people: nothing on stdout, exit 1, what happened and what to do.
    pub(crate) fn failed(&self) -> &str {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "{self:?}");
        assert!(self.stderr.starts_with("error: "), "{self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        &self.stderr
    }
}

/// Every gap as one space, as if nothing had been folded.
pub(crate) fn unfold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A hook's answer.
#[must_use]
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Answer {
    pub(crate) fn of(ran: Ran) -> Answer {
        let exit = ran.code.unwrap_or_else(|| panic!("ended by a signal: {ran:?}"));
        Answer { exit, stdout: ran.stdout, stderr: ran.stderr }
    }

    /// What holds for every answer to `event`, whatever came in. A form that the host does not take opens the
    /// gate without a word.
    pub(crate) fn check(&self, event: &str) {
        assert!(self.exit == 0 || self.exit == 2, "exit {}: {self:?}", self.exit);
        assert_eq!(self.exit == 2, !self.stderr.is_empty(), "stderr only beside exit 2: {self:?}");
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        if self.stdout.is_empty() || (event == "PreCompact" && !self.stdout.starts_with('{')) {
            return;
        }
        let Value::Object(object) = serde_json::from_str(&self.stdout).unwrap_or_default() else {
            panic!("not one JSON object: {self:?}")
        };
        assert!(
            self.stdout.starts_with('{') && self.stdout.trim_end_matches('\n').ends_with('}'),
            "{self:?}"
        );
        assert!(!object.is_empty(), "no opinion prints nothing: {self:?}");
        for (name, value) in &object {
            let known =
                ["continue", "stopReason", "decision", "reason", "systemMessage", "hookSpecificOutput"];
            assert!(known.contains(&name.as_str()), "{name}: {self:?}");
            assert!(!has_null(value), "{name}: {self:?}");
        }
        if let Some(specific) = object.get("hookSpecificOutput") {
            assert_eq!(specific["hookEventName"], event, "{self:?}");
        }
    }

    /// No opinion. The first code edit of a session gets a text about checks, whatever else is tested.
    pub(crate) fn silent(&self) {
        if self.stdout.contains("Run a test, type check or build on its own before you finish") {
            assert_eq!((self.exit, self.stderr.as_str()), (0, ""));
            return;
        }
        assert_eq!((self.exit, self.stdout.as_str(), self.stderr.as_str()), (0, "", ""));
    }

    /// A gate that could not check: says which step failed to the model, and the way past it to the person.
    pub(crate) fn closed(&self, step: &str) {
        self.check("PreToolUse");
        assert_eq!(self.exit, 2, "the gate is open: {self:?}");
        assert!(self.stderr.contains(&format!("could not check: {step}")), "{step}: {self:?}");
        let output = self.output();
        let message = output["systemMessage"].as_str().unwrap_or_default();
        // In the person's language; the English one repeats the step.
        let english = message.starts_with("Tidegate could");
        assert!(
            message.contains("TIDEGATE_OFF=skill-gate") && (!english || message.contains(step)),
            "{self:?}"
        );
        assert_eq!(output.as_object().map(serde_json::Map::len), Some(1), "{self:?}");
        assert!(!self.stderr.contains("TIDEGATE_OFF"), "the way past it is the person's: {self:?}");
    }

    pub(crate) fn output(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The text for the model, if there is one.
    pub(crate) fn context(&self) -> Option<String> {
        if self.stdout.is_empty() {
            return None;
        }
        self.output()["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}
