/** L17 what finds no room: over a quota a denial goes through and nothing else; on a full disk nothing does, and the turn says so. */
import { Approval, Conversation, type ConversationStore, LanguageModel, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { SqlApproval } from "@assent/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { DatabaseSync } from "node:sqlite"
import * as Statements from "./chaos/statements.ts"
import { makeFilename } from "./database.ts"

const SendMail = Tool.make("SendMail", {
  parameters: Schema.Struct({ to: Schema.String }),
  success: Schema.String,
  needsApproval: true
})

const send = (to: string) => ScriptedModel.toolCall({ id: `call-${to}`, name: "SendMail", params: { to } })

/** Two mails are asked about in a file, which is opened again with other options. */
const asked = Effect.fnUntraced(function*(filename: string, options: Partial<SqlApproval.Options>) {
  const sent: Array<string> = []
  const toolkit = Toolkit.make(SendMail)
  const start = Effect.fnUntraced(function*(
    options: Partial<SqlApproval.Options>,
    turns: ReadonlyArray<ScriptedModel.Turn>
  ) {
    const { calls, model } = yield* ScriptedModel.make({ turns, afterLastTurn: "I see." })
    const layer = SqlApproval.layer({ filename, synchronous: "NORMAL", yieldAfterWrite: false, ...options })
    const context = yield* Layer.build(layer)
    const conversation = yield* Conversation.make({ id: "mails", toolkit }).pipe(
      Effect.provide(
        toolkit.toLayer({ SendMail: ({ to }) => Effect.sync(() => void sent.push(to)).pipe(Effect.as("sent")) })
      ),
      Effect.provideService(LanguageModel.LanguageModel, model),
      Effect.provideService(Approval.Scope, { tenant: "acme" }),
      Effect.provide(context)
    )
    return { calls, conversation }
  })
  const first = yield* start({}, [[send("ann"), send("bob")]])
  const outcome = yield* first.conversation.send("x".repeat(5_000))
  const [ann, bob] = outcome._tag === "Waiting" ? outcome.requests : []
  return { ...yield* start(options, []), ann: ann!, bob: bob!, sent }
})

const problemOf = <A>(effect: Effect.Effect<A, unknown>) =>
  Effect.map(Effect.flip(effect), (error) => {
    const { description, reason } = error as ConversationStore.ConversationError
    return `${reason}: ${description}`
  })

/** What is on record of the requests. */
const statesOf = (filename: string) => {
  const database = new DatabaseSync(filename, { readOnly: true })
  const rows = database.prepare("SELECT state FROM assent_request ORDER BY issued_at, nonce").all()
  database.close()
  return rows.map(({ state }) => state)
}

describe("over a quota", () => {
  for (const options of [{ tenantBytes: 1_000 }, { conversationBytes: 1_000 }]) {
    it.effect(`of ${Object.keys(options)} a denial goes through, and nothing else`, () =>
      Effect.gen(function*() {
        const filename = yield* makeFilename
        const { ann, bob, conversation, sent } = yield* asked(filename, options)
        assert.match(yield* problemOf(conversation.send("And?")), /^Full: .* 1000 bytes/)
        assert.match(yield* problemOf(conversation.decide(Approval.approve(ann))), /^Full: /)
        yield* conversation.decide(Approval.deny(ann, "no ".repeat(5_000)))
        assert.deepStrictEqual((yield* conversation.pending()).map(({ approvalId }) => approvalId), [bob.approvalId])
        assert.match(yield* problemOf(conversation.decide(Approval.approve(bob))), /^Full: /)
        yield* Effect.exit(conversation.decide(Approval.deny(bob, "no")))
        assert.deepStrictEqual(yield* conversation.pending(), [])
        assert.match(yield* problemOf(conversation.decide(Approval.approve(ann))), /./)
        assert.deepStrictEqual(sent, [])
        assert.deepStrictEqual(statesOf(filename), ["denied", "denied"])
      }), 20_000)
  }
})

describe("on a full disk", () => {
  it.effect(
    "neither an approval nor a denial goes through, the turn says so, and with room both do",
    () =>
      Effect.gen(function*() {
        const filename = yield* makeFilename
        let isFull = false
        yield* Statements.watch(filename, (sql, run) => {
          if (isFull && /^\s*(insert|update|delete|commit)\b/i.test(sql)) {
            throw Statements.sqliteError(13, `database or disk is full: ${filename}`)
          }
          return run()
        })
        const { ann, bob, calls, conversation, sent } = yield* asked(filename, {})
        const before = yield* conversation.history
        isFull = true
        for (const answer of [Approval.approve(ann), Approval.deny(ann, "no")]) {
          const problem = yield* problemOf(conversation.decide(answer))
          assert.match(problem, /^Full: The disk has no room left\. Nothing was written\. Make room\./)
          assert.notInclude(problem, filename)
        }
        assert.deepStrictEqual(yield* conversation.history, before)
        assert.lengthOf(yield* conversation.pending(), 2)
        assert.deepStrictEqual(statesOf(filename), ["pending", "pending"])
        assert.deepStrictEqual([yield* calls, sent], [0, []])
        isFull = false
        const outcome = yield* conversation.decide([Approval.approve(ann), Approval.deny(bob, "no")])
        assert.deepStrictEqual([outcome._tag, yield* calls, sent], ["Completed", 1, ["ann"]])
        assert.deepStrictEqual(statesOf(filename).toSorted(), ["denied", "done"])
      }),
    20_000
  )
})
