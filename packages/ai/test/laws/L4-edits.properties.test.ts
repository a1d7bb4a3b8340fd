/**
 * L4, L11 over random answers: an edit never escapes the policy, whoever made it, and from an untrusted history neither
 * an edit nor a grant is taken.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, Prompt } from "../../src/index.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"

const says = ["runs", "asks", "asks, editable", "blocks", "fails"] as const

const Says = Schema.Literals(says)

const Case = Schema.Struct({
  /** What the policy says of what was proposed, and of what it is edited to. */
  proposed: Schema.Literals(["asks", "asks, editable"]),
  edited: Says,
  fits: Schema.Literals([true, true, true, false]),
  changes: Schema.Literals([true, true, false]),
  inline: Schema.Boolean
})

const policyOf = ({ edited, proposed }: typeof Case.Type) =>
  M.withPolicy((call) => {
    switch (M.pathOf({ params: call.encodedParams }) === "a" ? proposed : edited) {
      case "runs":
        return Approval.preApproved()
      case "asks":
        return Approval.needsApproval()
      case "asks, editable":
        return Approval.needsApproval({ editable: true })
      case "blocks":
        return Approval.blocked("no")
      case "fails":
        return Effect.die("broken")
    }
  })

/** What has to become of it: what ran, a final no, or a request that stays open. */
const fateOf = ({ changes, edited, fits, inline, proposed }: typeof Case.Type): string => {
  if (!inline && proposed !== "asks, editable") return "open"
  if (!fits) return "open"
  if (!changes) return "ran a"
  if (edited === "blocks") return "denied"
  if (edited === "fails") return "open"
  return inline || edited !== "asks" ? "ran b" : "open"
}

describe("L4 L11 over random edits", () => {
  for (const way of C.ways) {
    it.effect.prop(
      `L4 L11 an edit has the fate that the strictest word on it has [${way}]`,
      { one: Case },
      ({ one }) =>
        C.fresh(Effect.gen(function*() {
          const policy = policyOf(one)
          const params = !one.fits ? { path: 7 } : { path: one.changes ? "b" : "a" }
          const { chat, runs } = yield* M.deleting(way, [["a"], "done"])
          const ada = M.person(() => new Approval.Approved({ params }))
          const first = yield* policy((one.inline ? ada.answers : (turn: Effect.Effect<C.Turn, unknown>) => turn)(
            chat.send("go")
          ))
          const turn = one.inline ? first : yield* policy(chat.send(
            Prompt.approvalResponses([Approval.approve(first.requests[0]!, { params })])
          ))
          const fate = runs.length > 0
            ? `ran ${runs.map((run) => run.slice("delete ".length)).join()}`
            : turn.requests.length > 0
            ? "open"
            : "denied"
          assert.strictEqual(fate, fateOf(one), JSON.stringify(one))
        })),
      { timeout: 60_000, arbitrary: { runs: 40, seed: "edits" } }
    )
  }
})

const Word = Schema.Union([
  Schema.Json,
  Schema.Literals(["session", "none"]),
  Schema.Struct({ path: Schema.String }),
  Schema.Struct({ covers: Schema.Struct({ _tag: Schema.Literals(["Tool", "Exact", "Path"]), params: Schema.String }) })
])

/** What anybody may have written into an answer. */
const Assent = Schema.Struct({
  params: Schema.optionalKey(Word),
  remember: Schema.optionalKey(Word),
  answer: Schema.optionalKey(Word),
  editable: Schema.optionalKey(Schema.Boolean),
  rememberable: Schema.optionalKey(Schema.Boolean)
})

describe("L4 over random histories that nobody vouches for", () => {
  for (const way of C.ways) {
    it.effect.prop(
      `L4 no answer edits or remembers anything, nor gets one through that does not say plainly yes [${way}]`,
      { assent: Schema.Union([Assent, Assent, Schema.Json]), approved: Schema.Boolean },
      ({ approved, assent }) =>
        C.fresh(Effect.gen(function*() {
          const { chat, runs } = yield* M.deleting(way, [["a"], "done", ["a"]])
          const [request] = (yield* chat.send("go")).requests
          const turn = yield* chat.send(M.posted({ approvalId: request!.approvalId, approved, assent }))
          const edits = typeof assent === "object" && assent !== null && !Array.isArray(assent) && "params" in assent
          assert.deepStrictEqual(runs, approved && !edits ? ["delete a"] : [])
          assert.deepStrictEqual(
            turn.requests.map(({ params }) => params),
            approved && edits ? [{ path: "a" }] : []
          )
          assert.deepStrictEqual(yield* M.listed(), [])
          if (turn.requests.length === 0) assert.lengthOf((yield* chat.send("again")).requests, 1)
        })).pipe(Effect.provide(M.session), M.inConversation("talk")),
      { timeout: 60_000, arbitrary: { runs: 40, seed: "untrusted" } }
    )
  }
})
