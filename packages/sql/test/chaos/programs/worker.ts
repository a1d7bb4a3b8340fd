/**
 * One of many processes at one file: `<folder> <number> <of> <each>`. It asks in so many conversations of its own, says
 * "asked", and when it is told to, approves all of them and those of its neighbour, which does the same.
 */
import * as Approval from "@assent/ai/Approval"
import type * as ApprovalError from "@assent/ai/ApprovalError"
import * as Conversation from "@assent/ai/Conversation"
import type * as ConversationStore from "@assent/ai/ConversationStore"
import { ScriptedModel } from "@assent/ai/testing"
import * as Tool from "@assent/ai/Tool"
import * as Toolkit from "@assent/ai/Toolkit"
import { SqlApproval } from "@assent/sql"
import { Effect, Schema } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"

const [folder = "", number = "", of = "", each = ""] = process.argv.slice(2)

const Pay = Tool.make("Pay", { parameters: { bill: Schema.String }, success: Schema.String, needsApproval: true })
const toolkit = Toolkit.make(Pay)
const Handlers = toolkit.toLayer({
  Pay: ({ bill }) => Effect.sync(() => (Fs.appendFileSync(Path.join(folder, "paid.log"), `${bill}\n`), "paid"))
})

const say = (line: string) => Effect.sync(() => Fs.writeSync(1, `${line}\n`))
const told = Effect.callback<void>((resume) => {
  process.stdin.once("data", () => {
    process.stdin.destroy()
    resume(Effect.void)
  })
})

let tries = 0

/** What others are in the way of is done again. */
const untilDone = <A, R>(effect: Effect.Effect<A, unknown, R>) =>
  Effect.retry(effect, {
    while: (error) => {
      const { reason } = error as ConversationStore.ConversationError | ApprovalError.ApprovalError
      const isPassing = reason === "Busy" || reason === "Unavailable" ||
        (typeof reason === "object" && reason._tag === "JournalUnavailable")
      if (isPassing) tries++
      return isPassing
    }
  })

const conversation = (bill: string) =>
  Effect.provide(
    Conversation.make({ id: bill, toolkit }),
    ScriptedModel.layer({
      turns: [],
      afterLastTurn: ({ prompt }) =>
        prompt.content.some(({ role }) => role === "tool")
          ? "Paid."
          : [ScriptedModel.toolCall({ id: "pay-1", name: "Pay", params: { bill } })]
    })
  )

const bills = (of: number) => Array.from({ length: Number(each) }, (_, index) => `${of}-${index}`)

const program = Effect.gen(function*() {
  const own = bills(Number(number))
  yield* Effect.forEach(
    own,
    (bill) => Effect.flatMap(conversation(bill), ({ send }) => untilDone(send("Pay it."))),
    { concurrency: 4 }
  )
  yield* say("asked")
  yield* told
  const others = bills((Number(number) + 1) % Number(of))
  yield* Effect.forEach(
    own.flatMap((bill, index) => [bill, others[index]!]),
    (bill) =>
      Effect.gen(function*() {
        const { decide, pending } = yield* conversation(bill)
        const open = yield* untilDone(pending())
        if (open.length === 0) return
        // Whoever comes second is told that it was decided.
        yield* untilDone(decide(open.map((request) => Approval.approve(request)))).pipe(
          Effect.catchIf(
            (error) => (error as ApprovalError.ApprovalError).reason?.["_tag"] === "AlreadyDecided",
            () => Effect.void
          )
        )
      }),
    { concurrency: 8 }
  )
  yield* say(`done ${tries}`)
}).pipe(Effect.provide([Handlers, SqlApproval.layer({ filename: Path.join(folder, "approvals.db") })]))

await Effect.runPromise(program)
