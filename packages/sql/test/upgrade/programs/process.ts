/**
 * A process that does what it is told: `<folder> <url>`. It runs in the release before too, so it uses only what that has. A
 * line is `<number> <what> <conversation> [tool]`, and its answer `= <number> <JSON>`, when it is done. What is paid is a line in
 * a file.
 */
import * as Assent from "@assent/ai"
import { Approval, Conversation, DeferredTool, Interaction, OpenRequests, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Deferred, Effect, Layer, Logger, Schema } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Readline from "node:readline"
import * as Kept from "../../postgres/kept.ts"

const [folder = "", url = ""] = process.argv.slice(2)

const note = (file: string, line: string) => Effect.sync(() => Fs.appendFileSync(Path.join(folder, file), `${line}\n`))
const say = (line: string) => Effect.sync(() => Fs.writeSync(1, `${line}\n`))

const parameters = { bill: Schema.String }
const Pay = Tool.make("Pay", { parameters, success: Schema.String, needsApproval: true })
/** Never comes back. */
const Hang = Tool.make("Hang", { parameters, success: Schema.String, needsApproval: true })
const Order = DeferredTool.make("Order", {
  parameters,
  success: Schema.String,
  state: Schema.String,
  interactions: { payment: Interaction.external(Schema.Struct({ paid: Schema.Number })) }
})
const pays = ({ bill }: { readonly bill: string }) => Effect.as(note("paid.log", bill), `paid ${bill}`)

/** An agent that pays; the release before has none. */
const Clerk = Assent.AgentTool?.make("Clerk", { parameters, success: Schema.String })
const Bank = Toolkit.make(Pay)
const clerks = (bank: Toolkit.WithHandler<Toolkit.Tools<typeof Bank>>) => ({
  ...(Clerk === undefined ? undefined : {
    Clerk: Assent.AgentTool.handler(Clerk, { toolkit: bank, prompt: ({ bill }) => `Pay ${bill}` })
  })
})

// Which tools there are is known when it runs.
const toolkit: Toolkit.Toolkit<any> = Toolkit.make(Pay, Hang, Order, ...(Clerk === undefined ? [] : [Clerk]))
const Handlers = toolkit.toLayer(Effect.map(Bank, (bank) => ({
  Pay: pays,
  Hang: ({ bill }: { readonly bill: string }) =>
    Effect.andThen(Effect.andThen(note("paid.log", bill), say(`hangs ${bill}`)), Effect.never),
  Order: DeferredTool.handler(Order, {
    start: ({ bill }) => Order.suspend.payment({ prompt: "the payment" }, bill),
    resume: { payment: ({ paid }, bill) => Effect.as(note("paid.log", bill), `paid ${paid} for ${bill}`) }
  }),
  ...clerks(bank)
}))).pipe(Layer.provide(Bank.toLayer({ Pay: pays })))

const conversation = (id: string) =>
  Effect.provide(
    Conversation.make({ id, toolkit }),
    ScriptedModel.layer({
      turns: [],
      afterLastTurn: ({ prompt: { content } }) => {
        const last = content.findLastIndex(({ role }) => role === "user")
        const results = content.slice(last).filter(({ role }) => role === "tool")
        if (results.length > 0) return `Done: ${JSON.stringify(results.at(-1)?.content)}`
        const turn = content.filter(({ role }) => role === "user").length
        const [part] = content[last]?.content ?? []
        const [name = "", bill = `${id}-${turn}`] = typeof part === "object" && part.type === "text"
          ? part.text.split(" ")
          : []
        return [ScriptedModel.toolCall({ id: `call-${turn}`, name, params: { bill } })]
      }
    })
  )

const outcome = (one: Conversation.Outcome<any>) => ({
  text: one.text,
  waits: one._tag === "Waiting" ? one.requests.length : 0
})

const ask = (id: string, tool: string) =>
  Effect.map(Effect.flatMap(conversation(id), ({ send }) => send(tool)), outcome)

const approve = (id: string) =>
  Effect.gen(function*() {
    const { decide, pending } = yield* conversation(id)
    const open = yield* pending()
    if (open.length === 0) return { open: 0 }
    return outcome(yield* decide(open.map((request) => Approval.approve(request))))
  })

const deliver = (id: string) =>
  Effect.gen(function*() {
    const { pending } = yield* conversation(id)
    const [request] = yield* pending()
    if (request === undefined) return { open: 0 }
    yield* DeferredTool.deliver(Order, "payment", request, { paid: 250 })
    return { delivered: true }
  })

/** Which conversations something waits in. */
const inbox = Effect.map(
  OpenRequests.page({}, { limit: 1_000 }),
  ({ requests }) => requests.map(({ request }) => request.conversation).toSorted()
)

const stopped = Deferred.makeUnsafe<void>()

/** Asks and approves until it is told to stop. How many of them. */
const busy = (id: string) =>
  Effect.gen(function*() {
    let count = 0
    while (!Deferred.isDoneUnsafe(stopped)) {
      yield* ask(`${id}${count}`, "Pay")
      const done = yield* approve(`${id}${count}`)
      if (!("text" in done) || !done.text.includes("paid")) return yield* Effect.fail(JSON.stringify(done))
      count++
      yield* say(`busy ${count}`)
    }
    return { count }
  })

const carryOut = (what: string, id: string, tool: string): Effect.Effect<unknown, unknown, any> => {
  switch (what) {
    case "ask":
      return ask(id, tool)
    case "approve":
      return approve(id)
    case "deliver":
      return deliver(id)
    case "wake":
      return Effect.map(
        Effect.flatMap(conversation(id), ({ wake }) => wake),
        (one) => one === undefined ? undefined : outcome(one)
      )
    case "busy":
      return busy(id)
    case "stop":
      return Effect.as(Deferred.succeed(stopped, undefined), {})
    default:
      return inbox
  }
}

const program = Effect.gen(function*() {
  yield* say("ready")
  const services = yield* Effect.context<any>()
  const lines = Readline.createInterface({ input: process.stdin })
  yield* Effect.callback<void>((resume) => {
    lines.on("line", (line) => {
      const [number = "", what = "", id = "", tool = ""] = line.split(" ")
      const done = carryOut(what, id, tool).pipe(
        Effect.catch((error) => Effect.succeed({ error: String(error) })),
        Effect.flatMap((value) => say(`= ${number} ${JSON.stringify(value ?? null)}`))
      )
      Effect.runForkWith(services)(done)
    })
    lines.once("close", () => resume(Effect.void))
  })
}).pipe(
  Effect.provide([Handlers, Kept.layer(url, { heartbeat: "250 millis" })]),
  Effect.provide(Logger.layer([])),
  Effect.catch((error) => say(`refused ${String(error)}`))
)

await Effect.runPromise(program as Effect.Effect<void>)
