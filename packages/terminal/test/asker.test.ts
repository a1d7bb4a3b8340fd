/** Who is asked, and when: one question at a time, none that nobody waits for, and none after the person has left. */
import * as Approval from "@assent/ai/Approval"
import * as ApprovalController from "@assent/ai/ApprovalController"
import { ApprovalMatcher } from "@assent/shell"
import * as TerminalController from "@assent/terminal/TerminalController"
import { assert, describe, it } from "@effect/vitest"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Keyboard from "./keyboard.ts"

const capable = { canColor: false, canAnimate: true, canPrompt: true }

const requestOf = (toolName: string, fields: Partial<ConstructorParameters<typeof Approval.ApprovalRequest>[0]> = {}) =>
  new Approval.ApprovalRequest({
    approvalId: toolName,
    toolCallId: toolName,
    toolName,
    params: { path: "a.txt" },
    description: toolName,
    interaction: fields.awaited?.kind ?? "approval",
    providerExecuted: false,
    ...fields
  })

const isDecision = Schema.is(Approval.ApprovalDecision)

/** What was decided, whoever did. */
const decisionOf = (reply: Approval.ApprovalDecision | ApprovalController.Decided | undefined) => {
  const decision = reply !== undefined && "decision" in reply ? reply.decision : reply
  return isDecision(decision) ? decision : undefined
}

const make = Effect.fnUntraced(function*(options?: TerminalController.Options) {
  const keyboard = yield* Keyboard.make
  const controllerOf = (options?: TerminalController.Options) =>
    TerminalController.make(options).pipe(
      Effect.provideService(TerminalCapabilities.TerminalCapabilities, capable),
      Effect.provide(keyboard.services)
    )
  const controller = yield* controllerOf(options)
  const ask = (
    request: Approval.ApprovalRequest,
    by = controller,
    { remembers }: { readonly remembers: "turn" | "toolkit" | "conversation" | undefined } = { remembers: "toolkit" }
  ) =>
    by.ask!(request).pipe(
      Effect.provideService(ApprovalController.Remembers, remembers),
      Effect.map(decisionOf),
      (asked) => Effect.forkChild(asked, { startImmediately: true }),
      Effect.tap(() => TestClock.adjust("20 millis"))
    )
  return { ...keyboard, controllerOf, ask, over: TestClock.adjust("50 millis") }
})

describe("the person", () => {
  it.effect("is one, whichever conversations ask them by however many controllers: one question at a time", () =>
    Effect.gen(function*() {
      const { armed, controllerOf, key, over, shown } = yield* make()
      const controllers = [yield* controllerOf(), yield* controllerOf()]
      const ask = (name: string, conversation: string, by: number) =>
        ApprovalController.request({ name }).pipe(
          Effect.provideService(ApprovalController.ApprovalController, controllers[by]!),
          Effect.provideService(Approval.Scope, { conversation }),
          (asked) => Effect.forkChild(asked, { startImmediately: true })
        )
      const [one, two] = controllers.map(({ personOf }) => personOf?.(Context.empty()))
      assert.isDefined(one)
      assert.strictEqual(one, two)
      const first = yield* ask("First", "a", 0)
      const second = yield* ask("Second", "b", 1)
      yield* armed
      assert.include(shown(), "First")
      assert.notInclude(shown(), "Second")
      yield* key("y")
      yield* over
      assert.strictEqual((yield* Fiber.join(first))._tag, "Approved")
      yield* armed
      assert.include(shown(), "Second")
      yield* Fiber.interrupt(second)
    }))
})

describe("a question", () => {
  for (const options of [undefined, { batch: { unticked: "ask" as const } }]) {
    const how = options === undefined ? "alone" : "in a batch"
    it.effect(`that nobody waits for any more, ${how}, is taken back and says so; the next is put (L1)`, () =>
      Effect.gen(function*() {
        const { armed, ask, key, over, shown } = yield* make(options)
        const first = yield* ask(requestOf("First"))
        yield* armed
        assert.include(shown(), "First")
        yield* Fiber.interrupt(first)
        const said = shown().replaceAll("\u001b", "ESC")
        assert.match(
          said,
          /ESC\[\?25h.*ESC\[J.*ESC\[\?2004l✖ gone     nobody waits for this answer any more; nothing ran\n$/s
        )
        yield* key("y")
        const second = yield* ask(requestOf("Second"))
        assert.match(shown(), /Second/)
        yield* armed
        yield* key("y")
        yield* over
        assert.strictEqual((yield* Fiber.join(second))!._tag, "Approved")
      }))
  }

  it.effect("of another controller waits for its turn at the same terminal", () =>
    Effect.gen(function*() {
      const { armed, ask, controllerOf, key, over, shown } = yield* make()
      const first = yield* ask(requestOf("First"))
      const second = yield* ask(requestOf("Second"), yield* controllerOf({ batch: { unticked: "deny" } }))
      yield* TestClock.adjust("1 second")
      assert.notInclude(shown(), "Second")
      yield* armed
      yield* key("y")
      yield* over
      assert.strictEqual((yield* Fiber.join(first))!._tag, "Approved")
      assert.include(shown(), "Second")
      assert.isUndefined(second.pollUnsafe())
      yield* Fiber.interrupt(second)
    }))
})

describe("what is asked", () => {
  it.effect("of a command line, for the session, is what is known of it, or this very line", () =>
    Effect.gen(function*() {
      const said = [
        ["git log --oneline | head", "git log *"],
        ["npm test 2>&1 | tail -5", "npm test"]
      ] as const
      for (const [command, pattern] of said) {
        const { armed, ask, key, over, shown } = yield* make()
        const asked = yield* Effect.provide(ask(requestOf("Run", { params: { command } })), ApprovalMatcher.layer())
        yield* armed
        yield* key("s")
        yield* over
        yield* armed
        const words = shown().replaceAll(/\s+(?:⋮ +)?/g, " ")
        assert.include(words, `2 commands that match \`${pattern}\` `)
        yield* key("2")
        yield* over
        const decision = yield* Fiber.join(asked)
        assert.deepStrictEqual(decision?._tag === "Approved" ? decision.remember : undefined, {
          covers: { _tag: "Shell", allowed: [pattern], param: "command" }
        })
      }
    }))

  it.effect("is answered by no key from before its last line was on the screen, though it was all asked for", () =>
    Effect.gen(function*() {
      const { armed, ask, key, name, over, shown } = yield* make()
      const content = Array.from({ length: 60 }, (_, index) => `line ${index + 1}`).join("\n")
      const asked = yield* ask(requestOf("Write", { params: { content } }))
      yield* armed
      yield* key("y")
      assert.include(shown(), "y waits for all rows.")
      for (let page = 0; page < 3; page++) yield* name("space")
      assert.include(shown(), "line 60")
      yield* over
      yield* key("y")
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(asked.pollUnsafe())
      yield* key("y")
      yield* over
      assert.strictEqual((yield* Fiber.join(asked))!._tag, "Approved")
    }))

  it.effect("is not to be edited where no edit would count", () =>
    Effect.gen(function*() {
      for (const fields of [{ providerExecuted: true }, { editable: false }, { source: "program" }]) {
        const { armed, ask, key, over, shown } = yield* make({ editor: "vi" })
        const asked = yield* ask(requestOf("Write", fields))
        yield* armed
        assert.notMatch(shown(), /e {2}Edit/)
        yield* key("e")
        assert.include(shown(), "e means nothing here.")
        yield* over
        yield* key("y")
        yield* over
        assert.strictEqual((yield* Fiber.join(asked))!._tag, "Approved")
      }
    }))

  it.effect("of a batch whose calls are all ticked is no reason", () =>
    Effect.gen(function*() {
      const { armed, ask, key, name, over, shown } = yield* make({ batch: { unticked: "deny", window: "1 second" } })
      const asked = [yield* ask(requestOf("First")), yield* ask(requestOf("Second"))]
      yield* TestClock.adjust("1 second")
      yield* armed
      yield* key("1")
      yield* key("2")
      assert.include(shown(), "2 of 2 ticked: Enter runs all of them")
      yield* TestClock.adjust("50 millis")
      yield* name("return")
      yield* over
      const decisions = yield* Effect.forEach(asked, (fiber) => Fiber.join(fiber))
      assert.deepStrictEqual(decisions.map((decision) => decision?._tag), ["Approved", "Approved"])
    }))
})

const form = {
  type: "object",
  properties: { name: { type: "string" }, window: { type: "boolean" } },
  required: ["name", "window"]
}

const awaiting = (kind: Approval.InteractionKind, answerSchema = {}) =>
  requestOf("Book", {
    awaited: new Approval.Awaited({
      name: "asked",
      kind,
      prompt: "?",
      answerSchema,
      options: [{ value: "a", label: "a" }]
    })
  })

describe("for the session", () => {
  for (
    const [remembers, isOffered] of [["conversation", true], ["toolkit", true], ["turn", false], [
      undefined,
      false
    ]] as const
  ) {
    it.effect(`is ${isOffered ? "" : "not "}offered where an answer is remembered for ${remembers ?? "nothing"}`, () =>
      Effect.gen(function*() {
        const { armed, ask, leave, over, shown } = yield* make()
        const asked = yield* ask(requestOf("Write"), undefined, { remembers })
        yield* armed
        assert.strictEqual(shown().includes("s  Yes, and choose"), isOffered)
        yield* leave
        yield* over
        yield* Fiber.join(asked)
      }))
  }
})

describe("who leaves", () => {
  const dialogues: ReadonlyArray<
    readonly [where: string, request: Approval.ApprovalRequest, keys: ReadonlyArray<string>]
  > = [
    ["at a reason", requestOf("Write"), ["n", "x"]],
    ["at an edit", requestOf("Write"), ["e", "1", "x"]],
    ["at a list for the session", requestOf("Write"), ["s"]],
    ["at the details", requestOf("Write"), ["d"]],
    ["at a text", awaiting("askUser"), ["x"]],
    ["at a note", awaiting("getApproval"), ["w", "x"]],
    ["at a choice", awaiting("selectOptions"), []],
    ["at the keys", requestOf("Write"), ["?"]],
    ["at a list of parameters", requestOf("Write"), ["e"]],
    ["at a field of a form", awaiting("form", form), ["x"]]
  ]
  for (const [where, request, keys] of dialogues) {
    it.effect(`${where} has denied, and is asked nothing more`, () =>
      Effect.gen(function*() {
        const { armed, ask, key, leave, over, shown } = yield* make()
        const asked = yield* ask(request)
        for (const one of keys) {
          yield* armed
          yield* key(one)
          yield* over
        }
        assert.isUndefined(asked.pollUnsafe())
        yield* leave
        yield* over
        assert.strictEqual((yield* Fiber.join(asked))!._tag, "Denied")
        assert.match(
          shown().replaceAll("\u001b", "ESC"),
          /ESC\[\?25h.*ESC\[\?2004l.*■ stopped  whatever is asked from now on is denied/s
        )
        const next = yield* ask(requestOf("Next"))
        assert.strictEqual((yield* Fiber.join(next))!._tag, "Denied")
        assert.notInclude(shown(), "Next")
      }))
  }
})
