/** Many processes at one database: each approval is sent by two of them, and carried out once, whatever happens meanwhile. */
import { NodeServices } from "@effect/platform-node"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, FileSystem, Redacted } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Child from "../chaos/process.ts"
import { makeFolder } from "../database.ts"

const program = Path.join(import.meta.dirname, "payer.ts")

export interface Options {
  /** Of the server, or `undefined` for a file of SQLite. */
  readonly url: string | undefined
  /** Of whoever looks afterwards, where the processes reach the server by another way. */
  readonly direct?: string | undefined
  readonly prefix: string
  readonly processes: number
  readonly approvals: number
  /** By how many seconds the clocks of the processes are apart. */
  readonly apart?: number | undefined
  /** What happens while they approve. */
  readonly meanwhile?: Effect.Effect<void> | undefined
  /** By which commands processes are started in turn, and the URL of each; by itself all are on this machine. */
  readonly machines?: ReadonlyArray<{ readonly by: ReadonlyArray<string>; readonly url: string }> | undefined
  /** Where their files are; by itself in memory, where there is such a place. */
  readonly directory?: string | undefined
  /** Whether a run may have begun of which nobody knows how it has ended. */
  readonly mayBeUnknown?: boolean | undefined
}

const linesOf = (folder: string, file: string): ReadonlyArray<string> => {
  const path = Path.join(folder, file)
  return Fs.existsSync(path) ? Fs.readFileSync(path, "utf8").split("\n").slice(0, -1) : []
}

interface States {
  readonly states: ReadonlyMap<string, string>
  /** How many conversations have not as many messages as their rows say. */
  readonly uneven: number
  /** How many are not whole: what was said, the call, its answer, its result and the last words. Who stood still has more. */
  readonly unfinished: number
}

type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>

const look = (rows: (sql: string) => Effect.Effect<Rows, unknown>, prefix: string): Effect.Effect<States, unknown> =>
  Effect.gen(function*() {
    const requests = yield* rows(`SELECT c.name AS bill, r.state AS state FROM ${prefix}request r
      JOIN ${prefix}conversation c ON c.id = r.conversation WHERE r.kind = 'approval'`)
    const uneven = yield* rows(`SELECT c.id FROM ${prefix}conversation c WHERE c.messages <>
      (SELECT count(*) FROM ${prefix}message m WHERE m.conversation = c.id)`)
    const unfinished = yield* rows(`SELECT id FROM ${prefix}conversation WHERE messages < 5`)
    return {
      states: new Map(requests.map(({ bill, state }) => [String(bill), String(state)])),
      uneven: uneven.length,
      unfinished: unfinished.length
    }
  })

const lookAt = ({ direct, prefix, url }: Options, filename: string): Effect.Effect<States, unknown> => {
  if (url === undefined) {
    const database = new DatabaseSync(filename)
    const rows = (sql: string) => Effect.sync(() => database.prepare(sql).all() as Rows)
    return Effect.ensuring(look(rows, prefix), Effect.sync(() => database.close()))
  }
  return Effect.scoped(Effect.flatMap(
    Effect.provide(PgClient.make({ url: Redacted.make(direct ?? url) }), Reactivity.layer),
    (sql) => look((text) => sql.unsafe<Record<string, unknown>>(text), prefix)
  ))
}

/** What is wrong, how long it took to approve them, and how often something was tried again. */
export const race = (options: Options) =>
  Effect.scoped(Effect.gen(function*() {
    const { apart = 0, approvals, mayBeUnknown = false, meanwhile = Effect.void, prefix, processes } = options
    const { directory } = options
    const folder = yield* directory === undefined
      ? makeFolder("assent-crowd-")
      : Effect.flatMap(
        FileSystem.FileSystem,
        (fs) => fs.makeTempDirectoryScoped({ directory, prefix: "assent-crowd-" })
      )
    const filename = Path.join(folder, "approvals.db")
    const each = Math.ceil(approvals / processes)
    const machines = options.machines ?? [{ by: [], url: options.url ?? filename }]
    const children = yield* Effect.forEach(Array.from({ length: processes }), (_, index) => {
      const { by, url } = machines[index % machines.length]!
      return Child.startBy(
        by,
        program,
        ...[folder, url, prefix, index, processes, each, index * apart].map(String)
      )
    })
    const all = <A>(use: (child: Child.Child) => Effect.Effect<A, Error>) =>
      Effect.forEach(children, use, { concurrency: "unbounded" })
    yield* all(({ said }) => said("asked"))
    const since = performance.now()
    yield* all(({ say }) => say("go"))
    const [tries] = yield* Effect.all(
      [all(({ said }) => Effect.map(said("done"), Number)), meanwhile],
      { concurrency: "unbounded" }
    )
    const took = performance.now() - since
    const problems: Array<string> = []
    for (const { code } of yield* all(({ ended }) => ended)) if (code !== 0) problems.push(`one ended with ${code}`)
    const asked = linesOf(folder, "asked.log")
    const paid = linesOf(folder, "paid.log")
    const told = new Set(linesOf(folder, "told.log"))
    const { states, uneven, unfinished } = yield* lookAt(options, filename)
    if (asked.length !== each * processes) problems.push(`${asked.length} were asked, of ${each * processes}`)
    if (new Set(paid).size !== paid.length) problems.push("some were paid twice")
    if (!mayBeUnknown && paid.length !== asked.length) problems.push(`${paid.length} were paid, of ${asked.length}`)
    if (uneven > 0) problems.push(`${uneven} conversations have not the messages that they say`)
    if (!mayBeUnknown && unfinished > 0) problems.push(`${unfinished} conversations have not their 5 messages`)
    const wasPaid = new Set(paid)
    for (const bill of asked) {
      const state = states.get(bill)
      if (state === undefined) problems.push(`${bill} was asked, and is lost`)
      else if (state !== "done" && !(mayBeUnknown && state === "unknown")) problems.push(`${bill} is ${state}`)
      if (state === "done" && !wasPaid.has(bill)) problems.push(`${bill} is done, and was not paid`)
      if (told.has(bill) && !wasPaid.has(bill)) problems.push(`${bill} was told to be paid, and was not`)
    }
    return {
      problems,
      took,
      approvals: paid.length,
      unknown: [...states.values()].filter((state) => state === "unknown").length,
      tries: tries.reduce((sum, one) => sum + one, 0)
    }
  })).pipe(Effect.provide(NodeServices.layer))
