// Steps: `{ tool, session }` is a call of a tool, `{ prompt, session }` a prompt.
// The output has each step's outcome: "ran", or the reason of a denial.
import { Tidegate } from "./tidegate.mjs"

const { folder, steps, sessions } = JSON.parse(process.argv[2])
const client = {
  app: { log: async () => {} },
  session: {
    messages: async () => ({ data: [] }),
    get: async ({ path }) => {
      if (sessions[path.id] === "failure") throw new Error("no connection")
      if (sessions[path.id] === "hang") await new Promise(() => {})
      return { data: sessions[path.id] }
    },
  },
}
const hooks = await Tidegate({ client, directory: folder })
const outcomes = []
for (const { tool, prompt, session = "ses_1" } of steps) {
  try {
    if (tool) await hooks["tool.execute.before"]({ tool, sessionID: session, callID: "c" }, { args: { filePath: "a" } })
    else await hooks["chat.message"]({ sessionID: session }, { message: { id: "m" }, parts: [{ id: "p", type: "text", text: prompt }] })
    outcomes.push("ran")
  } catch (error) {
    outcomes.push(error.message)
  }
}
console.log(JSON.stringify({ outcomes }))
