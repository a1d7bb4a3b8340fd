/**
 * `ApprovalJournal` in a database that processes share: what a restart finds, what damage does, and processes that race,
 * wait and are killed. The laws it shares with the one in memory are in `ApprovalJournal.test.ts`.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import type * as ApprovalError from "../src/ApprovalError.ts"
import * as ApprovalJournal from "../src/ApprovalJournal.ts"
import * as Database from "./fixtures/database.ts"

type Services = Layer.Success<typeof NodeServices.layer> | Scope.Scope

const test = (title: string, body: (directory: string) => Effect.Effect<void, unknown, Services>) =>
  it.live(
    title,
    () =>
      Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "assent-journal-" })).pipe(
        Effect.flatMap(body),
        Effect.provide(NodeServices.layer)
      ),
    60_000
  )

const claimOf = (nonce: string): ApprovalJournal.Claim => ({
  approvalId: `id-of-${nonce}`,
  nonce,
  expiresAt: Date.now() + 3_600_000,
  toolName: "Append",
  toolCallId: "call-1"
})

const mustNotRun = { effect: Effect.die(new Error("It ran.")), idempotent: false }

/** Opens the journal, as a process that starts does, and closes it again. */
const withJournal = <A, E, R>(
  directory: string,
  use: (journal: ApprovalJournal.Service) => Effect.Effect<A, E, R>,
  heartbeat = 50
): Effect.Effect<A, unknown, R> =>
  Effect.provide(
    Effect.flatMap(ApprovalJournal.ApprovalJournal, use),
    Layer.provide(ApprovalJournal.layerStore({ heartbeat }), Database.layerIn(directory)),
    { local: true }
  )

// =============================================================================
// What is written
// =============================================================================

describe("ApprovalJournal in a database", () => {
  test("L2 At most once: a restart remembers every fate, bodies included", (directory) =>
    Effect.gen(function*() {
      const result = { text: "é😀\u2028\"\\", list: [1.5, null, { "__proto__": false }] }
      const recorded = new ApprovalJournal.Recorded({
        isFailure: false,
        encodedResult: result,
        modelOutput: [{ type: "text", text: "é" }]
      })
      const ran = claimOf("ran")
      yield* withJournal(directory, (journal) =>
        Effect.gen(function*() {
          yield* journal.run(ran, {
            effect: Effect.succeed({ recorded, result, encodedResult: result }),
            idempotent: false
          })
          yield* journal.run(claimOf("stopped"), { effect: Effect.interrupt, idempotent: false })
          for (const state of ["denied", "expired", "superseded", "cancelled", "void"] as const) {
            yield* journal.end(claimOf(state), state, `why ${state}`)
          }
        }))
      yield* withJournal(directory, (journal) =>
        Effect.gen(function*() {
          const { entry } = yield* journal.run(ran, mustNotRun)
          assert.strictEqual(entry.state, "done")
          assert.deepStrictEqual(entry.recorded, recorded)
          assert.strictEqual((yield* journal.run(claimOf("stopped"), mustNotRun)).entry.state, "unknown")
          for (const state of ["denied", "expired", "superseded", "cancelled", "void"] as const) {
            const { entry } = yield* journal.run(claimOf(state), { ...mustNotRun, idempotent: true })
            assert.deepStrictEqual([entry.state, entry.reason], [state, `why ${state}`])
          }
        }))
    }))

  for (
    const [how, damage] of [
      ["cut in half", (text: string) => text.slice(0, text.length / 2)],
      ["empty", () => ""],
      ["of another shape", (text: string) => text.replaceAll("denied", "granted")]
    ] as const
  ) {
    test(`L2 At most once: over a record that is ${how} nothing runs, and the error says so`, (directory) =>
      Effect.gen(function*() {
        yield* withJournal(directory, (journal) => journal.end(claimOf("damaged"), "denied", "no"))
        yield* Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const [row] = yield* sql<{ readonly entry: string }>`SELECT entry FROM assent_request`
          yield* sql`UPDATE assent_request SET entry = ${damage(row!.entry)}`
        }).pipe(Effect.provide(Database.clientIn(directory), { local: true }))
        yield* withJournal(directory, (journal) =>
          Effect.gen(function*() {
            for (
              const operation of [
                journal.find(claimOf("damaged")),
                journal.end(claimOf("damaged"), "void", "late"),
                journal.run(claimOf("damaged"), mustNotRun),
                journal.run(claimOf("damaged"), { ...mustNotRun, idempotent: true })
              ]
            ) {
              const error = yield* Effect.flip<unknown, ApprovalError.ApprovalError, never>(operation)
              assert.strictEqual(error._tag, "ApprovalError")
              assert.strictEqual(error.reason._tag, "JournalUnavailable")
              assert.include(error.message, "damaged")
            }
            assert.strictEqual((yield* journal.end(claimOf("well"), "denied", "no")).state, "denied")
          }))
      }))
  }
})

// =============================================================================
// Processes
// =============================================================================

// They wait most of the time, each for processes of its own.
describe.concurrent("ApprovalJournal in a database that processes share", () => {
  const logged = Effect.fnUntraced(function*(log: string) {
    const fs = yield* FileSystem.FileSystem
    return (yield* fs.readFileString(log)).trim().split("\n").map(Number)
  })

  test("L2 At most once: processes that race for one claim run it once, and all get its result", (directory) =>
    Effect.gen(function*() {
      const log = (yield* Path.Path).join(directory, "log")
      const runners = yield* Effect.forEach([1, 2, 3], () => startRunner(directory, log, "race", "5000", "100"))
      yield* Effect.forEach(runners, (runner) => runner.start)
      const entries = yield* Effect.forEach(runners, (runner) => runner.entry, { concurrency: "unbounded" })
      const [pid, ...more] = yield* logged(log)
      assert.deepStrictEqual(more, [])
      for (const entry of entries) {
        assert.strictEqual(entry.state, "done")
        assert.deepStrictEqual({ ...entry.recorded }, { isFailure: false, encodedResult: { pid } })
      }
    }))

  test("L2 At most once: of a process that was killed while it ran, the next says unknown, and runs nothing", (directory) =>
    Effect.gen(function*() {
      const log = (yield* Path.Path).join(directory, "log")
      const killed = yield* startRunner(directory, log, "killed", "50", "60000")
      yield* killed.start
      yield* killed.running
      yield* killed.kill
      const next = yield* startRunner(directory, log, "killed", "50", "0")
      yield* next.start
      const entry = yield* next.entry
      assert.strictEqual(entry.state, "unknown")
      assert.match(entry.reason ?? "", /ended before it could report.*unknown/)
      const third = yield* withJournal(directory, (journal) => journal.run(claimOf("killed"), mustNotRun))
      assert.deepStrictEqual({ ...third.entry }, entry)
      assert.deepStrictEqual(yield* logged(log), [killed.pid])
    }))

  test("L2 At most once: after a process that was killed while it ran, an idempotent call runs again, once", (directory) =>
    Effect.gen(function*() {
      const log = (yield* Path.Path).join(directory, "log")
      const killed = yield* startRunner(directory, log, "killed", "50", "60000", "idempotent")
      yield* killed.start
      yield* killed.running
      yield* killed.kill
      const next = yield* startRunner(directory, log, "killed", "50", "0", "idempotent")
      yield* next.start
      const entry = yield* next.entry
      assert.strictEqual(entry.state, "done")
      assert.deepStrictEqual(entry.recorded?.encodedResult, { pid: next.pid })
      const third = yield* withJournal(
        directory,
        (journal) => journal.run(claimOf("killed"), { ...mustNotRun, idempotent: true })
      )
      assert.deepStrictEqual(third.entry.recorded?.encodedResult, { pid: next.pid })
      assert.deepStrictEqual(yield* logged(log), [killed.pid, next.pid])
    }))

  test("L2 At most once: a claim is waited for while its process lives, longer than six heartbeats", (directory) =>
    Effect.gen(function*() {
      const log = (yield* Path.Path).join(directory, "log")
      const running = yield* startRunner(directory, log, "long", "200", "2000")
      yield* running.start
      yield* running.running
      const settled = yield* withJournal(directory, (journal) => journal.run(claimOf("long"), mustNotRun), 200)
      assert.deepStrictEqual(settled.entry.recorded?.encodedResult, { pid: running.pid })
      assert.deepStrictEqual(yield* logged(log), [running.pid])
    }))
})

interface Runner {
  readonly pid: number
  readonly start: Effect.Effect<void>
  /** Waits until it runs. */
  readonly running: Effect.Effect<unknown>
  /** Waits until it is done, and gives the entry that stands. */
  readonly entry: Effect.Effect<typeof ApprovalJournal.Entry.Type>
  readonly kill: Effect.Effect<void>
}

/** Starts a process that is to run one claim, and waits until its journal is open. */
const startRunner = (...args: ReadonlyArray<string>): Effect.Effect<Runner, never, Scope.Scope> => {
  const said = <A>(process: ChildProcess, isIt: (message: unknown) => message is A) =>
    Effect.callback<A>((resume) => {
      const listen = (message: unknown) => isIt(message) ? done(Effect.succeed(message)) : undefined
      const end = (code: number | null) => done(Effect.die(new Error(`The runner ended with ${code}.`)))
      const done = (result: Effect.Effect<A>) => {
        process.off("message", listen)
        process.off("exit", end)
        resume(result)
      }
      process.on("message", listen)
      process.on("exit", end)
    })
  const exited = (process: ChildProcess) =>
    Effect.callback<void>((resume) => {
      if (process.exitCode !== null || process.signalCode !== null) return resume(Effect.void)
      process.once("exit", () => resume(Effect.void))
      process.kill("SIGKILL")
    })
  const runner = fileURLToPath(new URL("fixtures/journal-runner.ts", import.meta.url))
  return Effect.acquireRelease(
    Effect.sync(() => fork(runner, args, { execPath: process.execPath, execArgv: ["--conditions=@assent/source"] })),
    exited
  ).pipe(
    Effect.tap((process) => said(process, (message) => message === "ready")),
    Effect.map((process) => ({
      pid: process.pid!,
      start: Effect.sync(() => void process.send("go")),
      running: said(process, (message) => message === "running"),
      entry: said(
        process,
        (message): message is typeof ApprovalJournal.Entry.Type => typeof message === "object" && message !== null
      ),
      kill: exited(process)
    }))
  )
}
