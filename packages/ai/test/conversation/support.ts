/** What tests of conversations share: tools that run, that are asked about and that wait, and a model that plays a script. */
import { assert } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, type Scope } from "effect"
import {
  Approval,
  ApprovalJournal,
  ApprovalSeal,
  Conversation,
  ConversationStore,
  LanguageModel,
  type OpenRequests,
  Store,
  SuspensionStore
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import type { Operation } from "../store/intercept.ts"
import * as Waiting from "../waiting/support.ts"

export type Tools = Record<string, any>
export type Outcome = Conversation.Outcome<Tools>

/** What processes share: one store for conversations, runs and what waits. */
export type Shared = Store.Store

export const makeShared = Store.makeMemory()

/** The ids of all that waits in a store. */
export const inbox = (shared: Shared, filter: OpenRequests.Filter = {}) =>
  Effect.gen(function*() {
    const service = yield* ConversationStore.make({ store: shared })
    const { requests } = yield* service.page(filter, { limit: 1_000 })
    return requests.map(({ request }) => request.approvalId)
  })

export interface Started {
  readonly conversation: Conversation.Conversation<Tools>
  /** Another object of the same conversation, with the same services. */
  readonly again: Effect.Effect<Conversation.Conversation<Tools>, never, Scope.Scope>
  readonly script: ScriptedModel.ScriptedModel
  readonly steps: Waiting.Waiting["steps"]
}

export interface StartOptions extends Partial<Conversation.Options<Tools>> {
  readonly turns: ReadonlyArray<ScriptedModel.Turn>
  readonly afterLastTurn?: ScriptedModel.Options["afterLastTurn"]
  readonly strict?: ScriptedModel.Options["strict"]
  readonly shared?: Store.Store | undefined
  readonly scope?: Approval.ApprovalScope | undefined
  /** What the model's own layer says. */
  readonly approval?: LanguageModel.ApprovalOptions | undefined
  /** The stores stand around the model alone. */
  readonly layered?: boolean | undefined
  readonly maxBytes?: number | undefined
  readonly timeToLive?: ConversationStore.Options["timeToLive"]
  readonly before?: ((step: string) => Effect.Effect<void>) | undefined
}

/** One process: a conversation of its own over what is shared, or over nothing. */
export const start = (
  { afterLastTurn, approval, before, layered, maxBytes, scope, shared, strict, timeToLive, turns, ...options }:
    StartOptions
): Effect.Effect<
  Started,
  never,
  Scope.Scope
> =>
  Effect.gen(function*() {
    const store = Store.make(shared ?? (yield* makeShared))
    const script = yield* ScriptedModel.make({ turns, afterLastTurn, strict })
    const { steps, toolkit } = yield* Waiting.makeWaiting(before)
    const journal = yield* ApprovalJournal.make({ store, heartbeat: "1 second", grace: Duration.zero })
    const withServices = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      effect.pipe(
        Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store })),
        Effect.provideService(ApprovalJournal.ApprovalJournal, journal),
        Effect.provide(ApprovalSeal.layer({ key: "the key of conversation tests, 32 bytes" })),
        Effect.orDie
      )
    const layer = Layer.succeed(LanguageModel.LanguageModel, script.model).pipe(
      LanguageModel.approval(approval)
    )
    const model = yield* withServices(Effect.provide(LanguageModel.LanguageModel, layer))
    const made = Conversation.make<Tools>({ id: "c1", toolkit, ...options }).pipe(
      Effect.provideService(
        LanguageModel.LanguageModel,
        layered === true || approval !== undefined ? model : script.model
      ),
      Effect.provideService(Approval.Scope, scope ?? {}),
      Effect.provideService(
        ConversationStore.ConversationStore,
        yield* ConversationStore.make({ store, heartbeat: "1 second", maxBytes, timeToLive })
      )
      // The tools are any tools, and so are what they need: nothing.
    ) as Effect.Effect<Conversation.Conversation<Tools>, never, Scope.Scope>
    const again = layered === true ? made : withServices(made)
    return { conversation: yield* again, again, script, steps }
  })

export const remove = (path: string, id = `remove-${path}`) =>
  ScriptedModel.toolCall({ id, name: "DeleteFile", params: { path } })
export const read = (path: string, id = `read-${path}`) =>
  ScriptedModel.toolCall({ id, name: "ReadFile", params: { path } })
export const ask = (question: string, id = `ask-${question}`) =>
  ScriptedModel.toolCall({ id, name: "Ask", params: { question } })
export const menu = (kind: "one" | "many" | "timer" | "external", id = `menu-${kind}`) =>
  ScriptedModel.toolCall({ id, name: "Menu", params: { kind } })

/** What has to wait until a process that died is found dead: not ten seconds, for its turn and for what ran in it. */
export const afterDeath = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const waiting = yield* Effect.forkChild(effect, { startImmediately: true })
    assert.isTrue(yield* Waiting.advance(waiting, "1 second", 9))
    return yield* Fiber.join(waiting)
  })

/** Whether an operation of a store changes nothing. */
export const isReading = (operation: Operation): boolean =>
  /\.(get|read|page|due|byWebhook|candidates|list)$/.test(operation)

/** The requests of an outcome that waits. */
export const requestsOf = (outcome: Outcome | undefined): ReadonlyArray<Approval.ApprovalRequest> => {
  assert.strictEqual(outcome?._tag, "Waiting")
  return outcome?._tag === "Waiting" ? outcome.requests : []
}

export const finished = (outcome: Outcome | undefined): string => {
  assert.strictEqual(outcome?._tag, "Completed")
  return outcome?.text ?? ""
}

/** The prompts that the model was sent. */
export const prompts = (script: ScriptedModel.ScriptedModel) =>
  Effect.map(script.requests, (requests) => requests.map(({ prompt }) => prompt))
