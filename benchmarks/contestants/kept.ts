/** Ours with conversations that are kept, in memory or in SQLite, and the least that `node:sqlite` can do for one decision. */
import {
  Approval,
  type ApprovalError,
  ApprovalJournal,
  ApprovalSeal,
  Conversation,
  ConversationStore,
  LanguageModel,
  type Store
} from "@assent/ai"
import { SqlApproval } from "@assent/sql"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { DatabaseSync } from "node:sqlite"
import type { Holder } from "../heap.ts"
import type { Contestant } from "../measure.ts"
import { versionOf } from "../versions.ts"
import * as Work from "../work.ts"
import { handlers, toolkit } from "./assent.ts"
import * as Bare from "./bareLoop.ts"
import { model } from "./onEffect.ts"

export type Synchronous = "FULL" | "NORMAL"

const makeRuntime = <A, E>(kept: Layer.Layer<A, E>) =>
  ManagedRuntime.make(Layer.mergeAll(handlers, kept, Layer.effect(LanguageModel.LanguageModel, model(1))))

let conversations = 0

const ask = Effect.gen(function*() {
  const id = `conversation-${conversations++}`
  const conversation = yield* Conversation.make({ id, toolkit })
  const outcome = yield* conversation.send(Work.question)
  const requests = outcome._tag === "Waiting" ? outcome.requests : []
  Work.expect("requests", requests.length, 1)
  return { id, requests }
})

/** Of a conversation that is kept, a program needs its name. */
export const keeps = (): Holder => {
  const runtime = makeRuntime(Layer.mergeAll(
    ApprovalSeal.layer({ key: Work.key }),
    ApprovalJournal.layerMemory(),
    ConversationStore.layerMemory()
  ))
  return {
    library: "assent",
    version: versionOf("@assent/ai"),
    ask: () => runtime.runPromise(Effect.map(ask, ({ id }) => id))
  }
}

/** A person's answer comes to a server, which finds the conversation by its name: so LangGraph's row does, too. */
export const decides = (filename: string, synchronous: Synchronous): Contestant => {
  const runtime = makeRuntime<Store.Store, Store.StoreError | ApprovalError.ApprovalError>(
    SqlApproval.layer({ filename, synchronous, seal: { key: Work.key } })
  )
  return {
    library: "assent",
    version: versionOf("@assent/sql"),
    prepare: async (operations) => {
      const asked = await runtime.runPromise(Effect.replicateEffect(ask, operations))
      const all = Effect.forEach(asked, ({ id, requests }) =>
        Effect.gen(function*() {
          const conversation = yield* Conversation.make({ id, toolkit })
          const answers = requests.map((request) => Approval.approve(request))
          const { _tag, text } = yield* conversation.decide(answers)
          Work.expect("outcome", _tag, "Completed")
          Work.expect("text", text, Work.finalText)
        }), { discard: true })
      return () => Work.expectRuns(operations, 1, () => runtime.runPromise(all))
    },
    close: () => runtime.dispose()
  }
}

/** Two transactions, one before the tool runs and one after it: what it gave, and what the model said. */
export const decidesBare = (filename: string, synchronous: Synchronous): Contestant => {
  const database = new DatabaseSync(filename)
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
  database.exec("CREATE TABLE request (id TEXT PRIMARY KEY, state TEXT NOT NULL, messages TEXT NOT NULL) STRICT")
  const open = database.prepare("INSERT INTO request VALUES (?, 'pending', ?)")
  const find = database.prepare("SELECT messages FROM request WHERE id = ?")
  const claim = database.prepare("UPDATE request SET state = 'running' WHERE id = ? AND state = 'pending'")
  const end = database.prepare("UPDATE request SET state = 'done', messages = ? WHERE id = ? AND state = 'running'")
  return {
    library: Bare.library,
    version: Bare.version,
    prepare: async (operations) => {
      const all = Array.from({ length: operations }, () => {
        const [asked] = Bare.ask(1)
        open.run(asked!.id, JSON.stringify([Work.question, asked!.params]))
        return asked!
      })
      return () =>
        Work.expectRuns(operations, 1, async () => {
          for (const asked of all) {
            const { messages } = find.get(asked.id) as { readonly messages: string }
            Bare.verify(asked)
            Work.expect("claims", claim.run(asked.id).changes, 1)
            const result = await Work.deleteFile(JSON.parse(asked.params))
            end.run(JSON.stringify([...JSON.parse(messages), result, Work.finalText]), asked.id)
          }
        })
    },
    close: async () => database.close()
  }
}
