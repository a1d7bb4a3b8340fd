// What this agent may do without a question stands in approval.yaml. `check` looks for mistakes in it, `why` explains.
import { Approval, ApprovalConfig, ApprovalMemory, ApprovalPolicy, Conversation, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { ApprovalMatcher, Shell } from "@assent/shell"
import { Console, Effect, Layer, Schema } from "effect"
import { readFile } from "node:fs/promises"

const path = { path: Schema.String }
const toolkit = Toolkit.make(
  Tool.make("read_file", { parameters: path, success: Schema.String }),
  Tool.make("write_file", { parameters: { ...path, content: Schema.String }, success: Schema.String }),
  Tool.make("delete_file", { parameters: path, success: Schema.String }),
  Tool.make("run_command", { parameters: { command: Schema.String }, success: Schema.String })
)
const run = (what: string) => Effect.as(Console.log(`ran     ${what}`), "done")
const Handlers = toolkit.toLayer({
  read_file: ({ path }) => run(`read ${path}`),
  write_file: ({ path }) => run(`write ${path}`),
  delete_file: ({ path }) => run(`delete ${path}`),
  run_command: ({ command }) => run(command)
})

// Any provider's model stands here.
const calls = [
  ["read_file", { path: "package.json" }],
  ["write_file", { path: "src/app.ts", content: "…" }],
  ["write_file", { path: "src/../.env", content: "…" }],
  ["run_command", { command: "git status && git log -n 3" }],
  ["run_command", { command: "git status > status.txt" }],
  ["run_command", { command: "find . -name '*.log' -delete" }],
  ["delete_file", { path: "thesis.txt" }]
] as const
const Model = ScriptedModel.layer({
  turns: [calls.map(([name, params], index) => ScriptedModel.toolCall({ id: `call-${index}`, name, params })), "Done."]
})

const config = ApprovalConfig.parse(await readFile("approval.yaml", "utf8"), { file: "approval.yaml" })

const agent = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "tidy", toolkit })
  const asked = yield* conversation.send("Clean up.")
  const requests = asked._tag === "Waiting" ? asked.requests : []
  for (const { description, reason } of requests) {
    yield* Console.log(`asked   ${description}${reason ? `: ${reason}` : ""}`)
  }
  yield* conversation.decide(requests.map((request) => Approval.deny(request, "not now")))
  for (
    const part of (yield* conversation.history).content.flatMap(({ content, role }) => role === "tool" ? content : [])
  ) {
    if (part.type === "tool-result" && part.isFailure) {
      yield* Console.log(`not run ${part.name}: ${JSON.stringify(part.result)}`)
    }
  }
})

const check = Effect.gen(function*() {
  const findings = yield* ApprovalPolicy.lint(yield* config, toolkit)
  for (const finding of findings) yield* Console.log(ApprovalPolicy.toSentence(finding))
  if (findings.length === 0) yield* Console.log("Nothing looks like a mistake.")
})

const why = Effect.fnUntraced(function*(command: string) {
  const call = yield* ApprovalPolicy.makeCall(toolkit.tools.run_command, { command })
  yield* Console.log(ApprovalPolicy.toSentence(yield* ApprovalPolicy.explain(call)))
  // And which word of the line no pattern covers, of those that the file allows.
  const allowed = (yield* config).entries.flatMap(({ rules }) =>
    rules.flatMap(({ approval, match }) => approval === "none" && match._tag === "Shell" ? match.allowed : [])
  )
  for (const { message } of Shell.explain(command, allowed).refusals) yield* Console.log(`  ${message}`)
})

const program = Effect.gen(function*() {
  const [command, line = ""] = process.argv.slice(2)
  if (command === "check") yield* check
  else if (command === "why") yield* why(line)
  else yield* agent
})

// Command lines need a parser: that of @assent/shell is ApprovalMatcher.layer().
const Policy = ApprovalPolicy.layerConfig(config).pipe(Layer.provideMerge(ApprovalMatcher.layer()))
const Everything = Layer.mergeAll(Handlers, Model, Policy, ApprovalMemory.layerSession())
await Effect.runPromise(
  Effect.provide(program, Everything).pipe(
    Effect.catchTag("ApprovalConfigError", ({ message }) => Console.log(message))
  )
)
