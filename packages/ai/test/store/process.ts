/** A process that dies in a test: one conversation, over a store that outlives it. */
import {
  ApprovalJournal,
  ApprovalSeal,
  Conversation,
  ConversationStore,
  LanguageModel,
  type Store,
  SuspensionStore,
  type Tool,
  type Toolkit
} from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Effect, type Layer } from "effect"

export const startProcess = Effect.fnUntraced(function*<Tools extends Record<string, Tool.Any>, R>(
  store: Store.Store,
  turns: ReadonlyArray<ScriptedModel.Turn>,
  toolkit: Toolkit.Toolkit<Tools>,
  handlers: Layer.Layer<R>
) {
  const { model } = yield* ScriptedModel.make({ turns, afterLastTurn: "done" })
  return yield* Conversation.make({ id: "c1", toolkit }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, model),
    Effect.provideService(
      ConversationStore.ConversationStore,
      yield* ConversationStore.make({ store, heartbeat: "1 second" })
    ),
    Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store })),
    Effect.provideService(
      ApprovalJournal.ApprovalJournal,
      yield* ApprovalJournal.make({ store, heartbeat: "1 second", grace: 0 })
    ),
    Effect.provide(ApprovalSeal.layer({ key: "a key for tests only, of 32 bytes or more" })),
    Effect.provide(handlers)
  )
})
