/**
 * Random nestings: what each level says of one call and who is named there, who else decides later, and everything in which
 * a program could see that something came of it. The innermost level is a turn, a conversation or a guarded toolkit; the
 * others are turns around it, each in a handler of the next.
 */
import { Effect, Ref, Result, Schema, Stream } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalError,
  ApprovalJournal,
  ApprovalMemory,
  ApprovalPolicy,
  ApprovalSeal,
  Chat,
  Conversation,
  LanguageModel,
  Prompt,
  Response,
  Store,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

// =============================================================================
// Models
// =============================================================================

/** For whom the call is made. */
export const requester = "ada"

/** Whose word each of those that ask wants; of `both` one person each, and with `other` anybody's but the requester's. */
const asking = {
  ask: {},
  ada: { approvers: ["ada"] },
  bob: { approvers: ["bob"] },
  either: { approvers: ["ada", "bob"] },
  both: { approvers: [["ada"], ["bob"]] },
  other: { selfApproval: false }
}

export const Word = Schema.Literals([
  "none",
  "silent",
  "allow",
  "ask",
  "ada",
  "bob",
  "either",
  "both",
  "other",
  "block",
  "fail"
])
export type Word = typeof Word.Type

/** `none`: nothing is provided there. `yes` and `no` are said by a person, `by` whom the channel knows. */
export const Who = Schema.Literals(["none", "deferred", "yes", "no", "approveAll", "strict"])

export const By = Schema.Literals(["nobody", "ada", "bob", "cy"])
export type By = typeof By.Type

export const Level = Schema.Struct({ policy: Word, who: Who, by: By })
export type Level = typeof Level.Type

/** `messages`: answers come with a message history, and nobody is known who wrote them. */
export const Way = Schema.Literals(["generate", "stream", "messages", "streamed messages", "conversation", "guard"])

export const Later = Schema.Struct({ says: Schema.Literals(["yes", "no"]), by: By })
export type Later = typeof Later.Type

export const World = Schema.Struct({
  way: Way,
  gated: Schema.Boolean,
  /** From the inside to the outside. */
  levels: Schema.Array(Level).check(Schema.isMinLength(1), Schema.isMaxLength(4)),
  later: Schema.Array(Later).check(Schema.isMaxLength(3))
})
export type World = typeof World.Type

/** `open`: somebody is to be asked and nobody whose word counts has answered. */
export type End = "ran" | "open" | "refused"

/** Everything that a decision of the wrong person must leave as it was. */
export interface Seen {
  readonly runs: number
  /** Without what it says to whoever is asked again. */
  readonly pending: ReadonlyArray<Omit<Approval.ApprovalRequest, "reason">>
  readonly history: string
  readonly journal: string
  readonly remembered: number
}

export interface Moment {
  readonly end: End
  /** At which levels people were asked in this moment, in order. */
  readonly asked: ReadonlyArray<number>
  readonly before: Seen
  readonly after: Seen
  /** What whoever decided was told. */
  readonly refusal: string | undefined
}

// =============================================================================
// What a level says
// =============================================================================

const Target = Tool.make("Target", { success: Schema.String })
const Delegate = Tool.make("Delegate", { success: Schema.String })

const policyOf = (word: Exclude<Word, "none">): ApprovalPolicy.Service =>
  ApprovalPolicy.make(({ toolName }): ApprovalPolicy.PolicyResult | Effect.Effect<never, string> => {
    // Of what leads to the call nobody says anything.
    if (toolName !== "Target") return undefined
    switch (word) {
      case "silent":
        return undefined
      case "allow":
        return false
      case "block":
        return Approval.blocked("not here")
      case "fail":
        return Effect.fail("broken")
      default:
        return Approval.needsApproval(asking[word])
    }
  })

const personOf = (by: By) => by === "nobody" ? undefined : { id: by }

const controllerOf = ({ by, who }: Level, asked: () => void): ApprovalController.Service => {
  switch (who) {
    case "yes":
    case "no":
      return ApprovalController.interactive(() => {
        asked()
        const remember = { remember: "session" } as const
        const decision = who === "yes" ? new Approval.Approved(remember) : new Approval.Denied(remember)
        const person = personOf(by)
        return person === undefined ? decision : ApprovalController.decided(decision, person)
      })
    case "strict":
      return ApprovalController.strict
    case "approveAll":
      return ApprovalController.approveAll
    default:
      return ApprovalController.deferred
  }
}

const under =
  (level: Level, asked: () => void) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const judged = level.policy === "none"
      ? effect
      : Effect.provideService(effect, ApprovalPolicy.ApprovalPolicy, policyOf(level.policy))
    return level.who === "none"
      ? judged
      : Effect.provideService(judged, ApprovalController.ApprovalController, controllerOf(level, asked))
  }

// =============================================================================
// What is innermost
// =============================================================================

/** What is innermost: it is begun once, and then answered. */
interface Innermost {
  readonly begin: Effect.Effect<End, unknown>
  /** `undefined` where whoever answers is told that it settles nothing. */
  readonly answer: (answer: Approval.ApprovalAnswer, by: By) => Effect.Effect<End, unknown>
  readonly pending: Effect.Effect<ReadonlyArray<Approval.ApprovalRequest>>
  readonly history: Effect.Effect<unknown>
}

type Kit = Toolkit.WithHandler<any>

const modelOf = (name: string) =>
  Effect.map(
    ScriptedModel.make({ turns: [[Support.call(`call-${name}`, name, {})]], afterLastTurn: "Done." }),
    ({ model }) => model
  )

const endOf = (ran: () => boolean, isOpen: boolean): End => ran() ? "ran" : isOpen ? "open" : "refused"

type Own = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const chatting = Effect.fnUntraced(function*(kit: Kit, ran: () => boolean, own: Own, isStreamed: boolean) {
  const chat = yield* Chat.empty
  const model = yield* modelOf("Target")
  let pending: ReadonlyArray<Approval.ApprovalRequest> = []
  const take = (prompt: Prompt.RawInput): Effect.Effect<End, unknown> => {
    const options = { prompt, toolkit: kit }
    const parts = isStreamed
      ? Effect.map(Stream.runCollect(chat.streamText(options)), (parts) => Response.approvalRequests(parts))
      : Effect.map(chat.generateText(options), (turn) => Response.approvalRequests(turn))
    const turn = Effect.provideService(parts, LanguageModel.LanguageModel, model) as Effect.Effect<
      typeof pending,
      unknown
    >
    return Effect.map(own(turn), (requests) => {
      pending = requests
      return endOf(ran, requests.length > 0)
    })
  }
  return {
    begin: take("Go."),
    answer: (answer) => take(Prompt.approvalResponses([answer])),
    pending: Effect.sync(() => pending),
    history: Ref.get(chat.history)
  } satisfies Innermost
})

let conversations = 0

const conversing = Effect.fnUntraced(function*(kit: Kit, ran: () => boolean, own: Own) {
  const make = Conversation.make<any>({ id: `nested-${conversations++}`, toolkit: kit }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, yield* modelOf("Target"))
  )
  const conversation = yield* own(make as Effect.Effect<Conversation.Conversation<any>>)
  const ended = Effect.map(({ _tag }: Conversation.Outcome<any>) => endOf(ran, _tag === "Waiting"))
  return {
    begin: ended(conversation.send("Go.")),
    answer: (answer, by) => {
      const person = personOf(by)
      return ended(conversation.decide(answer, person === undefined ? {} : { by: person }))
    },
    pending: Effect.orDie(conversation.pending()),
    history: Effect.orDie(conversation.history)
  } satisfies Innermost
})

const guarding = Effect.fnUntraced(function*(kit: Kit, ran: () => boolean, own: Own) {
  const guarded = yield* own(Toolkit.guard(Effect.succeed(kit)))
  const handle = Effect.flatMap(guarded.handle("Target", {}), Stream.runCollect)
  // Nobody comes back to a call that is handled: it is told, and may be made again.
  const begin = Effect.map(handle, (results) => endOf(ran, JSON.stringify(results).includes("Nothing ran")))
  return {
    begin: begin as Effect.Effect<End, unknown>,
    answer: () => Effect.die("a guarded call is answered where it is handled"),
    pending: Effect.succeed([]),
    history: Effect.succeed([])
  } satisfies Innermost
})

const innermostOf = (
  { way }: World,
  kit: Kit,
  ran: () => boolean,
  own: Own
): Effect.Effect<Innermost> =>
  way === "conversation"
    ? conversing(kit, ran, own)
    : way === "guard"
    ? guarding(kit, ran, own)
    : chatting(kit, ran, own, way === "stream" || way === "streamed messages")

// =============================================================================
// What happens
// =============================================================================

/** A turn whose only call does this. */
const around = <A>(isStreamed: boolean, inner: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.gen(function*() {
    let came: A | undefined
    const { toolkit } = yield* Support.makeTools([Delegate], {
      Delegate: () => Effect.map(inner, (inner) => ((came = inner), "done"))
    })
    const options = { prompt: "Go.", toolkit: toolkit as Kit }
    const turn = isStreamed ? Stream.runDrain(LanguageModel.streamText(options)) : LanguageModel.generateText(options)
    yield* Effect.orDie(
      Effect.provideService(turn as Effect.Effect<unknown>, LanguageModel.LanguageModel, yield* modelOf("Delegate"))
    )
    return came!
  })

const reasonOf = (error: unknown): string => {
  const reason = error instanceof ApprovalError.ApprovalError ? error.reason : undefined
  return reason?._tag ?? String(error)
}

const noting = Effect.fnUntraced(function*() {
  const counted = { writes: 0 }
  const memory = yield* Effect.orDie(ApprovalMemory.make({ store: yield* Store.makeMemory() }))
  const remember: ApprovalMemory.Service["remember"] = (answered) =>
    Effect.tap(memory.remember(answered), () => Effect.sync(() => counted.writes++))
  return { counted, memory: { ...memory, remember } satisfies ApprovalMemory.Service }
})

/** Every moment of a world: the call is made, and then each decides who does so later. */
export const play = (world: World): Effect.Effect<ReadonlyArray<Moment>> =>
  Effect.gen(function*() {
    const { gated, later, levels, way } = world
    const isStreamed = way === "stream" || way === "streamed messages"
    const { counted, memory } = yield* noting()
    const asked: Array<number> = []
    const target = Tool.setNeedsApproval(Target, gated)
    const { count, toolkit } = yield* Support.makeTools([target], { Target: () => Effect.succeed("ran") })
    const own = under(levels[0]!, () => asked.push(0))
    const ran = () => count("Target") > 0
    const innermost = yield* innermostOf(world, toolkit as Kit, ran, own)
    const nest = <A>(inner: Effect.Effect<A>): Effect.Effect<A> =>
      levels.slice(1).reduce(
        (inner, level, index) => under(level, () => asked.push(index + 1))(around(isStreamed, inner)),
        inner
      )
    const journal = yield* ApprovalJournal.ApprovalJournal
    const seal = yield* ApprovalSeal.ApprovalSeal
    const known = new Map<string, Approval.ApprovalRequest>()
    const look = Effect.gen(function*() {
      const pending = yield* innermost.pending
      for (const request of pending) known.set(request.approvalId, request)
      const entries = yield* Effect.forEach([...known.values()], ({ approvalId, toolCallId, toolName }) =>
        Effect.orDie(journal.find({ ...Result.getOrThrow(seal.parse(approvalId)), toolCallId, toolName })))
      return {
        runs: count("Target"),
        pending: pending.map(({ reason: _, ...request }) =>
          request
        ),
        history: JSON.stringify(yield* innermost.history),
        journal: JSON.stringify(entries),
        remembered: counted.writes
      } satisfies Seen
    })
    const moments: Array<Moment> = []
    const happen = Effect.fnUntraced(function*(what: Effect.Effect<End, unknown>) {
      asked.length = 0
      const before = yield* look
      const outcome = yield* nest(Effect.result(what))
      const after = yield* look
      const refusal = Result.isFailure(outcome) ? reasonOf(outcome.failure) : undefined
      const end = Result.isSuccess(outcome) ? outcome.success : endOf(ran, after.pending.length > 0)
      moments.push({ end, asked: [...asked], before, after, refusal })
    })
    yield* happen(innermost.begin).pipe(Effect.provideService(ApprovalMemory.ApprovalMemory, memory))
    const [request] = yield* innermost.pending
    if (request === undefined || !isAnswered(world)) {
      return moments
    }
    for (const { by, says } of later) {
      const answer = says === "yes" ? Approval.approve(request) : Approval.deny(request, "no")
      yield* happen(innermost.answer(answer, by)).pipe(Effect.provideService(ApprovalMemory.ApprovalMemory, memory))
    }
    return moments
  }).pipe(Effect.orDie, Effect.provideService(Approval.Scope, { principal: requester }))

/** Whether somebody comes back to it later, in this way. */
export const isAnswered = ({ way }: World): boolean =>
  way === "conversation" || way === "messages" || way === "streamed messages"
