/**
 * What it costs that many wait: a page of them, and going on from one, with ten thousand open suspensions beside the same
 * with ten; in memory, and on SQLite. Its files are in memory too, where there is such a place: what is compared is how much
 * is done, and not how long a disk takes to write it down.
 */
import {
  Approval,
  ApprovalJournal,
  ApprovalSeal,
  DeferredTool,
  Interaction,
  LanguageModel,
  Prompt,
  Response,
  Store,
  SuspensionStore,
  Toolkit
} from "@assent/ai"
import { SqliteClient, SqlStore } from "@assent/sql"
import { NodeServices } from "@effect/platform-node"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Harness from "./harness.ts"
import * as Provider from "./provider.ts"

const few = 10
const many = 10_000
const page = 10

const Ask = DeferredTool.make("Ask", {
  parameters: { question: Schema.String },
  success: Schema.String,
  state: Schema.String,
  interactions: { answer: Interaction.askUser }
})

const toolkit = Toolkit.make(Ask)

const Handlers = toolkit.toLayer({
  Ask: DeferredTool.handler(Ask, {
    start: ({ question }) => Ask.suspend.answer({ prompt: question }, question),
    resume: { answer: (answer, question) => Effect.succeed(`${question} ${answer}`) }
  })
})

/** Every one of another conversation, as it is in life, a minute apart. */
const fill = (store: SuspensionStore.Service, count: number) =>
  Effect.gen(function*() {
    const seal = yield* ApprovalSeal.ApprovalSeal
    const now = Date.now()
    yield* Effect.forEach(Array.from({ length: count }, (_, index) => index), (index) =>
      Effect.gen(function*() {
        const scope = { conversation: `conversation ${index}` }
        const { approvalId } = yield* seal.seal({
          source: "local",
          toolName: "Ask",
          toolCallId: "call-1",
          schemaFingerprint: "v1",
          params: "{}",
          scope
        })
        yield* store.put(
          new SuspensionStore.Suspension({
            approvalId,
            toolName: "Ask",
            toolCallId: "call-1",
            awaited: new Approval.Awaited({ name: "answer", kind: "askUser", prompt: "Size?", answerSchema: {} }),
            state: "Size?",
            stateVersion: 1,
            params: { question: "Size?" },
            scope,
            issuedAt: now - index * 60_000,
            expiresAt: now + 86_400_000
          })
        )
      }), { concurrency: 16, discard: true })
  })

const pages = 5

const listing = (store: SuspensionStore.Service) => {
  let after: string | undefined
  return Effect.gen(function*() {
    // Each round looks further on, where there is more.
    const { next } = yield* store.list({ limit: page, after })
    const beyond = yield* store.list({ limit: page, after: next })
    after = beyond.suspensions.length === page ? next : undefined
    return yield* Harness.timed(Effect.gen(function*() {
      for (let i = 0; i < pages; i++) {
        const found = yield* store.list({ limit: page, after })
        if (found.suspensions.length !== page) throw new Error(`A page has ${found.suspensions.length}.`)
      }
    }))
  })
}

const resuming = Effect.gen(function*() {
  const asks = Provider.calls([{ id: "call-1", name: "Ask", params: { question: "Size?" } }])
  const done = Provider.text(["Done."])
  const model = LanguageModel.withApproval(
    yield* Provider.makeModel((messages) => messages.at(-1)?.role === "user" ? asks : done)
  )
  const take = (prompt: Prompt.RawInput) =>
    Effect.provideService(
      LanguageModel.generateText({ prompt, toolkit }),
      LanguageModel.LanguageModel,
      model
    )
  return Effect.gen(function*() {
    const asked = yield* take("Buy shoes.")
    const answers = Response.approvalRequests(asked).map((request) => Approval.answer(request, "42"))
    const prompt = Prompt.concat(
      Prompt.concat(Prompt.make("Buy shoes."), Prompt.fromResponseParts(asked.content)),
      Prompt.approvalResponses(answers)
    )
    return yield* Harness.timed(Effect.map(take(prompt), ({ toolResults }) => {
      if (toolResults.length !== 1) throw new Error("It did not go on.")
    }))
  })
}).pipe(Effect.flatten, Effect.provide(Handlers))

/** A store with so many in it, and what it costs to list and to go on there. */
const world = Effect.fnUntraced(function*(store: Store.Store, count: number) {
  const suspensions = SuspensionStore.make({ store })
  yield* fill(suspensions, count)
  const journal = yield* ApprovalJournal.make({ store })
  return {
    "a page of ten": listing(suspensions),
    "going on from one": resuming.pipe(
      Effect.provideService(SuspensionStore.SuspensionStore, suspensions),
      Effect.provideService(ApprovalJournal.ApprovalJournal, journal)
    )
  }
})

const compare = (where: string, ten: Store.Store, thousands: Store.Store) =>
  Effect.gen(function*() {
    const theirs = yield* world(ten, few)
    const ours = yield* world(thousands, many)
    for (const what of ["a page of ten", "going on from one"] as const) {
      yield* Harness.compare(
        {
          title: `g. ${what} of ${many.toLocaleString("en")} open suspensions ${where}, beside ten`,
          rounds: 40,
          operations: what === "a page of ten" ? pages : 1,
          bound: 1.5
        },
        { name: "10,000", measure: ours[what] },
        { name: "10", measure: theirs[what] }
      )
    }
  })

const inMemory = Effect.gen(function*() {
  yield* compare("in memory", yield* Store.makeMemory(), yield* Store.makeMemory())
})

const onSqlite = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const shared = "/dev/shm"
  const place = (yield* fs.exists(shared)) ? { directory: shared } : {}
  const open = Effect.gen(function*() {
    const directory = yield* fs.makeTempDirectoryScoped({ ...place, prefix: "assent-bench-" })
    const client = SqliteClient.layer({ filename: `${directory}/kept.db` })
    const context = yield* Layer.build(Layer.provide(SqlStore.layer(), client))
    return Context.get(context, Store.Store)
  })
  yield* compare("on SQLite", yield* open, yield* open)
}).pipe(Effect.provide(NodeServices.layer))

export const suspensions = Effect.scoped(Effect.andThen(inMemory, onSqlite))
