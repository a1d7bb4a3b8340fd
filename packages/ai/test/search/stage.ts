/**
 * The tools of a plan, with their handlers and gates, and the policies. They are the same objects for all plans; what
 * they do, and who writes down that they did it, is read from the `Stage` of the turn they are called in.
 */
import { Context, Effect, Exit, Schema } from "effect"
import { Approval, ApprovalController, ApprovalPolicy, Tool, Toolkit } from "../../src/index.ts"
import type * as Plan from "./plan.ts"
import * as Record from "./record.ts"

// =============================================================================
// Stage
// =============================================================================

/** What a handler, a gate and a policy know of the turn they are called in. */
export interface Stage {
  readonly record: Record.Record
  readonly turn: number
  readonly process: number
  readonly gate: Plan.Verdict
  readonly revision: number
  /** Passes while the process lives, and never again once it has crashed. */
  readonly alive: Effect.Effect<void>
  /** Calls somebody has judged before, over all turns. */
  readonly judged: Set<string>
}

export const Stage = Context.Reference<Stage>("assent/test/search/Stage", {
  defaultValue: () => {
    throw new Error("a handler ran outside of a turn")
  }
})

// =============================================================================
// Verdicts
// =============================================================================

const secretFailure = () => new Error(Record.secrets.policy)

const answerOf = (
  verdict: Plan.Verdict,
  isFirst: boolean
): readonly [said: Record.Judgement["said"], answer: Effect.Effect<ApprovalPolicy.PolicyResult, unknown>] => {
  switch (verdict) {
    case "nothing":
      return ["own", Effect.undefined]
    case "ask":
      return ["ask", Effect.succeed(Approval.needsApproval({ reason: `Asked. ${Record.nasty}` }))]
    case "allow":
      return ["allow", Effect.succeed(Approval.preApproved())]
    case "block":
      return ["block", Effect.succeed(Approval.blocked("Not today."))]
    case "fail":
      return ["failed", Effect.fail(secretFailure())]
    case "die":
      return ["failed", Effect.die(secretFailure())]
    case "hang":
      return ["failed", Effect.never]
    case "garbage":
      return ["failed", Effect.succeed("yes" as never)]
    case "block later":
      return answerOf(isFirst ? "ask" : "block", isFirst)
    case "fail later":
      return answerOf(isFirst ? "ask" : "fail", isFirst)
  }
}

const judge = (by: Record.Judgement["by"], verdict: Plan.Verdict, call: Record.Received) =>
  Effect.flatMap(Stage, ({ alive, judged, record, turn }) =>
    Effect.flatMap(alive, () => {
      const key = Record.canonical([by, call])
      const [said, answer] = answerOf(verdict, !judged.has(key))
      judged.add(key)
      // A gate that says nothing of use is one that fails.
      const heard = by === "gate" && said === "own" ? "failed" : said
      const round = record.turns[turn]!.sent.length
      record.judgements.push({ turn, call, by, said: heard, runs: record.runs.length, round })
      return answer
    }))

/** The policy that always says this. */
export const policyOf = (verdict: Plan.Verdict): ApprovalPolicy.Service =>
  ApprovalPolicy.make(({ encodedParams, toolCallId, toolName }) =>
    judge("policy", verdict, { id: toolCallId, tool: toolName, params: Record.canonical(encodedParams) })
  )

/** The person who is asked inline and always says this. */
export const controllerOf = (
  says: string,
  show: (request: Approval.ApprovalRequest) => void
): ApprovalController.Service =>
  ApprovalController.interactive((request) =>
    Effect.flatMap(
      Stage,
      ({ alive, record, turn }) =>
        Effect.flatMap(alive, (): Effect.Effect<ApprovalController.Reply, unknown> => {
          show(request)
          const approved = says === "approve" || says === "edit"
          const params = says === "edit" ? edited(request.params) : request.params
          record.asked.push({
            turn,
            approvalId: request.approvalId,
            said: says,
            params: approved ? Record.canonical(params) : undefined
          })
          switch (says) {
            case "approve":
              return Effect.succeed(true)
            case "deny":
              return Effect.succeed(Approval.deny(request, "no, thank you"))
            case "edit":
              return Effect.succeed(Approval.approve(request, { params }))
            case "misfit":
              return Effect.succeed(Approval.approve(request, { params: { amount: "many" } }))
            case "info":
              return Effect.succeed(new Approval.Info({ note: "let me think" }))
            case "fail":
              return Effect.fail(secretFailure())
            case "die":
              return Effect.die(secretFailure())
            default:
              return Effect.succeed("yes" as never)
          }
        })
    )
  )

/** The same parameters with another amount. */
export const edited = (params: unknown): Schema.Json => {
  const fields = params as { readonly amount: string | number }
  return { ...fields, amount: typeof fields.amount === "string" ? "7" : 7 } as Schema.Json
}

// =============================================================================
// Tools
// =============================================================================

type Drift = Extract<Plan.Step, { readonly _tag: "Drift" }>["how"]

const fieldsOf = (name: Plan.ToolName, drift: Drift): Schema.Struct.Fields => ({
  amount: name === "Charge" ? Schema.FiniteFromString : Schema.Int,
  how: Schema.String,
  note: Schema.String,
  ...(drift === "widened" ? { extra: Schema.optionalKey(Schema.String) } : undefined),
  ...(drift === "narrowed" ? { extra: Schema.String } : undefined)
})

interface Params {
  readonly amount: number
  readonly how: Plan.Call["how"]
  readonly note: string
}

const encode = (name: Plan.ToolName, params: Params): string =>
  Record.canonical(name === "Charge" ? { ...params, amount: String(params.amount) } : params)

type Gate = (params: any, context: Tool.NeedsApprovalContext) => Effect.Effect<any, unknown>

const gateOf = (name: Plan.ToolName): boolean | Gate | undefined => {
  switch (name) {
    case "Delete":
    case "Sync":
      return true
    case "Send":
      return (params, { toolCallId: id }) =>
        Effect.flatMap(Stage, ({ gate }) => judge("gate", gate, { id, tool: name, params: encode(name, params) }))
    case "Charge":
      return (params, { toolCallId: id }) =>
        Effect.map(
          Effect.flatMap(Stage, ({ revision }) =>
            Effect.as(judge("gate", "ask", { id, tool: name, params: encode(name, params) }), revision)),
          (revision) =>
            Approval.needsApproval({
              description: `Charge ${params.amount} for ${params.note}`,
              presentation: new Approval.ApprovalPresentation({
                type: "text",
                content: `revision ${revision}: ${params.note}`
              })
            })
        )
    case "Read":
    case "Poke":
      return undefined
  }
}

const toolOf = (name: Plan.ToolName, drift: Drift): Tool.Any => {
  const tool = Tool.make(name, {
    parameters: Schema.Struct(fieldsOf(name, drift)),
    success: name === "Charge"
      ? Schema.Struct({ done: Schema.String, at: Schema.DateFromString })
      : Schema.Struct({ done: Schema.String }),
    failure: Schema.Struct({ why: Schema.String }),
    failureMode: name === "Send" || name === "Charge" || name === "Read" ? "return" : "error",
    needsApproval: gateOf(name) as boolean
  })
  return name === "Sync" ? tool.annotate(Tool.Idempotent, true) : tool
}

/** A tool of the provider's. */
const Remote = Tool.providerDefined({
  id: "search.remote",
  customName: "Remote",
  providerName: "remote",
  parameters: Schema.Struct({ amount: Schema.Int, how: Schema.String, note: Schema.String }),
  success: Schema.Struct({ done: Schema.String }),
  failure: Schema.Struct({ why: Schema.String })
})()

/** What a run says of itself in its result, so that each result can be told from every other. */
export const markOf = (number: number): string => `<run ${number}>`

const run = (name: Plan.ToolName) => (params: Params, context: Toolkit.HandlerContext<any>) =>
  Effect.flatMap(
    Stage,
    ({ alive, process, record, turn }) =>
      Effect.flatMap(Effect.andThen(alive, Effect.clockWith((clock) => clock.currentTimeMillis)), (startedAt) => {
        const number = record.runs.length
        const call = { id: context.toolCallId ?? "", tool: name, params: encode(name, params) }
        const started: Record.Run = { number, turn, process, call, startedAt, endedAt: Infinity, outcome: "running" }
        record.runs.push(started)
        const success = (done: string) => ({ done, ...(name === "Charge" ? { at: new Date(0) } : undefined) })
        const mark = markOf(number)
        return behaviour(params.how, mark, (word) => context.preliminary(success(`${mark} ${word}`) as never)).pipe(
          Effect.tap(alive),
          Effect.as(success(mark)),
          Effect.onExit((exit) =>
            Effect.clockWith((clock) =>
              Effect.sync(() => {
                started.outcome = outcomeOf(exit)
                started.endedAt = clock.currentTimeMillisUnsafe()
              })
            )
          )
        )
      })
  )

const behaviour = (how: Plan.Call["how"], mark: string, say: (word: string) => Effect.Effect<void>) => {
  switch (how) {
    case "fail":
      return Effect.fail({ why: `${mark} failed` })
    case "die":
      return Effect.die(new Error(Record.secrets.handler))
    case "slow":
      return Effect.sleep("20 seconds")
    case "preliminary":
      return Effect.andThen(say("begins"), Effect.andThen(Effect.sleep("1 second"), say("goes on")))
    default:
      return Effect.void
  }
}

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): Record.Run["outcome"] => {
  if (Exit.isSuccess(exit)) return "succeeded"
  return Exit.hasInterrupts(exit) ? "interrupted" : Exit.hasFails(exit) ? "failed" : "died"
}

// =============================================================================
// Toolkits
// =============================================================================

// The plans speak of toolkits that are only known when they are carried out.
export type AnyToolkit = Toolkit.WithHandler<any>

const names: ReadonlyArray<Plan.ToolName> = ["Delete", "Send", "Charge", "Sync", "Read", "Poke"]

const tools = new Map<string, Tool.Any>()
const toolkits = new Map<string, Effect.Effect<AnyToolkit>>()

/** The toolkit in which some tools are not what they were. */
export const toolkitOf = (drift: { readonly [tool: string]: string }): Effect.Effect<AnyToolkit> => {
  const key = names.map((name) => drift[name] ?? "none").join()
  let made = toolkits.get(key)
  if (made === undefined) {
    const present = names.filter((name) => drift[name] !== "removed").map((name) => {
      const toolKey = `${name} ${drift[name] ?? "none"}`
      const tool = tools.get(toolKey) ?? toolOf(name, (drift[name] ?? "none") as Drift)
      tools.set(toolKey, tool)
      return tool
    })
    const kit = Toolkit.make(...([...present, Remote] as unknown as ReadonlyArray<Tool.Tool<string, any>>))
    const handlers = Object.fromEntries(present.map((tool) => [tool.name, run(tool.name as Plan.ToolName)]))
    made = Effect.cached(Effect.provide(kit, kit.toLayer(handlers as never))).pipe(Effect.runSync) as Effect.Effect<
      AnyToolkit
    >
    toolkits.set(key, made)
  }
  return made
}

export const noTools: Effect.Effect<AnyToolkit> = Effect.provide(Toolkit.empty, Toolkit.empty.toLayer({}))

/** The parameters of a call as a model writes them. */
export const paramsOf = (call: Plan.Call): unknown => {
  const note = call.note === "nasty" ? Record.nasty : call.note === "long" ? "long ".repeat(400) : "plain"
  if (call.flaw === "parameters") return { amount: "not a number", note }
  return { amount: call.tool === "Charge" ? String(call.amount) : call.amount, how: call.how, note }
}
