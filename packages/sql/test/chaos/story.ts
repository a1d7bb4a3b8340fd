/**
 * What happens in each of these tests: a conversation that asks, is approved and denied, runs tools whose effects are
 * lines of a file, waits for an event, and takes another turn. Whoever plays it goes on from where it stands, so it is
 * played again, with the same answers, by whichever process comes next.
 */
import * as Approval from "@assent/ai/Approval"
import type * as ApprovalError from "@assent/ai/ApprovalError"
import * as Conversation from "@assent/ai/Conversation"
import type * as ConversationStore from "@assent/ai/ConversationStore"
import * as DeferredTool from "@assent/ai/DeferredTool"
import * as Interaction from "@assent/ai/Interaction"
import type * as Prompt from "@assent/ai/Prompt"
import type * as Store from "@assent/ai/Store"
import { ScriptedModel } from "@assent/ai/testing"
import * as Tool from "@assent/ai/Tool"
import * as Toolkit from "@assent/ai/Toolkit"
import { SqlApproval } from "@assent/sql"
import { Clock, Effect, Layer, Logger, Schema } from "effect"
import * as World from "./world.ts"

/** So long that what is kept of it takes a page of the database or more. */
const long = (word: string): string => `${word} `.repeat(Math.ceil(6_000 / word.length))

const SendMail = Tool.make("SendMail", {
  parameters: { to: Schema.String, text: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const Remove = Tool.make("Remove", { parameters: { path: Schema.String }, success: Schema.String, needsApproval: true })
const Touch = Tool.make("Touch", { parameters: { path: Schema.String }, success: Schema.String, needsApproval: true })
  .annotate(Tool.Idempotent, true)
const Order = DeferredTool.make("Order", {
  parameters: { item: Schema.String },
  success: Schema.String,
  state: Schema.String,
  needsApproval: true,
  interactions: { payment: Interaction.external(Schema.Struct({ paid: Schema.Number })) }
})
export const toolkit = Toolkit.make(SendMail, Remove, Touch, Order)

const handlers = (world: World.World) => {
  const does = (what: World.Done["what"]) => Effect.sync(() => World.note(world, "done", { what }))
  return toolkit.toLayer({
    SendMail: ({ to }) => Effect.as(does("mail"), long(`sent to ${to}`)),
    Remove: ({ path }) => Effect.as(does("remove"), `removed ${path}`),
    Touch: ({ path }) => Effect.as(does("touch"), long(`touched ${path}`)),
    Order: DeferredTool.handler(Order, {
      start: ({ item }) => Effect.andThen(does("order"), Order.suspend.payment({ prompt: "the payment" }, item)),
      resume: { payment: ({ paid }, item) => Effect.as(does("paid"), `${item} for ${paid}`) }
    })
  })
}

export const firstWords = "Begin, please."
export const lastWords = "And now?"

const textOf = (message: Prompt.Message): string =>
  message.role === "user" ? message.content.map((part) => part.type === "text" ? part.text : "").join("") : ""

const lastText = (prompt: Prompt.Prompt): string => prompt.content.map(textOf).findLast((text) => text !== "") ?? ""

/** What the model says follows from what it is sent, whichever process sends it. */
const answerTo: ScriptedModel.Turn = ({ prompt }) => {
  if (lastText(prompt) === lastWords) return "You are welcome."
  const ids = prompt.content.flatMap(({ content, role }) =>
    role === "assistant" ? content.flatMap((part) => part.type === "tool-call" ? [part.id] : []) : []
  )
  const call = (id: string, name: string, params: unknown) => ScriptedModel.toolCall({ id, name, params })
  if (!ids.includes("mail-1")) {
    return [
      ScriptedModel.text("I would do three things."),
      call("mail-1", "SendMail", { to: "ann@example.com", text: long("hello") }),
      call("remove-1", "Remove", { path: "/a" }),
      call("touch-1", "Touch", { path: "/b" })
    ]
  }
  return ids.includes("order-1") ? "All is done." : [call("order-1", "Order", { item: long("desk") })]
}

type Failure = ConversationStore.ConversationError | ApprovalError.ApprovalError

/** The person who sends the answers: the same, however often they are asked. */
export const play = (world: World.World) =>
  Effect.gen(function*() {
    const conversation = yield* Conversation.make({ id: "story", toolkit })

    const told = (outcome: Conversation.Outcome<any> | undefined, sent?: World.Sent) =>
      Effect.sync(() =>
        World.note(world, "told", {
          text: outcome?.text ?? "",
          asked: outcome?._tag === "Waiting" ? outcome.requests.map(({ approvalId }) => approvalId) : [],
          sent
        })
      )

    const decide = (decided: NonNullable<World.Sent["decided"]>) =>
      Effect.flatMap(
        conversation.decide(
          decided.map((answer) => answer.approved ? Approval.approve(answer) : Approval.deny(answer))
        ),
        (outcome) => told(outcome, { decided })
      )

    const deliver = (approvalId: string) =>
      Effect.andThen(
        DeferredTool.deliver(Order, "payment", { approvalId }, { paid: 250 }),
        told(undefined, { delivered: approvalId })
      )

    const say = Effect.fnUntraced(function*(text: string) {
      const { content } = yield* conversation.history
      yield* told(yield* conversation.send(content.some((message) => textOf(message) === text) ? [] : text))
    })

    // What was sent before, and may have been heard or not, is sent again.
    for (const { decided, delivered } of World.read(world, "sent")) {
      if (decided !== undefined) yield* heard(decide(decided))
      if (delivered !== undefined) yield* heard(deliver(delivered))
    }
    yield* say(firstWords)
    while (true) {
      const open = yield* conversation.pending()
      const asked = open.filter(({ interaction }) => interaction === "approval")
      if (asked.length > 0) {
        // One by itself first, so that there is a turn in which others stay open.
        const some = asked.filter(({ toolName }, _, all) => all.length < 3 || toolName === "SendMail")
        const decided = some.map(({ approvalId, toolName }) => ({ approvalId, approved: toolName !== "Remove" }))
        World.note(world, "sent", { decided })
        yield* decide(decided)
      } else if (open.length > 0) {
        for (const { approvalId } of open) {
          World.note(world, "sent", { delivered: approvalId })
          yield* heard(deliver(approvalId))
        }
        yield* told(yield* conversation.wake)
      } else {
        break
      }
    }
    yield* say(lastWords)
    yield* told(yield* conversation.send([]))
  })

/** An answer that was heard before changes nothing, and whoever sends it again is told so. */
const heard = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<void, E, R> =>
  Effect.catchIf(
    Effect.asVoid(effect),
    (error) => isHeard(error as unknown as Failure),
    () => Effect.void
  )

const isHeard = (error: Failure): boolean =>
  error._tag === "ApprovalError" && ["AlreadyDecided", "UnknownApproval"].includes(error.reason._tag)

export interface Options extends Partial<SqlApproval.Options> {
  /** Where everything is kept, if it is not in the file of the world. */
  readonly kept?: Layer.Layer<Store.Store, unknown>
  /** How much later it is than it was, in milliseconds: whoever died before is known to be dead. */
  readonly later?: number
  /** Is given the prompts that the model is sent. */
  readonly prompts?: Array<Prompt.Prompt>
}

export const tenMinutes = 600_000

/** Everything that a process has in which the story is played, as long as the effect. */
export const within =
  (world: World.World, { kept, later = 0, prompts, ...options }: Options = {}) =>
  <A, E>(effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof services>>>) =>
    effect.pipe(
      Effect.provide(services(world, options, prompts, kept)),
      // Outside, so that what is logged while it closes is not printed either.
      Effect.provide(Logger.layer([])),
      Effect.updateService(Clock.Clock, (clock) => shifted(clock, later))
    )

export const services = (
  world: World.World,
  options: Partial<SqlApproval.Options> = {},
  prompts?: Array<Prompt.Prompt>,
  kept?: Layer.Layer<Store.Store, unknown>
) =>
  Layer.mergeAll(
    handlers(world),
    ScriptedModel.layer({
      turns: [],
      afterLastTurn: (request) => {
        prompts?.push(request.prompt)
        return answerTo(request)
      }
    }),
    // Whoever comes next waits six beats, in real time, before it takes the one before it for dead.
    kept ?? SqlApproval.layer({
      filename: world.filename,
      synchronous: "NORMAL",
      busyTimeout: 50,
      heartbeat: "100 millis",
      ...options
    })
  )

/** A process that plays it to its end, or fails with what it is told. */
export const played = (world: World.World, options?: Options) => within(world, options)(play(world))

/** So many milliseconds ahead, as people read it; what is measured goes on. */
export const shifted = (clock: Clock.Clock, by: number): Clock.Clock => ({
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + by,
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + by),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(by) * 1_000_000n,
  currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + BigInt(by) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => clock.sleep(duration)
})
