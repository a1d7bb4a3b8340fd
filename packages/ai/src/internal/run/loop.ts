/** Drives a call: the table asks for facts until it decides; what is to be written is written on the way. */
import * as Effect from "effect/Effect"
import type * as ApprovalError from "../../ApprovalError.ts"
import * as Asking from "../asking/asking.ts"
import type { Decision, Need, Write } from "../decide/decision.ts"
import type * as Standing from "../decide/standing.ts"
import { decide } from "../decide/table.ts"
import { type Case, type File, forget } from "../gather/file.ts"
import { gather } from "../gather/gather.ts"
import * as Order from "../gather/order.ts"
import * as Reply from "../gather/reply.ts"

type Failure = ApprovalError.ApprovalError

/** Who carries out: for calls that run here, for those of the provider, for those of a guarded toolkit. */
export interface Hand {
  /** A request of its own for a call that somebody is to be asked about. */
  readonly seal: (file: File, standing: Standing.Standing) => Effect.Effect<Standing.Standing, Failure>
  /** Ends a request, unless it was decided before: what stands then is in the standing. */
  readonly end: (
    file: File,
    standing: Standing.Standing,
    end: Extract<Write, { _tag: "End" }>
  ) => Effect.Effect<Standing.Standing, Failure>
  /** Keeps an approval with the request, which needs others too: what its answers are worth is found out anew. */
  readonly add: (
    file: File,
    standing: Standing.Standing,
    add: Extract<Write, { _tag: "Add" }>
  ) => Effect.Effect<Standing.Standing, Failure>
  /** Once, when it is decided: what others are to know at once, before anything runs. */
  readonly decided: (file: File, standing: Standing.Standing, decision: Decision) => Effect.Effect<void, Failure>
}

/** Where a call stops: the response is read on, or somebody is to be asked. */
export type Stop = Need & { readonly fact: "finish" | "reply" }

/** Where calls are to stop, if they get there. */
export type Stops = ReadonlyArray<Stop["fact"]>

const isStop = (need: Need, stops: Stops): need is Stop => stops.some((fact) => fact === need.fact)

const loop = Effect.fnUntraced(function*(
  hand: Hand,
  one: Case,
  stops: Stops
): Effect.fn.Return<Decision | Stop, Failure> {
  const { file } = one
  while (true) {
    const said = decide(one.standing)
    switch (said._tag) {
      case "Need":
        if (isStop(said, stops)) return said
        one.standing = yield* gather(file, one.standing, said)
        break
      case "Seal":
        one.standing = yield* hand.seal(file, one.standing)
        break
      case "End":
        one.standing = yield* hand.end(file, one.standing, said)
        break
      case "Add":
        one.standing = yield* hand.add(file, one.standing, said)
        break
      default:
        yield* hand.decided(file, one.standing, said)
        return said
    }
  }
})

/** Until it is decided, or what stops it here is wanted. Whoever waits to be looked up after it may go on then. */
export const advance = (hand: Hand, one: Case, stops: Stops): Effect.Effect<Decision | Stop, Failure> =>
  one.file.recalling === Order.none
    ? loop(hand, one, stops)
    : Effect.ensuring(loop(hand, one, stops), one.file.recalling.leave)

/** Until it is decided; whoever is to be asked is asked when it is this call's turn. */
export const conclude = (hand: Hand, one: Case): Effect.Effect<Decision, Failure> => {
  const { asking, environment } = one.file
  const expiresAt = Reply.expiryOf(one.file, one.standing)
  // Nothing stops it.
  const concluded = loop(hand, one, []) as Effect.Effect<Decision, Failure>
  return asking.wait.pipe(
    Effect.andThen(Asking.inTurn(environment.controller, concluded, expiresAt)),
    Effect.ensuring(asking.leave)
  )
}

/** What is decided now of a call that was to run: what it was approved by may have changed meanwhile. Nobody is asked. */
export const again = (hand: Hand, one: Case): Effect.Effect<Decision, Failure> => {
  one.standing = { ...forget(one.standing), reply: one.standing.reply ?? "none" }
  return loop(hand, one, []) as Effect.Effect<Decision, Failure>
}
