/** Carries out what was decided of a call that runs here. */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Approval from "../../Approval.ts"
import type * as ApprovalError from "../../ApprovalError.ts"
import type { Decision } from "../decide/decision.ts"
import type * as Standing from "../decide/standing.ts"
import type * as Environment from "../environment/environment.ts"
import { type Case, type File, forget, question } from "../gather/file.ts"
import type * as Order from "../gather/order.ts"
import * as Request from "../gather/request.ts"
import * as Wait from "../gather/wait.ts"
import * as Results from "../history/results.ts"
import type * as Permits from "../permits.ts"
import type * as Deferral from "../tool/deferral.ts"
import * as Execution from "./execution.ts"
import { advance, again, conclude } from "./loop.ts"
import * as Ours from "./ours.ts"
import * as Parts from "./parts.ts"

/** What became of one call. */
export interface Outcome {
  readonly part?: Results.ResultPart | undefined
  readonly request?: Approval.ApprovalRequest | undefined
  /** What is asked in the agents of a call that waits for them, at every level. */
  readonly nested?: ReadonlyArray<Approval.ApprovalRequest> | undefined
  /** What the model sees in the place of a result that is still waited for. */
  readonly waiting?: Results.ResultPart | undefined
  readonly failure?: Cause.Cause<unknown> | undefined
}

/** Where results go as soon as they are known. */
export interface Sink {
  readonly preliminary: Execution.Emit
  /** Never waits: a run that belongs to the journal does not stand still because its reader does (law L2). */
  readonly approvedPreliminary: Execution.Emit
  readonly result: (part: Results.ResultPart) => Effect.Effect<void>
}

/** What the runs of a turn share. */
export interface Runner {
  readonly environment: Environment.Environment
  readonly handlers: Execution.Handlers | undefined
  readonly approvedPermits: Permits.Permits
  /** For the calls that were approved by what was shown of them: they run one after the other, in their order. */
  readonly shown: { readonly line: Order.Line; hasRun: boolean }
}

type Failure = ApprovalError.ApprovalError
type Run = Extract<Decision, { _tag: "Run" }>

/** Takes its place among the calls that were shown, if this one is to run and was. */
export const takePlace = ({ shown }: Runner, { file, standing }: Case, decision: Decision): void => {
  if (isShownRun(standing, decision)) file.running ??= shown.line.join()
}

/** The same, if an earlier turn has begun it: nothing that was shown runs beside it, so it comes before all of these. */
export const takePlaceOfBegun = ({ shown }: Runner, { file, standing }: Case, decision: Decision): void => {
  if (!hasBegun(standing, decision)) return
  file.running ??= shown.line.join()
  shown.hasRun = true
}

const isShownRun = ({ questions }: Standing.Standing, decision: Decision): boolean =>
  decision._tag === "Run" && decision.as === "claim" && isShown(questions, decision.at)

const hasBegun = ({ questions }: Standing.Standing, decision: Decision): boolean =>
  (decision._tag === "Wait" || (decision._tag === "Run" && (decision.as === "join" || decision.as === "repeat"))) &&
  isShown(questions, decision.at) && begun.has(questions[decision.at]!.fate!.state)

const isShown = (
  questions: Standing.Questions,
  at: number
): questions is Exclude<Standing.Questions, string> =>
  typeof questions !== "string" && questions[at]!.shown !== "nothing"

const begun: ReadonlySet<Standing.Fate["state"]> = new Set(["running", "unknown"])

/** Decides it to the end, asking whoever is to be asked, and carries it out. */
export const settle = (runner: Runner, one: Case, sink: Sink): Effect.Effect<Outcome, Failure> =>
  Effect.flatMap(advance(Ours.hand, one, ["reply"]), (said) =>
    said._tag === "Need"
      ? Effect.flatMap(conclude(Ours.hand, one), (decision) => carryOut(runner, one, decision, sink))
      : carryOut(runner, one, said, sink))

/** Does what was decided about a call. */
export const carryOut = (
  runner: Runner,
  one: Case,
  decision: Decision,
  sink: Sink
): Effect.Effect<Outcome, Failure> => {
  const { file } = one
  switch (decision._tag) {
    case "Tell": {
      const part = Parts.marked(file, Parts.toldPart(file, decision))
      return Effect.as(sink.result(part), { part })
    }
    case "Open":
      return Effect.zipWith(
        Parts.openRequest(one, decision),
        nestedIn(file),
        (request, nested) => ({ request, nested })
      )
    case "Keep": {
      const call = { id: file.call.toolCallId, name: file.call.toolName }
      const reason = file.tip === undefined ? Results.waitingReason : Wait.waiting(file.tip)
      const approvalId = file.tip === undefined ? file.questions[decision.at]!.sealed.approvalId : file.root
      return Effect.succeed({ waiting: Results.interrupted(call, reason, approvalId) })
    }
    case "Leave":
      return Effect.succeed({})
    case "Fail":
      return Effect.flatMap(Parts.failureOf(one, decision), Effect.fail)
    case "Wait": {
      const claim = Request.claimOf(file.questions[decision.at]!.sealed, file.call)
      const root = Parts.rootOf(file, decision.at)
      return Effect.flatMap(
        Execution.awaited(runner.environment, claim, root, Parts.begunOf(file)),
        (executed) => ended(runner, one, { ...executed, root }, sink)
      )
    }
    case "Run": {
      takePlace(runner, one, decision)
      const { running } = file
      // What goes on already waits for nobody.
      return running === undefined || hasBegun(one.standing, decision)
        ? Effect.flatMap(execute(runner, one, decision, sink), (executed) => ended(runner, one, executed, sink))
        : Effect.ensuring(runInOrder(runner, one, decision, running, sink), running.leave)
    }
  }
}

// What was shown of this call may be what the one before it has changed.
const runInOrder = Effect.fnUntraced(function*(
  runner: Runner,
  one: Case,
  decision: Run,
  running: Order.Turn,
  sink: Sink
): Effect.fn.Return<Outcome, Failure> {
  yield* running.wait
  const now = runner.shown.hasRun && isShownRun(one.standing, decision) ? yield* again(Ours.hand, one) : decision
  one.file.running = undefined
  if (now._tag !== "Run") return yield* carryOut(runner, one, now, sink)
  runner.shown.hasRun = true
  const executed = yield* execute(runner, one, now, sink)
  // Results come in the order of the runs, too; what one waits for is asked while the others go on.
  if (executed.suspendedAs !== undefined) yield* running.leave
  return yield* ended(runner, one, executed, sink)
})

interface Ended extends Execution.Executed {
  /** The request that its result names. */
  readonly root: string
}

const execute = (runner: Runner, one: Case, decision: Run, sink: Sink): Effect.Effect<Ended, Failure> => {
  const { file } = one
  const { environment, handlers } = runner
  const { at, by } = decision
  const { sealed } = file.questions[at]!
  const claim = Request.claimOf(sealed, file.call, file.questions[at]!.given[by]?.by)
  const root = Parts.rootOf(file, at)
  const executed = file.waits
    ? Effect.flatMap(resumed(one, decision, claim), (resumed) =>
      resumed === undefined
        ? Execution.awaited(environment, claim, root, Parts.begunOf(file))
        : Execution.resumed(environment, handlers!, resumed, sink.approvedPreliminary))
    : Execution.approved(
      environment,
      handlers!,
      decision.as === "claim"
        ? file.approval!
        : { ...Ours.targetOf(file, at, by), claim, joinOnly: decision.as === "join" },
      sink.approvedPreliminary
    )
  return Effect.map(runner.approvedPermits.withPermit(executed), (executed) => ({ ...executed, root }))
}

// Whoever executes it gets the result as its first reader had it, unless the call does not fit the tool any more.
const resumed = Effect.fnUntraced(function*(
  { file, standing: { questions } }: Case,
  { as }: Run,
  claim: Execution.Resumed["claim"]
): Effect.fn.Return<Execution.Resumed | undefined> {
  const { tip } = file
  const prepared = (tip === undefined ? undefined : yield* Wait.prepare(file)) ?? file.prepared
  if (prepared === undefined) return undefined
  const call = { ...file.call, root: file.root!, canonical: file.questions[0]!.canonical }
  const run = { claim, call, prepared, began: tip?.suspension.began, edits: undefined, joinOnly: true }
  const isPassedOver = typeof questions !== "string" && questions[0]?.passedOver === true
  const converses = tip?.suspension.converses === true
  const fresh = { ...run, resumption: undefined, waitedForAgents: false, converses, isPassedOver }
  if (as !== "resume" || tip === undefined) return fresh
  const { awaited, edits, state, stateVersion } = tip.suspension
  if (awaited.kind === "nested") {
    // Whatever has come to its agents, it is the same run.
    return {
      ...fresh,
      edits,
      joinOnly: false,
      resumption: tip.state as Deferral.Resumption | undefined, // as it was decoded for this kind
      waitedForAgents: true
    }
  }
  const { expired } = file.questions[0]!
  const { expiresAt } = tip.suspension
  const waited = { interaction: awaited.name, state: tip.state }
  const kept = { interaction: awaited.name, state, stateVersion }
  const resumption = expired === undefined
    ? {
      ...waited,
      answer: tip.answer!.decoded,
      decidedBy: tip.answer!.by,
      kept: { ...kept, answer: tip.answer!.json, decidedBy: { ...tip.answer!.by } }
    }
    : {
      ...waited,
      expiredAt: expiresAt,
      description: expired,
      kept: { ...kept, expiredAt: expiresAt, description: expired }
    }
  const decidedBy = expired === undefined ? tip.answer!.by : Wait.byExpiry
  const params = yield* Wait.answerDigest(tip, expired !== undefined)
  return {
    ...fresh,
    claim: { ...claim, decidedBy, params },
    edits,
    joinOnly: false,
    resumption
  }
})

/**
 * What is to be shown of it. Where the history is a conversation's own, it also has the request as which it waits for agents;
 * elsewhere that is found by what is asked in them, so that no page shows it.
 */
export const requestsOf =
  ({ environment: { trustsAnswers, within } }: Runner) =>
  ({ nested = [], request }: Outcome): ReadonlyArray<Approval.ApprovalRequest> =>
    request === undefined
      ? []
      : nested.length > 0 && !trustsAnswers && within === undefined
      ? nested
      : [request, ...nested]

// Within an agent they are shown by whatever is outermost.
const nestedIn = ({ environment, tip }: File): Effect.Effect<Outcome["nested"], Failure> =>
  tip?.suspension.awaited.kind !== "nested" || tip.suspension.began === undefined || environment.within !== undefined
    ? Effect.undefined
    : Effect.map(environment.suspensions.agents(tip.suspension.began), ({ requests }) => requests)

/** What became of a run: its result goes out, and one that waits is settled by the request as which it does. */
const ended = (
  runner: Runner,
  one: Case,
  { failure, part, root, suspendedAs }: Ended,
  sink: Sink
): Effect.Effect<Outcome, Failure> => {
  if (suspendedAs !== undefined) return settleWait(runner, one, suspendedAs, root, sink)
  if (part === undefined) return Effect.succeed({ failure })
  const result = Parts.marked(one.file, part)
  return Effect.as(sink.result(result), { part: result, failure })
}

/** Settles a call whose run waits, as this request. */
export const settleWait = (
  runner: Runner,
  one: Case,
  approvalId: string,
  root: string,
  sink: Sink
): Effect.Effect<Outcome, Failure> => {
  const { file, standing } = one
  file.waitsAs = approvalId
  file.root = root
  one.standing = {
    ...forget(standing),
    way: "history",
    wait: undefined,
    reply: undefined,
    denied: false,
    questions: [question({ suspension: true })]
  }
  return settle(runner, one, sink)
}
