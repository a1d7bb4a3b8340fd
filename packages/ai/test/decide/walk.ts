/** Every standing of a configuration, by classes, each led to its end as the engine does it, with laws looking on. */
import type { Decision, Fact, Need, Write } from "../../src/internal/decide/decision.ts"
import type { Standing } from "../../src/internal/decide/standing.ts"
import type { Configuration } from "./configurations.ts"
import type { Handover } from "./facts.ts"
import { Truth } from "./truth.ts"

export type Said = Decision | Need | Write

export type Decide = (standing: Standing) => Said

/** What was said of a call, where more was said than that a fact is missing. */
export interface Moment {
  /** What is true, known or not. */
  readonly call: Standing
  readonly truth: Truth
  readonly said: Said
  /** What would have been said, had everything been known from the start. */
  readonly knowingAll: Said
  /** Every fact that was asked for so far. */
  readonly asked: ReadonlySet<Fact>
  readonly asks: ReadonlyArray<Need>
  /** What was written so far. */
  readonly writes: ReadonlyArray<Write>
  /** Where a new standing begins, by what was gathered last. */
  readonly handover: Handover | undefined
}

export interface Law {
  readonly name: string
  readonly title: string
  readonly holds: (moment: Moment) => boolean
}

export interface Breach {
  readonly law: Law
  readonly configuration: string
  readonly world: ReadonlyArray<readonly [name: string, value: unknown]>
  readonly asked: ReadonlyArray<Need>
  readonly said: Said
}

export interface Walked {
  readonly configuration: string
  readonly classes: number
  /** Of every class together. */
  readonly standings: bigint
  /** As many as there are. */
  readonly size: bigint
  /** It came to the last one. */
  readonly whole: boolean
  readonly decisions: ReadonlyMap<string, number>
  readonly breaches: ReadonlyArray<Breach>
  /** In what it comes to another table says something else: in what it asks for, or even in what it decides. */
  readonly differs: Difference
}

/** What is different about a table beside another one: what it decides, or what it asks for on the way to that. */
export type Difference = "nowhere" | "asks" | "decides"

export interface Options {
  readonly decide: Decide
  readonly laws: ReadonlyArray<Law>
  /** A table whose standings keep every law: where both say the same, no law is asked. */
  readonly like?: Decide
  /** Ends with the first breach. */
  readonly untilBreach?: boolean
  /** Begins with the class of this place. */
  readonly from?: Int8Array | undefined
  /** Ends after so many classes. */
  readonly most?: number
  /** Asked now and then: ends as soon as it is true. */
  readonly isOver?: () => boolean
}

/** More steps than there are facts. */
const maxSteps = 48

const endless: Law = { name: "ends", title: "it ends", holds: () => false }

const thrown: Law = { name: "throws", title: "nothing is thrown", holds: () => false }

export const walk = ({ call, name, world }: Configuration, options: Options): Walked => {
  const { decide, from, laws, isOver, like, most = Infinity, untilBreach = false } = options
  const decisions = new Map<string, number>()
  const shapes = new Map<number, number>()
  const breaches = new Map<Law, Breach>()
  let classes = 0
  let differs: Difference = "nowhere"
  let isLast = false

  const lead = (): void => {
    const asked = new Set<Fact>()
    const asks: Array<Need> = []
    const writes: Array<Write> = []
    let hasDiffered = like === undefined
    const breach = (law: Law, said: Said): void => {
      if (!breaches.has(law)) {
        breaches.set(law, { law, configuration: name, world: world.seen(), asked: [...asks], said })
      }
    }
    const look = (said: Said, handover: Handover | undefined): void => {
      if (!hasDiffered) return
      const knowingAll = said._tag === "Need" ? said : decide(call.truth)
      const truth = new Truth(call.truth)
      const moment: Moment = { call: call.truth, truth, said, knowingAll, asked, asks, writes, handover }
      for (const law of laws) if (!law.holds(moment)) breach(law, said)
    }
    for (let step = 0; step < maxSteps; step++) {
      const said = decide(call.known)
      if (like !== undefined && !isSame(said, like(call.known))) {
        hasDiffered = true
        if (said._tag !== "Need" && !isSame(said, like(call.truth))) differs = "decides"
        else if (differs === "nowhere") differs = "asks"
      }
      switch (said._tag) {
        case "Need": {
          asks.push(said)
          asked.add(said.fact)
          const handover = call.gather(said)
          if (handover !== undefined) {
            count(`${handover} from here on`)
            return look(said, handover)
          }
          break
        }
        case "Seal":
          count(keyOf(said))
          look(said, undefined)
          writes.push(said)
          call.seal()
          break
        case "Add":
          count(keyOf(said))
          // What its answers are worth is found out anew.
          return look(said, "added")
        case "End":
          count(keyOf(said))
          look(said, undefined)
          writes.push(said)
          call.end(said.at, said.state)
          break
        default:
          count(keyOf(said))
          return look(said, undefined)
      }
    }
    breach(endless, decide(call.known))
  }

  const count = (key: string): void => void decisions.set(key, (decisions.get(key) ?? 0) + 1)

  world.restart(from)
  while (true) {
    call.reset()
    try {
      lead()
    } catch {
      breaches.set(thrown, {
        law: thrown,
        configuration: name,
        world: world.seen(),
        asked: [],
        said: { _tag: "Leave" }
      })
    }
    classes++
    shapes.set(world.shape, (shapes.get(world.shape) ?? 0) + 1)
    if (!world.next()) {
      isLast = true
      break
    }
    if ((untilBreach && breaches.size > 0) || classes >= most || (classes % 1_000 === 0 && isOver?.() === true)) break
  }
  let standings = 0n
  for (const [shape, count] of shapes) standings += world.weight(shape) * BigInt(count)
  return {
    configuration: name,
    classes,
    standings,
    size: world.size,
    whole: isLast,
    decisions,
    breaches: [...breaches.values()],
    differs
  }
}

/** What kind of decision it is. */
export const keyOf = (said: Said): string => {
  switch (said._tag) {
    case "Need":
      return `Need ${said.fact}`
    case "Run":
      return `Run ${said.as}`
    case "End":
      return `End ${said.state}, ${said.why}`
    case "Tell":
    case "Open":
    case "Fail":
      return `${said._tag} ${said.why}`
    default:
      return said._tag
  }
}

/** Whether both say the same of the same question, by the same answer. */
export const isSame = (left: Said, right: Said): boolean =>
  left === right ||
  (keyOf(left) === keyOf(right) && placeOf(left, "at") === placeOf(right, "at") &&
    placeOf(left, "by") === placeOf(right, "by"))

const placeOf = (said: Said, place: "at" | "by"): number | undefined =>
  place in said ? (said as { readonly at?: number; readonly by?: number })[place] : undefined
