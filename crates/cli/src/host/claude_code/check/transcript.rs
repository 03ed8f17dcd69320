//! The newest session's transcript, which the meter reads.

use std::io;
use std::path::Path;

use tidegate_core::time::Millis;

use super::super::client_session::read_transcript;
use crate::bilingual::{both, count_en};
use crate::doctor::check::without_state;
use crate::doctor::finding::Findings;
use crate::doctor::gathered::Gathered;
use crate::shell::quote_path;

pub(crate) fn check(seen: &Gathered, found: &mut Findings) {
    if seen.state.is_err() {
        found.unchecked(without_state());
        return;
    }
    let newest = seen
        .sessions_here()
        .filter(|session| session.marks.session.transcript.is_some())
        .max_by_key(|session| session.marks.session.attached);
    let Some(path) = newest.and_then(|session| session.marks.session.transcript.as_deref()).map(Path::new)
    else {
        found.ok(both!("This project has no session yet.", "このプロジェクトのセッションはまだありません。"));
        return;
    };
    let shown = path.display();
    match read_transcript(path, Millis(0)) {
        Ok(content) if content.lines == 0 && content.unreadable > 0 => {
            found.warning(
                both!(
                    "Tidegate cannot read any line of the transcript {shown}: it does not know how full the context is.",
                    "会話の記録 {shown} を1行も読めません。コンテキストの使用量がわかりません。"
                ),
                both!(
                    "Start a new session. If that does not help, update Tidegate: this Claude Code may write another form.",
                    "新しいセッションを始めてください。直らない場合は、Claude Code の形式が変わった可能性があります。Tidegate を更新してください。"
                ),
            );
        }
        Ok(content) => {
            let (lines, number) = (count_en(content.lines, "line"), content.lines);
            found.ok(both!("Tidegate can read {lines} of {shown}.", "{shown} の{number}行を読めます。"));
        }
        // The client writes it after the first answer, and clears old ones away.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            found.ok(both!(
                "Claude Code has not written {shown} yet, or has deleted it.",
                "{shown} はまだ書かれていないか、Claude Code が削除しました。"
            ));
        }
        Err(error) => {
            let quoted = quote_path(path);
            found.problem(
                both!(
                    "Tidegate cannot read the transcript {shown}: {error}. It does not know how full the context is.",
                    "会話の記録 {shown} を読めません（{error}）。コンテキストの使用量がわかりません。"
                ),
                both!(
                    "Make {quoted} a file that you can read, or start a new session.",
                    "{quoted} を読み取れるファイルにするか、新しいセッションを始めてください。"
                ),
            );
        }
    }
}
