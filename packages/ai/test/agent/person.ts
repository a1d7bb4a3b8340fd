/**
 * A person with fixed answers, who plays a tree of agents in whatever process there is: goes on from where it stands, and sends
 * again what was sent and may not have been heard. What the person saw and sent, and what tools did, is noted where no process
 * takes it with it.
 */
import type { ApprovalError, ConversationStore, Store } from "@assent/ai"
import { Effect } from "effect"
import { answerTo, keyOf } from "./answers.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

// =============================================================================
// What was noted
// =============================================================================

interface Lines {
  /** What a tool did. */
  readonly did: string
  /** What is about to be sent. */
  readonly sent: { readonly key: string; readonly kind: string; readonly approvalId: string }
  /** What was asked, as the person saw it. */
  readonly asked: { readonly key: string; readonly approvalId: string; readonly path: ReadonlyArray<string> }
}

export interface Notes {
  readonly note: <Name extends keyof Lines>(name: Name, line: Lines[Name]) => void
  readonly read: <Name extends keyof Lines>(name: Name) => ReadonlyArray<Lines[Name]>
}

/** Notes that stay with the test. */
export const makeNotes = (): Notes => {
  const lines: { readonly [Name in keyof Lines]: Array<Lines[Name]> } = { did: [], sent: [], asked: [] }
  return {
    note: (name, line) => void (lines[name] as Array<typeof line>).push(line),
    read: <Name extends keyof Lines>(name: Name): ReadonlyArray<Lines[Name]> => lines[name].slice()
  }
}

// =============================================================================
// The story
// =============================================================================

/** Three levels, one of which needs consent itself, and a tool that talks to two agents. */
export const tree = Tree.agent(
  [Tree.gated([Tree.inner([Tree.pay, Tree.ask], [Tree.pay]), Tree.pay]), Tree.pay],
  [Tree.team(Tree.agent([Tree.pay]), Tree.agent([Tree.look, Tree.pay]))]
)

const denied = "r.00.01"

/** What the person says to what is asked under a key. */
const decisionOf = (key: string, kind: string): Tree.Decision =>
  kind === "askUser" ? { _tag: "Text", text: "soon" } : { _tag: key === denied ? "No" : "Yes" }

/** What the agents say. They look first whether what was lost has been done, as they are told to. */
export const answer = ({ read }: Notes) =>
  World.answerAs(
    Tree.agentsOf(tree),
    (key) => !read("did").some((what) => what === `paid:${key}` || what.startsWith(`heard:${key}:`))
  )

type Failure = ConversationStore.ConversationError | ApprovalError.ApprovalError

const heard = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<void, E, R> =>
  Effect.catchIf(Effect.asVoid(effect), (error) => {
    const failure = error as unknown as Failure
    return failure._tag === "ApprovalError" && ["AlreadyDecided", "UnknownApproval"].includes(failure.reason._tag)
  }, () => Effect.void)

/** Plays it to its end, and gives what the outermost agent says last. */
export const play = Effect.fnUntraced(function*(conversation: World.Conversing, { note, read }: Notes) {
  const decide = ({ approvalId, key, kind }: Lines["sent"]) =>
    conversation.decide(answerTo({ approvalId }, decisionOf(key, kind)))
  for (const sent of read("sent")) yield* heard(decide(sent))
  const { content } = yield* conversation.history
  yield* conversation.send(content.length === 0 ? World.promptOf(Tree.rootKey) : [])
  while (true) {
    const open = yield* conversation.pending()
    for (const request of open) {
      note("asked", { key: keyOf(request), approvalId: request.approvalId, path: request.path ?? [] })
    }
    const [first] = open
    if (first === undefined) break
    const sent = { key: keyOf(first), kind: first.interaction, approvalId: first.approvalId }
    note("sent", sent)
    yield* decide(sent)
  }
  const said = (yield* conversation.history).content.flatMap((message) =>
    message.role === "assistant" ? message.content.flatMap((part) => part.type === "text" ? [part.text] : []) : []
  )
  return said.at(-1) ?? ""
})

// =============================================================================
// What has to be true in the end
// =============================================================================

/** What became of a request, as the store has it. */
export interface Row extends Pick<Store.RequestRow, "approvalId" | "kind" | "state" | "toolName"> {
  /** It has begun conversations of its own. */
  readonly hasWithin: boolean
}

/** What is wrong with how it has ended. */
export const problemsAtEnd = ({ read }: Notes, rows: ReadonlyArray<Row>, text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const wrong = (is: boolean, what: string) => is && found.push(what)

  // Everything that is ever asked, answered as the person answers.
  const decisions = new Map<string, Tree.Decision>()
  for (let { open } = Tree.stand(tree, decisions); open.length > 0; { open } = Tree.stand(tree, decisions)) {
    for (const { key, kind } of open) decisions.set(key, decisionOf(key, kind))
  }
  const ids = new Map<string, ReadonlyArray<string>>()
  for (const { approvalId, key } of read("asked")) {
    ids.set(key, [...(ids.get(key) ?? []).filter((id) => id !== approvalId), approvalId])
  }
  const stateOf = (id: string | undefined) => rows.find(({ approvalId }) => approvalId === id)?.state
  for (const key of decisions.keys()) wrong(!ids.has(key), `${key} was never asked`)
  for (const [key, all] of ids) {
    wrong(!decisions.has(key), `${key} was asked`)
    // Anew only where nobody knows what the one before did.
    for (const id of all.slice(0, -1)) wrong(stateOf(id) !== "unknown", `${key} was asked anew: it is ${stateOf(id)}`)
  }

  // One process has died once, in the one thing that it did then: a payment that was approved, a question that was about to
  // be asked or was answered, or a handler by hand that had begun no agent. An agent never is unknown.
  const told = new Map(decisions)
  const sent = new Set(read("sent").map(({ approvalId }) => approvalId))
  const unknown = rows.filter(({ state }) => state === "unknown")
  wrong(unknown.length > 1, `${unknown.length} are unknown: ${unknown.map(({ toolName }) => toolName).join(", ")}`)
  for (const { approvalId, hasWithin, kind, toolName } of unknown) {
    const mayBe = toolName === "Team"
      ? kind === "call" && !hasWithin
      : toolName === "Ask"
      ? kind === "call" || sent.has(approvalId)
      : toolName === "Pay" && sent.has(approvalId)
    wrong(!mayBe, `${toolName} (${kind}) is unknown${hasWithin ? ", and has begun agents" : ""}`)
  }
  // Or in the moment between a claim and its handler: nothing of it had begun, and nobody goes on with it.
  const running = rows.filter(({ state }) => state === "running")
  wrong(running.length + unknown.length > 1, `${running.map(({ toolName }) => toolName).join(", ")} is running beside`)
  for (const { hasWithin, kind, toolName } of running) {
    wrong(kind !== "call" || hasWithin, `${toolName} (${kind}) is running`)
  }
  for (const { kind, state, toolName } of rows) wrong(state === "pending", `${toolName} (${kind}) is ${state}`)
  const asks = rows.filter(({ kind, state, toolName }) => toolName === "Ask" && kind === "call" && state !== "running")
  const asked = read("did").filter((what) => what.startsWith("ask:"))
  wrong(asked.length > asks.length, `${asked.length} questions were begun in ${asks.length} calls`)

  for (const key of decisions.keys()) if (stateOf(ids.get(key)?.at(-1)) === "unknown") told.set(key, { _tag: "No" })

  const did = read("did")
  const meant = Tree.stand(tree, decisions).did
  const ended = Tree.stand(tree, told)
  for (const what of meant) {
    const times = did.filter((one) => one === what).length
    const isRepeatable = what.startsWith("saw:") || what.startsWith("ask:")
    wrong(times > 1 && !isRepeatable, `${what} has happened ${times} times`)
    wrong(times === 0 && ended.did.includes(what), `${what} has not happened`)
  }
  for (const what of did) wrong(!meant.includes(what), `${what} has happened`)
  wrong(text !== ended.text, `it says ${text}, not ${ended.text}`)
  return found
}
