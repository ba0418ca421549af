"MARK"
// It tells Commonhold what OpenCode's tools are about to do and have done. An edit that is refused, or that nobody could
// be asked about, does not happen.
import { spawn } from "node:child_process"

const gating = "GATING"
const telling = "TELLING"
const [guard, python, launcher, socket, whenDown] = "GUARDING"
const WRITING = new Set(["edit", "write", "multiedit", "patch", "apply_patch", "bash"])
const READING = new Set(["read"])
// Tools of OpenCode that write no file of their own. Of all others, those of servers, the arguments say whether they may.
const HARMLESS = new Set(["glob", "grep", "list", "ls", "task", "skill", "question", "todowrite", "todoread", "webfetch", "websearch", "codesearch", "lsp"])
const SESSION_EVENTS = new Set(["session.created", "session.idle", "session.deleted"])
const GATING_MS = 30000
const TELLING_MS = 5000

function run([command, ...words], payload, milliseconds) {
  return new Promise((resolve) => {
    const child = spawn(command, words, { stdio: ["pipe", "pipe", "pipe"] })
    const said = { out: "", err: "" }
    const timer = setTimeout(() => child.kill("SIGKILL"), milliseconds)
    const end = (status, why) => {
      clearTimeout(timer)
      resolve({ status, out: said.out, err: said.err.trim() || why })
    }
    child.stdout.setEncoding("utf8").on("data", (text) => (said.out += text))
    child.stderr.setEncoding("utf8").on("data", (text) => (said.err += text))
    child.on("error", (fault) => end(null, String(fault)))
    child.on("close", (status) => end(status, "it gave no answer"))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })
}

// Answers are JSON, or nothing: {"deny": why}, {"note": what to tell the model}.
async function ask(payload) {
  const { status, out, err } = await run(gating, payload, GATING_MS)
  if (status !== 0) throw new Error(err)
  const { deny } = out.trim() === "" ? {} : JSON.parse(out)
  if (deny) throw new Error(deny)
}

async function tell(payload) {
  const { status, out } = await run(telling, payload, TELLING_MS)
  try {
    return status === 0 && out.trim() !== "" ? JSON.parse(out) : {}
  } catch {
    return {}
  }
}

function mayNameFiles(tool, args) {
  if (WRITING.has(tool) || READING.has(tool) || HARMLESS.has(tool)) return false
  return Object.keys(args ?? {}).some((name) => /path|file|uri|source|destination/i.test(name))
}

// A batch makes several calls at once, each of which is asked about and told by itself.
function callsIn(tool, callID, args) {
  if (tool !== "batch" || !Array.isArray(args?.tool_calls)) return [{ tool, callID, args }]
  return args.tool_calls.map((each, place) => ({
    tool: String(each?.tool ?? ""),
    callID: `${callID}/${place}`,
    args: each?.parameters ?? {},
  }))
}

// A command stays as it is, for the rules of its user; the shell that runs it finds our launcher on its way, if it is bash.
function guarding(holder, callID, own) {
  return {
    BASH_ENV: "$COMMONHOLD_GUARD",
    COMMONHOLD_GUARD: guard,
    COMMONHOLD_GUARDED: String(process.pid),
    COMMONHOLD_OWN_BASH_ENV: own ?? "",
    COMMONHOLD_PYTHON: python,
    COMMONHOLD_LAUNCHER: launcher,
    COMMONHOLD_SOCKET: socket,
    COMMONHOLD_WHEN_DOWN: whenDown,
    COMMONHOLD_HOLDER: holder,
    COMMONHOLD_CALL: callID,
  }
}

export const Commonhold = async ({ directory }) => {
  const parents = new Map()
  const begun = new Set()
  const common = (sessionID) => ({ sessionID, parentID: parents.get(sessionID) ?? "", cwd: directory })
  return {
    event: async ({ event }) => {
      const part = event.properties?.part
      if (part?.state?.status === "error" && begun.delete(part.callID)) {
        const { tool, callID, state } = part
        const sessionID = event.properties.sessionID ?? part.sessionID
        await tell({ event: "failed", ...common(sessionID), tool, callID, args: state.input ?? {} })
      }
      if (!SESSION_EVENTS.has(event.type)) return
      const session = event.properties.info ?? {}
      const sessionID = event.properties.sessionID ?? session.id
      if (session.parentID) parents.set(sessionID, session.parentID)
      await tell({ event: event.type, ...common(sessionID), title: session.title ?? "" })
    },
    "chat.message": async ({ sessionID }, { parts }) => {
      const prompt = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")
      const { note } = await tell({ event: "prompt", ...common(sessionID), prompt })
      const text = parts.find((part) => part.type === "text")
      if (note && text) text.text += `\n\n${note}`
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
      const asked = []
      for (const call of callsIn(tool, callID, output.args)) {
        if (!WRITING.has(call.tool) && !mayNameFiles(call.tool, call.args)) continue
        try {
          await ask({ event: "before", ...common(sessionID), ...call })
        } catch (refusal) {
          for (const each of asked) await tell({ event: "failed", ...common(sessionID), ...each })
          throw refusal
        }
        asked.push(call)
        begun.add(call.callID)
      }
    },
    "shell.env": async ({ sessionID, callID }, { env }) => {
      if (!begun.has(callID)) return
      const parent = parents.get(sessionID)
      const holder = `opencode:${parent ? `${parent}/` : ""}${sessionID}`
      Object.assign(env, guarding(holder, callID, env.BASH_ENV ?? process.env.BASH_ENV))
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      for (const call of callsIn(tool, callID, args ?? {})) {
        if (!WRITING.has(call.tool) && !READING.has(call.tool) && !mayNameFiles(call.tool, call.args)) continue
        begun.delete(call.callID)
        const shown = tool === "batch" ? undefined : output.metadata?.display?.text
        const { note } = await tell({ event: "after", ...common(sessionID), ...call, shown })
        if (note) output.output += `\n\n${note}`
      }
    },
  }
}
