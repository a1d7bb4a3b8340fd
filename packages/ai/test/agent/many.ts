/** Many conversations that wait at once, and many answers to one agent: what each of them costs, and whom it touches. */
import { Store } from "@assent/ai"
import { Effect } from "effect"
import { intercept } from "../store/intercept.ts"
import { answerTo, yes } from "./answers.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

/** A store that says which rows were touched since it was asked last. */
export const watch = (store: Store.Store) => {
  const ids = new Set<string>()
  const nonces = new Set<string>()
  const touched: Array<string> = []
  const watched = intercept(store, (operation, key, run) => {
    if (key !== "" && operation.startsWith("conversations.")) ids.add(key)
    if (key !== "" && operation.startsWith("requests.")) nonces.add(key)
    touched.push(key)
    return run
  })
  return {
    watched,
    /** What was touched, one key for each operation. */
    touched: () => touched.splice(0),
    /** How many bytes all the rows have. */
    bytes: Effect.gen(function*() {
      const rows = [
        ...(yield* Effect.forEach(ids, (id) => store.conversations.read(id))),
        ...(yield* Effect.forEach(nonces, (nonce) => store.requests.get(nonce)))
      ]
      return rows.reduce((sum, row) => sum + (row === undefined ? 0 : Buffer.byteLength(JSON.stringify(row))), 0)
    })
  }
}

const crowdTree = Tree.agent([Tree.inner([Tree.inner([Tree.pay])])])

/** So many wait, each third of them in an agent of an agent; then one of each kind is woken. */
export const crowd = Effect.fnUntraced(function*(count: number, given?: Store.Store) {
  const { bytes, touched, watched } = watch(given ?? (yield* Store.makeMemory()))
  const did: Array<string> = []
  const { serving, toolkit } = yield* World.makeProcess({
    store: watched,
    agents: Tree.agentsOf(crowdTree),
    does: (what) => did.push(what)
  })
  const open = (index: number) =>
    serving(
      World.conversationOf({ id: `talk ${index}`, toolkit })
    )
  const isNested = (index: number) => index % 3 === 0
  // The innermost agent can be talked to alone.
  const keyOf = (index: number) => isNested(index) ? Tree.rootKey : "r.00.00"
  const own: Array<ReadonlySet<string>> = []
  for (let index = 0; index < count; index++) {
    const conversation = yield* open(index)
    touched()
    yield* conversation.send(World.promptOf(keyOf(index)))
    own.push(new Set(touched().filter((key) => key !== "")))
  }
  const each = (yield* bytes) / count
  const problems: Array<string> = []
  const operations: Array<number> = []
  for (const index of [0, 1]) {
    const conversation = yield* open(index)
    const [request] = yield* conversation.pending()
    touched()
    yield* conversation.decide(answerTo(request!, yes))
    const keys = touched()
    operations.push(keys.length)
    for (const [other, rows] of own.entries()) {
      if (other === index) continue
      for (const key of keys) {
        if (rows.has(key) && !own[index]!.has(key)) problems.push(`waking ${index} touched ${key} of ${other}`)
      }
    }
    const waiting = yield* Effect.forEach(
      Array.from({ length: Math.min(count, 20) }, (_, other) => other).filter((other) => other > index),
      (other) => Effect.flatMap(open(other), (conversation) => conversation.pending())
    )
    if (waiting.some((open) => open.length !== 1)) problems.push(`waking ${index} woke another`)
  }
  if (did.length !== 2) problems.push(`it did ${did.join(", ")}`)
  return { each, operations, problems }
}, Effect.scoped)

/** How many bytes there are after so many of the requests of a tree were answered, one by one. */
export const growthOf = Effect.fnUntraced(function*(tree: Tree.Agent, marks: ReadonlyArray<number>) {
  const { bytes, watched } = watch(yield* Store.makeMemory())
  const { conversation } = yield* World.makeProcess({
    store: watched,
    agents: Tree.agentsOf(tree),
    does: () => {}
  })
  yield* conversation.send(World.promptOf(Tree.rootKey))
  const found: Array<number> = []
  for (let answered = 0; answered <= Math.max(...marks); answered++) {
    if (marks.includes(answered)) found.push(yield* bytes)
    const [request] = yield* conversation.pending()
    if (request !== undefined) yield* conversation.decide(answerTo(request, yes))
  }
  return found
}, Effect.scoped)
