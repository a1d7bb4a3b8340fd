/** L16: who is at the terminal, the program says; whoever may not decide is told so, and is not asked. */
import * as Approval from "@assent/ai/Approval"
import * as ApprovalController from "@assent/ai/ApprovalController"
import * as ApprovalEvents from "@assent/ai/ApprovalEvents"
import * as ApprovalPolicy from "@assent/ai/ApprovalPolicy"
import type * as Approver from "@assent/ai/Approver"
import * as LanguageModel from "@assent/ai/LanguageModel"
import { ScriptedModel } from "@assent/ai/testing"
import * as Tool from "@assent/ai/Tool"
import * as Toolkit from "@assent/ai/Toolkit"
import * as TerminalController from "@assent/terminal/TerminalController"
import { assert, describe, it } from "@effect/vitest"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Keyboard from "./keyboard.ts"

const kim = { id: "kim", name: "Kim" }

const requestOf = (toolName: string, approvers?: Approver.Approvers) =>
  new Approval.ApprovalRequest({
    approvalId: toolName,
    toolCallId: toolName,
    toolName,
    params: { path: "a.txt" },
    description: toolName,
    interaction: "approval",
    providerExecuted: false,
    ...(approvers === undefined ? {} : { approvers })
  })

const make = Effect.fnUntraced(function*(
  options?: TerminalController.Options,
  environment: Record<string, string> = { LOGNAME: "kim" }
) {
  const keyboard = yield* Keyboard.make
  const controller = yield* TerminalController.make(options).pipe(
    Effect.provideService(TerminalCapabilities.TerminalCapabilities, {
      canColor: false,
      canAnimate: true,
      canPrompt: true
    }),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: environment })),
    Effect.provide(keyboard.services)
  )
  const ask = (request: Approval.ApprovalRequest) =>
    Effect.tap(
      Effect.forkChild(controller.ask!(request), { startImmediately: true }),
      () => TestClock.adjust("20 millis")
    )
  return { ...keyboard, ask, controller, over: TestClock.adjust("50 millis") }
})

const ways = [["alone", {}], ["in a batch", { batch: { unticked: "deny" as const } }]] as const

describe("L16 whoever is at the terminal", () => {
  for (const [how, options] of ways) {
    const known: ReadonlyArray<readonly [Approver.Person | undefined, Record<string, string>, Approver.Person]> = [
      [kim, {}, kim],
      [{ id: "kim" }, { LOGNAME: "login" }, { id: "kim" }],
      [{}, { LOGNAME: "login" }, {}],
      [undefined, { LOGNAME: "login", USER: "user" }, { name: "login" }],
      [undefined, { USERNAME: "user" }, { name: "user" }],
      [undefined, {}, {}]
    ]
    it.effect(`is whom the program names, or a login name without an id, ${how}`, () =>
      Effect.gen(function*() {
        for (const [by, environment, person] of known) {
          const { armed, ask, controller, key, over } = yield* make({ ...options, by }, environment)
          const asked = yield* ask(requestOf("Write"))
          yield* armed
          yield* key("y")
          yield* over
          const once = new Approval.Approved({ remember: "none" })
          assert.deepStrictEqual(yield* Fiber.join(asked), ApprovalController.decided(once, person))
          assert.strictEqual(controller.via, "terminal")
        }
      }))

    it.effect(`is asked where they are one of the approvers, ${how}`, () =>
      Effect.gen(function*() {
        for (const approvers of [["ada", "kim"], [["ada"], ["bob", "kim"]]]) {
          const { armed, ask, key, over, shown } = yield* make({ ...options, by: kim })
          const asked = yield* ask(requestOf("Write", approvers))
          yield* armed
          assert.include(shown(), "Yes, once")
          yield* key("n")
          yield* over
          yield* armed
          yield* key("\r")
          yield* Fiber.interrupt(asked)
        }
      }))

    const wrong: ReadonlyArray<readonly [string, TerminalController.Options, string]> = [
      ["somebody else", { by: kim }, "and not for Kim"],
      ["somebody of that name", { by: { name: "ada" } }, "and this program does not say who is at its terminal"],
      ["whoever has logged in by that id", {}, "and this program does not say who is at its terminal"]
    ]
    for (const [who, by, words] of wrong) {
      it.effect(`is told in words and not asked, and the request stays open: ${who}, ${how}`, () =>
        Effect.gen(function*() {
          const { ask, shown } = yield* make({ ...options, ...by }, { LOGNAME: "ada" })
          const asked = yield* ask(requestOf("Write", [["ada"], ["bob", "eve\u202e"]]))
          const reply = yield* Fiber.join(asked)
          const decision = reply !== undefined && "decision" in reply ? reply.decision : reply
          assert.instanceOf(decision, Approval.Info)
          const said = shown().replaceAll(/\s+(?:⋮ +)?/g, " ")
          assert.include(
            said,
            `✖ open Write │ a.txt; it is for ada, and bob or eve\\u202e to decide, ${words}`
          )
          assert.notInclude(said, "Yes, once")
        }))
    }
  }

  it.effect("is told in words and not asked where they asked for it, and nobody may decide on their own", () =>
    Effect.gen(function*() {
      const excluding = { principal: "kim", selfApproval: false } as const
      const refused: ReadonlyArray<readonly [Approver.Person, Approver.Approvers | undefined, string]> = [
        [
          kim,
          undefined,
          "it is for somebody other than the person who asked for it to decide, and not for Kim, who asked for it"
        ],
        [kim, ["ada", "kim"], "it is for ada or kim to decide, and not for Kim, who asked for it"],
        [{}, undefined, "and this program does not say who is at its terminal"]
      ]
      for (const [by, approvers, words] of refused) {
        const { ask, shown } = yield* make({ by })
        const asked = yield* ask(new Approval.ApprovalRequest({ ...requestOf("Write", approvers), ...excluding }))
        assert.isDefined(yield* Fiber.join(asked))
        assert.include(shown().replaceAll(/\s+(?:⋮ +)?/g, " "), words)
        assert.notInclude(shown(), "Yes, once")
      }
      const { armed, ask, key, over } = yield* make({ by: { id: "ada" } })
      const asked = yield* ask(new Approval.ApprovalRequest({ ...requestOf("Write"), ...excluding }))
      yield* armed
      yield* key("y")
      yield* over
      assert.deepInclude(yield* Fiber.join(asked), { by: { id: "ada" } })
    }))

  it.effect("is asked about the other calls of a batch", () =>
    Effect.gen(function*() {
      const { armed, ask, key, over, shown } = yield* make({ batch: { unticked: "deny" }, by: kim })
      const first = yield* ask(requestOf("First", ["ada"]))
      const second = yield* ask(requestOf("Second"))
      yield* armed
      assert.include(shown(), "✖ open     First")
      yield* key("y")
      yield* over
      assert.deepInclude(yield* Fiber.join(first), { by: kim })
      assert.deepStrictEqual(
        yield* Fiber.join(second),
        ApprovalController.decided(new Approval.Approved({ remember: "none" }), kim)
      )
    }))

  it.effect("stands in the journal, the events, and the result of what the model called", () =>
    Effect.gen(function*() {
      const { armed, controller, key, over } = yield* make({ by: kim })
      const Deploy = Tool.make("Deploy", { success: Schema.Void, needsApproval: true })
      const toolkit = Toolkit.make(Deploy)
      const { model } = yield* ScriptedModel.make({
        turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Deploy", params: {} })]]
      })
      const events = yield* ApprovalEvents.make()
      const seen: Array<ApprovalEvents.Observed> = []
      yield* Effect.forkScoped(
        Stream.runForEach(yield* events.subscribe, (event) => Effect.sync(() => void seen.push(event)))
      )
      const turn = yield* LanguageModel.generateText({ prompt: "Go on.", toolkit }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model),
        Effect.provideService(ApprovalController.ApprovalController, controller),
        Effect.provideService(ApprovalEvents.ApprovalEvents, events),
        Effect.provide(toolkit.toLayer({ Deploy: () => Effect.void })),
        (turn) => Effect.forkChild(turn, { startImmediately: true })
      )
      yield* TestClock.adjust("20 millis")
      yield* armed
      yield* key("y")
      yield* over
      const { content } = yield* Fiber.join(turn)
      const decidedBy = { ...kim, via: "terminal" }
      const result = content.find(({ type }) => type === "tool-result")
      assert.deepInclude(result?.metadata.assent, { decidedBy })
      // A state of a request is told when the journal has it.
      assert.deepStrictEqual(
        seen.flatMap((event) => event._tag === "Changed" ? [[event.state, { ...event.decidedBy }]] : []),
        [["running", decidedBy], ["done", decidedBy]]
      )
    }))

  it.effect("is asked once where others are needed too, is told so, and nothing runs", () =>
    Effect.gen(function*() {
      const { armed, controller, key, over, shown } = yield* make({ by: kim })
      let runs = 0
      const Deploy = Tool.make("Deploy", { success: Schema.Void })
      const toolkit = Toolkit.make(Deploy)
      const policy = ApprovalPolicy.make(() =>
        Effect.succeed(Approval.needsApproval({ approvers: [["kim"], ["bob"]] }))
      )
      const calling = yield* Effect.gen(function*() {
        const { handle } = yield* Toolkit.guard(toolkit)
        return yield* Effect.forkChild(Stream.runCollect(Stream.unwrap(handle("Deploy", {}))), {
          startImmediately: true
        })
      }).pipe(
        Effect.provide(toolkit.toLayer({ Deploy: () => Effect.sync(() => void runs++) })),
        Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy),
        Effect.provideService(ApprovalController.ApprovalController, controller)
      )
      yield* TestClock.adjust("20 millis")
      yield* armed
      yield* key("y")
      yield* over
      const [result] = yield* Fiber.join(calling)
      assert.isTrue(result?.isFailure)
      assert.include(JSON.stringify(result?.result), "bob")
      assert.include(shown(), "✔ once     Deploy")
      assert.include(
        shown().replaceAll(/\s+(?:⋮ +)?/g, " "),
        "✖ open Deploy │ no parameters; it is for bob to decide, and not for Kim"
      )
      assert.strictEqual(runs, 0)
    }))

  it.effect("has denied in their own name what is asked after they have left", () =>
    Effect.gen(function*() {
      const { armed, ask, leave, over } = yield* make({ by: kim })
      const first = yield* ask(requestOf("First"))
      yield* armed
      yield* leave
      yield* over
      for (const asked of [first, yield* ask(requestOf("Next"))]) {
        const reply = yield* Fiber.join(asked)
        assert.deepInclude(reply, { by: kim })
      }
    }))
})
