/**
 * L12 and L4: an object's calls that were approved by what was shown of them run one after the other, and one of them
 * that does not run after all holds up no other.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { Approval, ApprovalController, ApprovalPolicy, LanguageModel, Tool } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { type Story, tell } from "./story.ts"
import * as Support from "./support.ts"

const schema = Schema.Struct({ count: Schema.Number })

/** Two calls of a tool that shows what it is going to do; each of them is approved, as the person says. */
const begin = Effect.fnUntraced(function*(
  approve: (request: Approval.ApprovalRequest) => ApprovalController.Reply,
  shownOf: (path: string) => string = (path) => `delete ${path}`
) {
  const presented = Tool.present(
    Support.DeleteFile,
    ({ path }) => new Approval.ApprovalPresentation({ type: "text", content: shownOf(path) })
  )
  const { runs, toolkit } = yield* Support.makeTools([presented])
  const script = yield* ScriptedModel.make({
    turns: [[
      ScriptedModel.text(`{"count":2}`),
      Support.call("c1", "DeleteFile", { path: "a" }),
      Support.call("c2", "DeleteFile", { path: "b" })
    ]]
  })
  const policy = ApprovalPolicy.make(({ encodedParams }) =>
    (encodedParams as { readonly path: string }).path === "secret" ? Approval.blocked("not that one") : undefined
  )
  const turn = yield* LanguageModel.generateObject({ prompt: "Go on.", toolkit, schema }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, yield* LanguageModel.make(script.params)),
    Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy),
    Effect.provideService(
      ApprovalController.ApprovalController,
      ApprovalController.interactive(approve)
    ),
    Effect.forkChild
  )
  assert.isTrue(yield* Support.advance(turn, "10 millis", 10), "it came to its end")
  const { content, value } = yield* Fiber.join(turn)
  assert.deepStrictEqual(value, { count: 2 })
  const results = content.filter((part) => part.type === "tool-result")
  return { ran: runs.map(({ params }) => (params as { readonly path: string }).path), results }
})

const story = (title: string, test: Story) => it.effect(title, () => Support.fresh(tell(test)))

describe("L12 two calls of an object, approved by what was shown of them", () => {
  story("L12 both run", function*() {
    const { ran, results } = yield* begin((request) => Approval.approve(request))
    assert.deepStrictEqual([ran, results.map(({ isFailure }) => isFailure)], [["a", "b"], [false, false]])
  })

  story("L12 the first was changed into what is blocked, and the second runs", function*() {
    const { ran, results } = yield* begin((request) =>
      request.toolCallId === "c1"
        ? Approval.approve(request, { params: { path: "secret" } })
        : Approval.approve(request)
    )
    assert.deepStrictEqual(ran, ["b"])
    assert.deepStrictEqual(results.map(({ id, isFailure }) => [id, isFailure]), [["c1", true], ["c2", false]])
    assert.strictEqual(Support.failureReason(results[0] as Support.ToolResult), "not that one")
  })

  story("L12 what was shown of the first changed while the person looked at it, and the second runs", function*() {
    const contents = new Map([["a", "old"], ["b", "old"]])
    const { ran, results } = yield* begin((request) => {
      if (request.toolCallId === "c1") contents.set("a", "new")
      return Approval.approve(request)
    }, (path) => contents.get(path)!)
    assert.deepStrictEqual(ran, ["b"])
    assert.deepStrictEqual(results.map(({ id, isFailure }) => [id, isFailure]), [["c1", true], ["c2", false]])
  })
})
