/** "I forgot the handlers": said when the turn begins, before anybody is asked about a call that cannot run. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Schema, type Stream } from "effect"
import * as Upstream from "effect/ai"
import { ApprovalController, LanguageModel, McpServer, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Untyped from "./untyped.ts"

const { anything, DeleteFile, nobodyIsAsked, ReadFile, reasonOf, toolkit } = Untyped

const both = { DeleteFile: () => Effect.succeed("deleted"), ReadFile: () => Effect.succeed("read") }

const layerOf = (kit: unknown, handlers: object): Layer.Layer<never> =>
  anything<{ readonly toLayer: (handlers: object) => Layer.Layer<never> }>(kit).toLayer(handlers)

const forgotten: Record<string, { readonly layer: Layer.Layer<never>; readonly toolNames: ReadonlyArray<string> }> = {
  "all of them": { layer: Layer.empty, toolNames: ["DeleteFile", "ReadFile"] },
  "one": { layer: layerOf(toolkit, { ReadFile: both.ReadFile }), toolNames: ["DeleteFile"] },
  "one, by a name that is written otherwise": {
    layer: layerOf(toolkit, { ReadFile: both.ReadFile, deleteFile: both.DeleteFile }),
    toolNames: ["DeleteFile"]
  },
  "one that is no function": {
    layer: layerOf(toolkit, { ...both, DeleteFile: "rm" }),
    toolNames: ["DeleteFile"]
  }
}

const saying = (toolNames: ReadonlyArray<string>): string =>
  `${toolNames.join(", ")} ${
    toolNames.length === 1 ? "has no handler" : "have no handlers"
  }: provide toolkit.toLayer({ ` +
  `${toolNames.map((name) => `${name}: (params) => …`).join(", ")} }).`

describe("handlers that were forgotten", () => {
  for (const [which, { layer, toolNames }] of Object.entries(forgotten)) {
    for (const [way, turn] of Object.entries(Untyped.ways(toolkit, "DeleteFile"))) {
      it.effect(`${which}: ${way} names the tools, and nobody is asked`, () =>
        Effect.gen(function*() {
          const error = yield* Effect.flip(turn)
          const reason = reasonOf(error)
          assert.strictEqual(reason?._tag, "InvalidToolkit")
          assert.deepStrictEqual(reason?._tag === "InvalidToolkit" && reason.toolNames, toolNames)
          assert.include((error as Error).message, saying(toolNames))
        }).pipe(Effect.provide(Layer.merge(layer, nobodyIsAsked))))
    }
  }

  for (const [way, turn] of Object.entries(Untyped.ways(Untyped.readers, "ReadFile"))) {
    it.effect(`of a toolkit that asks nobody: ${way}`, () =>
      Effect.gen(function*() {
        assert.strictEqual(reasonOf(yield* Effect.flip(turn))?._tag, "InvalidToolkit")
      }))
  }

  const theirs = anything<typeof toolkit>(Upstream.Toolkit.make(ReadFile))
  for (const [way, turn] of Object.entries(Untyped.ways(theirs, "ReadFile"))) {
    it.effect(`of a toolkit of effect/ai: ${way}`, () =>
      Effect.gen(function*() {
        assert.strictEqual(reasonOf(yield* Effect.flip(turn))?._tag, "InvalidToolkit")
      }))
  }

  it.effect("of a toolkit that was built, guarded, joined, or given a policy", () =>
    Effect.gen(function*() {
      const built = yield* toolkit
      const other = Toolkit.make(Tool.make("Other"))
      const joined = Toolkit.join(built, other).pipe(Effect.provide(other.toLayer({ Other: () => Effect.void })))
      for (const kit of [toolkit, Toolkit.guard(toolkit), Toolkit.withPolicy(toolkit, () => true), joined]) {
        const turn = Untyped.ways(anything(yield* kit), "DeleteFile")["generateText"]!
        assert.strictEqual(reasonOf(yield* Effect.flip(turn))?._tag, "InvalidToolkit")
      }
    }).pipe(Effect.provide(nobodyIsAsked)))

  it.effect("without a model: a guarded call fails before anybody is asked, and a call by hand says the same", () =>
    Effect.gen(function*() {
      const handle = (kit: Effect.Effect<unknown>) =>
        Effect.flatMap(
          kit,
          (built) =>
            anything<{ handle: (name: string, params: unknown) => Effect.Effect<Stream.Stream<unknown>, Error> }>(built)
              .handle("DeleteFile", { path: "a" })
        )
      for (const kit of [toolkit, Toolkit.guard(toolkit)]) {
        const error = yield* Effect.flip(handle(kit))
        assert.include(error.message, saying(["DeleteFile"]))
        assert.strictEqual(reasonOf(error)?._tag, "InvalidToolkit")
      }
    }).pipe(Effect.provide(nobodyIsAsked)))

  it.effect("an MCP server does not start", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(McpServer.registerToolkit(toolkit))
      const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      assert.strictEqual(reasonOf(defect)?._tag, "InvalidToolkit")
    }).pipe(Effect.provide(Upstream.McpServer.McpServer.layer)))
})

describe("tools that have no handler on purpose", () => {
  it.effect("those of a program that resolves the calls itself", () =>
    Effect.gen(function*() {
      const { content } = yield* LanguageModel.generateText({
        prompt: "go",
        toolkit,
        disableToolCallResolution: true
      }).pipe(Effect.provide(Untyped.model("DeleteFile")))
      assert.include(content.map(({ type }) => type), "tool-call")
    }))

  it.effect("those that the provider runs", () =>
    Effect.gen(function*() {
      const Search = Upstream.Tool.providerDefined({
        id: "test.search",
        customName: "Search",
        providerName: "search"
      })()
      const { text } = yield* LanguageModel.generateText({ prompt: "go", toolkit: Toolkit.make(Search) }).pipe(
        Effect.provide(ScriptedModel.layer({ turns: ["done"] }))
      )
      assert.strictEqual(text, "done")
    }))

  it.effect("none is asked for where all are there", () =>
    Effect.gen(function*() {
      yield* Effect.all(Object.values(Untyped.ways(toolkit, "ReadFile")))
    }).pipe(Effect.provide(Layer.mergeAll(layerOf(toolkit, both), nobodyIsAsked))))
})

describe("a handler that returns no Effect", () => {
  const returned: Record<string, readonly [handler: () => unknown, says: RegExp]> = {
    "a Promise": [
      async () => "deleted",
      /handler of "\w+" returned a Promise, not an Effect.* Write \w+: \(params\) => Effect\.promise\(async \(\) => \{ … \}\)\.$/
    ],
    "a Promise that is rejected": [() => Promise.reject(new Error("disk")), /returned a Promise, not an Effect/],
    "a text": [() => "deleted", /returned a text, not an Effect.* Write \w+: \(params\) => Effect\.succeed\(…\)/],
    "nothing": [() => undefined, /returned undefined, not an Effect/]
  }
  for (const [what, [handler, says]] of Object.entries(returned)) {
    for (const name of ["DeleteFile", "ReadFile"]) {
      it.effect(`${name}: ${what}`, () =>
        Effect.gen(function*() {
          for (const turn of Object.values(Untyped.ways(toolkit, name))) {
            const exit = yield* Effect.exit(turn)
            assert.isTrue(Exit.hasDies(exit))
            assert.match((Exit.isFailure(exit) ? Cause.squash(exit.cause) as Error : undefined)!.message, says)
          }
        }).pipe(
          Effect.provide(layerOf(toolkit, { ...both, [name]: handler })),
          Effect.provide(ApprovalController.layerApproveAll)
        ))
    }
  }
})

describe("the tools themselves", () => {
  it("have what they had where every handler is there", async () => {
    const kit = Toolkit.make(DeleteFile, ReadFile)
    const built = await Effect.runPromise(Effect.provide(kit, kit.toLayer(both)))
    assert.strictEqual(built.tools.DeleteFile, DeleteFile)
    assert.strictEqual(built.tools.ReadFile, ReadFile)
    assert.isTrue(Schema.isSchema(built.tools.ReadFile.parametersSchema))
  })
})
