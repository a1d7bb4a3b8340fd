/**
 * A support desk over a long day: one conversation, in which a tool looks up, a refund is approved with another amount, the
 * customer is asked, two people must agree, a carrier calls back and a timer fires. After every step the program is
 * stopped; each time a new one goes on, which has nothing but a folder.
 */
import { Approval, Conversation, SuspensionStore, Webhook } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { SqlApproval } from "@assent/sql"
import { NodeHttpServer, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Deferred, Effect, FileSystem, Layer, type Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import * as Tools from "./support-desk/desk.ts"
import * as Story from "./waiting/story.ts"

// =============================================================================
// The program: every run has layers of its own
// =============================================================================

const call = (name: string, params: unknown) => [ScriptedModel.toolCall({ id: `call-${name}`, name, params })]

/** Like a real model, it knows what it sees: what it does next depends on the results in its prompt. */
const plan: ReadonlyArray<ScriptedModel.Turn> = [
  call("LookUp", { order: "order 17" }),
  call("Refund", { order: "order 17", amount: 120 }),
  call("AskCustomer", { question: "May we collect the lamp?" }),
  call("Goodwill", { gift: "a candle" }),
  call("Collect", { order: "order 17" }),
  call("FollowUp", { about: "the candle" }),
  (request) => `All is done: ${Story.lastResult(request)}.`
]

const Model = ScriptedModel.layer({
  turns: [],
  afterLastTurn: ({ prompt }) =>
    plan[prompt.content.flatMap(({ content, role }) => role === "tool" ? content : []).length] ?? "I am lost."
})

const Program = (directory: string) =>
  Layer.mergeAll(
    Tools.Handlers,
    Model,
    SqlApproval.layer({ filename: `${directory}/desk.db` })
  ).pipe(Layer.provide(Layer.succeed(Tools.Desk, { directory })))

const open = Conversation.make({
  id: "ticket-17",
  toolkit: Tools.toolkit,
  instructions: "You are the support desk of a lamp shop."
})

type Ticket = Effect.Success<typeof open>

/** Calls `conversation.wake` where something of this conversation is due, until it took a turn. */
const woken = (conversation: Ticket) =>
  Effect.gen(function*() {
    const turn = yield* Deferred.make<Effect.Success<Ticket["wake"]>>()
    const wake = ({ scope }: SuspensionStore.Suspension) =>
      scope.conversation === conversation.id
        ? Effect.flatMap(conversation.wake, (outcome) => Deferred.succeed(turn, outcome))
        : Effect.void
    return { wake, turn: Deferred.await(turn) }
  })

// =============================================================================
// The day
// =============================================================================

type Step = (
  conversation: Ticket,
  directory: string
) => Effect.Effect<unknown, unknown, FileSystem.FileSystem | Scope.Scope>

const steps: ReadonlyArray<Step> = [
  (conversation) =>
    Effect.gen(function*() {
      yield* Story.line("customer", "My lamp is broken. Order 17.")
      yield* Story.waits(yield* conversation.send("My lamp is broken. Order 17."))
    }),
  (conversation) =>
    Effect.gen(function*() {
      const [refund] = yield* conversation.pending("approval")
      yield* Story.line("clerk", "approves, but $80")
      const answer = Approval.approve(refund!, { params: { order: "order 17", amount: 80 } })
      yield* Story.waits(yield* conversation.decide(answer))
    }),
  (conversation) =>
    Effect.gen(function*() {
      yield* Story.line("customer", "Yes, tomorrow morning.")
      yield* Story.waits(yield* conversation.send("Yes, tomorrow morning."))
    }),
  (conversation) =>
    Effect.gen(function*() {
      yield* Story.line("manager", "approves")
      yield* Story.waits(yield* conversation.resume(Tools.Goodwill, "manager", { approved: true }))
    }),
  (conversation) =>
    Effect.gen(function*() {
      yield* Story.line("director", "approves")
      const verdict = { approved: true, note: "but a small one" }
      yield* Story.waits(yield* conversation.resume(Tools.Goodwill, "director", verdict))
    }),
  (conversation, directory) =>
    Effect.gen(function*() {
      const { turn, wake } = yield* woken(conversation)
      const hooks = Webhook.layer("/carrier", { wake, toolkit: Tools.toolkit })
      const server = yield* Layer.build(
        HttpRouter.serve(hooks, { disableListenLog: true }).pipe(
          Layer.provide(Webhook.layerUntraced("/carrier")),
          Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
        )
      )
      const base = yield* Effect.provide(HttpServer.addressFormattedWith(Effect.succeed), server)
      const path = yield* FileSystem.FileSystem.use((fs) => fs.readFileString(`${directory}/carrier`))
      const { status } = yield* Effect.promise(() =>
        fetch(new URL(path, base), { method: "POST", body: JSON.stringify({ parcel: "parcel 4711" }) })
      )
      yield* Story.line("carrier", `calls: ${status}`)
      yield* Story.waits(yield* turn)
    }),
  (conversation) =>
    Effect.gen(function*() {
      yield* Story.line("clock", "it is time")
      const { turn, wake } = yield* woken(conversation)
      const watching = SuspensionStore.watchTimers(wake, { interval: "50 millis" })
      yield* Story.says(yield* Effect.raceFirst(watching, turn), "All is done: it is time to ask about the candle.")
    })
]

const inWorld = ["look up", "refund 80", "ask", "reply", "goodwill", "manager", "director", "collect"]
  .concat("collected parcel 4711", "follow up", "later")

const check: Step = (conversation, directory) =>
  Effect.gen(function*() {
    const log = yield* FileSystem.FileSystem.use((fs) => fs.readFileString(`${directory}/log`))
    yield* Story.line("done", log.trim().split("\n").join(", "))
    yield* Story.expect(log === inWorld.map((step) => `${step}\n`).join(""), "A step was left out, or done twice.")
    yield* Story.expect((yield* conversation.pending()).length === 0, "Something is still pending.")
    const { suspensions } = yield* Effect.flatMap(SuspensionStore.SuspensionStore, (store) => store.list())
    yield* Story.expect(suspensions.length === 0, "Something is still kept.")
    const history = yield* conversation.history
    const calls = history.content.flatMap((message) => message.role === "assistant" ? message.content : [])
      .filter(({ type }) => type === "tool-call")
    yield* Story.expect(calls.length === 6, `There were ${calls.length} calls.`)
    yield* Story.line("kept", `${history.content.length} messages, which a provider accepts: nothing is torn apart`)
  })

const program = Effect.gen(function*() {
  const directory = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "support-desk-" }))
  for (const step of [...steps, check]) {
    yield* Effect.provide(
      Effect.scoped(Effect.flatMap(open, (conversation) => step(conversation, directory))),
      Program(directory)
    )
    if (step !== check) yield* Story.line("", "… the program stops, and starts again …")
  }
})

program.pipe(Effect.scoped, Effect.provide(NodeServices.layer), NodeRuntime.runMain)
