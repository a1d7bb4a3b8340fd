/**
 * What it costs that a conversation is long: its 1,000th short turn beside its 10th, in memory and on SQLite. The model
 * looks at nothing, so that what grows is ours and upstream's. Its files are in memory too, where there is such a place.
 */
import { Conversation, ConversationStore, LanguageModel, Prompt, Store, Tool, Toolkit } from "@assent/ai"
import { SqliteClient, SqlStore } from "@assent/sql"
import { NodeServices } from "@effect/platform-node"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Harness from "./harness.ts"
import * as Provider from "./provider.ts"

const short = 10
const long = 1_000
const turns = 5

const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))

const answer = Provider.text(["A short answer."])

/** A conversation of so many turns, and what it costs to take a few more: as many as are forgotten again behind them. */
const world = Effect.fnUntraced(function*(store: Store.Store, count: number) {
  const conversations = yield* ConversationStore.make({ store })
  const id = `of ${count} turns`
  const key = yield* ConversationStore.keyOf(id, {})
  const history = Prompt.fromMessages(
    Array.from({ length: count }).flatMap((_, turn) => [
      ...Prompt.make(`A short question, number ${turn}.`).content,
      Prompt.makeMessage("assistant", {
        content: [Prompt.makePart("text", { text: `A short answer, number ${turn}.` })]
      })
    ])
  )
  yield* conversations.write(key, undefined, { history, open: [], answered: [], deciders: {} })
  const model = yield* LanguageModel.make({
    generateText: () => Effect.succeed(answer.generated.slice()),
    streamText: () => Stream.empty
  })
  const conversation = yield* Conversation.make({ id, toolkit }).pipe(
    Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })),
    Effect.provideService(LanguageModel.LanguageModel, model),
    Effect.provideService(ConversationStore.ConversationStore, conversations)
  )
  return Effect.gen(function*() {
    const found = yield* conversations.read(key)
    const before = found!.kept.history.content.slice(0, history.content.length)
    yield* conversations.write(key, found, { ...found!.kept, history: Prompt.fromMessages(before) })
    yield* conversation.send("One before it counts.")
    return yield* Harness.timed(Effect.gen(function*() {
      for (let turn = 0; turn < turns; turn++) yield* conversation.send("Another question.")
    }))
  })
})

const compare = Effect.fnUntraced(function*(where: string, bound: number, store: Store.Store) {
  yield* Harness.compare(
    {
      title: `h. the ${long.toLocaleString("en")}th turn of a conversation ${where}, beside its ${short}th`,
      rounds: 40,
      operations: turns,
      bound
    },
    { name: `${long.toLocaleString("en")}th`, measure: yield* world(store, long) },
    { name: `${short}th`, measure: yield* world(store, short) }
  )
})

const onSqlite = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const shared = "/dev/shm"
  const place = (yield* fs.exists(shared)) ? { directory: shared } : {}
  const directory = yield* fs.makeTempDirectoryScoped({ ...place, prefix: "assent-bench-" })
  const client = SqliteClient.layer({ filename: `${directory}/kept.db` })
  yield* compare("on SQLite", 2, Context.get(yield* Layer.build(Layer.provide(SqlStore.layer(), client)), Store.Store))
}).pipe(Effect.provide(NodeServices.layer))

export const conversations: Effect.Effect<void, unknown> = Effect.scoped(
  Effect.andThen(Effect.flatMap(Store.makeMemory(), (store) => compare("in memory", 2, store)), onSqlite)
)
