/**
 * The tools of a plan that wait: `Wait`, which needs nobody to begin, and `Order`, which is asked about. Each waits for
 * what its parameters say, one after the other, and remembers the run it began with, so that everything that becomes of
 * a call can be told from everything that becomes of another.
 */
import { Effect, Schema } from "effect"
import { DeferredTool, Interaction, type Tool, type Toolkit } from "../../src/index.ts"
import * as Behaviour from "./behaviour.ts"
import type * as Plan from "./plan.ts"
import * as Record from "./record.ts"
import * as Stage from "./stage.ts"

export const minutes = 30

export const Event = Schema.Struct({ told: Schema.NonEmptyString })

const interactions = {
  words: Interaction.askUser,
  verdict: Interaction.getApproval,
  timer: Interaction.timer,
  event: Interaction.external(Event)
}

/** What a result says of the resumption that gave it. */
export const markOf = (number: number): string => `<resumption ${number}>`

/** What a person is shown says whose wait it is. */
export const promptOf = (start: number, index: number): string => `wait ${start}/${index}`

export const make = (name: "Wait" | "Order", drift: Behaviour.Drift) =>
  DeferredTool.make(name, {
    parameters: Schema.Struct(Behaviour.fieldsOf(name, drift)),
    success: Schema.Struct({ done: Schema.String }),
    failure: Schema.Struct({ why: Schema.String }),
    failureMode: name === "Wait" ? "return" : "error",
    state: Schema.Struct({ start: Schema.Int, index: Schema.Int }),
    needsApproval: name === "Order",
    interactions
  })

type AnyDeferred = ReturnType<typeof make>

interface Params extends Behaviour.Params {
  readonly waits: ReadonlyArray<Plan.Awaited>
}

const suspend = (tool: AnyDeferred, kind: Plan.Awaited, prompt: string, state: { start: number; index: number }) => {
  switch (kind) {
    case "words":
      return tool.suspend.words({ prompt }, state)
    case "verdict":
      return tool.suspend.verdict({ prompt }, state)
    case "timer":
      return tool.suspend.timer({ prompt, after: `${minutes} minutes` }, state)
    case "event":
      return tool.suspend.event({ prompt }, state)
  }
}

type Ended = { readonly done: string } | DeferredTool.Suspension<"Wait" | "Order">

/** What a handler does from its beginning, or from where it was answered, to its end or the next wait. */
const goOn = (
  tool: AnyDeferred,
  params: Params,
  context: Toolkit.HandlerContext<any>,
  { index, mark, start, started }: {
    readonly start: number
    readonly index: number
    readonly mark: string
    readonly started: Record.Run | Record.Resumption
  }
): Effect.Effect<Ended, { readonly why: string }> => {
  const say = (word: string) => context.preliminary({ done: `${mark} ${word}` } as never)
  const kind = params.waits[index]
  if (kind === undefined) {
    return Effect.as(Behaviour.behave(params.how, mark, say), { done: mark })
  }
  const before = params.how === "slow" ? Behaviour.behave(params.how, mark, say) : Effect.void
  return Effect.flatMap(
    Effect.andThen(before, Stage.Stage),
    ({ alive, process, record, turn }) =>
      Effect.flatMap(Effect.andThen(alive, Effect.clockWith((clock) => clock.currentTimeMillis)), (at) => {
        record.suspensions.push({
          start,
          index,
          kind,
          call: record.runs[start]!.call,
          turn,
          process,
          at,
          dueAt: kind === "timer" ? at + minutes * 60_000 : Infinity
        })
        started.outcome = "suspended"
        return suspend(tool, kind, `${promptOf(start, index)}: ${params.note}`, { start, index })
      })
  )
}

const start = (tool: AnyDeferred) => (given: unknown, context: Toolkit.HandlerContext<any>) =>
  Effect.flatMap(
    Stage.Stage,
    ({ alive, process, record, turn }) =>
      Effect.flatMap(Effect.andThen(alive, Effect.clockWith((clock) => clock.currentTimeMillis)), (startedAt) => {
        const params = given as Params
        const number = record.runs.length
        const call = { id: context.toolCallId ?? "", tool: tool.name, params: Record.canonical(params) }
        const started: Record.Run = { number, turn, process, call, startedAt, endedAt: Infinity, outcome: "running" }
        record.runs.push(started)
        return goOn(tool, params, context, { start: number, index: 0, mark: Behaviour.markOf(number), started }).pipe(
          Effect.tap(alive),
          Effect.tapDefect(() => started.outcome === "suspended" ? alive : Effect.void),
          Behaviour.concluding(started)
        )
      })
  )

const resume = (tool: AnyDeferred) =>
(
  answer: unknown,
  { index, start }: { readonly start: number; readonly index: number },
  context: Toolkit.HandlerContext<any>
) =>
  Effect.flatMap(
    Stage.Stage,
    ({ alive, process, record, turn }) =>
      Effect.flatMap(Effect.andThen(alive, Effect.clockWith((clock) => clock.currentTimeMillis)), (startedAt) => {
        const suspension = record.suspensions.find((one) => one.start === start && one.index === index)!
        const number = record.resumptions.length
        const started: Record.Resumption = {
          number,
          turn,
          process,
          suspension,
          answer: Record.canonical(answer),
          startedAt,
          runs: record.runs.length,
          endedAt: Infinity,
          outcome: "running"
        }
        record.resumptions.push(started)
        const mark = markOf(number)
        const params = JSON.parse(suspension.call.params) as Params
        const isRefused = suspension.kind === "verdict" && !(answer as Interaction.Verdict).approved
        const after: Params = isRefused ? { ...params, waits: [], how: "succeed" } : params
        return goOn(tool, after, context, { start, index: index + 1, mark, started }).pipe(
          Effect.tap(alive),
          Effect.tapDefect(() => started.outcome === "suspended" ? alive : Effect.void),
          Behaviour.concluding(started)
        )
      })
  )

/** The handler of such a tool. */
export const handlerOf = (tool: Tool.Any) => {
  const deferred = tool as unknown as AnyDeferred
  const goingOn = resume(deferred) as any
  return DeferredTool.handler(deferred, {
    start: start(deferred) as any,
    resume: { words: goingOn, verdict: goingOn, timer: goingOn, event: goingOn }
  })
}

/** The program tells what a tool waits for. */
export const tell = (approvalId: string, answer: typeof Event.Type) =>
  DeferredTool.deliver(make("Wait", "none"), "event", { approvalId }, answer)
