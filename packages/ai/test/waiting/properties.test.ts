/**
 * Random interleavings of everything that may happen to tools that wait: no state is lost, none is gone on from twice,
 * each call has exactly one final result, and the strict provider refuses no prompt.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalJournal,
  ApprovalSeal,
  DeferredTool,
  type LanguageModel,
  Prompt,
  Store,
  SuspensionStore
} from "../../src/index.ts"
import { ScriptedModel, StrictProvider } from "../../src/testing/index.ts"
import { Chain, countOf, type Kind, kinds, makeToolkit, right, unanswered } from "./chain.ts"
import * as Support from "./support.ts"

// =============================================================================
// What may happen
// =============================================================================

const Which = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))

const Event = Schema.Union([
  Schema.TaggedStruct("Answer", { which: Which }),
  Schema.TaggedStruct("Answer", { which: Which }),
  Schema.TaggedStruct("AnswerAll", {}),
  Schema.TaggedStruct("Wrong", { which: Which }),
  Schema.TaggedStruct("Deny", { which: Which }),
  Schema.TaggedStruct("Both", { which: Which }),
  Schema.TaggedStruct("Poll", {}),
  Schema.TaggedStruct("Message", {}),
  Schema.TaggedStruct("Calls", { kinds: Schema.Array(Schema.Array(Schema.Literals(kinds))), gated: Schema.Boolean }),
  Schema.TaggedStruct("Wait", { hours: Schema.Literals([1, 800]) }),
  Schema.TaggedStruct("Replay", { which: Which, again: Schema.Boolean }),
  Schema.TaggedStruct("AtOnce", { which: Which }),
  Schema.TaggedStruct("Restart", {})
])

const Story = Schema.Struct({
  expires: Schema.Boolean,
  first: Schema.Array(Schema.Array(Schema.Literals(kinds)).check(Schema.isMaxLength(3))).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(3)
  ),
  gated: Schema.Boolean,
  reuses: Schema.Boolean,
  events: Schema.Array(Event).check(Schema.isMinLength(3), Schema.isMaxLength(14)),
  onNewMessage: Schema.Literals(["supersede", "keep", "hold"])
})

type Story = typeof Story.Type

// =============================================================================
// A world in which it happens
// =============================================================================

const tell = (story: Story, mode: Support.Mode) =>
  Effect.gen(function*() {
    const store = yield* Store.makeMemory()
    const steps: Array<string> = []
    const toolkit = yield* makeToolkit(steps)
    let batch: ReadonlyArray<ScriptedModel.TurnPart> | undefined
    let calls = 0
    // To poll where the model's own words are the last is to let it go on from them.
    let polls = 0
    const breaches: Array<string> = []
    const script = yield* ScriptedModel.make({
      turns: [],
      afterLastTurn: ({ prompt }) => {
        if (polls === 0 && StrictProvider.check(prompt).length > 0) breaches.push(JSON.stringify(prompt.content.at(-1)))
        const turn = batch ?? "done"
        batch = undefined
        return turn
      },
      strict: { allowPrefill: true }
    })
    const ids: Array<string> = []
    const callAll = (all: ReadonlyArray<ReadonlyArray<Kind>>, gated: boolean) =>
      batch = all.slice(0, 3).map((kinds) => {
        const id = `${gated ? "gated" : "free"}${++calls}`
        ids.push(id)
        // Some providers use ids again.
        return Support.call(story.reuses ? `call${calls % 2}` : id, "Chain", { id, kinds: kinds.slice(0, 3) })
      })

    let scope = yield* Scope.make()
    let services: Layer.Layer<never>
    const start = Effect.gen(function*() {
      const journal = yield* Effect.provideService(
        ApprovalJournal.make({ store, grace: 0 }),
        Scope.Scope,
        scope
      )
      services = Layer.mergeAll(
        Layer.succeed(ApprovalJournal.ApprovalJournal, journal),
        Layer.succeed(SuspensionStore.SuspensionStore, SuspensionStore.make({ store })),
        ApprovalSeal.layer({ key: Support.key })
      ) as Layer.Layer<never>
    })
    yield* start
    const approval: LanguageModel.ApprovalOptions = {
      onNewMessage: story.onNewMessage,
      ...(story.expires ? { expiresIn: "30 days" } : undefined)
    }
    const takeOn = (history: Prompt.Prompt, prompt: Prompt.RawInput) =>
      Effect.suspend(() => {
        const isPoll = Prompt.make(prompt).content.length === 0 && history.content.at(-1)?.role === "assistant"
        if (isPoll) polls++
        return Effect.ensuring(
          Support.takeTurn(mode, { model: script.model, toolkit, history, prompt, approval }),
          Effect.sync(() => isPoll && polls--)
        )
      }).pipe(Effect.provide(services), Effect.orDie)
    let history = Prompt.empty
    let requests: ReadonlyArray<Approval.ApprovalRequest> = []
    const seen = new Map<string, Approval.ApprovalRequest>()
    const past: Array<{ readonly history: Prompt.Prompt; readonly prompt: Prompt.RawInput }> = []
    const adopt = (turn: Support.Turn) => {
      history = turn.history
      requests = turn.requests
      for (const request of requests) seen.set(request.approvalId, request)
    }
    const take = (prompt: Prompt.RawInput) =>
      Effect.suspend(() => {
        past.push({ history, prompt })
        return Effect.map(takeOn(history, prompt), adopt)
      })
    const one = (which: number) => {
      const open = [...seen.values()]
      return open.length === 0 ? undefined : open[which % open.length]!
    }
    const answering = (
      which: number,
      f: (request: Approval.ApprovalRequest) => ReadonlyArray<Approval.ApprovalAnswer>
    ) => {
      const request = one(which)
      return take(request === undefined ? [] : Support.answers(...f(request)))
    }
    const deliver = (request: Approval.ApprovalRequest) =>
      request.awaited?.name === "event"
        ? Effect.ignore(Effect.provide(DeferredTool.deliver(Chain, "event", request, 1), services))
        : Effect.void

    callAll(story.first, story.gated)
    yield* take("Go")
    for (const event of story.events) {
      switch (event._tag) {
        case "Answer": {
          const request = one(event.which)
          if (request !== undefined) yield* deliver(request)
          yield* answering(event.which, (request) => [right(request)])
          break
        }
        case "AnswerAll":
          yield* Effect.forEach(requests, deliver)
          yield* take(Support.answers(...requests.map(right)))
          break
        case "Wrong":
          yield* answering(event.which, (request) => [Approval.answer(request, { wrong: true })])
          break
        case "Deny":
          yield* answering(event.which, (request) => [Approval.deny(request, "no")])
          break
        case "Both":
          yield* answering(event.which, (request) => [right(request), Approval.deny(request, "no"), right(request)])
          break
        case "Poll":
          yield* take([])
          break
        case "Message":
          yield* take("Something else")
          break
        case "Calls":
          callAll(event.kinds, event.gated)
          yield* take("More")
          batch = undefined
          break
        case "Wait":
          yield* TestClock.adjust(`${event.hours} hours`)
          yield* take([])
          break
        case "Replay": {
          const old = past[event.which % past.length]!
          yield* takeOn(old.history, old.prompt)
          if (event.again) yield* takeOn(old.history, Support.answers(...[...seen.values()].map(right)))
          break
        }
        case "AtOnce": {
          const request = one(event.which)
          const prompt = request === undefined ? [] : Support.answers(right(request))
          const fibers = yield* Effect.forEach(
            [prompt, prompt, []],
            (prompt) => Effect.forkChild(takeOn(history, prompt))
          )
          const [turn] = yield* Fiber.joinAll(fibers)
          adopt(turn!)
          break
        }
        case "Restart":
          yield* Scope.close(scope, Exit.void)
          scope = yield* Scope.make()
          yield* start
          history = Support.throughJson(history)
          break
      }
    }
    // Whatever is left is answered, delivered or waited for; then everything has come to its end.
    for (let i = 0; i < 12; i++) {
      yield* Effect.forEach([...seen.values()], deliver)
      yield* TestClock.adjust("2 hours")
      yield* take(Support.answers(...[...seen.values()].filter(({ awaited }) => awaited?.name !== "timer").map(right)))
      if (requests.length === 0) {
        const { suspensions } = yield* Effect.provide(
          Effect.flatMap(SuspensionStore.SuspensionStore, (store) => store.list()),
          services!
        )
        if (suspensions.length === 0 && unanswered(history).length === 0) break
      }
    }
    return { breaches, history, ids, requests, script, services: services!, steps, toolkit }
  })

describe("over random interleavings", () => {
  for (const mode of Support.modes) {
    it.effect.prop(
      `no state is lost, none is gone on from twice, and each call has one result [${mode}]`,
      { story: Story },
      ({ story }) =>
        Effect.gen(function*() {
          const { breaches, history, requests, steps } = yield* tell(story, mode)
          const said = JSON.stringify(story)
          assert.deepStrictEqual(breaches, [], `a prompt that ends with the assistant: ${said}`)
          assert.deepStrictEqual([...new Set(steps)], steps, `a step was taken twice: ${said}`)
          assert.deepStrictEqual(requests, [], `something is still open: ${said}`)
          assert.deepStrictEqual(unanswered(history), [], `a call has no result: ${said}`)
          // What is answered again is given its result again.
          const settled = Support.partsOf(history).flatMap((part) => part.type === "tool-result" ? [part] : [])
          const results = new Set(settled.map(({ options, result }) => JSON.stringify([options.assent, result])))
          assert.strictEqual(results.size, countOf(history, "tool-call"), said)
          // A chain that ended well went all its way.
          for (const part of Support.partsOf(history)) {
            if (part.type !== "tool-result" || part.isFailure) continue
            const [id, count] = String(part.result).split(" after ")
            const own = steps.filter((step) => step.startsWith(`${id} `))
            assert.strictEqual(own.length, Number(count) + 1, said)
          }
        }).pipe(Effect.scoped),
      { timeout: 120_000, arbitrary: { runs: 30, seed: `waiting ${mode}` } }
    )
  }
})
