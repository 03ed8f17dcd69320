//! Our entries in the host's settings file.

use std::path::Path;

use serde_json::{Map, Value, json};
use tidegate_core::event::EventKind;

/// What is registered: the event, its matcher, and whether it gates. A registration costs a process per event, so
/// only what somebody uses is here.
struct Registration {
    event: EventKind,
    matcher: Option<&'static str>,
    gate: bool,
}

const fn advice(event: EventKind) -> Registration {
    Registration { event, matcher: None, gate: false }
}

const REGISTRATIONS: &[Registration] = &[
    advice(EventKind::SessionStart),
    advice(EventKind::UserPromptSubmit),
    Registration {
        event: EventKind::PreToolUse,
        matcher: Some("Edit|Write|MultiEdit|NotebookEdit"),
        gate: true,
    },
    advice(EventKind::PostToolUse),
    advice(EventKind::Stop),
    advice(EventKind::PreCompact),
    advice(EventKind::PostCompact),
    advice(EventKind::PostModelSwitch),
    advice(EventKind::ConfigChange),
    advice(EventKind::SessionEnd),
];

/// What our entries depend on.
pub(super) struct Around {
    /// The path of this program.
    pub(super) binary: String,
    /// The status line of a settings file farther away, which ours would hide.
    pub(super) status_line: Option<String>,
}

/// The file with our entries; what was ours before is replaced. `None` stands for no file.
pub(super) fn install(text: Option<&str>, around: &Around) -> Result<String, String> {
    let mut settings = parse(text)?;
    remove_ours(&mut settings, around)?;
    let binary = around.binary.as_str();
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or("`hooks` is not an object")?;
    for Registration { event, matcher, gate } in REGISTRATIONS {
        let mut handler =
            json!({ "type": "command", "command": binary, "args": ["hook", "--event", event.name()] });
        if *gate {
            // Older clients do not know the key; for them the exit code has to do.
            handler["onFailure"] = json!("block");
        }
        let mut entry = Map::new();
        if let Some(matcher) = matcher {
            entry.insert("matcher".to_owned(), json!(matcher));
        }
        entry.insert("hooks".to_owned(), json!([handler]));
        let list = hooks.entry(event.name()).or_insert_with(|| json!([]));
        list.as_array_mut()
            .ok_or_else(|| format!("`hooks.{}` is not an array", event.name()))?
            .push(Value::Object(entry));
    }
    let theirs = command_of(&settings).or(around.status_line.as_deref());
    let command = match theirs {
        Some(theirs) => format!("{} statusline --wrap {}", quote(binary), quote(theirs)),
        None => format!("{} statusline", quote(binary)),
    };
    match settings.get_mut("statusLine").and_then(Value::as_object_mut) {
        Some(line) => {
            line.insert("command".to_owned(), json!(command));
        }
        None => {
            settings.insert("statusLine".to_owned(), json!({ "type": "command", "command": command }));
        }
    }
    Ok(write(&settings))
}

/// The file without our entries; `None` when nothing is left.
pub(super) fn uninstall(text: Option<&str>, around: &Around) -> Result<Option<String>, String> {
    let Some(text) = text else { return Ok(None) };
    let mut settings = parse(Some(text))?;
    if !remove_ours(&mut settings, around)? {
        return Ok(Some(text.to_owned()));
    }
    Ok((!settings.is_empty()).then(|| write(&settings)))
}

/// The command of the status line in a settings file, unless it is ours.
pub(super) fn foreign_status_line(text: &str, binary: &str) -> Option<String> {
    let settings = parse(Some(text)).ok()?;
    let command = command_of(&settings)?;
    matches!(read_status_line(command, binary), StatusLine::Foreign).then(|| command.to_owned())
}

fn command_of(settings: &Map<String, Value>) -> Option<&str> {
    settings.get("statusLine")?.get("command")?.as_str()
}

fn parse(text: Option<&str>) -> Result<Map<String, Value>, String> {
    let text = text.unwrap_or("{}");
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(settings)) => Ok(settings),
        Ok(_) => Err("the file is not a JSON object".to_owned()),
        Err(error) => Err(format!("broken JSON: {error}")),
    }
}

fn write(settings: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(settings).expect("settings are plain data") + "\n"
}

/// Takes out every handler of ours, and what is empty without it. Tells whether there was one.
fn remove_ours(settings: &mut Map<String, Value>, around: &Around) -> Result<bool, String> {
    let binary = around.binary.as_str();
    let mut found = false;
    if let Some(hooks) = settings.get_mut("hooks") {
        let hooks = hooks.as_object_mut().ok_or("`hooks` is not an object")?;
        for (_, entries) in hooks.iter_mut() {
            let Some(entries) = entries.as_array_mut() else { continue };
            entries.retain_mut(|entry| {
                let Some(handlers) = entry.get_mut("hooks").and_then(Value::as_array_mut) else {
                    return true;
                };
                let before = handlers.len();
                handlers.retain(|handler| !is_ours(handler, binary));
                found |= handlers.len() < before;
                handlers.len() == before || !handlers.is_empty()
            });
        }
        if found {
            hooks.retain(|_, entries| entries.as_array().is_none_or(|entries| !entries.is_empty()));
            if hooks.is_empty() {
                settings.remove("hooks");
            }
        }
    }
    match command_of(settings).map_or(StatusLine::Foreign, |line| read_status_line(line, binary)) {
        StatusLine::Foreign => {}
        StatusLine::Wrapping(theirs) if around.status_line.as_ref() != Some(&theirs) => {
            settings["statusLine"]["command"] = json!(theirs);
            found = true;
        }
        // Ours alone, or around one that stands in another file and shows again without us.
        StatusLine::Ours | StatusLine::Wrapping(_) => {
            settings.remove("statusLine");
            found = true;
        }
    }
    Ok(found)
}

/// Ours is this program, or one called tidegate, that is told `hook`.
fn is_ours(handler: &Value, binary: &str) -> bool {
    let program = handler.get("command").and_then(Value::as_str).unwrap_or_default();
    let told = handler.get("args").and_then(|args| args.get(0)).and_then(Value::as_str);
    is_tidegate(program, binary) && told == Some("hook")
}

fn is_tidegate(program: &str, binary: &str) -> bool {
    program == binary || Path::new(program).file_stem().is_some_and(|name| name == "tidegate")
}

/// What a status line's command is to us.
enum StatusLine {
    Foreign,
    Ours,
    /// Ours around this command.
    Wrapping(String),
}

fn read_status_line(command: &str, binary: &str) -> StatusLine {
    let ours = unquote(command).filter(|(program, _)| is_tidegate(program, binary));
    let Some(rest) = ours.and_then(|(_, rest)| rest.strip_prefix(" statusline")) else {
        return StatusLine::Foreign;
    };
    match rest.strip_prefix(" --wrap ").and_then(unquote) {
        Some((theirs, _)) => StatusLine::Wrapping(theirs),
        None => StatusLine::Ours,
    }
}

/// For `sh`: single quotes, inside which only the quote itself is special.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Reads one word that [`quote`] wrote; the word and the rest.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('\'')?;
    let mut word = String::new();
    loop {
        let end = rest.find('\'')?;
        word.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix(r"\''") {
            Some(more) => {
                word.push('\'');
                rest = more;
            }
            None => return Some((word, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(binary: &str) -> Around {
        Around { binary: binary.to_owned(), status_line: None }
    }

    fn installed(text: Option<&str>) -> String {
        install(text, &around("/opt/it's here/tidegate")).unwrap()
    }

    #[test]
    fn twice_is_once() {
        let once = installed(None);
        assert_eq!(installed(Some(&once)), once);
        assert_eq!(uninstall(Some(&once), &around("/bin/other")), Ok(None));
        assert_eq!(uninstall(None, &around("/bin/other")), Ok(None));
    }

    #[test]
    fn under_another_name_it_is_still_ours() {
        let gate = around("/opt/gate");
        let once = install(None, &gate).unwrap();
        assert_eq!(install(Some(&once), &gate).unwrap(), once);
        assert_eq!(uninstall(Some(&once), &gate), Ok(None));
    }

    #[test]
    fn a_status_line_of_another_file_is_wrapped_and_not_copied_back() {
        let around = Around { binary: "/opt/tidegate".into(), status_line: Some("theirs".into()) };
        let once = install(None, &around).unwrap();
        assert!(once.contains("'/opt/tidegate' statusline --wrap 'theirs'"), "{once}");
        assert_eq!(install(Some(&once), &around).unwrap(), once);
        assert_eq!(uninstall(Some(&once), &around), Ok(None));
    }

    #[test]
    fn only_gates_block_on_failure() {
        let settings: Value = serde_json::from_str(&installed(None)).unwrap();
        for (event, entries) in settings["hooks"].as_object().unwrap() {
            let handler = &entries[0]["hooks"][0];
            assert_eq!(handler.get("onFailure").is_some(), event == "PreToolUse", "{event}");
            assert_eq!(handler["args"][2], **event);
        }
    }

    #[test]
    fn what_others_put_there_stays() {
        let theirs = r#"{
  "model": "opus",
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "their-hook"
          }
        ]
      }
    ]
  },
  "statusLine": {
    "type": "command",
    "command": "echo 'it'\\''s me'",
    "padding": 0
  }
}
"#;
        let with = installed(Some(theirs));
        assert!(with.contains("their-hook") && with.contains("statusline --wrap"));
        assert_eq!(installed(Some(&with)), with);
        assert_eq!(uninstall(Some(&with), &around("/bin/other")).unwrap().unwrap(), theirs);
    }

    #[test]
    fn a_broken_file_is_refused() {
        for broken in ["{", "[]", "{\"hooks\": 5}", "{\"hooks\": {\"Stop\": {}}}"] {
            assert!(install(Some(broken), &around("/tidegate")).is_err(), "{broken}");
        }
        assert!(uninstall(Some("{,}"), &around("/bin/other")).is_err());
        assert_eq!(
            uninstall(Some("{ \"a\": 1 }"), &around("/bin/other")),
            Ok(Some("{ \"a\": 1 }".to_owned()))
        );
    }
}
