/**
 * The proof of what lines do: lines drawn from the tables, run under `strace`. What only reads starts no program, writes
 * nothing and connects to nothing; what writes here writes below the working folder. What is allowed besides is what the
 * table itself names.
 */
import * as Path from "node:path"
import { asksForNames, type Besides } from "../../src/internal/programs/program.ts"
import * as Check from "../../src/internal/world/check.ts"
import * as Refusal from "../../src/internal/world/refusal.ts"
import type { Draw } from "./draw.ts"
import type { Folder } from "./folder.ts"
import { each } from "./run.ts"
import type { Act } from "./trace.ts"
import { trace } from "./trace.ts"
import { type Called, started } from "./words.ts"

export interface Seen {
  readonly name: string
  readonly act: Act
  readonly line: ReadonlyArray<string>
}

export interface Result {
  readonly lines: number
  /** How many lines of each command ended well: a command of which none did is not proved. */
  readonly succeeded: ReadonlyMap<string, number>
  readonly endless: ReadonlyArray<ReadonlyArray<string>>
  /** What no table allows. */
  readonly wrong: ReadonlyArray<Seen>
  /** What a table allows besides, by what it says. */
  readonly besides: ReadonlyMap<string, number>
}

export const effects = async (
  called: ReadonlyArray<Called>,
  options: {
    readonly folder: Folder
    readonly draw: Draw
    readonly lines: number
    readonly onProgress?: () => void
  }
): Promise<Result> => {
  const { draw, folder } = options
  const succeeded = new Map<string, number>(called.map(({ name }) => [name, 0]))
  const besides = new Map<string, number>()
  const endless: Array<ReadonlyArray<string>> = []
  const wrong: Array<Seen> = []
  const drawn = Array.from({ length: options.lines }, (_, index): Drawn => {
    const one = called[index % called.length]!
    return { called: one, line: covered(one, draw), file: Path.join(folder.base, `trace-${index}`) }
  })
  const carryOut = async ({ called: one, file, line }: Drawn) => {
    const { command, name, program } = one
    if (command.does !== "reads") folder.reset()
    const { acts, ran } = await trace(started(one, line), { cwd: folder.work, environment: folder.environment, file })
    if (ran.status === undefined) endless.push(line)
    if (ran.status === 0) succeeded.set(name, succeeded.get(name)! + 1)
    for (const act of acts) {
      const allowed = besidesOf(one).find((besides) => allows(besides, act))
      if (allowed !== undefined) {
        const key = `${program.program}: ${allowed.says}`
        besides.set(key, (besides.get(key) ?? 0) + 1)
      } else if (!(command.does === "writes here" && act.does === "writes" && !Path.isAbsolute(act.what))) {
        // A link that the line itself names is followed, or one that is found: the tables cannot know what it is.
        const follows = act.does === "reads outside" && line.some((word) => word.includes("link") || word === "-exec")
        if (!follows) wrong.push({ name, act, line })
      }
    }
    options.onProgress?.()
  }
  await each(drawn.filter(({ called }) => called.command.does === "reads"), 3, carryOut)
  await each(drawn.filter(({ called }) => called.command.does !== "reads"), 1, carryOut)
  folder.reset()
  return { lines: drawn.length, succeeded, endless, wrong, besides }
}

/** The first line drawn that is covered: a value may look like an option, which is not. */
const covered = (called: Called, draw: Draw): ReadonlyArray<string> => {
  for (let drawn = 0; drawn < 100; drawn++) {
    const line = draw(called)
    if (!Refusal.isRefusal(Check.check(line))) return line
  }
  throw new Error(`Of a hundred lines of ${called.name} none is covered`)
}

interface Drawn {
  readonly called: Called
  readonly line: ReadonlyArray<string>
  readonly file: string
}

/** A builtin is run by a shell, which asks where its home is. */
const besidesOf = ({ command, program }: Called): ReadonlyArray<Besides> => [
  ...command.besides ?? [],
  ...program.proved.includes("POSIX") ? asksForNames : []
]

const allows = (besides: Besides, { does, what }: Act): boolean =>
  (does === "runs" && besides.runs?.test(what) === true) ||
  (does === "writes" && besides.writes?.test(what) === true) ||
  (does === "connects" && besides.connects?.test(what) === true)
