//! Which session a command of an agent acts for.

use tidegate_hook::environment::Environment;
use tidegate_hook::host::claude_code::client;

use crate::approval;
use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::sessions::{Here, Session};

/// Refuses an agent that acts for another session than its own. It can name any session, with `--session` or in its
/// variables; a person may. One that the client has ended is not its own any more, even if the client still runs.
pub(crate) fn check(here: &Here, session: &Session) -> Result<(), CliError> {
    let (id, known) = (&session.id, &session.marks.session);
    // `--session` has replaced the variable in `here`.
    let is_named = || Environment::of_process().session.is_none_or(|named| named == id.as_str());
    let is_own = || !known.detached && is_named() && client::is_above(&known.clients);
    if !approval::is_by_agent(&here.env) || is_own() {
        return Ok(());
    }
    Err(CliError::new(both!(
        "nothing was changed: an agent runs this command, and it does not run in session {id}",
        "何も変更していません。エージェントからの実行で、セッション {id} の中で動いていないためです"
    ))
    .hint(ask_in_own_session()))
}

pub(crate) fn ask_in_own_session() -> Bilingual {
    both!(
        "run it in your own session, with the variables that your shell tool sets (in Claude Code: CLAUDE_CODE_SESSION_ID), or ask the person to run it at a terminal",
        "シェルツールが設定する変数（Claude Code では CLAUDE_CODE_SESSION_ID）のある自分のセッションで実行するか、人に端末で実行してもらってください"
    )
}
