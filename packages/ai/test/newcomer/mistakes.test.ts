/** Ten other mistakes of a program without types: each says what happened, and what to write. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"
import {
  ApprovalConfig,
  ApprovalController,
  ApprovalPolicy,
  Conversation,
  LanguageModel,
  Tool,
  Toolkit
} from "../../src/index.ts"
import * as Sealing from "../sealing.ts"
import * as Untyped from "./untyped.ts"

const { anything } = Untyped

const dies = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.exit(effect), (exit) => {
    assert.isTrue(Exit.hasDies(exit))
    return Exit.isFailure(exit) ? (Cause.squash(exit.cause) as Error).message : ""
  })

describe("what is no function, where one is needed", () => {
  const attempts: Record<string, readonly [attempt: () => unknown, says: RegExp]> = {
    "a policy's word": [
      () => ApprovalPolicy.layer(anything("required")),
      /^ApprovalPolicy\.layer takes a function.*a configuration goes to ApprovalPolicy\.layerConfig; it was given the text "required"\.$/
    ],
    "a policy's configuration": [
      () => ApprovalPolicy.make(anything({ DeleteFile: "required" })),
      /^ApprovalPolicy\.make takes a function.*it was given an object with "DeleteFile"\.$/
    ],
    "a word over a toolkit": [
      () => Toolkit.withPolicy(Toolkit.make(Untyped.DeleteFile), anything("required")),
      /^Toolkit\.withPolicy takes a function.*it was given the text "required"\.$/
    ],
    "a controller's answer": [
      () => ApprovalController.layerInteractive(anything(true)),
      /^ApprovalController\.layerInteractive takes a function, such as \(request\) => confirm\(.*it was given true\.$/
    ],
    "a controller's service": [
      () => ApprovalController.interactive(anything(undefined)),
      /^ApprovalController\.interactive takes a function.*it was given undefined\.$/
    ]
  }
  for (const [what, [attempt, says]] of Object.entries(attempts)) {
    it(what, () => {
      assert.throws(attempt, TypeError, says)
    })
  }
})

describe("what cannot begin", () => {
  it.effect("a conversation without an id would be every conversation without one", () =>
    Effect.gen(function*() {
      for (
        const [options, shown] of [[{ toolkit: Untyped.toolkit }, "an object with \"toolkit\""], [
          undefined,
          "undefined"
        ]]
      ) {
        const message = yield* dies(Conversation.make<{}>(anything(options)))
        assert.strictEqual(
          message,
          "Conversation.make takes { id, toolkit }, where the id is a text that names the conversation; it was given " +
            `${anything<string>(shown)}.`
        )
      }
    }).pipe(Effect.provide(Untyped.model("DeleteFile"))))

  it.effect("a conversation with `tools`, as other libraries call them, says what they are called here", () =>
    Effect.gen(function*() {
      const message = yield* dies(Conversation.make<{}>(anything({ id: "tidy", tools: [Untyped.DeleteFile] })))
      assert.match(
        message,
        /takes its tools as `toolkit`, as in .*Toolkit\.make\(DeleteFile\) \}; it was given `tools`\.$/
      )
    }).pipe(Effect.provide(Untyped.model("DeleteFile"))))

  it.effect("a policy from a file without a file system says how one is provided", () =>
    Effect.gen(function*() {
      const message = yield* dies(
        anything<Effect.Effect<unknown>>(ApprovalConfig.fromFile("approval.yaml"))
      )
      assert.match(message, /^Service not found: effect\/FileSystem\..*NodeServices\.layer of @effect\/platform-node/)
    }))

  it.effect("a turn without a model says how one is provided", () =>
    Effect.gen(function*() {
      const message = yield* dies(
        anything<Effect.Effect<unknown>>(LanguageModel.generateText({ prompt: "go" }))
      )
      assert.match(
        message,
        /^Service not found: effect\/ai\/LanguageModel\. Provide a model, as in Effect\.provide\(program,/
      )
    }))
})

describe("what gives no answer", () => {
  const logged = (program: Effect.Effect<unknown, unknown>) =>
    Effect.gen(function*() {
      const { layer, lines } = yield* Sealing.recordLogs
      yield* Effect.provide(program, layer)
      return lines
    })
  const handlers = Toolkit.make(Untyped.DeleteFile, Untyped.ReadFile).toLayer({
    DeleteFile: () => Effect.succeed("deleted"),
    ReadFile: () => Effect.succeed("read")
  })
  const turn = Untyped.ways(Untyped.toolkit, "DeleteFile")["generateText"]!

  for (const [what, reply] of Object.entries({ "nothing": undefined, "a text": "yes", "an object": { yes: true } })) {
    it.effect(`a controller that returns ${what}: the warning says what it may return`, () =>
      Effect.gen(function*() {
        const controller = ApprovalController.layerInteractive(() => anything(reply))
        const [line] = yield* logged(Effect.provide(turn, Layer.merge(handlers, controller)))
        assert.match(
          line!,
          /gave no decision, for "DeleteFile"; the request stays open\. Return true, false, Approval\.approve/
        )
      }))
  }

  it.effect("a needsApproval that is or returns a text: the warning says what it may return", () =>
    Effect.gen(function*() {
      for (const needsApproval of ["yes", () => "yes"]) {
        const toolkit = Toolkit.make(Tool.setNeedsApproval(Untyped.DeleteFile, anything<true>(needsApproval)))
        const asking = Untyped.ways(anything(toolkit), "DeleteFile")["generateText"]!
        const lines = yield* logged(
          Effect.provide(asking, toolkit.toLayer({ DeleteFile: () => Effect.succeed("deleted") }))
        )
        assert.match(
          lines.join("\n"),
          /needsApproval of "DeleteFile" failed.* It may return a boolean, an ApprovalResult/
        )
      }
    }))
})
