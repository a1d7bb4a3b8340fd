/**
 * What may run without asking is said in a file. The program reads it, looks for mistakes in it, explains what becomes
 * of some calls, and then lets an agent make them.
 */
import {
  Approval,
  ApprovalConfig,
  ApprovalJournal,
  ApprovalPolicy,
  ApprovalSeal,
  Chat,
  Prompt,
  Response,
  Tool,
  Toolkit
} from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { ApprovalMatcher } from "@assent/shell"
import { Console, Effect, Layer, Schema } from "effect"
import * as assert from "node:assert"
import { randomBytes } from "node:crypto"

// A program has this in a file, approval.yaml: ApprovalConfig.fromFile("approval.yaml")
const text = `tools:
  read_file: none
  write_file:
    rules:
      - { path: "src/**", approval: none }
      - { path: "docs/*.md", approval: once_per_session }
    approval: required
    reason: outside of src
    expires_in: 10 minutes
  run_command:
    rules:
      - { shell: ["git status", "git log *", "npm test"], approval: none }
    approval: required
  "*": { approval: deny, reason: nobody has said what this may do }
`

const config = ApprovalConfig.parse(text, { file: "approval.yaml" })

// =============================================================================
// The agent
// =============================================================================

const path = { path: Schema.String }
const toolkit = Toolkit.make(
  Tool.make("read_file", { parameters: path, success: Schema.String }).annotate(Tool.Readonly, true),
  Tool.make("write_file", { parameters: { ...path, content: Schema.String }, success: Schema.String }),
  Tool.make("delete_file", { parameters: path, success: Schema.String }),
  Tool.make("run_command", { parameters: { command: Schema.String }, success: Schema.String })
)

const ran: Array<string> = []
const run = (what: string) => Effect.as(Effect.sync(() => ran.push(what)), "done")

const Handlers = toolkit.toLayer({
  read_file: ({ path }) => run(`read ${path}`),
  write_file: ({ path }) => run(`write ${path}`),
  delete_file: ({ path }) => run(`delete ${path}`),
  run_command: ({ command }) => run(command)
})

const calls = [
  ["read_file", { path: "package.json" }],
  ["write_file", { path: "src/app.ts", content: "…" }],
  ["write_file", { path: "src/../.env", content: "…" }],
  ["run_command", { command: "git status && git log -n 3" }],
  ["run_command", { command: "git status; rm -rf build" }],
  ["delete_file", { path: "thesis.txt" }]
] as const

const Model = ScriptedModel.layer({
  turns: [calls.map(([name, params], index) => ScriptedModel.toolCall({ id: `call-${index}`, name, params })), "Done."]
})

// =============================================================================
// The story
// =============================================================================

const title = (text: string) => Console.log(`\n${text}\n${"─".repeat(text.length)}`)

const program = Effect.gen(function*() {
  yield* title("approval.yaml")
  yield* Console.log(text.trimEnd())

  yield* title("With three words misspelt it is refused")
  const wrong = text.replace("none", "non").replace("expires_in", "expiresIn").replace("rules:", "rule:")
  const error = yield* Effect.flip(ApprovalConfig.parse(wrong, { file: "approval.yaml" }))
  yield* Console.log(wrap(error.message))

  yield* title("What may be a mistake, given the tools")
  const doubtful = text.replace("run_command", "run_comand").replace("path: \"docs", "param: file, path: \"docs")
  const findings = yield* ApprovalPolicy.lint(yield* ApprovalConfig.parse(doubtful, { format: "yaml" }), toolkit)
  for (const finding of findings) yield* Console.log(wrap(ApprovalPolicy.toSentence(finding)))

  yield* title("What becomes of each call, and why")
  for (const [name, params] of calls) {
    const call = yield* ApprovalPolicy.makeCall(toolkit.tools[name], params)
    yield* Console.log(wrap(Approval.describe(name, params)))
    yield* Console.log(wrap(ApprovalPolicy.toSentence(yield* ApprovalPolicy.explain(call)), "    "))
  }

  yield* title("An agent makes them")
  const chat = yield* Chat.empty
  let turn = yield* chat.generateText({ prompt: "Clean up.", toolkit })
  const asked = Response.approvalRequests(turn)
  for (const request of asked) yield* Console.log(`asked    ${request.description}`)
  turn = yield* chat.generateText({
    prompt: Prompt.approvalResponses(asked.map((request) => Approval.deny(request, "not now"))),
    toolkit
  })
  for (const what of ran) yield* Console.log(`ran      ${what}`)

  assert.deepStrictEqual(asked.map(({ toolCallId }) => toolCallId), ["call-2", "call-4"])
  assert.deepStrictEqual(ran, ["read package.json", "write src/app.ts", "git status && git log -n 3"])
})

/** At most 80 columns, each line with the indentation of its first. */
const wrap = (text: string, indent = ""): string =>
  text.split("\n").map((line) => {
    const start = indent + (/^ *[→·]? */.exec(line)?.[0] ?? "")
    const words = line.slice(start.length - indent.length).split(" ")
    const lines: Array<string> = []
    let current = start
    for (const word of words) {
      if (current.trim() !== "" && current.length + word.length > 79) {
        lines.push(current.trimEnd())
        current = " ".repeat(start.length + 2)
      }
      current += `${word} `
    }
    return [...lines, current.trimEnd()].join("\n")
  }).join("\n")

// Command lines need a parser: the configuration's rules of them are made with the one of @assent/shell.
const Policy = ApprovalPolicy.layerConfig(config).pipe(Layer.provideMerge(ApprovalMatcher.layer()))

// Nothing here outlives the process, and this says so.
const Approvals = Layer.merge(
  ApprovalSeal.layer({ key: randomBytes(32).toString("base64") }),
  ApprovalJournal.layerMemory()
)

await Effect.runPromise(Effect.provide(program, Layer.mergeAll(Handlers, Model, Policy, Approvals)))
