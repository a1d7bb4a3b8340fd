/**
 * Two levels, one around the other, in every way a program can nest them: what each says of one call, and what came of
 * it. The tool that is called is the innermost thing there is; what leads there needs nobody.
 */
import { Effect, Layer, Schema, Stream } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalPolicy,
  Conversation,
  LanguageModel,
  Response,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

// =============================================================================
// What a level says
// =============================================================================

/** `none`: nothing is provided there; `silent`: a policy is, and it leaves the call to the tool. */
export const words = ["none", "silent", "allow", "ask", "deny"] as const
export type Word = (typeof words)[number]

/** `none`: nothing is provided there; `approve` and `deny` are people. */
export const controllers = ["none", "approve", "deny", "deferred", "strict", "approveAll"] as const
export type Who = (typeof controllers)[number]

export interface Level {
  readonly policy: Word
  readonly who: Who
}

export const level = (policy: Word, who: Who = "none"): Level => ({ policy, who })

const says = { silent: undefined, allow: false, ask: true } as const

/** Each time another one, as two levels have two. Of other tools they say nothing. */
export const policyOf = (word: Exclude<Word, "none">): ApprovalPolicy.Service =>
  ApprovalPolicy.make(({ toolName }) =>
    toolName !== "Target" ? undefined : word === "deny" ? Approval.blocked("not here") : says[word]
  )

const programs = {
  deferred: ApprovalController.deferred,
  strict: ApprovalController.strict,
  approveAll: ApprovalController.approveAll
}

const controllerOf = (who: Exclude<Who, "none">, asked: () => void): ApprovalController.Service =>
  who === "approve" || who === "deny"
    ? ApprovalController.interactive(() => (asked(), who === "approve"))
    : programs[who]

/** A program under this level, and under nothing else that it does not inherit. */
export const under =
  ({ policy, who }: Level, asked: () => void = () => {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const judged = policy === "none"
      ? effect
      : Effect.provideService(effect, ApprovalPolicy.ApprovalPolicy, policyOf(policy))
    return who === "none"
      ? judged
      : Effect.provideService(judged, ApprovalController.ApprovalController, controllerOf(who, asked))
  }

// =============================================================================
// What came of it
// =============================================================================

/** `open`: somebody is to be asked and nobody has answered. */
export type End = "ran" | "open" | "refused"

export interface Outcome {
  readonly end: End
  /** Whose person was asked, in order. */
  readonly asked: ReadonlyArray<"inside" | "outside">
}

/** What a level alone lets become of the call, where nobody answers. */
export const alone = (word: Word, gated: boolean): "ran" | "open" | "refused" =>
  word === "deny" ? "refused" : word === "ask" || (word !== "allow" && gated) ? "open" : "ran"

// =============================================================================
// The ways
// =============================================================================

const make = (needsApproval: boolean) => Tool.make("Target", { success: Schema.String, needsApproval })
const Delegate = Tool.make("Delegate", { success: Schema.String })

const calls = (name: string) => Support.call(`call-${name}`, name, {})

/** One call of the tool, and then words. */
const modelOf = (name: string) =>
  Effect.map(ScriptedModel.make({ turns: [[calls(name)]], afterLastTurn: "Done." }), ({ model }) => model)

type Kit = Toolkit.WithHandler<any>

const turn = (stream: boolean, toolkit: Kit, model: LanguageModel.LanguageModel): Effect.Effect<boolean> => {
  const options = { prompt: "Go.", toolkit }
  const taken = stream
    ? Effect.map(
      Stream.runCollect(LanguageModel.streamText(options)),
      (parts) => Response.isWaiting(parts) || isOpen(parts)
    )
    : Effect.map(LanguageModel.generateText(options), (turn) => Response.isWaiting(turn) || isOpen(turn.toolResults))
  // Its tools are any tools, and need nothing.
  return Effect.orDie(
    Effect.provideService(taken, LanguageModel.LanguageModel, model) as Effect.Effect<boolean, unknown>
  )
}

const send = (stream: boolean, conversation: Conversation.Conversation<any>): Effect.Effect<boolean> =>
  Effect.orDie(
    stream
      ? Effect.andThen(
        Stream.runDrain(conversation.stream("Go.")),
        Effect.map(conversation.outcome, (outcome) => outcome?._tag === "Waiting")
      )
      : Effect.map(conversation.send("Go."), ({ _tag }) => _tag === "Waiting")
  )

let conversations = 0

const converse = (toolkit: Kit, model: LanguageModel.LanguageModel): Effect.Effect<Conversation.Conversation<any>> =>
  Effect.provideService(
    Conversation.make<any>({ id: `inner-${conversations++}`, toolkit }) as Effect.Effect<
      Conversation.Conversation<any>
    >,
    LanguageModel.LanguageModel,
    model
  )

/** A turn whose only call does this. */
const within = (stream: boolean, inner: Effect.Effect<boolean>): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    let waits = false
    const { toolkit } = yield* Support.makeTools([Delegate], {
      Delegate: () => Effect.map(inner, (inner) => ((waits = inner), "done"))
    })
    yield* turn(stream, toolkit, yield* modelOf("Delegate"))
    return waits
  })

interface Playing {
  readonly stream: boolean
  readonly kit: Kit
  readonly inside: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly outside: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly level: Level
}

/** Says whether somebody is still waited for. */
type Way = (playing: Playing) => Effect.Effect<boolean>

const handle = (kit: Kit): Effect.Effect<boolean> =>
  Effect.orDie(
    Effect.map(Effect.flatMap(kit.handle("Target", {}), Stream.runCollect), isOpen) as Effect.Effect<boolean, unknown>
  )

/** How a guard tells that nobody has answered: that is no decision, and it may be asked again. */
const isOpen = (results: unknown): boolean => JSON.stringify(results).includes("Nothing ran")

const guarded = ({ inside, kit }: Playing): Effect.Effect<Kit> => inside(Toolkit.guard(Effect.succeed(kit)))

export const ways: Readonly<Record<string, Way>> = {
  "a conversation": ({ inside, kit, outside, stream }) =>
    Effect.flatMap(
      Effect.flatMap(modelOf("Target"), (model) => inside(converse(kit, model))),
      (conversation) => outside(send(stream, conversation))
    ),
  "a conversation in a handler": ({ inside, kit, outside, stream }) =>
    Effect.flatMap(
      Effect.flatMap(modelOf("Target"), (model) => inside(converse(kit, model))),
      (conversation) => outside(within(stream, send(stream, conversation)))
    ),
  "a turn in a handler": ({ inside, kit, outside, stream }) =>
    Effect.flatMap(modelOf("Target"), (model) => outside(within(stream, inside(turn(stream, kit, model))))),
  "a turn in a handler, of a model that was given what is inside": ({ inside, kit, outside, stream }) =>
    Effect.flatMap(modelOf("Target"), (model) =>
      Effect.flatMap(
        inside(approved(model)),
        (model) => outside(within(stream, turn(stream, kit, model)))
      )),
  "a guarded toolkit": (playing) => Effect.flatMap(guarded(playing), (kit) => playing.outside(handle(kit))),
  "a guarded toolkit in a turn": (playing) =>
    Effect.flatMap(
      guarded(playing),
      (kit) => Effect.flatMap(modelOf("Target"), (model) => playing.outside(turn(playing.stream, kit, model)))
    ),
  "a guarded toolkit in a handler": (playing) =>
    Effect.flatMap(guarded(playing), (kit) => playing.outside(within(playing.stream, handle(kit))))
}

const approved = (model: LanguageModel.LanguageModel): Effect.Effect<LanguageModel.LanguageModel> =>
  Effect.provide(
    LanguageModel.LanguageModel,
    Layer.succeed(LanguageModel.LanguageModel, model).pipe(LanguageModel.approval())
  )

/** Those of which only the policy can be inside. */
export const policyWays: Readonly<Record<string, Way>> = {
  "withPolicy in a turn": ({ kit, level, outside, stream }) =>
    Effect.flatMap(
      modelOf("Target"),
      (model) =>
        outside(turn(stream, level.policy === "none" ? kit : Toolkit.withPolicy(kit, policyOf(level.policy)), model))
    ),
  "withPolicy in a guarded toolkit": ({ kit, level, outside }) =>
    outside(handle(Toolkit.guard(level.policy === "none" ? kit : Toolkit.withPolicy(kit, policyOf(level.policy)))))
}

/** Where no model is, nothing is streamed. */
export const streams = (name: string): ReadonlyArray<boolean> =>
  name === "a guarded toolkit" || name === "withPolicy in a guarded toolkit" ? [false] : [false, true]

export const play = (
  way: Way,
  options: { readonly stream: boolean; readonly gated: boolean; readonly inside: Level; readonly outside: Level }
): Effect.Effect<Outcome> =>
  Effect.gen(function*() {
    const asked: Array<"inside" | "outside"> = []
    const { count, toolkit } = yield* Support.makeTools([make(options.gated)], { Target: () => Effect.succeed("ran") })
    const waits = yield* way({
      stream: options.stream,
      kit: toolkit as Kit,
      level: options.inside,
      inside: under(options.inside, () => asked.push("inside")),
      outside: under(options.outside, () => asked.push("outside"))
    })
    const end: End = count("Target") > 0 ? "ran" : waits ? "open" : "refused"
    return { end, asked }
  })

/** Turns within turns, from the inside to the outside; whose person was asked, by place. */
export const nest = (options: {
  readonly stream: boolean
  readonly gated: boolean
  readonly levels: ReadonlyArray<Level>
}): Effect.Effect<{ readonly end: End; readonly asked: ReadonlyArray<number> }> =>
  Effect.gen(function*() {
    const { stream } = options
    const asked: Array<number> = []
    const { count, toolkit } = yield* Support.makeTools([make(options.gated)], { Target: () => Effect.succeed("ran") })
    const innermost = turn(stream, toolkit as Kit, yield* modelOf("Target"))
    const waits = yield* options.levels.reduce(
      (inner, level, at) => under(level, () => asked.push(at))(at === 0 ? inner : within(stream, inner)),
      innermost
    )
    const end: End = count("Target") > 0 ? "ran" : waits ? "open" : "refused"
    return { end, asked }
  })
