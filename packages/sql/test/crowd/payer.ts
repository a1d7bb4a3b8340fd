/**
 * One of many processes at one database: `<folder> <url> <prefix> <number> <of> <each> [seconds]`. It asks in so many
 * conversations of its own, says "asked", and when it is told to, approves all of them and those of its neighbour, which does
 * the same. What it was told is a line in a file: from then on it must not be lost. Its clock is so many seconds ahead.
 */
import * as Approval from "@assent/ai/Approval"
import * as ApprovalError from "@assent/ai/ApprovalError"
import * as Conversation from "@assent/ai/Conversation"
import type * as ConversationStore from "@assent/ai/ConversationStore"
import { ScriptedModel } from "@assent/ai/testing"
import * as Tool from "@assent/ai/Tool"
import * as Toolkit from "@assent/ai/Toolkit"
import { Clock, Effect, Logger, Option, Schedule, Schema } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { shifted } from "../chaos/story.ts"
import * as Kept from "../postgres/kept.ts"

const [folder = "", url = "", prefix = "", number = "", of = "", each = "", seconds = "0"] = process.argv.slice(2)

const note = (file: string, line: string) => Effect.sync(() => Fs.appendFileSync(Path.join(folder, file), `${line}\n`))

const Pay = Tool.make("Pay", { parameters: { bill: Schema.String }, success: Schema.String, needsApproval: true })
const toolkit = Toolkit.make(Pay)
const Handlers = toolkit.toLayer({ Pay: ({ bill }) => Effect.as(note("paid.log", bill), "paid") })

const say = (line: string) => Effect.sync(() => Fs.writeSync(1, `${line}\n`))
const told = Effect.callback<void>((resume) => {
  process.stdin.once("data", () => {
    process.stdin.destroy()
    resume(Effect.void)
  })
})

let tries = 0

const passing = [
  "Busy",
  "Conflict",
  "Unavailable",
  "Unreadable",
  "Unwritable",
  "JournalUnavailable",
  "SuspensionsUnavailable"
]

/** Whether a conversation, the lock, or the model that was told by it says so. */
const isPassing = (error: unknown): boolean => {
  const told = Option.getOrUndefined(ApprovalError.fromAiError(error)) ?? error
  if (typeof told !== "object" || told === null || !("reason" in told)) return false
  const { reason } = told as ApprovalError.ApprovalError | ConversationStore.ConversationError
  return passing.includes(typeof reason === "string" ? reason : reason._tag)
}

/** What passes is waited for, as a program would: a server that is not there, others in the way. */
const untilDone = <A, R>(effect: Effect.Effect<A, unknown, R>) =>
  Effect.retry(effect, {
    schedule: Schedule.spaced("50 millis"),
    while: (error) => {
      if (isPassing(error)) tries++
      return isPassing(error)
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

const ask = (bill: string) =>
  Effect.gen(function*() {
    const { history, send } = yield* conversation(bill)
    // It may have been heard, though nobody was told so.
    yield* untilDone(Effect.flatMap(history, ({ content }) => send(content.length === 0 ? "Pay it." : [])))
    yield* note("asked.log", bill)
  })

const approve = (bill: string) =>
  Effect.gen(function*() {
    const { decide, pending, send } = yield* conversation(bill)
    const open = yield* untilDone(pending())
    if (open.length === 0) return
    // Whoever comes second is told that it was decided; whoever tries again goes on with the turn.
    const { text } = yield* untilDone(Effect.catchIf(
      decide(open.map((request) => Approval.approve(request))),
      (error) => (error as ApprovalError.ApprovalError).reason?.["_tag"] === "AlreadyDecided",
      () => send([])
    ))
    if (text.includes("Paid.")) yield* note("told.log", bill)
  })

const program = Effect.gen(function*() {
  const own = bills(Number(number))
  yield* Effect.forEach(own, ask, { concurrency: 8, discard: true })
  yield* say("asked")
  yield* told
  const others = bills((Number(number) + 1) % Number(of))
  yield* Effect.forEach(own.flatMap((bill, index) => [bill, others[index]!]), approve, {
    concurrency: 8,
    discard: true
  })
  yield* say(`done ${tries}`)
}).pipe(
  Effect.provide([Handlers, Kept.layer(url, { prefix, timeout: "2 seconds" })]),
  Effect.updateService(Clock.Clock, (clock) => shifted(clock, Number(seconds) * 1_000)),
  Effect.provide(Logger.layer([]))
)

await Effect.runPromise(program)
