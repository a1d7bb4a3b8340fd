/** L16: who is at the terminal, the program says; whoever may not decide is told so, and is not asked. */
import * as Approval from "@assent/ai/Approval"
import * as ApprovalController from "@assent/ai/ApprovalController"
import type * as Approver from "@assent/ai/Approver"
import * as TerminalController from "@assent/terminal/TerminalController"
import { assert, describe, it } from "@effect/vitest"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
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
          assert.include(shown(), "Run it?")
          yield* key("n")
          yield* over
          yield* armed
          yield* key("\r")
          yield* Fiber.interrupt(asked)
        }
      }))

    const wrong: ReadonlyArray<readonly [string, TerminalController.Options, string]> = [
      ["somebody else", { by: kim }, "and not for Kim."],
      ["somebody of that name", { by: { name: "ada" } }, "and this program does not say who is at its terminal."],
      ["whoever has logged in by that id", {}, "and this program does not say who is at its terminal."]
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
            `✖ Still open, Write(path='a.txt'): it is for ada, and bob or eve\\u202e to decide, ${words}`
          )
          assert.notInclude(said, "Run it?")
        }))
    }
  }

  it.effect("is asked about the other calls of a batch", () =>
    Effect.gen(function*() {
      const { armed, ask, key, over, shown } = yield* make({ batch: { unticked: "deny" }, by: kim })
      const first = yield* ask(requestOf("First", ["ada"]))
      const second = yield* ask(requestOf("Second"))
      yield* armed
      assert.include(shown(), "Still open, First")
      yield* key("y")
      yield* over
      assert.deepInclude(yield* Fiber.join(first), { by: kim })
      assert.deepStrictEqual(
        yield* Fiber.join(second),
        ApprovalController.decided(new Approval.Approved({ remember: "none" }), kim)
      )
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
