/**
 * L2 for requests that nobody set an expiry for: what became of one is known as long as its approval could be shown
 * again, in memory and in a folder.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as ApprovalJournal from "../../src/ApprovalJournal.ts"
import * as Files from "../../src/internal/store/fileSystem.ts"

const claimOf = (nonce: string): ApprovalJournal.Claim => ({
  approvalId: `id-of-${nonce}`,
  nonce,
  expiresAt: Infinity,
  toolName: "Append",
  toolCallId: "call-1"
})

const recorded = new ApprovalJournal.Recorded({ isFailure: false, encodedResult: "ran" })

const runs = {
  effect: Effect.succeed({ recorded, result: "ran", encodedResult: "ran" }),
  idempotent: false
}

const mustNotRun = { effect: Effect.die(new Error("It ran.")), idempotent: true }

const settle = (journal: ApprovalJournal.Service) =>
  Effect.gen(function*() {
    yield* journal.run(claimOf("ran"), runs)
    yield* journal.end(claimOf("denied"), "denied", "no")
  })

const isKnown = (journal: ApprovalJournal.Service) =>
  Effect.gen(function*() {
    const { entry } = yield* journal.run(claimOf("ran"), mustNotRun)
    assert.deepStrictEqual([entry.state, entry.recorded], ["done", recorded])
    assert.strictEqual((yield* journal.run(claimOf("denied"), mustNotRun)).entry.state, "denied")
  })

describe("L2 a request that has no expiry", () => {
  it.effect("is never forgotten by a journal in memory, which refuses to claim once it is full", () =>
    Effect.gen(function*() {
      const journal = yield* ApprovalJournal.ApprovalJournal
      yield* settle(journal)
      yield* TestClock.adjust("36500 days")
      yield* isKnown(journal)
      const { reason } = yield* Effect.flip(journal.run(claimOf("new"), mustNotRun))
      assert.strictEqual(reason._tag, "JournalUnavailable")
      yield* isKnown(journal)
    }).pipe(Effect.provide(ApprovalJournal.layerMemory({ capacity: 2 }))))

  it.effect("is never swept from a folder, and is known to a process that starts later", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped({ prefix: "assent-journal-" })
      const opened = <A, E, R>(use: (journal: ApprovalJournal.Service) => Effect.Effect<A, E, R>) =>
        Effect.provide(
          Effect.flatMap(ApprovalJournal.ApprovalJournal, use),
          Layer.provide(ApprovalJournal.layerFileSystem({ directory }), NodeServices.layer),
          { local: true }
        )
      yield* opened(settle)
      yield* TestClock.adjust("36500 days")
      yield* (yield* Files.make(directory)).sweep
      yield* opened(isKnown)
    }).pipe(Effect.provide(NodeServices.layer)))
})
