/**
 * Levels inside one another, and the table of decisions behind them: what becomes of a call in every cell, and the laws of
 * it. The laws know no fold: they look at what each level says, what came of the call, and what each alone comes to.
 */
import { Effect } from "effect"
import { Approval, ApprovalController, ApprovalPolicy } from "../../src/index.ts"
import type { Standing } from "../../src/internal/decide/standing.ts"
import * as Standings from "../../src/internal/decide/standing.ts"
import * as File from "../../src/internal/gather/file.ts"
import { factOf } from "../../src/internal/gather/tools.ts"
import * as Verdict from "../../src/internal/gather/verdict.ts"
import type { Fold } from "./folds.ts"
import * as N from "./nestings.ts"

// =============================================================================
// What becomes of a call
// =============================================================================

/** `open`: somebody is to be asked and nobody has answered. */
export type End = "ran" | "open" | "refused"

export interface Outcome {
  readonly end: End
  /** At which places people were asked, in order. */
  readonly asked: ReadonlyArray<number>
  readonly verdict: Standings.Verdict
}

export interface Cell {
  readonly nesting: string
  readonly gate: N.Gate
  /** From the inside to the outside. */
  readonly levels: ReadonlyArray<N.Level>
}

const request = new Approval.ApprovalRequest({
  approvalId: "one",
  toolCallId: "one",
  toolName: "Target",
  params: {},
  description: "Target()",
  interaction: "approval",
  providerExecuted: false
})

/** Gathers what the table asks for, as the loop does. */
const lead = (
  fold: Fold,
  begin: Pick<Standing, "way" | "tool">,
  verdict: Standings.Verdict,
  controller: ApprovalController.Service
): End => {
  let call: Standing = {
    questions: "none",
    denied: false,
    powers: "asks",
    controlled: controller.ask !== undefined,
    trusted: false,
    onInvalid: "result",
    onNewMessage: "supersede",
    verdict: undefined,
    recall: undefined,
    finish: undefined,
    reply: undefined,
    wait: undefined,
    ...begin
  }
  for (let step = 0; step < 20; step++) {
    const said = fold.decide(call)
    switch (said._tag) {
      case "Run":
        return "ran"
      case "Open":
        return "open"
      case "Tell":
      case "End":
        return "refused"
      case "Seal":
        call = { ...call, questions: [File.question({})] }
        break
      case "Need":
        call = { ...call, ...gather(call, said.fact, verdict, controller) }
        break
      default:
        throw new Error(`${said._tag} is nothing that can become of it`)
    }
  }
  throw new Error("it does not end")
}

const gather = (
  call: Standing,
  fact: string,
  verdict: Standings.Verdict,
  controller: ApprovalController.Service
): Partial<Standing> => {
  switch (fact) {
    case "verdict":
      return { verdict }
    case "recall":
      return { recall: "nothing" }
    case "finish":
      return { finish: "complete" }
    case "reply": {
      const reply = Effect.runSync(Effect.orDie(controller.ask!(request)))
      if (reply === undefined) return { reply: "none" }
      const isDenied = reply._tag === "Denied"
      const answers = [isDenied ? Standings.no : Standings.yes]
      return {
        reply: "given",
        denied: isDenied,
        trusted: true,
        verdict: undefined,
        questions: [File.question({ answers })]
      }
    }
    default:
      throw new Error(`${fact} of ${call.way} is nothing that matters here`)
  }
}

// =============================================================================
// The laws
// =============================================================================

export interface Moment extends Cell {
  readonly outcome: Outcome
  /** What each comes to where it is the only one. */
  readonly alone: ReadonlyArray<Outcome>
}

export interface Law {
  readonly title: string
  readonly holds: (moment: Moment) => boolean
}

const isPerson = (who: N.Who): boolean => who === "yes" || who === "no"

/** Who is named and decides for somebody: a person here, or whoever answers later. */
const isSomebody = (who: N.Who): boolean => isPerson(who) || who === "deferred"

const firstPlace = ({ levels }: Cell): number => levels.findIndex(({ who }) => isSomebody(who))

const isNamed = ({ levels }: Cell, who: N.Who): boolean => levels.some((level) => level.who === who)

type Says = Standings.Verdict["says"]

const saysOf: Readonly<Partial<Record<N.Word | N.Gate, Says>>> = {
  allow: "allowed",
  ask: "ask",
  askToEdit: "ask",
  askAsIs: "ask",
  block: "blocked",
  fail: "failed"
}

/** What a level says of the call by itself: what leaves it to the tool says what the tool does. */
const saysAt = ({ gate, levels }: Cell, at: number): Says => saysOf[levels[at]!.policy] ?? saysOf[gate] ?? "allowed"

/** The places that have a word on the call: those without a policy only where none has one. */
const judging = ({ levels }: Cell): ReadonlyArray<number> => {
  const places = [...levels.keys()]
  const named = places.filter((at) => levels[at]!.policy !== "none")
  return named.length > 0 ? named : places
}

const said = (cell: Cell): ReadonlyArray<Says> => judging(cell).map((at) => saysAt(cell, at))

/** How a level that alone would not let it run is answered by another one. */
export const exceptionOf = (moment: Moment, at: number): "another person's yes" | "it names nobody" | undefined => {
  const { alone, levels, outcome } = moment
  const { who } = levels[at]!
  if (alone[at]!.end === "ran" || saysAt(moment, at) !== "ask") return undefined
  // Between people there is no order, and who answers later is a person too.
  if (isSomebody(who)) return levels[outcome.asked[0] ?? at]!.who === "yes" ? "another person's yes" : undefined
  // Who names nobody leaves it to whoever is named.
  return who === "none" ? "it names nobody" : undefined
}

/** Somebody's word is needed, and could be of use or of none. */
const isToBeAsked = (cell: Cell): boolean => {
  const all = said(cell)
  return !all.includes("blocked") && (all.includes("ask") || all.includes("failed"))
}

export const laws: ReadonlyArray<Law> = [
  {
    title: "nothing runs that one of them alone would not let run",
    holds: (moment) =>
      moment.outcome.end !== "ran" ||
      judging(moment).every((at) => moment.alone[at]!.end === "ran" || exceptionOf(moment, at) !== undefined)
  },
  {
    title: "nothing runs that one of them forbids, or of which one of them cannot tell",
    holds: (moment) =>
      moment.outcome.end !== "ran" || said(moment).every((says) => says === "allowed" || says === "ask")
  },
  {
    title: "what one of them asks about runs by a person's yes, or where nobody but everybody's yes is named",
    holds: (moment) => {
      const { asked, end } = moment.outcome
      if (end !== "ran" || !said(moment).includes("ask")) return true
      return firstPlace(moment) < 0
        ? isNamed(moment, "approveAll") && asked.length === 0
        : asked.length === 1 && moment.levels[asked[0]!]!.who === "yes"
    }
  },
  {
    title: "only the innermost who is somebody is asked, once, and nobody where one says that nobody can be",
    holds: (moment) => {
      const { asked } = moment.outcome
      return asked.length === 0 ||
        (asked.length === 1 && asked[0] === firstPlace(moment) && !isNamed(moment, "strict"))
    }
  },
  {
    title: "nobody is asked about what is forbidden, and it is refused at once",
    holds: (moment) =>
      !said(moment).includes("blocked") || (moment.outcome.end === "refused" && moment.outcome.asked.length === 0)
  },
  {
    title: "what all of them let run runs, and nobody is asked",
    holds: (moment) =>
      said(moment).some((says) => says !== "allowed") ||
      (moment.outcome.end === "ran" && moment.outcome.asked.length === 0)
  },
  {
    title: "what somebody says yes to, and none of them forbids, runs",
    holds: (moment) => {
      if (!isToBeAsked(moment) || said(moment).includes("failed") || isNamed(moment, "strict")) return true
      const at = firstPlace(moment)
      const isYes = at < 0 ? isNamed(moment, "approveAll") : moment.levels[at]!.who === "yes"
      return !isYes || moment.outcome.end === "ran"
    }
  },
  {
    title: "where nobody is named, or whoever answers later is, it stays open",
    holds: (moment) => {
      if (!isToBeAsked(moment) || isNamed(moment, "strict")) return true
      const at = firstPlace(moment)
      const isLater = at < 0 ? !isNamed(moment, "approveAll") : moment.levels[at]!.who === "deferred"
      return !isLater || moment.outcome.end === "open"
    }
  },
  {
    title: "a no is a no, also where a policy failed",
    holds: (moment) => {
      if (!isToBeAsked(moment)) return true
      const at = firstPlace(moment)
      const isNo = isNamed(moment, "strict") || (at >= 0 && moment.levels[at]!.who === "no")
      return !isNo || moment.outcome.end === "refused"
    }
  },
  {
    title: "an edit counts only where one that asks lets it, and none is against it",
    holds: (moment) => {
      const { verdict } = moment.outcome
      const asking = moment.levels.map(({ policy }) => policy)
      return verdict.says !== "ask" ||
        verdict.editable === (asking.includes("askToEdit") && !asking.includes("askAsIs"))
    }
  }
]

// =============================================================================
// The walk
// =============================================================================

export interface Breach {
  readonly law: string
  readonly cell: Cell
  readonly outcome: Outcome
}

export interface Walked {
  readonly cells: number
  readonly ends: Readonly<Record<End, number>>
  /** Of what ran: how often one level alone would not have let it, and why that is no breach. */
  readonly exceptions: ReadonlyMap<string, number>
  readonly breaches: ReadonlyArray<Breach>
}

export interface Options {
  readonly depth: 1 | 2 | 3
  readonly gates?: ReadonlyArray<N.Gate>
  readonly words?: ReadonlyArray<N.Word>
  readonly whos?: ReadonlyArray<N.Who>
  readonly nestings?: Readonly<Record<string, N.Nesting>>
  readonly untilBreach?: boolean
}

const keyOf = ({ policy, who }: N.Level): string => `${policy} ${who}`

/** Every sequence of levels, from the inside to the outside. */
const sequences = (levels: ReadonlyArray<N.Level>, depth: number): ReadonlyArray<ReadonlyArray<N.Level>> =>
  depth === 0 ? [[]] : sequences(levels, depth - 1).flatMap((inner) => levels.map((outer) => [...inner, outer]))

const timeLimit = "1 second"

const makePlay = (fold: Fold) => {
  const verdicts = new Map<ApprovalPolicy.Service, Map<N.Gate, Standings.Verdict>>()
  const tools = new Map(N.gates.map((gate) => [gate, N.toolOf(gate)]))
  const verdictOf = Effect.fnUntraced(function*(policy: ApprovalPolicy.Service, gate: N.Gate) {
    const known = verdicts.get(policy) ?? new Map<N.Gate, Standings.Verdict>()
    verdicts.set(policy, known)
    const call = yield* Effect.orDie(ApprovalPolicy.makeCall(tools.get(gate)!, {}))
    const verdict = Verdict.verdictOf(yield* Effect.result(ApprovalPolicy.decide(policy, call, timeLimit)))
    known.set(gate, verdict)
    return verdict
  })
  return Effect.fnUntraced(function*({ gate, levels, nesting }: Cell) {
    const how = N.nestings[nesting]!
    const { captured, current } = N.placeOf(how, levels)
    const policy = fold.join(fold.policiesOf(captured, current))
    const verdict = verdicts.get(policy)?.get(gate) ?? (yield* verdictOf(policy, gate))
    const controller = fold.innermost(captured, current) ?? ApprovalController.deferred
    const tool = tools.get(gate)!
    N.asked.length = 0
    // A guarded toolkit decides on every call.
    const fact = how.way === "guarded" ? "gated" : factOf(policy, { Target: tool }, tool, true)
    const end = lead(fold, { way: how.way, tool: fact }, verdict, controller)
    return { end, asked: [...N.asked], verdict } satisfies Outcome
  })
}

export const walk = Effect.fnUntraced(function*(fold: Fold, options: Options): Effect.fn.Return<Walked> {
  const { gates = N.gates, nestings = N.nestings, untilBreach = false, whos = N.whos, words = N.words } = options
  const play = makePlay(fold)
  const levels = words.flatMap((policy) => whos.map((who): N.Level => ({ policy, who })))
  const ends: Record<End, number> = { ran: 0, open: 0, refused: 0 }
  const exceptions = new Map<string, number>()
  const breaches = new Map<string, Breach>()
  let cells = 0
  for (const nesting of Object.keys(nestings)) {
    for (const gate of gates) {
      const alone = new Map<string, Outcome>()
      for (const level of levels) alone.set(keyOf(level), yield* play({ nesting, gate, levels: [level] }))
      for (const nested of sequences(levels, options.depth)) {
        const cell: Cell = { nesting, gate, levels: nested }
        const outcome = yield* play(cell)
        const moment: Moment = { ...cell, outcome, alone: nested.map((level) => alone.get(keyOf(level))!) }
        cells++
        ends[outcome.end]++
        for (const { holds, title } of laws) {
          if (!breaches.has(title) && !holds(moment)) breaches.set(title, { law: title, cell, outcome })
        }
        if (outcome.end === "ran") {
          for (const at of nested.keys()) {
            const exception = exceptionOf(moment, at)
            if (exception !== undefined) exceptions.set(exception, (exceptions.get(exception) ?? 0) + 1)
          }
        }
        if (untilBreach && breaches.size > 0) return { cells, ends, exceptions, breaches: [...breaches.values()] }
      }
    }
  }
  return { cells, ends, exceptions, breaches: [...breaches.values()] }
})
