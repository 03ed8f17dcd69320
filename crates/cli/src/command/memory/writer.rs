//! Who may write into the memory.

use tidegate_hook::host::claude_code::client;

use crate::approval;
use crate::bilingual::{Bilingual, both};
use crate::error::CliError;
use crate::own_session::ask_in_own_session;
use crate::sessions::Here;

/// Refuses an agent whose session is not certain. It can clear the variables of a command, name another session in them and
/// change folders, and would write into any project.
pub(crate) fn check(here: &Here) -> Result<(), CliError> {
    if !approval::is_by_agent(&here.env) {
        return Ok(());
    }
    let why = match here.env.session.as_deref() {
        None => both!("it does not name a session", "セッションが指定されていない"),
        Some(id) => match here.known_session(id) {
            Err(error) => error.words().clone(),
            Ok(session) if session.marks.session.root.is_none() => {
                both!(
                    "the project of session {id} is not known",
                    "セッション {id} のプロジェクトがわからない"
                )
            }
            Ok(session) if !client::is_above(&session.marks.session.clients) => {
                both!("it does not run in session {id}", "セッション {id} の中で動いていない")
            }
            Ok(_) => return Ok(()),
        },
    };
    let Bilingual { en, ja } = why;
    Err(CliError::new(both!(
        "nothing was written: an agent runs this command, and {en}",
        "何も書き込んでいません。エージェントからの実行で、{ja}ためです"
    ))
    .hint(ask_in_own_session()))
}
