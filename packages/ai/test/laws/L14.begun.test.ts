/**
 * L14 what the model is told of a call that did not run to its end, by its state and by whether its tool had begun: that
 * nothing ran, and that it is to be asked again, is said only where nothing ran; of what had begun it is said that what it
 * did stands.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, type Scope } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalJournal,
  ApprovalPolicy,
  ApprovalSeal,
  type LanguageModel,
  Prompt,
  SuspensionStore
} from "../../src/index.ts"
import * as Trust from "../../src/internal/environment/trust.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../conversation/support.ts"
import * as W from "../waiting/support.ts"
import { forDevelopers } from "./sentences.ts"
import * as Laws from "./support.ts"

/** A call whose request is open: one that was asked about and has not begun, or one whose tool waits. */
interface Open {
  readonly turn: W.Turn
  readonly toolkit: W.AnyToolkit
  readonly request: Approval.ApprovalRequest
  readonly name: "DeleteFile" | "Ask"
}

type Take = (
  open: Open,
  next: (
    prompt: Prompt.RawInput,
    change?: {
      readonly toolkit?: W.AnyToolkit | undefined
      readonly history?: Prompt.Prompt
      readonly approval?: LanguageModel.ApprovalOptions
    }
  ) => Effect.Effect<unknown, any, Scope.Scope>
) => Effect.Effect<unknown, any, Scope.Scope>

const yes = ({ name, request }: Open) =>
  W.answers(name === "Ask" ? Approval.answer(request, "red") : Approval.approve(request))

const without = ({ name, toolkit }: Open): W.AnyToolkit => {
  const { [name]: _, ...tools } = toolkit.tools
  return { ...toolkit, tools } as never
}

const withIds = (history: Prompt.Prompt, change: (approvalId: string) => string): Prompt.Prompt =>
  Prompt.fromMessages(
    JSON.parse(JSON.stringify(Prompt.make(history).content), (key, value) =>
      key === "approvalId" && typeof value === "string" ? change(value) : value)
  )

/** Answers the request of the history under another id. */
const answeredAs = ({ request, turn }: Open, change: (approvalId: string) => string) => ({
  prompt: W.answers(Approval.approve({ approvalId: change(request.approvalId) })),
  history: withIds(turn.history, change)
})

const otherTag = (approvalId: string) => approvalId.replace(/.$/, (last) => last === "A" ? "E" : "A")

/** How each state is come to. */
const states: Record<string, Take> = {
  "denied": ({ request }, next) => next(W.answers(Approval.deny(request, "Not today."))),
  "denied without a reason": ({ request }, next) => next(W.answers(Approval.deny(request))),
  "superseded": (_, next) => next("Never mind."),
  "expired": (open, next) => Effect.andThen(TestClock.adjust("2 hours"), Effect.suspend(() => next(yes(open)))),
  "expired, and nobody answered": (_, next) =>
    Effect.andThen(TestClock.adjust("2 hours"), Effect.suspend(() => next([]))),
  "void, because its tool is gone": (open, next) => next(yes(open), { toolkit: without(open) }),
  "blocked by the policy": (open, next) =>
    Effect.provideService(
      next(yes(open)),
      ApprovalPolicy.ApprovalPolicy,
      ApprovalPolicy.make(() => Effect.succeed(Approval.blocked("Not on Sundays.")))
    ),
  "denied by the program": ({ request }, next) =>
    Effect.provideService(
      next(W.answers(Approval.deny(request, "Stopped."))),
      Trust.Answering,
      () => Trust.cancellation
    ),
  "waiting": (_, next) => next("Meanwhile.", { approval: { onNewMessage: "keep" } }),
  "forged": (open, next) => {
    const { history, prompt } = answeredAs(open, otherTag)
    return next(prompt, { history })
  },
  "of a key that is not known any more": (open, next) =>
    Effect.provide(next(yes(open)), ApprovalSeal.layer({ key: "the key of another process, 32 bytes" })),
  "forgotten by the journal and by what is kept of it": (open, next) =>
    Effect.provide(
      next(yes(open), { toolkit: open.name === "DeleteFile" ? without(open) : open.toolkit }),
      Layer.fresh(Layer.merge(ApprovalJournal.layerMemory({ grace: 0 }), SuspensionStore.layerMemory))
    )
}

const told = (name: Open["name"], take: Take) =>
  Effect.gen(function*() {
    const { toolkit } = yield* W.makeWaiting()
    const approval = { expiresIn: "1 hour" } as const
    const turn = yield* Laws.ask("generateText", {
      toolkit,
      approval,
      calls: [name === "Ask" ? W.call("c1", "Ask", { question: "Which?" }) : W.call("c1", "DeleteFile", { path: "a" })]
    })
    const open: Open = { turn, toolkit, name, request: W.only(turn) }
    const script = yield* W.answering
    yield* take(open, (prompt, change = {}) =>
      W.takeTurn("generateText", {
        model: script.model,
        toolkit: change.toolkit ?? toolkit,
        history: change.history ?? turn.history,
        approval: { ...approval, ...change.approval },
        prompt
      }))
    const [result] = yield* W.sentResults(script)
    return W.failureReason(result)
  })

/** What is said of a tool that had begun. */
const begun = /had begun|has begun|what it did before/i

/** That it did not run: by these words, or by a person's or a policy's own. */
const notRun =
  /Nothing ran|has not run yet|was not run now|^(?:Not today|The user denied this call|Not on Sundays|Stopped)\.$/

describe("L14 what is told of a call that did not run to its end", () => {
  for (const [state, take] of Object.entries(states)) {
    const toldOf = (name: Open["name"]) => W.fresh(Effect.provide(told(name, take), SuspensionStore.layerMemory))

    it.effect(`L14 ${state}: that it did not run, where nothing had begun`, () =>
      Effect.map(toldOf("DeleteFile"), (reason) => {
        assert.match(reason, notRun)
        assert.notMatch(reason, begun)
        assert.notMatch(reason, forDevelopers)
      }))

    it.effect(`L14 ${state}: that what it did stands, where its tool had begun`, () =>
      Effect.map(toldOf("Ask"), (reason) => {
        assert.match(reason, begun)
        assert.notMatch(reason, /nothing ran|not run|ask again/i)
        assert.notMatch(reason, forDevelopers)
        assert.isTrue(/not undone|will follow/.test(reason), reason)
      }))
  }
})

describe("L14 what is told of what was stopped", () => {
  it.effect("L14 a call that ran when its response was cut: that it had begun, and of its sibling that it was interrupted", () =>
    W.fresh(Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const tools = yield* Laws.makeTools(undefined, {
        ReadFile: () => Effect.andThen(Deferred.succeed(started, undefined), Effect.never)
      })
      const turn = yield* Laws.ask("streamText", {
        toolkit: tools.toolkit,
        calls: [
          W.call("c1", "ReadFile", { path: "a" }),
          W.call("c2", "DeleteFile", { path: "a" }),
          ScriptedModel.text("so"),
          ScriptedModel.pause(Deferred.await(started)),
          ScriptedModel.finish("length")
        ]
      })
      const [ran, asked] = ["c1", "c2"].map((id) => W.failureReason(turn.results.find((result) => result.id === id)))
      assert.match(ran!, /reason "length"\. The tool had begun, and what it did is unknown\. Check/)
      assert.match(asked!, /reason "length"$/)
    })))

  for (const way of ["clear", "cancel"] as const) {
    it.effect(`L14 ${way}: of a tool that waits, that what it did stands; of one that was asked about, that it did not run`, () =>
      Effect.gen(function*() {
        const { conversation, script } = yield* C.start({ turns: [[C.ask("Which?"), C.remove("a")], "Well."] })
        yield* conversation.send("Go.")
        yield* way === "clear" ? conversation.clear({ reason: "No time" }) : conversation.cancel("No time")
        yield* conversation.send("And now?")
        const prompt = (yield* C.prompts(script)).at(-1)!
        const [waited, asked] = prompt.content.flatMap((message) =>
          message.role === "tool" ? message.content.filter((part) => part.type === "tool-result") : []
        ).map(W.failureReason)
        assert.match(waited!, /No time\. .*what it did before it waited (?:stands|is not undone)/)
        assert.notMatch(waited!, /nothing ran/i)
        assert.notMatch(asked!, begun)
      }))
  }
})
