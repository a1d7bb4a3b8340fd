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
const turns = 9

const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))

const answer = Provider.text(["A short answer."])

const historyOf = (count: number) =>
  Prompt.fromMessages(
    Array.from({ length: count }).flatMap((_, turn) => [
      ...Prompt.make(`A short question, number ${turn}.`).content,
      Prompt.makeMessage("assistant", {
        content: [Prompt.makePart("text", { text: `A short answer, number ${turn}.` })]
      })
    ])
  )

/**
 * The turns about the one of that number, so many at a time: a conversation goes on from `before` turns earlier to as many
 * later, and then another one begins. What is given is the median of those of one time.
 */
const world = Effect.fnUntraced(function*(store: Store.Store, count: number, before: number) {
  const conversations = yield* ConversationStore.make({ store })
  const model = yield* LanguageModel.make({
    generateText: () => Effect.succeed(answer.generated.slice()),
    streamText: () => Stream.empty
  })
  const begin = Effect.fnUntraced(function*(id: string) {
    const key = yield* ConversationStore.keyOf(id, {})
    const history = historyOf(count - before - 1)
    yield* conversations.write(key, undefined, { history, open: [], answered: [], deciders: {} })
    const conversation = yield* Conversation.make({ id, toolkit }).pipe(
      Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })),
      Effect.provideService(LanguageModel.LanguageModel, model),
      Effect.provideService(ConversationStore.ConversationStore, conversations)
    )
    // The one that reads it.
    yield* conversation.send("Another question.")
    return { id, key, conversation, taken: 0 }
  })
  let begun = 0
  let current = yield* begin(`${count}, ${begun}`)
  return Effect.gen(function*() {
    if (current.taken + turns > before * 2) {
      yield* conversations.remove(current.key)
      current = yield* begin(`${count}, ${++begun}`)
    }
    current.taken += turns
    const times: Array<number> = []
    for (let turn = 0; turn < turns; turn++) {
      times.push(yield* Harness.timed(current.conversation.send("Another question.")))
    }
    return times.toSorted((a, b) => a - b)[turns >> 1]!
  })
})

const compare = Effect.fnUntraced(function*(where: string, bound: number, store: Store.Store) {
  yield* Harness.compare(
    {
      title: `h. the ${long.toLocaleString("en")}th turn of a conversation ${where}, beside its ${short}th`,
      rounds: 60,
      operations: 1,
      bound
    },
    { name: `${long.toLocaleString("en")}th`, measure: yield* world(store, long, 99) },
    { name: `${short}th`, measure: yield* world(store, short, 5) }
  )
})

const onSqlite = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const shared = "/dev/shm"
  const place = (yield* fs.exists(shared)) ? { directory: shared } : {}
  const directory = yield* fs.makeTempDirectoryScoped({ ...place, prefix: "assent-bench-" })
  const client = SqliteClient.layer({ filename: `${directory}/kept.db` })
  yield* compare(
    "on SQLite",
    1.3,
    Context.get(yield* Layer.build(Layer.provide(SqlStore.layer(), client)), Store.Store)
  )
}).pipe(Effect.provide(NodeServices.layer))

export const conversations: Effect.Effect<void, unknown> = Effect.scoped(
  Effect.andThen(Effect.flatMap(Store.makeMemory(), (store) => compare("in memory", 1.3, store)), onSqlite)
)
