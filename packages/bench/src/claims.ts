/**
 * What a claim and its record cost on SQLite, each on the disk, beside the store on files that was there before, in a
 * checkout of that commit, and beside two bare transactions of `node:sqlite`. All in turn, in one process.
 *
 * git worktree add --detach /tmp/before f103e71 && cp -al node_modules /tmp/before/
 * node --conditions=@assent/source packages/bench/src/claims.ts --before /tmp/before
 */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  options: {
    before: { type: "string" },
    blocks: { type: "string", default: "6" },
    pairs: { type: "string", default: "80" },
    warm: { type: "string", default: "200" }
  }
})

/** Does so many pairs, one after the other; the milliseconds of one. */
type Contestant = (count: number) => Promise<number>

const place = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-claims-"))

/** The journal of a checkout, with the modules that are there: so nothing of it has a type here. */
const checkout = async (root: string): Promise<Contestant> => {
  const load = (path: string) => import(pathToFileURL(Path.resolve(root, path)).href)
  const [{ ApprovalJournal }, Effect, Layer, Scope, Context] = await Promise.all([
    load("packages/ai/src/index.ts"),
    ...["Effect", "Layer", "Scope", "Context"].map((name) => load(`node_modules/effect/dist/${name}.js`))
  ])
  const directory = Fs.mkdtempSync(Path.join(place, "store-"))
  const hasFiles = ApprovalJournal.layerFileSystem !== undefined
  const layer = hasFiles
    ? Layer.provide(
      ApprovalJournal.layerFileSystem({ directory }),
      (await load("node_modules/@effect/platform-node/dist/index.js")).NodeServices.layer
    )
    : (await load("packages/sql/src/index.ts")).SqlApproval.layer({ filename: Path.join(directory, "kept.db") })
  const context = await Effect.runPromise(Layer.buildWithScope(layer, Scope.makeUnsafe()))
  const journal = Context.get(context, ApprovalJournal.ApprovalJournal)
  const result = { deleted: true }
  const recorded = new ApprovalJournal.Recorded({ isFailure: false, encodedResult: result })
  const run = { effect: Effect.succeed({ recorded, result, encodedResult: result }), idempotent: false }
  let last = 0
  return async (count) => {
    const begun = performance.now()
    await Effect.runPromise(Effect.gen(function*() {
      for (let i = 0; i < count; i++) {
        const which = last++
        const { entry } = yield* journal.run({
          approvalId: `apr1.key.${which}`,
          nonce: `nonce${which}`,
          expiresAt: Date.now() + 86_400_000,
          toolName: "DeleteFile",
          toolCallId: `call-${which}`
        }, run)
        if (entry.state !== "done") throw new Error(`It ended ${entry.state}.`)
      }
    }))
    return (performance.now() - begun) / count
  }
}

const bare = (): Contestant => {
  const database = new DatabaseSync(Path.join(place, "bare.db"))
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
  database.exec("CREATE TABLE request (nonce TEXT PRIMARY KEY, state TEXT NOT NULL, entry TEXT NOT NULL) STRICT")
  const insert = database.prepare("INSERT INTO request VALUES (?, 'running', ?)")
  const update = database.prepare("UPDATE request SET state = 'done', entry = ? WHERE nonce = ? AND state = 'running'")
  const entry = JSON.stringify({ state: "running", toolName: "DeleteFile", toolCallId: "call-1", at: Date.now() })
  let last = 0
  return async (count) => {
    const begun = performance.now()
    for (let i = 0; i < count; i++) {
      const nonce = `nonce${last++}`
      insert.run(nonce, entry)
      update.run(entry, nonce)
    }
    return (performance.now() - begun) / count
  }
}

const ranked = (times: ReadonlyArray<number>, part: number): number =>
  times.toSorted((a, b) => a - b)[Math.trunc(times.length * part)]!

const contestants: ReadonlyArray<readonly [name: string, run: Contestant]> = [
  ...(values.before === undefined ? [] : [["files", await checkout(values.before)] as const]),
  ["SQLite", await checkout(Path.resolve(import.meta.dirname, "../../.."))],
  ["two bare transactions", bare()]
]
const times = new Map(contestants.map(([name]) => [name, new Array<number>()]))
for (const [, run] of contestants) await run(Number(values.warm))
for (let block = 0; block < Number(values.blocks); block++) {
  for (const [name, run] of contestants) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    await run(10)
    for (let i = 0; i < Number(values.pairs); i++) times.get(name)!.push(await run(1))
  }
}
for (const [what, part] of [["median", 0.5], ["quietest tenth", 0.1]] as const) {
  const ours = ranked(times.get("SQLite")!, part)
  const figures = Array.from(times, ([name, one]) => {
    const figure = ranked(one, part)
    return `${name} ${figure.toFixed(2)} ms${name === "SQLite" ? "" : ` (SQLite is ${(ours / figure).toFixed(3)}x)`}`
  })
  console.log(`${what}: ${figures.join(", ")}`)
}
Fs.rmSync(place, { recursive: true, force: true })
process.exit(0)
