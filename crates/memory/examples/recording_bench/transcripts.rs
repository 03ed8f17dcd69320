//! Invented transcripts of Claude Code: mostly output of tools, as in real ones.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidegate_core::time::Millis;

use crate::corpus::Corpus;

pub(crate) const EXCHANGES_OF_A_SESSION: usize = 50;
const TOOL_CALLS: usize = 6;
const LINES_OF_OUTPUT: usize = 120;

/// The first exchange is at this time, the others a minute apart.
const BEGINNING: u64 = 1_790_000_000_000;

pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    /// The length of the file after each exchange, and the exchange's last answer.
    pub(crate) ends: Vec<(u64, String)>,
}

pub(crate) fn folder_of(number: usize) -> String {
    format!("/code/project-{}", number % 20)
}

/// One file below `folder`.
pub(crate) fn write_session(corpus: &Corpus, folder: &Path, number: usize) -> io::Result<Session> {
    let id = format!("{number:08x}-0000-4000-8000-00000000{:04x}", number % 0x10000);
    let folder = folder.join(folder_of(number).replace('/', "-"));
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{id}.jsonl"));
    let mut writer =
        SessionWriter { out: BufWriter::new(fs::File::create(&path)?), id: &id, number, lines: 0, bytes: 0 };
    let mut ends = Vec::new();
    for exchange in 0..EXCHANGES_OF_A_SESSION {
        let answer = writer.write_exchange(corpus, number * EXCHANGES_OF_A_SESSION + exchange)?;
        ends.push((writer.bytes, answer));
    }
    writer.out.flush()?;
    Ok(Session { id, path, ends })
}

struct SessionWriter<'a> {
    out: BufWriter<fs::File>,
    id: &'a str,
    number: usize,
    lines: u64,
    bytes: u64,
}

impl SessionWriter<'_> {
    fn write_exchange(&mut self, corpus: &Corpus, number: usize) -> io::Result<String> {
        let log = corpus.log(number);
        let at = BEGINNING + number as u64 * 60_000;
        let prompt = json!({ "role": "user", "content": log.prompt });
        self.write_line(at, &log.uid, "user", &prompt, &Value::Null)?;
        // Output of tools has quotation marks and line breaks, which have to be unescaped if they are read.
        let word = |place: usize| &corpus.words[0][(number * 7 + place) % corpus.words[0].len()];
        let output: Vec<String> = (0..LINES_OF_OUTPUT)
            .map(|place| {
                let [one, two, three] = [word(place), word(place * 3 + 1), word(place * 5 + 2)];
                format!("        let {one} = {two}::{three}(\"{two}/{three}\", &{one}_{two}).map_err(|error| error.{three}())?;\n")
            })
            .collect();
        let output = output.concat();
        for call in 0..TOOL_CALLS {
            let id = format!("toolu_{number}_{call}");
            let file = log.files.first().map_or("src/lib.rs", String::as_str);
            let used = json!({ "id": format!("m{number}-{call}"), "role": "assistant", "model": "claude-opus-5-5", "content": [
                { "type": "text", "text": format!("Step {call}: {}", log.title) },
                { "type": "tool_use", "id": id, "name": "Read", "input": { "file_path": file } },
            ] });
            self.write_line(at + 1000, &format!("{}-a{call}", log.uid), "assistant", &used, &Value::Null)?;
            let result = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": output }] });
            let stored = json!({ "type": "text", "file": { "filePath": file, "content": output } });
            self.write_line(at + 2000, &format!("{}-r{call}", log.uid), "user", &result, &stored)?;
        }
        let said = json!({ "id": format!("m{number}"), "role": "assistant", "model": "claude-opus-5-5",
            "content": [{ "type": "text", "text": log.answer }] });
        self.write_line(at + 3000, &format!("{}-z", log.uid), "assistant", &said, &Value::Null)?;
        Ok(log.answer)
    }

    fn write_line(
        &mut self,
        at: u64,
        uid: &str,
        kind: &str,
        message: &Value,
        result: &Value,
    ) -> io::Result<()> {
        self.lines += 1;
        let mut entry = json!({
            "parentUuid": self.lines - 1, "isSidechain": false, "userType": "external", "cwd": folder_of(self.number),
            "sessionId": self.id, "version": "2.1.325", "gitBranch": "main", "type": kind, "uuid": uid,
            "timestamp": Millis(at).iso(), "message": message,
        });
        if !result.is_null() {
            entry["toolUseResult"] = result.clone();
        }
        let line = format!("{entry}\n");
        self.bytes += line.len() as u64;
        self.out.write_all(line.as_bytes())
    }
}
