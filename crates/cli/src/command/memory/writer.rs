//! Who may write into the memory.

use tidegate_hook::host::claude_code::client;

use crate::approval;
use crate::error::CliError;
use crate::sessions::Here;

/// Refuses an agent whose session is not certain. It can clear the variables of a command, name another session in them and
/// change folders, and would write into any project.
pub(crate) fn check(here: &Here) -> Result<(), CliError> {
    if !approval::is_by_agent(&here.env) {
        return Ok(());
    }
    let why = match here.env.session.as_deref() {
        None => "it names no session".to_owned(),
        Some(id) => match here.session(Some(id)) {
            Err(error) => error.message().to_owned(),
            Ok(session) if session.marks.session.root.is_none() => {
                format!("the project of session {id} is not known")
            }
            Ok(session) if !client::is_above(&session.marks.session.clients) => {
                format!("it does not run in session {id}")
            }
            Ok(_) => return Ok(()),
        },
    };
    Err(CliError::new(format!("nothing was written: an agent runs this command, and {why}")).hint(
        "an agent writes into the memory only from its own session, with the variables that Claude Code sets \
         (CLAUDE_CODE_SESSION_ID); or have the person do it at a terminal with `tidegate memory`",
    ))
}
