// Tidegate for opencode. Written by `tidegate init --host opencode`, removed by `tidegate uninstall`.
// It hands opencode's events to the program and gives back what the program says. Without the program opencode works on,
// and the model and the log hear so once. With a program that fails, edits are denied.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"

const PROGRAM = "@PROGRAM@"
const LIMIT_MS = 10000
// For an answer of opencode itself.
const SERVER_LIMIT_MS = 2000
// A call that cannot be checked is denied if it edits, and passes if it starts an agent or asks.
const EDITORS = ["edit", "write", "multiedit", "apply_patch", "patch"]
const OTHERS = ["task", "question"]

export const Tidegate = async ({ client, directory }) => {
  const parents = new Map()
  const roots = new Set()
  const begun = new Set()
  const fresh = new Set()
  const used = new Map()
  const windows = new Map()
  const held = new Set()
  const ours = new Set()
  const summarised = new Set()
  const started = new Map()
  let untold

  const advice = "Tell the user to run `tidegate doctor`."

  const fail = (why, missing) => {
    if (untold !== undefined) return
    const open = missing ? "edits and checks are not gated" : "edits are denied, and nothing else is checked"
    untold = `Tidegate could not run (${why}): ${open}. ${advice}`
    try {
      client.app.log({ body: { service: "tidegate", level: "error", message: untold } }).catch(() => {})
    } catch {}
  }

  // `failed` says why there is no answer. Before a call an answer says `deny` or `pass`, so that a program that ends without
  // a word allows nothing. A missing program allows all: who uninstalled it can work on. Anything else that is not found,
  // such as the folder to start it in, is a failure.
  const run = (name, payload, options) =>
    new Promise((resolve) => {
      const broken = (why, missing = false) => {
        fail(why, missing)
        resolve(missing ? { pass: true } : { failed: why })
      }
      const broke = (error) => {
        const why = (error && (error.code || error.message)) || "no reason given"
        broken(why, why === "ENOENT" && !existsSync(PROGRAM))
      }
      try {
        const child = spawn(PROGRAM, ["hook", "--event", name, ...options, "--host", "opencode"], {
          cwd: directory,
          stdio: ["pipe", "pipe", "ignore"],
        })
        const late = setTimeout(() => {
          broken(`no answer in ${LIMIT_MS} ms`)
          child.kill("SIGKILL")
        }, LIMIT_MS)
        let text = ""
        child.stdout.setEncoding("utf8")
        child.stdout.on("data", (piece) => (text += piece))
        child.on("error", (error) => {
          clearTimeout(late)
          broke(error)
        })
        child.on("close", (code, signal) => {
          clearTimeout(late)
          if (code !== 0) return broken(code === null ? `ended by ${signal}` : `exit ${code}`)
          try {
            const answer = text.trim() ? JSON.parse(text) : {}
            if (answer === null || typeof answer !== "object" || Array.isArray(answer)) throw new Error("not an object")
            const isRuled = answer.deny || answer.pass === true
            if (name === "PreToolUse" && !isRuled) broken("it did not say whether the call may run")
            else resolve(answer)
          } catch {
            broken("its answer is not JSON")
          }
        })
        child.stdin.on("error", () => {})
        child.stdin.end(JSON.stringify(payload))
      } catch (error) {
        broke(error)
      }
    })

  // Never waits longer for opencode than it may: a gate is asked before every edit.
  const inTime = (asked) => {
    let late
    const limit = new Promise((_, reject) => {
      late = setTimeout(() => reject(new Error(`opencode did not answer in ${SERVER_LIMIT_MS} ms`)), SERVER_LIMIT_MS)
    })
    return Promise.race([asked, limit]).finally(() => clearTimeout(late))
  }

  const rootOf = (session) => {
    let root = session
    for (let depth = 0; parents.has(root) && depth < 16; depth++) root = parents.get(root)
    return root
  }

  // opencode announces only sessions that begin: those from before its start are asked for. False if it does not say.
  const learn = async (session) => {
    let at = session
    for (let depth = 0; depth < 16; depth++) {
      if (roots.has(at)) return true
      if (parents.has(at)) {
        at = parents.get(at)
        continue
      }
      try {
        const info = (await inTime(client.session.get({ path: { id: at } }))).data
        if (!info || info.id !== at) return false
        if (info.parentID) parents.set(at, info.parentID)
        else roots.add(at)
      } catch {
        return false
      }
    }
    return false
  }

  const call = async (name, session, more, options = []) => {
    await learn(session)
    const root = rootOf(session)
    const agent = root === session ? {} : { agent_id: session }
    const meter = { used: used.get(session), window: windows.get(session) }
    const payload = { opencode: 1, hook_event_name: name, session_id: root, cwd: directory, ...agent, ...meter, ...more }
    return run(name, payload, options)
  }

  const begin = async (session) => {
    if (parents.has(session) || begun.has(session)) return ""
    begun.add(session)
    const source = fresh.has(session) ? "startup" : "resume"
    return (await call("SessionStart", session, { source })).context || ""
  }

  // `opencode run` puts a message of several words into quotes.
  const unquoted = (text) => {
    const inner = /^"((?:[^"\\]|\\[^])*)"\s*$/.exec(text)
    return inner ? inner[1].replaceAll('\\"', '"') : text
  }

  const isSummary = (message) => message && message.info && message.info.summary === true
  const textOf = (message) =>
    message.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")

  const messages = async (session) => {
    try {
      return (await inTime(client.session.messages({ path: { id: session } }))).data || []
    } catch {
      return []
    }
  }

  const onCompacted = async (session) => {
    const last = (await messages(session)).filter(isSummary).pop()
    const summary = last && !summarised.has(last.info.id) ? textOf(last) : undefined
    if (last) summarised.add(last.info.id)
    used.delete(session)
    await call("PostCompact", session, { trigger: "auto", summary })
    if (!parents.has(session)) await call("SessionStart", session, { source: "compact" })
  }

  const onIdle = async (session) => {
    const last = (await messages(session)).filter((message) => message.info.role === "assistant").pop()
    if (last && last.info.error) return
    const end = { last_message: last && textOf(last), held_before: held.has(session) }
    if (parents.has(session)) {
      await call("SubagentStop", session, end)
      return
    }
    const answer = await call("Stop", session, end)
    if (!answer.block) {
      held.delete(session)
      return
    }
    held.add(session)
    ours.add(answer.block)
    const body = { parts: [{ type: "text", text: answer.block }] }
    await inTime(client.session.promptAsync({ path: { id: session }, body }))
  }

  const safely = async (what) => {
    try {
      return await what()
    } catch (error) {
      fail(error && error.message)
    }
  }

  return {
    config: async (config) => {
      config.mcp = config.mcp || {}
      config.mcp.tidegate = config.mcp.tidegate || { type: "local", command: [PROGRAM, "mcp"], enabled: true }
    },
    event: ({ event }) =>
      safely(async () => {
        const about = event.properties || {}
        const info = about.info || {}
        switch (event.type) {
          case "session.created":
            if (info.parentID) parents.set(info.id, info.parentID)
            else {
              roots.add(info.id)
              fresh.add(info.id)
            }
            break
          case "message.updated":
            if (info.role === "assistant" && !info.summary && info.tokens && info.tokens.total > 0)
              used.set(info.sessionID, info.tokens.total)
            break
          case "session.compacted":
            await onCompacted(about.sessionID)
            break
          case "session.idle":
            // Of a call that was denied or interrupted there is no end.
            for (const [id, { session }] of started) if (session === about.sessionID) started.delete(id)
            if (begun.has(about.sessionID) || parents.has(about.sessionID)) await onIdle(about.sessionID)
            break
        }
      }),
    "chat.message": (input, output) =>
      safely(async () => {
        const session = input.sessionID
        const known = await learn(session)
        if (parents.has(session)) return
        const said = output.parts.filter((part) => part.type === "text" && !part.synthetic)
        const raw = said.map((part) => part.text).join("\n")
        const prompt = unquoted(raw)
        // What opencode says nothing of may be an agent, whose prompts another agent writes.
        const author = ours.delete(raw) || !known ? "host" : "person"
        if (author === "person") held.delete(session)
        const start = await begin(session)
        const answer = await call("UserPromptSubmit", session, { prompt, author })
        const text = [start, answer.context].filter(Boolean).join("\n")
        const last = output.parts[output.parts.length - 1]
        if (text && last)
          output.parts.push({
            id: last.id + "t",
            sessionID: session,
            messageID: output.message.id,
            type: "text",
            text,
            synthetic: true,
          })
      }),
    "tool.execute.before": async (input, output) => {
      // opencode does not say how long a command took, and runs tools side by side.
      if (input.tool === "bash") started.set(input.callID, { session: input.sessionID, at: Date.now() })
      const edits = EDITORS.includes(input.tool)
      if (!edits && !OTHERS.includes(input.tool)) return
      const tool = { tool_name: input.tool, call_id: input.callID, tool_input: output.args }
      const options = edits ? [] : ["--advice"]
      const answer = await safely(() => call("PreToolUse", input.sessionID, tool, options))
      const failed = answer ? answer.failed : "the plugin has an error"
      if (edits && failed)
        throw new Error(`Tidegate could not check this edit (${failed}), so it is denied. ${advice}`)
      if (answer && answer.deny) throw new Error(answer.deny)
    },
    "tool.execute.after": (input, output) =>
      safely(async () => {
        const text = typeof output.output === "string" ? output.output : ""
        const began = (started.get(input.callID) || {}).at
        started.delete(input.callID)
        const answer = await call("PostToolUse", input.sessionID, {
          tool_name: input.tool,
          call_id: input.callID,
          tool_input: input.args,
          tool_output: text,
          exit: output.metadata && output.metadata.exit,
          began,
        })
        const note = untold
        if (note) untold = ""
        const more = [answer.context, note].filter(Boolean).join("\n")
        if (more && typeof output.output === "string") output.output += "\n\n" + more
      }),
    "experimental.chat.system.transform": async (input) => {
      const limit = input.model && input.model.limit
      if (!input.sessionID || !limit || !(limit.context > 0)) return
      // opencode compacts before an answer could exceed the window.
      const answer = Math.min(limit.output || 32000, 32000)
      windows.set(input.sessionID, limit.input ? limit.input - Math.min(20000, answer) : limit.context - answer)
    },
    "experimental.session.compacting": (input, output) =>
      safely(async () => {
        const answer = await call("PreCompact", input.sessionID, { trigger: "auto" })
        if (answer.context) output.context.push(answer.context)
      }),
  }
}
