/**
 * The controller itself: one person, one question at a time, until they leave.
 */
import type * as Approval from "@assent/ai/Approval"
import * as ApprovalController from "@assent/ai/ApprovalController"
import * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import type * as Approver from "@assent/ai/Approver"
import * as Prompt from "effect/cli/Prompt"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as Terminal from "effect/Terminal"
import * as Approvers from "./call/approvers.ts"
import * as Batch from "./call/batch.ts"
import * as Editor from "./call/editor.ts"
import * as Question from "./call/question.ts"
import type * as Session from "./call/session.ts"
import * as Verdict from "./call/verdict.ts"
import * as Stopping from "./stopping.ts"
import { layout } from "./text/cells.ts"
import { paint } from "./text/style.ts"
import * as Answers from "./waiting/answers.ts"

export interface Options {
  readonly batch?: {
    readonly unticked: "deny" | "ask"
    readonly window?: Duration.Input | undefined
  } | undefined
  readonly patterns?: Session.Patterns | undefined
  readonly editor?: string | undefined
  readonly by?: Approver.Person | undefined
}

export interface Asker {
  readonly controller: ApprovalController.Service
  readonly stopping: Stopping.Stopping
}

/** In words. One call of the model is nothing that a person should be promised. */
const sessions = { turn: undefined, toolkit: "for this session", conversation: "in this conversation" }

const via = "terminal"

// A terminal has one person, however many controllers share it.
const turns = new WeakMap<Terminal.Terminal, Semaphore.Semaphore>()

const turnOf = (terminal: Terminal.Terminal): Semaphore.Semaphore => {
  const turn = turns.get(terminal) ?? Semaphore.makeUnsafe(1)
  turns.set(terminal, turn)
  return turn
}

export const make = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Asker, never, Prompt.Environment> {
  const services = yield* Effect.context<Prompt.Environment>()
  const editor = yield* Editor.find(options.editor)
  const person = yield* Approvers.personOf(options.by)
  const turn = turnOf(Context.get(services, Terminal.Terminal))
  const stopping = Stopping.make()

  const setting = Effect.gen(function*(): Effect.fn.Return<Question.Setting> {
    const check = yield* ApprovalController.Check
    const remembers = yield* ApprovalController.Remembers
    const session = remembers === undefined ? undefined : sessions[remembers]
    const { suggest } = yield* ApprovalMatcher.Behaviors
    return { editor, patterns: options.patterns, suggest, session, check }
  })

  const atTerminal = <A, E>(effect: Effect.Effect<A, E, Prompt.Environment>): Effect.Effect<A, E> =>
    Effect.provideContext(effect, services)

  const tell = (said: Verdict.Verdict["said"]) =>
    Effect.gen(function*() {
      const terminal = yield* Terminal.Terminal
      const theme = yield* Prompt.Theme
      const rows = layout(said, (yield* terminal.columns) || 80)
      yield* Effect.ignore(terminal.display(rows.map((row) => `${paint(row, theme)}\n`).join("")))
    })

  const left = atTerminal(
    Effect.as(Effect.andThen(Effect.sync(stopping.leave), tell(Verdict.left.said)), Verdict.left.decision)
  )

  const untilTakenBack = <A, E>(question: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.onInterrupt(question, () => atTerminal(tell(Verdict.takenBack)))

  const one = (request: Approval.ApprovalRequest, setting: Question.Setting) =>
    atTerminal(Effect.tap(
      request.awaited === undefined
        ? Question.decide(request, setting)
        : Answers.decide(request, request.awaited, setting.check),
      ({ said }) => tell(said)
    ))

  /** Whoever may not decide is told so, and not asked. */
  const refuse = (request: Approval.ApprovalRequest): Effect.Effect<Approval.ApprovalDecision> | undefined => {
    const refused = Approvers.refusal(request, person)
    return refused === undefined ? undefined : atTerminal(Effect.as(tell(refused.said), refused.decision))
  }

  const byPerson = (decision: Approval.ApprovalDecision) => ApprovalController.decided(decision, person)

  const denyLeft = (request: Approval.ApprovalRequest) =>
    Effect.as(stopping.denying(request), byPerson(Verdict.left.decision))

  const askOne = (request: Approval.ApprovalRequest): Effect.Effect<Approval.ApprovalDecision> =>
    turn.withPermit(
      Effect.suspend(() =>
        stopping.hasLeft() ?
          Effect.succeed(Verdict.left.decision) :
          refuse(request) ?? Effect.flatMap(setting, (setting) =>
            untilTakenBack(one(request, setting)).pipe(
              Effect.map(({ decision }) => decision),
              Effect.catch(() => left)
            ))
      )
    )

  // What was denied because the person left is written down before the run ends.
  const finished = <A>(request: Approval.ApprovalRequest, asked: Effect.Effect<A, unknown>) =>
    Effect.tap(asked, () => stopping.hasLeft() ? stopping.denying(request) : Effect.void)

  if (options.batch === undefined) {
    return {
      stopping,
      controller: {
        personOf: () => turn,
        via,
        ask: (request) =>
          stopping.hasLeft() ? denyLeft(request) : finished(request, Effect.map(askOne(request), byPerson))
      }
    }
  }

  const { unticked, window } = options.batch
  const settings = new Map<Approval.ApprovalRequest, Question.Setting>()
  const askAll = Effect.fnUntraced(function*(requests: ReadonlyArray<Approval.ApprovalRequest>) {
    const decisions = new Map<Approval.ApprovalRequest, Approval.ApprovalDecision>()
    for (const request of requests) {
      const refused = refuse(request)
      if (refused !== undefined) decisions.set(request, yield* refused)
    }
    const asked = requests.filter((request) => !decisions.has(request)).map((request) => ({
      request,
      setting: settings.get(request)!
    }))
    const calls = asked.filter(({ request }) => request.awaited === undefined)
    const alone = Effect.fnUntraced(function*({ request, setting }: Batch.Asked) {
      decisions.set(request, (yield* one(request, setting)).decision)
    })
    const all = Effect.gen(function*() {
      const verdicts = calls.length < 2 ? [] : yield* atTerminal(Batch.decide(calls, unticked))
      for (const [index, verdict] of verdicts.entries()) {
        if (verdict === undefined) continue
        yield* atTerminal(tell(verdict.said))
        decisions.set(calls[index]!.request, verdict.decision)
      }
      yield* Effect.forEach(asked.filter(({ request }) => !decisions.has(request)), alone)
    })
    yield* Effect.catch(stopping.hasLeft() ? Effect.void : untilTakenBack(all), () => left)
    // Nothing has begun of what whoever left had said yes to before.
    return requests.map((request) => {
      const decision = decisions.get(request)
      return decision === undefined || (stopping.hasLeft() && decision._tag === "Approved")
        ? Verdict.left.decision
        : decision
    })
  })
  const batch = ApprovalController.batch((requests) => turn.withPermit(askAll(requests)), { window, by: person })
  return {
    stopping,
    controller: {
      via,
      parallel: true,
      ask: (request) =>
        stopping.hasLeft() ? denyLeft(request) : finished(
          request,
          Effect.flatMap(setting, (setting) => {
            settings.set(request, setting)
            return Effect.ensuring(batch.ask!(request), Effect.sync(() => settings.delete(request)))
          })
        )
    }
  }
})
