/** What a turn of a plan begins with: its record, and the services in force. */
import { Clock, Context, Effect, Tracer } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalJournal,
  ApprovalMemory,
  ApprovalPolicy,
  ApprovalSeal,
  SuspensionStore
} from "../../src/index.ts"
import * as Note from "./note.ts"
import type * as Process from "./process.ts"
import type * as Record from "./record.ts"
import * as Stage from "./stage.ts"
import * as State from "./state.ts"

/** Begins the record of a turn. */
export const openTurn = Effect.fnUntraced(function*(
  { circumstances, record, step, tampered }: Pick<State.World, "circumstances" | "record" | "step" | "tampered">,
  fields:
    & Pick<Record.Turn, "plan" | "process" | "primary" | "prompt" | "added" | "sent" | "received">
    & Partial<Record.Turn>
): Effect.fn.Return<Record.Turn> {
  const turn: Record.Turn = {
    index: record.turns.length,
    step,
    within: "conversation",
    tampered,
    startedAt: yield* Effect.clockWith((clock) => clock.currentTimeMillis),
    runsBefore: record.runs.length,
    circumstances,
    parts: [],
    ending: "stuck",
    endedAt: 0,
    unfinished: 0,
    cause: undefined,
    required: undefined,
    ...fields
  }
  record.turns.push(turn)
  return turn
})

/** Everything a turn is provided with, but for its model. */
export const contextOf = Effect.fnUntraced(function*(
  world: State.World,
  turn: Record.Turn,
  process: Process.Process
): Effect.fn.Return<Context.Context<never>> {
  const { circumstances, record } = world
  const stage: Stage.Stage = {
    record,
    turn: turn.index,
    process: process.index,
    gate: circumstances.gate,
    revision: circumstances.revision,
    alive: process.alive,
    judged: world.judged
  }
  let context = Context.make(Stage.Stage, stage).pipe(
    Context.add(ApprovalSeal.ApprovalSeal, yield* State.sealOf(world)),
    Context.add(ApprovalJournal.ApprovalJournal, process.journal),
    Context.add(SuspensionStore.SuspensionStore, process.suspensions),
    Context.add(Approval.Scope, State.scopes[circumstances.scope]!),
    Context.add(Tracer.Tracer, Note.tracerOf(record)),
    Context.add(Clock.Clock, process.clock)
  ) as Context.Context<never>
  if (circumstances.memory) context = Context.add(context, ApprovalMemory.ApprovalMemory, process.memory)
  if (circumstances.policy !== "default") {
    context = Context.add(context, ApprovalPolicy.ApprovalPolicy, Stage.policyOf(circumstances.policy))
  }
  if (circumstances.controller !== "defer") {
    context = Context.add(
      context,
      ApprovalController.ApprovalController,
      // Who asks may be within another turn than this.
      Stage.controllerOf(circumstances.controller, (shown, turn) => Note.note(record, record.turns[turn]!, shown))
    )
  }
  return context
})
