/**
 * Tables that are wrong in one place: a row is gone, stands one lower, keeps silent, says something else, or does not look
 * at one of its facts. Each has to break a law, or to say the same as the right one everywhere.
 */
import type { Decision, EndWhy, OpenWhy, RunAs, TellWhy } from "../../src/internal/decide/decision.ts"
import * as Lists from "../../src/internal/decide/standing.ts"
import type { Standing } from "../../src/internal/decide/standing.ts"
import type { Row } from "../../src/internal/decide/table.ts"
import type { Configuration } from "./configurations.ts"
import { type Change, StandingOverlay } from "./overlay.ts"
import { type Breach, type Decide, type Difference, isSame, keyOf, type Law, type Said, walk } from "./walk.ts"

export type Table = ReadonlyArray<Row>

export interface Mutant {
  readonly row: string
  readonly change: string
  readonly table: Table
  /** The walk on which it is known to say something else, and the class in which it did first. */
  readonly where?: Configuration
  readonly from?: Int8Array
}

export type DecideBy = (table: Table) => Decide

const withRow = (table: Table, index: number, change: string, says: Row["says"]): Mutant => ({
  row: table[index]!.name,
  change,
  table: table.with(index, { ...table[index]!, says })
})

// =============================================================================
// Rows
// =============================================================================

export const dropped = (table: Table): ReadonlyArray<Mutant> =>
  table.map(({ name }, index) => ({ row: name, change: "is gone", table: table.toSpliced(index, 1) }))

export const lowered = (table: Table): ReadonlyArray<Mutant> =>
  table.slice(0, -1).map((row, index) => ({
    row: row.name,
    change: `stands below "${table[index + 1]!.name}"`,
    table: table.with(index, table[index + 1]!).with(index + 1, row)
  }))

// =============================================================================
// What a row says
// =============================================================================

// Complete, or it does not compile.
const keysOf = <Key extends string>(keys: Readonly<Record<Key, true>>): ReadonlyArray<Key> =>
  Object.keys(keys) as Array<Key>

const tellWhys = keysOf<TellWhy>({
  cut: true,
  unknownTool: true,
  unfit: true,
  lost: true,
  forged: true,
  denied: true,
  noToolkit: true,
  blocked: true,
  remembered: true,
  unfinished: true,
  recorded: true,
  gone: true,
  over: true
})

const openWhys = keysOf<OpenWhy>({
  asked: true,
  held: true,
  untrustedEdit: true,
  unfitEdit: true,
  noToolkit: true,
  invalidAnswer: true,
  notAnApprover: true,
  othersNeeded: true
})

const endWhys = keysOf<EndWhy>({
  said: true,
  blocked: true,
  editBlocked: true,
  remembered: true,
  editDenied: true,
  expired: true,
  superseded: true,
  drifted: true,
  shownChanged: true,
  undeliverable: true,
  unfitParameters: true,
  unfitState: true
})

const runsAs = keysOf<RunAs>({ free: true, claim: true, join: true, repeat: true, resume: true })

const placeOf = (said: Said): number => "at" in said ? Math.max(0, said.at) : 0

// What could be said in its place, in a few words and as it would be said.
const alternatives = (said: Said): ReadonlyArray<readonly [change: string, other: (said: Said) => Said]> => {
  const open = ["Open asked", (said: Said): Said => ({ _tag: "Open", at: placeOf(said), why: "asked" })] as const
  const tell = ["Tell lost", (said: Said): Said => ({ _tag: "Tell", at: placeOf(said), why: "lost" })] as const
  const leave = ["Leave", (): Said => ({ _tag: "Leave" })] as const
  const keep = ["Keep", (said: Said): Said => ({ _tag: "Keep", at: placeOf(said) })] as const
  const run = ["Run claim", (said: Said): Said => ({ _tag: "Run", at: placeOf(said), as: "claim", by: 0 })] as const
  const elsewhere = [
    "another request",
    (said: Said): Said => ({ ...said, at: placeOf(said) + 1 }) as Said
  ] as const
  const by = [
    "another answer",
    (said: Said): Said => ({ ...said, by: "by" in said ? said.by + 1 : 0 }) as Said
  ] as const
  switch (said._tag) {
    case "Tell":
      return [
        ...tellWhys.map((why) =>
          [`Tell ${why}`, (said: Said): Said => ({ ...said as Decision, why }) as Said] as const
        ),
        open,
        leave,
        elsewhere
      ]
    case "Open":
      return [
        ...openWhys.map((why) =>
          [`Open ${why}`, (said: Said): Said => ({ ...said as Decision, why }) as Said] as const
        ),
        tell,
        keep,
        run,
        elsewhere
      ]
    case "End":
      return [
        ...endWhys.map((why) => [`End for ${why}`, (said: Said): Said => ({ ...said, why }) as Said] as const),
        ...Lists.endings.map((state) =>
          [`End as ${state}`, (said: Said): Said => ({ ...said, state }) as Said] as const
        ),
        open,
        tell,
        run,
        elsewhere,
        by
      ]
    case "Add":
      return [open, run, elsewhere, by]
    case "Run":
      return [
        ...runsAs.map((as) => [`Run ${as}`, (said: Said): Said => ({ ...said, as }) as Said] as const),
        open,
        tell,
        elsewhere,
        by
      ]
    case "Need":
      return [open, tell, ...("at" in said ? [elsewhere] : []), ...("by" in said ? [by] : [])]
    default:
      return [open, tell, leave, keep, run]
  }
}

const altered = (table: Table, watched: Watched): ReadonlyArray<Mutant> =>
  table.flatMap((row, index) =>
    Array.from(watched[index]!.spoken).flatMap(([key, { configuration, from, said: example }]) => {
      const replacing = (change: string, other: (said: Said) => Said | undefined): Mutant => ({
        ...withRow(table, index, change, (standing) => {
          const said = row.says(standing)
          return said !== undefined && keyOf(said) === key ? other(said) : said
        }),
        where: configuration,
        from
      })
      return [
        replacing(`is silent instead of ${key}`, () => undefined),
        ...alternatives(example)
          .filter(([, other]) => !isSame(other(example), example))
          .map(([change, other]) => replacing(`says ${change} instead of ${key}`, other))
      ]
    })
  )

// =============================================================================
// What a row looks at
// =============================================================================

const bool = [false, true] as const

const ofCall: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  way: Lists.ways,
  questions: ["none", "forged"],
  denied: bool,
  tool: Lists.tools,
  powers: Lists.powers,
  controlled: bool,
  trusted: bool,
  onInvalid: Lists.onInvalids,
  onNewMessage: Lists.onNewMessages,
  verdict: [undefined, ...Lists.verdicts],
  recall: [undefined, ...Lists.recalls],
  finish: [undefined, ...Lists.finishes],
  reply: [undefined, ...Lists.replies],
  wait: [undefined, "gone", "over"]
}

const ofWait: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  for: Lists.waitsFor,
  given: bool,
  expiry: Lists.waitExpiries,
  answer: [undefined, ...Lists.waitAnswers],
  state: [undefined, ...Lists.waitStates]
}

const ofQuestion: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  answers: [[], [Lists.no], [Lists.yes]],
  suspension: bool,
  own: [undefined, ...bool],
  fate: [undefined, Lists.pending, ...Lists.decidedStates.map((state) => ({ state, written: false }))],
  claimCounts: [undefined, ...bool],
  expired: bool,
  passedOver: bool,
  shown: [undefined, ...Lists.shows],
  named: bool,
  drifted: bool
}

const ofEdit: Readonly<Record<string, ReadonlyArray<unknown>>> = {
  who: [undefined, ...Lists.whos],
  leads: [undefined, ...Lists.leads],
  verdict: [undefined, ...Lists.verdicts],
  deniedBefore: [undefined, ...bool]
}

const changesOf = (prefix: string, lists: Readonly<Record<string, ReadonlyArray<unknown>>>): ReadonlyArray<Change> =>
  Object.entries(lists).flatMap(([name, values]) => values.map((value) => ({ field: `${prefix}${name}`, value })))

const changes: ReadonlyArray<Change> = [
  ...changesOf("", ofCall),
  ...changesOf("wait's ", ofWait),
  ...changesOf("question's ", ofQuestion),
  ...changesOf("edit's ", ofEdit)
]

const wordOf = (value: unknown): string => value === undefined ? "not known" : JSON.stringify(value)

const blind = (table: Table, index: number, change: Change): Mutant => {
  const { says } = table[index]!
  const overlay = new StandingOverlay(change)
  return withRow(
    table,
    index,
    `takes the ${change.field} for ${wordOf(change.value)}`,
    (standing) => says(overlay.on(standing))
  )
}

// One of so many standings is enough to tell them apart, and no row is always passed over.
const stride = 3

// Those that say something else than their row does, anywhere that row is read, with the walk on which they do. What only
// they read has any value there.
const differing = (
  table: Table,
  candidates: ReadonlyArray<ReadonlyArray<Mutant>>,
  configurations: ReadonlyArray<Configuration>,
  decideBy: DecideBy
): ReadonlyArray<ReadonlyArray<Mutant>> => {
  const found: ReadonlyArray<Array<Mutant>> = table.map(() => [])
  const same = candidates.map((mutants) => [...mutants])
  let calls = 0
  for (const configuration of configurations) {
    const { world } = configuration
    const rows = table.map((row, index): Row => ({
      ...row,
      says: (standing) => {
        const said = row.says(standing)
        const left = same[index]!
        if (left.length === 0 || ++calls % stride !== 0) return said
        const from = world.place
        world.glance(() => {
          for (let at = left.length - 1; at >= 0; at--) {
            const mutant = left[at]!
            if (isAlike(said, saidBy(mutant.table[index]!, standing))) continue
            found[index]!.push({ ...mutant, where: configuration, from })
            left.splice(at, 1)
          }
        })
        return said
      }
    }))
    walk(configuration, { decide: decideBy(rows), laws: [] })
  }
  return found
}

const isAlike = (left: Said | undefined, right: Said | "thrown" | undefined): boolean =>
  left === right ||
  (left !== undefined && right !== undefined && right !== "thrown" && isSame(left, right))

const saidBy = (row: Row, standing: Standing): Said | "thrown" | undefined => {
  try {
    return row.says(standing)
  } catch {
    return "thrown"
  }
}

// =============================================================================
// All of them
// =============================================================================

/** What each row says, one of each kind with the first walk on which it does, and which fields it looks at. */
type Watched = ReadonlyArray<{
  readonly spoken: Map<string, { readonly said: Said; readonly configuration: Configuration; readonly from: Int8Array }>
  readonly seen: Set<string>
}>

const watch = (table: Table, configurations: ReadonlyArray<Configuration>, decideBy: DecideBy): Watched => {
  const watched: Watched = table.map(() => ({ spoken: new Map(), seen: new Set() }))
  for (const configuration of configurations) {
    const rows = table.map((row, index): Row => ({
      ...row,
      says: (standing) => {
        const { seen, spoken } = watched[index]!
        const said = row.says(watchedStanding(standing, (field) => void seen.add(field)))
        if (said !== undefined && !spoken.has(keyOf(said))) {
          spoken.set(keyOf(said), { said, configuration, from: configuration.world.place })
        }
        return said
      }
    }))
    walk(configuration, { decide: decideBy(rows), laws: [] })
  }
  return watched
}

type See = (field: string) => void

const watching = <A extends object>(
  of: A,
  prefix: string,
  see: See,
  inside: (name: string | symbol, is: unknown) => unknown = (_, is) => is
): A =>
  new Proxy(of, {
    get: (of, name) => {
      see(`${prefix}${String(name)}`)
      return inside(name, Reflect.get(of, name))
    }
  })

const watchedStanding = (standing: Standing, see: See): Standing =>
  watching(standing, "", see, (name, is) =>
    name === "questions" && typeof is !== "string"
      ? (is as ReadonlyArray<Lists.Question>).map((question) => watchedQuestion(question, see))
      : name === "wait" && typeof is === "object" && is !== null
      ? watching(is, "wait's ", see)
      : is)

const watchedQuestion = (question: Lists.Question, see: See): Lists.Question =>
  watching(question, "question's ", see, (name, is) =>
    name === "answers"
      ? (is as ReadonlyArray<Lists.Answer>).map((answer) => watching(answer, "edit's ", see))
      : is)

/** Every table that is wrong in one place, and says something else somewhere for it. */
export const mutants = (
  table: Table,
  configurations: ReadonlyArray<Configuration>,
  decideBy: DecideBy
): { readonly mutants: ReadonlyArray<Mutant>; readonly alike: ReadonlyArray<Mutant> } => {
  const watched = watch(table, configurations, decideBy)
  const found = [...dropped(table), ...lowered(table), ...altered(table, watched)]
  const alike: Array<Mutant> = []
  const candidates = watched.map(({ seen }, index) =>
    changes.filter(({ field }) => seen.has(field)).map((change) => blind(table, index, change))
  )
  for (const [index, differ] of differing(table, candidates, configurations, decideBy).entries()) {
    found.push(...differ)
    alike.push(...candidates[index]!.filter(({ change }) => !differ.some((mutant) => mutant.change === change)))
  }
  return { mutants: found, alike }
}

/** What became of a mutant: it breaks a law, or it says the same everywhere, or neither. */
export interface Judged {
  readonly mutant: Mutant
  readonly breach: Breach | undefined
  readonly differs: Difference
}

export const judge = (
  mutant: Mutant,
  right: Table,
  configurations: ReadonlyArray<Configuration>,
  laws: ReadonlyArray<Law>,
  decideBy: DecideBy
): Judged => {
  const decide = decideBy(mutant.table)
  const like = decideBy(right)
  const { from, where } = mutant
  const inOrder = where === undefined ? configurations : [where, ...configurations.filter((one) => one !== where)]
  let differs: Difference = "nowhere"
  // Most are noticed soon on some walk, and late on each of the others. What decides alike is walked whole where it is known
  // to say something else.
  const first = inOrder.slice(0, 1)
  const passes = [[100, first, from], [100, inOrder], [2_000, first, from], [2_000, inOrder], [Infinity, first], [
    Infinity,
    inOrder
  ]] as const
  for (const [at, [most, walked, begin]] of passes.entries()) {
    if (at === passes.length - 1 && where !== undefined && differs !== "decides") break
    for (const configuration of walked) {
      const walked = walk(configuration, { decide, from: begin, laws, like, most, untilBreach: true })
      if (differs !== "decides" && walked.differs !== "nowhere") differs = walked.differs
      const [breach] = walked.breaches
      if (breach !== undefined) return { mutant, breach, differs }
    }
  }
  return { mutant, breach: undefined, differs }
}
