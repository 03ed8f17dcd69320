//! `docs/hosts.md`: what works in which agent, from the same table that `init` and `doctor` read.

use std::fmt::Write as _;

use tidegate_core::host::Host;
use tidegate_core::host::capability::{Capability, Support};
use tidegate_core::text::lang::Lang;

use super::registered::HOSTS;

const HEAD: &str = "# Other agents

Claude Code is the agent that Tidegate was made for. It also checks the agents in the table below, with the same program, config,
journal and memory: what was said in one of them is found from all.

```console
$ tidegate init --host codex           # this project
$ tidegate init --user --host copilot  # all your projects
$ tidegate init --host qwen            # the same for Qwen Code
$ tidegate init --host opencode        # and for opencode
$ tidegate uninstall --host codex
```

`tidegate init` without `--host` is for Claude Code, and names the other agents that you use. `--preset` and `--with` work for
every agent. `doctor` checks each agent that has Tidegate's hooks. It fails if the program of the hooks is missing, if hooks are
gone or there twice, and if the agent does not run them.

A session of another agent is named after it: `codex.ID` in `status`, `log` and the journal. Two agents may use the same id, and share
nothing then. `--session ID` finds it by the agent's own id, too. Messages name the agent and its commands: the skill `compound` is
`$compound` in Codex and `/compound` elsewhere, and `/compact` is `/compress` in Qwen Code.

## What works where

Made from the program's own table. Tests on the real Codex, Copilot CLI and Qwen Code show the gates for edits and \"done\", checks,
meter, notes, lost facts and memory; those on the real opencode the same without memory. Stages that follow each other are shown on the
real Codex, and that they outlive a compaction on Copilot CLI and Qwen Code. The rest follows from each protocol, and is tested with its
payloads only.

";

const TAIL: &str = "
## Codex

Tested with Codex 0.166.0.

- **Codex runs a hook only after you have trusted it, and skips it without a word until then.** Start `codex`, open `/hooks` and
  trust Tidegate's hooks. Tidegate never writes that trust itself. `tidegate doctor` reads it and fails while a hook is skipped.
- Hooks go to `.codex/hooks.json` of the project or of your home (`CODEX_HOME`), the MCP server to `config.toml` next to it, the
  skills to `skills`. Codex reads a project's files only in a project that it trusts.
- Codex runs no hook while `hooks = false` is in `[features]`. It refuses a whole `hooks.json` for one key that it does not
  know, or that comes twice. `doctor` names both, and `init` does not write into such a file.
- One patch may edit several files: a denial is for all of them.
- A patch that is written out in a command line (`apply_patch <<'EOF'`) waits for the same skills. Codex applies it itself and reports
  no end: Tidegate reads from the session's file that it was applied. Paths in it count from the folder in which the call runs.
- A patch that fails half-way has no end either. Files that it wrote before are edits that need a check.
- In a linked worktree Codex reads the hooks of the main checkout, and only if the worktree has a `.codex` folder. Install them in the
  main checkout; `doctor` says what is missing.
- A skill counts after the model has printed the whole file. Its first lines are not enough.
- Codex does not tell its hooks how a command ended. Tidegate reads the exit status, the window and the tokens from the session's
  file. A status counts only for the same command line in the same conversation. One that is not there is unknown, and verifies
  nothing.
- `used` counts the last answer, too, as Codex does when it decides to compact.
- Tidegate cannot tell which process called a hook of Codex. A command that an agent runs can write a payload into a hook, so
  nothing can be approved there.
- A limit that is given on Codex's command line (`-c model_auto_compact_token_limit=…`) is not known; one in a `config.toml` is.

## Copilot CLI

Tested with Copilot CLI 1.0.102.

- Hooks go to `.github/hooks/tidegate.json` of the project or to `hooks/tidegate.json` of your `~/.copilot` (`COPILOT_HOME`), the skills
  to `skills` next to `hooks`. Copilot runs a project's hooks only in a folder that you trust, or
  with `--trust-folder`. `doctor` reads `trustedFolders` in `~/.copilot/config.json`, and fails until the folder is in it.
- **If the program is missing, Copilot denies every edit**: it takes each hook that fails for a denial. Run `tidegate uninstall --host
  copilot` before you delete the program. `doctor` says so if it is gone. The entries start the program without a shell, which no
  other agent can misread, so they have no way to pass by themselves.
- `disableAllHooks` in `.github/copilot/settings.json`, `settings.local.json` next to it or your own `settings.json` switches all hooks
  off. `doctor` names the file.
- The MCP server goes to `~/.copilot/mcp-config.json`, with `--user` only: a project has no such file of your own.
- Copilot also calls hooks of `.claude/settings.json` and `.claude/settings.local.json` in a project. Tidegate's hooks there check it, too.
- An exit status counts only if it is in the last line of a command's output, where Copilot writes it, and if Copilot calls the result a
  success. The end of a command in the background comes as a notification.
- A subagent has a session of its own there. Its events count for the session that started it.
- Copilot sends the reason of a blocked stop as a prompt. It begins with `Stop hook feedback:`, and Tidegate never takes it for yours. It
  cannot recognise the reasons of other people's hooks.
- Tidegate does not know whether a person is there, and gives advice as if one were. So `copilot -p` is recorded. `TIDEGATE_ATTENDED=0` says that
  none is.
- The compaction runs in the background above 80% of the prompt's largest size. Facts come back with the first tool or prompt after it.
  Reminders of a stage, a checkpoint or unverified edits follow with the next one.
- Status line: put this into `~/.copilot/settings.json`, with the whole path of the program if it is not on your `PATH`:

```json
{ \"statusLine\": { \"type\": \"command\", \"command\": \"tidegate statusline --host copilot\" } }
```

## Qwen Code

Tested with Qwen Code 0.24.4.

- Hooks and the MCP server go to `.qwen/settings.json` of the project or of your home (`QWEN_HOME`), the skills to `skills` next to
  it. Qwen Code reads a project's settings only in a folder that it trusts. Comments in them stay.
- The plugin works in Qwen Code, too: it reads the hooks for Claude Code. Use either the plugin or `init --host qwen`.
- `used` counts the last answer, too, as Qwen Code does when it decides to compact. The window is the one that it writes into its
  chat record, else its own default of 200,000 tokens.
- Qwen Code drops what a hook says right after a compaction. Lost facts, and reminders of a stage, a checkpoint
  or unverified edits, come with the next tool result or prompt.
- Work for agents is checked in every way that its tools give it: `agent`, `workflow`, `send_message` and `create_sub_session`. Skills
  run in the conversation itself.
- It announces the results of tools and the reason of a blocked turn as prompts. Tidegate does not take them for yours.
- Tidegate does not know whether a person is there, so `qwen -p` is recorded. `TIDEGATE_ATTENDED=0` says that none is.
- Its `.env` files and the `env` of its settings can set variables for hooks. Tidegate cannot tell them from yours there.

## opencode

Tested with opencode 1.18.33. opencode runs plugins, not hooks: `init --host opencode` writes the plugin `tidegate.js` into
`.opencode/plugins` of the project or of your home (`OPENCODE_CONFIG_DIR`). The plugin starts the program for each event, without
a shell, and registers the MCP server.

- Without the program opencode works on, and the next tool result says once that nothing is gated. With a program that fails, hangs, says
  nothing or something else, edits are denied; a subagent may still start.
- `init` refuses to replace another plugin of that name. `uninstall` removes the plugin; if you changed it, a copy stays in
  Tidegate's state folder.
- A plugin hears that a turn has ended, and cannot block it. If a check is missing, the reason becomes the next prompt.
  `opencode run` may end before that.
- The window is the part that opencode fills before it compacts. opencode counts an answer after its tools have run, so `used` is
  that of the answer before.
- Conversations in opencode are not recorded: they are in a database of its own. The memory can be searched from there.

## Agents that are only recorded

VS Code, Cursor, Gemini CLI, Factory's droid and agents that Tidegate does not know: it recognises their calls, records them and
answers nothing. This is unproven: it rests on recorded or documented payloads, and no test runs the real agent. `status`, `doctor` and
`journal` say so.
";

pub(crate) fn hosts_page() -> String {
    let hosts: Vec<Host> =
        std::iter::once(Host::ClaudeCode).chain(HOSTS.iter().map(|hooks| hooks.host)).collect();
    let mut page = HEAD.to_owned();
    let titles: Vec<&str> = hosts.iter().map(|host| Host::title(host.name())).collect();
    let _ = writeln!(page, "| | {} |\n| --- |{}", titles.join(" | "), " --- |".repeat(hosts.len()));
    for capability in Capability::ALL {
        let cells: Vec<String> = hosts.iter().map(|host| cell(host.support(*capability))).collect();
        let _ = writeln!(page, "| {} | {} |", capability.title(Lang::En), cells.join(" | "));
    }
    page.push_str(TAIL);
    page
}

fn cell(support: Support) -> String {
    match support {
        Support::Full => "yes".to_owned(),
        Support::Partly(limit) => format!("partly: {}", limit.en),
        Support::No(limit) => format!("no: {}", limit.en),
    }
}
