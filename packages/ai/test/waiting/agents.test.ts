/**
 * What is answered to an agent counts where the way up leads to whom it was given (law L4); and where a call on that way is
 * not in the store any more, that is an answer too, and no defect.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, Approver } from "../../src/index.ts"
import * as ApprovalId from "../../src/internal/seal/approvalId.ts"
import * as Agents from "../../src/internal/waiting/agents.ts"
import type * as Store from "../../src/Store.ts"

const digest = "A".repeat(43)

const idOf = (nonce: string): string =>
  ApprovalId.write({
    keyId: "k",
    nonce: nonceOf(nonce),
    issuedAt: 0,
    expiresAt: Infinity,
    schemaFingerprint: digest,
    presentationDigest: undefined
  }, digest)

const nonceOf = (name: string): string => name.padEnd(22, "A")

/** What an agent asks in a call, as a store has it that may have lost what is not named here. */
const agentsOf = (rows: Readonly<Record<string, Partial<Store.RequestRow>>>): Agents.Agents => {
  const kept = new Map(
    Object.entries(rows).map(([name, row]) => [
      nonceOf(name),
      { nonce: nonceOf(name), approvalId: idOf(name), state: "pending", ...row }
    ])
  )
  return Agents.make({
    atomically: (effect: unknown) => effect,
    requests: { get: (nonce: string) => Effect.sync(() => kept.get(nonce)) }
  } as never)
}

const inner = { parent: nonceOf("call") }
const call: Partial<Store.RequestRow> = { state: "running" }
const yes: Agents.Given = {
  decision: new Approval.Approved({}),
  decidedBy: Approver.decidedBy(undefined, "message"),
  trusted: true
}

describe("what is asked in an agent", () => {
  it.effect("L4 takes no answer that was given for another call", () =>
    Effect.gen(function*() {
      const agents = agentsOf({ inner, call })
      const error = yield* Effect.flip(agents.give(idOf("inner"), { call: nonceOf("other") }, yes))
      assert.strictEqual(error.reason._tag, "UnknownApproval")
    }))

  it.effect("waits within nothing that is known, where the call or what it waits for is not kept any more", () =>
    Effect.gen(function*() {
      const waits = { ...call, entry: JSON.stringify({ suspendedAs: idOf("step") }) }
      const all = { inner, call: waits, step: {} }
      assert.strictEqual(yield* agentsOf(all).waiting(idOf("inner")), idOf("step"))
      assert.isUndefined(yield* agentsOf({ inner, call: waits }).waiting(idOf("inner")))
      assert.isUndefined(yield* agentsOf({ inner }).waiting(idOf("inner")))
    }))
})
