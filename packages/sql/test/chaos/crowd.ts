/** Many processes at one file: each approval is sent by two of them, and carried out once. */
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Child from "./process.ts"
import * as World from "./world.ts"

export const race = (processes: number, approvals: number) =>
  Effect.scoped(Effect.gen(function*() {
    const world = yield* World.make
    const each = Math.ceil(approvals / processes)
    const start = (_: unknown, index: number) =>
      Child.start("worker.ts", world.folder, String(index), String(processes), String(each))
    const children = yield* Effect.forEach(Array.from({ length: processes }), start)
    const all = <A>(use: (child: Child.Child) => Effect.Effect<A, Error>) =>
      Effect.forEach(children, use, { concurrency: "unbounded" })
    yield* all(({ said }) => said("asked"))
    const since = performance.now()
    yield* all(({ say }) => say("go"))
    const tries = yield* all(({ said }) => Effect.map(said("done"), Number))
    const took = performance.now() - since
    const problems: Array<string> = []
    for (const { code } of yield* all(({ ended }) => ended)) if (code !== 0) problems.push(`one ended with ${code}`)
    const paid = Fs.readFileSync(Path.join(world.folder, "paid.log"), "utf8").trim().split("\n")
    if (paid.length !== each * processes) problems.push(`${paid.length} were paid, of ${each * processes}`)
    if (new Set(paid).size !== paid.length) problems.push("some were paid twice")
    const database = new DatabaseSync(world.filename)
    const count = (sql: string) => Number(Object.values(database.prepare(sql).get() ?? {})[0])
    const done = count("SELECT count(*) FROM assent_request WHERE state = 'done'")
    if (done !== paid.length) problems.push(`${done} are on record as done`)
    const others = count("SELECT count(*) FROM assent_request WHERE state <> 'done'")
    if (others > 0) problems.push(`${others} are something else`)
    const uneven = count("SELECT count(*) FROM assent_conversation WHERE messages <> 5")
    if (uneven > 0) problems.push(`${uneven} conversations have not their 5 messages`)
    database.close()
    return { problems, took, approvals: paid.length, tries: tries.reduce((sum, one) => sum + one, 0) }
  }))
