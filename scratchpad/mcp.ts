/**
 * An agent with the tools of an MCP server, a real one in a process of its own: it reads a folder without asking, because
 * the program trusts the server when it says that a tool only reads, and it asks before it writes. The person says no to
 * one file and yes to another.
 */
import {
  Approval,
  ApprovalJournal,
  ApprovalSeal,
  Chat,
  LanguageModel,
  McpApproval,
  McpClient,
  McpProtocol,
  Prompt,
  Response
} from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Layer } from "effect"
import { ChildProcess } from "effect/process"
import { randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import * as Story from "./waiting/story.ts"

// =============================================================================
// The server
// =============================================================================

const server = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"))

/** A connection to the server, which may use one folder; both end with the scope. */
const connect = Effect.fnUntraced(function*(folder: string) {
  const transport = yield* McpClient.stdio({
    command: ChildProcess.make(process.execPath, [server, folder]),
    protocol: McpProtocol.v2025_11_25
  })
  return yield* McpClient.make({ name: "assent-example", version: "1.0.0" }).pipe(
    Effect.provideService(McpClient.Transport, transport)
  )
})

// =============================================================================
// The agent and the person
// =============================================================================

const call = (id: string, name: string, params: unknown) => ScriptedModel.toolCall({ id, name, params })

const Model = ScriptedModel.layer({
  turns: [
    [call("call-1", "files__read_text_file", { path: "notes.md" })],
    [call("call-2", "files__write_file", { path: "notes.md", content: "Milk.\n" })],
    [call("call-3", "files__write_file", { path: "list.md", content: "- milk\n- bread\n" })],
    "Your notes are as they were; the list is in list.md."
  ]
}).pipe(LanguageModel.approval())

const decide = (request: Approval.ApprovalRequest): Approval.ApprovalAnswer =>
  request.description.includes("notes.md")
    ? Approval.deny(request, "Leave my notes alone, and make a new file.")
    : Approval.approve(request)

// =============================================================================
// The story
// =============================================================================

const program = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "mcp-" })
  const notes = "We need milk, and bread.\n"
  yield* fs.writeFileString(`${folder}/notes.md`, notes)

  // The name is ours, and only a name of ours can be trusted: any server can call itself anything.
  const files = McpApproval.guard(yield* connect(folder), { name: "files", trust: ["files"] })

  const chat = yield* Chat.empty
  let prompt: Prompt.RawInput = "Make a shopping list of my notes."
  let turn
  yield* say("you", prompt)
  do {
    // The tools are listed anew for each turn: what the server changed is asked about as it is by then.
    turn = yield* chat.generateText({ prompt, toolkit: yield* files })
    for (const { encodedResult, isFailure, name } of turn.toolResults) {
      yield* say(isFailure ? "not run" : "ran", `${name}: ${reasonOf(encodedResult)}`)
    }
    const requests = Response.approvalRequests(turn)
    for (const request of requests) {
      yield* say("agent", `May I? ${request.description}`)
      if (request.reason !== undefined) yield* say("", request.reason)
    }
    const answers = requests.map(decide)
    for (const { decision } of answers) {
      yield* say("you", decision._tag === "Approved" ? "Yes." : `No. ${decision.note}`)
    }
    prompt = Prompt.approvalResponses(answers)
  } while (turn.finishReason === "tool-calls" || Response.isWaiting(turn))
  yield* say("agent", turn.text)

  yield* Story.expect((yield* fs.readFileString(`${folder}/notes.md`)) === notes, "The notes have changed.")
  const list = yield* fs.readFileString(`${folder}/list.md`)
  yield* Story.expect(list === "- milk\n- bread\n", "The list is not what was approved.")
  yield* Console.log(`\nlist.md\n${list.trimEnd()}`)
})

const reasonOf = (result: unknown): string =>
  typeof result === "object" && result !== null && "reason" in result ? String(result.reason) : String(result).trim()

/** What somebody says, on lines of at most 80 columns. */
const say = (who: string, what: string) => {
  const lines = [""]
  for (const word of what.split(" ")) {
    if (`${lines.at(-1)} ${word}`.length > 69) lines.push("")
    lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trimStart()
  }
  return Story.line(who, lines.join(`\n${" ".repeat(11)}`))
}

// Nothing here outlives the process, and this says so.
const Approvals = Layer.merge(
  ApprovalSeal.layer({ key: randomBytes(32).toString("base64") }),
  ApprovalJournal.layerMemory()
)

program.pipe(
  Effect.scoped,
  Effect.provide(Layer.mergeAll(Model, Approvals, NodeServices.layer)),
  NodeRuntime.runMain
)
