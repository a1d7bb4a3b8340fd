/**
 * The controller itself: one person, one question at a time, until they leave.
 */
import type * as Approval from "@assent/ai/Approval"
import * as ApprovalController from "@assent/ai/ApprovalController"
import * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import type * as Approver from "@assent/ai/Approver"
import type * as Prompt from "effect/cli/Prompt"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Terminal from "effect/Terminal"
import * as Approvers from "./call/approvers.ts"
import * as Batch from "./call/batch.ts"
import * as Question from "./call/question.ts"
import * as Session from "./call/session.ts"
import * as Verdict from "./call/verdict.ts"
import * as Dialogue from "./scene/dialogue.ts"
import * as Editor from "./scene/editor.ts"
import * as Perform from "./scene/perform.ts"
import * as Measure from "./screen/measure.ts"
import * as Stage from "./screen/stage.ts"
import * as Stopping from "./stopping.ts"
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

/** What is known where a question is put. */
interface Setting {
  /** Whether an answer for more than once would be remembered: one call of the model is nothing to be promised. */
  readonly remembers: boolean
  readonly behaviors: ApprovalMatcher.Behaviors
  /** Why changed parameters, or an answer, cannot be taken. */
  readonly check: (json: Schema.Json) => Effect.Effect<string | undefined>
}

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

  const setting = Effect.gen(function*(): Effect.fn.Return<Setting> {
    const check = yield* ApprovalController.Check
    const remembers = yield* ApprovalController.Remembers
    const behaviors = yield* ApprovalMatcher.Behaviors
    return { remembers: remembers === "toolkit" || remembers === "conversation", behaviors, check }
  })

  const atTerminal = <A, E>(effect: Effect.Effect<A, E, Prompt.Environment>): Effect.Effect<A, E> =>
    Effect.provideContext(effect, services)

  const tell = (said: Verdict.Verdict["said"]) =>
    said === undefined ? Effect.void : Effect.gen(function*() {
      const terminal = yield* Terminal.Terminal
      const columns = (yield* terminal.columns) || 80
      yield* Stage.say([said({ columns, ...yield* Measure.knownOf(terminal) })])
    })

  const left = Effect.suspend(() => {
    stopping.leave()
    const { decision, said } = Verdict.left(stopping.ends())
    return atTerminal(Effect.as(tell(said), decision))
  })

  const untilTakenBack = <A, E>(question: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.onInterrupt(question, () => atTerminal(tell(Verdict.takenBack)))

  const askedOf = (
    request: Approval.ApprovalRequest,
    { behaviors, remembers }: Setting,
    now: number
  ): Question.Asked => ({
    request,
    choices: remembers && request.rememberable !== false
      ? (params) => Session.choices(request, params, options.patterns, behaviors)
      : undefined,
    editor: editor?.name,
    now
  })

  const decide = Effect.fnUntraced(function*(request: Approval.ApprovalRequest, setting: Setting) {
    const asked = askedOf(request, setting, yield* Clock.currentTimeMillis)
    let open = Dialogue.opened(Question.scene(asked))
    while (true) {
      const { open: left, value } = yield* Perform.perform<Question.Outcome>(open, editor)
      if (value._tag === "Decided") return value.verdict
      const problem = yield* setting.check(value.params)
      open = problem === undefined
        ? Dialogue.opened(Question.scene(asked, value.params))
        : Dialogue.refused(left, `These parameters cannot run: ${problem}`)
    }
  })

  const answer = Effect.fnUntraced(function*(
    request: Approval.ApprovalRequest,
    awaited: Approval.Awaited,
    { check }: Setting
  ) {
    const asked = { request, awaited, editor: editor?.name, now: yield* Clock.currentTimeMillis }
    const scene = Answers.scene(asked)
    if (scene === undefined) return Verdict.open("This is not for a person at a terminal to answer.")
    let open = Dialogue.opened(scene)
    while (true) {
      const { open: left, value } = yield* Perform.perform<Answers.Outcome>(open, editor)
      if (value._tag === "Decided") return value.verdict
      const problem = yield* check(value.answer)
      if (problem === undefined) return Answers.verdictOf(asked, value.answer)
      open = Dialogue.refused(left, `This answer cannot be used: ${problem}`)
    }
  })

  const one = (request: Approval.ApprovalRequest, setting: Setting) =>
    atTerminal(Effect.tap(
      request.awaited === undefined ? decide(request, setting) : answer(request, request.awaited, setting),
      ({ said }) => tell(said)
    ))

  /** Whoever may not decide is told so, and not asked. */
  const refuse = (request: Approval.ApprovalRequest): Effect.Effect<Approval.ApprovalDecision> | undefined => {
    const refused = Approvers.refusal(request, person)
    return refused === undefined ? undefined : atTerminal(Effect.as(tell(refused.said), refused.decision))
  }

  const byPerson = (decision: Approval.ApprovalDecision) => ApprovalController.decided(decision, person)

  const denyLeft = (request: Approval.ApprovalRequest) =>
    Effect.as(stopping.denying(request), byPerson(Verdict.left(stopping.ends()).decision))

  const askOne = (request: Approval.ApprovalRequest): Effect.Effect<Approval.ApprovalDecision> =>
    turn.withPermit(
      Effect.suspend(() =>
        stopping.hasLeft() ?
          Effect.succeed(Verdict.left(stopping.ends()).decision) :
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
  const settings = new Map<Approval.ApprovalRequest, Setting>()
  const askAll = Effect.fnUntraced(function*(requests: ReadonlyArray<Approval.ApprovalRequest>) {
    const decisions = new Map<Approval.ApprovalRequest, Approval.ApprovalDecision>()
    for (const request of requests) {
      const refused = refuse(request)
      if (refused !== undefined) decisions.set(request, yield* refused)
    }
    const now = yield* Clock.currentTimeMillis
    const asked = requests.filter((request) => !decisions.has(request)).map((request) => ({
      request,
      setting: settings.get(request)!
    }))
    const calls = asked.filter(({ request }) => request.awaited === undefined)
    const alone = Effect.fnUntraced(function*({ request, setting }: typeof asked[number]) {
      decisions.set(request, (yield* one(request, setting)).decision)
    })
    const all = Effect.gen(function*() {
      const [first, second, ...others] = calls.map(({ request, setting }) => askedOf(request, setting, now))
      const verdicts = first === undefined || second === undefined
        ? []
        : (yield* atTerminal(Perform.perform(
          Dialogue.opened(Batch.scene({ calls: [first, second, ...others], unticked })),
          editor
        ))).value
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
        ? Verdict.left(stopping.ends()).decision
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
