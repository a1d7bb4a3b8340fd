/**
 * Approval without a model: a guarded toolkit asks where a tool is called, waits, and runs only what was approved. Here
 * the "person" is a function; at a terminal it would be a prompt, in a server a question sent somewhere else.
 */
import { Approval, ApprovalController, ApprovalMemory, ApprovalPolicy, Tool, Toolkit } from "@assent/ai"
import { Console, Effect, Layer, Schema, Stream } from "effect"

const Transfer = Tool.make("Transfer", {
  parameters: { to: Schema.String, amount: Schema.Int },
  success: Schema.String,
  needsApproval: ({ amount }) => amount > 100 // small ones run as they are
})

const toolkit = Toolkit.make(Transfer)

const Handlers = toolkit.toLayer({
  Transfer: ({ amount, to }) => Effect.as(Console.log(`   … paying ${to} ${amount}`), `paid ${to} ${amount}`)
})

/** Rents may always be paid, but people are told; nobody pays Mallory; and 5,000 is a typing error. */
const Person = ApprovalController.layerInteractive((request) =>
  Console.log(`   May I? ${request.description}`).pipe(Effect.map(() => {
    if (request.description.includes("landlord")) return Approval.approve(request, { remember: "session" })
    if (request.description.includes("5000")) return Approval.approve(request, { params: { to: "Bob", amount: 500 } })
    return Approval.deny(request, "ask me again next month")
  }))
)

const Policy = ApprovalPolicy.layer((call) =>
  JSON.stringify(call.encodedParams).includes("Mallory") ? Approval.blocked("Mallory is never paid.") : undefined
)

const program = Effect.gen(function*() {
  const guarded = yield* Toolkit.guard(toolkit)
  const pay = Effect.fnUntraced(function*(to: string, amount: number) {
    yield* Console.log(`Pay ${to} ${amount}`)
    const [result] = yield* Stream.runCollect(yield* guarded.handle("Transfer", { to, amount }))
    yield* Console.log(
      `   ${result?.isFailure === true ? "not paid" : "done"}: ${JSON.stringify(result?.encodedResult)}`
    )
  })
  yield* pay("the baker", 20)
  yield* pay("the landlord", 900)
  yield* pay("the landlord", 900)
  yield* pay("Bob", 5000)
  yield* pay("Carol", 300)
  yield* pay("Mallory", 1)
})

await Effect.runPromise(
  Effect.provide(program, Layer.mergeAll(Handlers, Person, Policy, ApprovalMemory.layerSession()))
)
