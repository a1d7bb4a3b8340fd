/**
 * Agents that ask a person at a terminal, each with what it calls: the drawings are of these, by the names they have there.
 * A model plays a script and says "Done." as often as it is called after it; what has run, and how often the model was called,
 * is written down.
 */
import * as AgentTool from "@assent/ai/AgentTool"
import * as Approval from "@assent/ai/Approval"
import * as ApprovalPresentation from "@assent/ai/ApprovalPresentation"
import * as Conversation from "@assent/ai/Conversation"
import * as DeferredTool from "@assent/ai/DeferredTool"
import * as Interaction from "@assent/ai/Interaction"
import * as LanguageModel from "@assent/ai/LanguageModel"
import * as McpApproval from "@assent/ai/McpApproval"
import * as ScriptedModel from "@assent/ai/testing/ScriptedModel"
import * as Tool from "@assent/ai/Tool"
import * as Toolkit from "@assent/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Mcp from "../../../ai/test/mcp/server.ts"
import * as Files from "./files.ts"

/** What became of a scene. */
export interface Told {
  /** The calls that ran, as `Bash {"command":"ls"}`. */
  readonly ran: Array<string>
  /** What the model was asked so far. */
  models: Effect.Effect<ReadonlyArray<unknown>>
}

export const nothingTold = (): Told => ({ ran: [], models: Effect.succeed([]) })

// =============================================================================
// Tools
// =============================================================================

const command = {
  command: Schema.String,
  background: Schema.optionalKey(Schema.Boolean),
  timeoutMs: Schema.optionalKey(Schema.Int)
}

const Bash = Tool.make("Bash", { parameters: command, success: Schema.String, needsApproval: true })

const DescribedBash = Tool.make("Bash", {
  description: "Runs a command in the shell.",
  parameters: command,
  success: Schema.String,
  needsApproval: () => Approval.needsApproval({ reason: "Bash asks for all that is not read-only." })
})

/** Neither remembered nor edited. */
const PlainBash = Tool.make("Bash", {
  parameters: command,
  success: Schema.String,
  needsApproval: () => Approval.needsApproval({ rememberable: false, editable: false })
})

const SendEmail = Tool.make("SendEmail", {
  parameters: {
    to: Schema.String,
    cc: Schema.Array(Schema.String),
    subject: Schema.NonEmptyString,
    body: Schema.String
  },
  success: Schema.String,
  needsApproval: true
})

const Trip = Schema.Struct({
  name: Schema.String,
  nights: Schema.Int,
  board: Schema.Literals(["none", "half", "full"]),
  window: Schema.Boolean
})

const Book = DeferredTool.make("Book", {
  parameters: { city: Schema.String },
  success: Schema.String,
  state: Schema.Null,
  interactions: { trip: Interaction.form(Trip) }
})

const AskUser = DeferredTool.make("AskUser", {
  parameters: { topic: Schema.String },
  success: Schema.String,
  state: Schema.Null,
  interactions: { where: Interaction.askUser }
})

const Approve = DeferredTool.make("Approve", {
  parameters: { amount: Schema.Int },
  success: Schema.String,
  state: Schema.Null,
  interactions: { boss: Interaction.getApproval }
})

const Pick = DeferredTool.make("Pick", {
  parameters: { city: Schema.String },
  success: Schema.String,
  state: Schema.Null,
  interactions: { train: Interaction.selectOptions, extras: Interaction.selectMany }
})

const Builder = AgentTool.make("builder", { parameters: { task: Schema.String } })

// =============================================================================
// How they are called
// =============================================================================

type Calls = ReadonlyArray<readonly [name: string, params: object]>

const turnOf = (calls: Calls): ScriptedModel.Turn =>
  calls.map(([name, params], index) => ScriptedModel.toolCall({ id: `call-${index + 1}`, name, params }))

const Model = (told: Told, ...turns: ReadonlyArray<Calls>) =>
  Layer.effect(
    LanguageModel.LanguageModel,
    Effect.gen(function*() {
      const scripted = yield* ScriptedModel.make({ turns: turns.map(turnOf), afterLastTurn: "Done." })
      told.models = scripted.requests
      return scripted.model
    })
  )

const ran = (told: Told, name: string) => (params: object) =>
  Effect.sync(() => {
    told.ran.push(`${name} ${JSON.stringify(params)}`)
    return "ran"
  })

/** Goes on until the model has nothing to say. */
const conversation = <Tools extends Record<string, Tool.Any>, E, R>(
  toolkit: Effect.Effect<Toolkit.WithHandler<Tools>, E, R>
) =>
  Effect.gen(function*() {
    const conversation = yield* Conversation.make({ id: "chat-7", toolkit })
    yield* conversation.send("Go on.")
  })

/** Commands of one response, or of several. */
export const shell = (...turns: ReadonlyArray<ReadonlyArray<object>>) => (told: Told) => {
  const toolkit = Toolkit.make(Bash)
  return conversation(toolkit).pipe(
    Effect.provide(toolkit.toLayer({ Bash: ran(told, "Bash") })),
    Effect.provide(Model(told, ...turns.map((calls) => calls.map((params) => ["Bash", params] as const))))
  )
}

/** Asked where the tool is called, in no conversation and without a model. */
const guarded = (tool: typeof Bash, command: string) => (told: Told) => {
  const toolkit = Toolkit.make(tool)
  return Effect.gen(function*() {
    const guarded = yield* Toolkit.guard(toolkit)
    yield* Stream.runDrain(yield* guarded.handle("Bash", { command }))
  }).pipe(Effect.provide(toolkit.toLayer({ Bash: ran(told, "Bash") })))
}

const build = { command: "npm run build -- --watch & disown", background: true, timeoutMs: 600_000 }

/** Asked by an agent within the conversation. */
const builder = (told: Told) => {
  const tools = Toolkit.make(DescribedBash)
  const agents = Toolkit.make(Builder)
  const Agents = agents.toLayer(Effect.map(tools, (toolkit) => ({
    builder: AgentTool.handler(Builder, { toolkit, prompt: ({ task }) => task })
  })))
  return conversation(agents).pipe(
    Effect.provide(Agents),
    Effect.provide(tools.toLayer({ Bash: ran(told, "Bash") })),
    // One model plays both, in turn.
    Effect.provide(Model(told, [["builder", { task: "Build it." }]], [["Bash", build]]))
  )
}

const email = (told: Told) => {
  const toolkit = Toolkit.make(SendEmail)
  return conversation(toolkit).pipe(
    Effect.provide(toolkit.toLayer({ SendEmail: ran(told, "SendEmail") })),
    Effect.provide(Model(told, [["SendEmail", mail]]))
  )
}

export const linesOf = (value: (line: number) => number): string =>
  Array.from({ length: 1_200 }, (_, index) => index + 1)
    .map((line) => `export const value${line} = ${value(line)} // line ${line} of the file\n`).join("")

export const before = linesOf((line) => line)
export const after = linesOf((line) => line === 600 ? 601 : line)

/** What is there before. */
export const files = (): Files.Files => new Map([["/src/values.ts", before]])

const claims = { covers: ["content"] }

/** Writes a file of which a diff is shown that says that it covers the content; `drawn` is what it is a diff to. */
export const write = (
  path: string,
  content: string,
  question: Approval.Question = {},
  drawn: (content: string) => string = (same) => same
) =>
(told: Told, files: Files.Files) => {
  const WriteFile = Tool.make("WriteFile", {
    parameters: { path: Schema.String, content: Schema.String },
    success: Schema.String,
    needsApproval: ({ content, path }) =>
      ApprovalPresentation.fileDiff({ path, root: "/", after: drawn(content), ...claims }).pipe(
        Effect.provide(Files.layer(files)),
        Effect.map((presentation) => Approval.needsApproval({ ...question, presentation }))
      )
  })
  const toolkit = Toolkit.make(WriteFile)
  return conversation(toolkit).pipe(
    Effect.provide(toolkit.toLayer({
      WriteFile: (params) => {
        files.set(`/${params.path}`, params.content)
        return ran(told, "WriteFile")({ path: params.path })
      }
    })),
    Effect.provide(Model(told, [["WriteFile", { path, content }]]))
  )
}

/** Writes a file of which nothing is shown but what it would have. */
const create = (lines: number) => (told: Told) => {
  const WriteFile = Tool.make("WriteFile", {
    parameters: { path: Schema.String, content: Schema.String },
    success: Schema.String,
    needsApproval: true
  })
  const toolkit = Toolkit.make(WriteFile)
  return conversation(toolkit).pipe(
    Effect.provide(toolkit.toLayer({ WriteFile: ({ path }) => ran(told, "WriteFile")({ path }) })),
    Effect.provide(Model(told, [["WriteFile", { path: "src/new.ts", content: newFile(lines) }]]))
  )
}

const issue = (told: Told) =>
  Effect.gen(function*() {
    const server = Mcp.make({ name: "create_issue", description: "Opens an issue.", inputSchema: issueSchema })
    server.answer = (name, params) => Effect.map(ran(told, name)(params as object), Mcp.text)
    const client = yield* Mcp.connect(server, { name: "github" })
    const toolkit = yield* McpApproval.guard(client, { name: "github" })
    const issues = yield* Conversation.make({ id: "chat-7", toolkit })
    yield* issues.send("Go on.")
  }).pipe(Effect.provide(Model(told, [["github__create_issue", issueParams]])), Effect.scoped)

/** Asked of a turn that is in no conversation. */
const waiting = <Tools extends Record<string, Tool.Any>, R>(
  told: Told,
  toolkit: Effect.Effect<Toolkit.WithHandler<Tools>, never, R>,
  calls: Calls
) =>
  Effect.asVoid(LanguageModel.generateText({ prompt: "Go on.", toolkit })).pipe(
    Effect.provide(Model(told, calls).pipe(LanguageModel.approval()))
  )

const book = (told: Told) => {
  const toolkit = Toolkit.make(Book)
  const handler = DeferredTool.handler(Book, {
    start: () => Book.suspend.trip({ prompt: "Who travels?" }, null),
    resume: { trip: (trip) => ran(told, "Book")(trip) }
  })
  return Effect.provide(waiting(told, toolkit, [["Book", { city: "Ulm" }]]), toolkit.toLayer({ Book: handler }))
}

const askUser = (told: Told) => {
  const toolkit = Toolkit.make(AskUser)
  const handler = DeferredTool.handler(AskUser, {
    start: () => AskUser.suspend.where({ prompt: "Which environment shall I deploy to?" }, null),
    resume: { where: (where) => ran(told, "AskUser")({ where }) }
  })
  return Effect.provide(
    waiting(told, toolkit, [["AskUser", { topic: "deploy" }]]),
    toolkit.toLayer({ AskUser: handler })
  )
}

const approve = (told: Told) => {
  const toolkit = Toolkit.make(Approve)
  const handler = DeferredTool.handler(Approve, {
    start: () => Approve.suspend.boss({ prompt: "May it be paid?" }, null),
    resume: {
      boss: ({ approved, note }) => approved ? ran(told, "Approve")({ note: note ?? null }) : Effect.succeed("not paid")
    }
  })
  return Effect.provide(
    waiting(told, toolkit, [["Approve", { amount: 20 }]]),
    toolkit.toLayer({ Approve: handler })
  )
}

/** `many`: as many as one likes. */
export const pick = (many: boolean, trains: ReadonlyArray<Interaction.Option> = ["7:00", "9:00"]) => (told: Told) => {
  const toolkit = Toolkit.make(Pick)
  const handler = DeferredTool.handler(Pick, {
    start: () =>
      many
        ? Pick.suspend.extras({ prompt: "Anything else?", options: ["seat", "bike", "lunch"] }, null)
        : Pick.suspend.train({ prompt: "Which train?", options: trains }, null),
    resume: { train: (train) => ran(told, "Pick")({ train }), extras: (extras) => ran(told, "Pick")({ extras }) }
  })
  return Effect.provide(waiting(told, toolkit, [["Pick", { city: "Ulm" }]]), toolkit.toLayer({ Pick: handler }))
}

// =============================================================================
// What they are called with
// =============================================================================

export const mail = {
  to: "kai@example.com",
  cc: ["lea@example.com", "ops@example.com"],
  subject: "Invoice 2231 is late",
  body:
    "Dear Kai,\n\ninvoice 2231 of 1,240.00 EUR was due on 3 November. Please pay it by Friday, or tell us what is missing" +
    " so that we can help.\n\nKind regards\nAda"
}

const issueParams = {
  owner: "acme",
  repo: "shop",
  title: "Checkout fails for guests",
  labels: ["bug", "checkout", "p1"],
  assignees: [{ login: "ada", id: 12 }, { login: "kai", id: 90 }],
  body: "Steps:\n1. Open the shop\n2. Buy as a guest\n3. Error 500",
  metadata: {
    source: "agent",
    trace: "0af7651916cd43dd8448eb211c80319c",
    nested: { a: [1, 2, 3], b: { c: null, d: true } }
  }
}

const issueSchema = {
  type: "object",
  properties: {
    owner: { type: "string" },
    repo: { type: "string" },
    title: { type: "string" },
    labels: { type: "array", items: { type: "string" } },
    assignees: { type: "array", items: { type: "object" } },
    body: { type: "string" },
    metadata: { type: "object" }
  },
  required: ["owner", "repo", "title"]
}

const commands = ["npm test", "npm run build", "git add -A", "git commit -m 'Fix the checkout'", "git push origin main"]

const newFile = (lines: number) =>
  Array.from({ length: lines }, (_, index) => `export const ${nameOf(index)} = ${index + 1}`).join("\n")

function nameOf(index: number): string {
  const letter = String.fromCharCode(97 + index % 26)
  return index < 26 ? letter : nameOf(Math.floor(index / 26) - 1) + letter
}

// =============================================================================
// The scenes
// =============================================================================

const month = 30 * 24 * 60 * 60 * 1_000

export const scenes = {
  bash: builder,
  edit: write("src/values.ts", after),
  details: write("src/values.ts", after, { expiresIn: month }),
  page: create(900),
  long: create(60),
  mail: email,
  mcp: issue,
  batch: shell(commands.map((command) => ({ command }))),
  form: book,
  deferred: askUser,
  verdict: approve,
  pick: pick(false),
  many: pick(true),
  session: shell([{ command: "git log --oneline", background: false }]),
  push: shell([{ command: "git push origin main" }]),
  hostile: guarded(Bash, "ls\u00a0-la # ok\u001b[2J\ny  Yes, once ›"),
  plain: guarded(PlainBash, "ls -la --color=never packages/terminal/test")
}

export type SceneName = keyof typeof scenes
