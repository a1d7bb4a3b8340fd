/**
 * A guarded toolkit, and a program's own question, under our engine: what was provided to the model alone, as an
 * application's layer does, counts for them as it does for the model's other calls.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema, Stream } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalEvents,
  ApprovalJournal,
  ApprovalMemory,
  ApprovalPolicy,
  ApprovalSeal,
  LanguageModel,
  Tool,
  Toolkit
} from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"

const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const Ungated = Tool.make("DeleteFile", { parameters: { path: Schema.String }, success: Schema.String })

const build = Effect.fnUntraced(function*(
  tool: typeof DeleteFile,
  handler: (path: string) => Effect.Effect<string> = () => Effect.succeed("deleted")
) {
  const runs: Array<string> = []
  const kit = Toolkit.make(tool)
  const handlers = kit.toLayer({
    DeleteFile: ({ path }) => Effect.tap(handler(path), () => Effect.sync(() => runs.push(path)))
  })
  return { runs, toolkit: yield* Effect.provide(Toolkit.guard(kit), handlers) }
})

/** A model that has everything, as an application's layers give it, and a program that has nothing. */
const modelWith = (services: Layer.Layer<never>) =>
  ScriptedModel.layer({
    turns: [
      [ScriptedModel.toolCall({ id: "c1", name: "DeleteFile", params: { path: "a" } })],
      [ScriptedModel.toolCall({ id: "c2", name: "DeleteFile", params: { path: "a" } })]
    ]
  }).pipe(
    LanguageModel.approval(),
    Layer.provide(Layer.mergeAll(
      services,
      ApprovalJournal.layerMemory(),
      ApprovalSeal.layer({ key: "the key of this test, of 32 bytes or more" })
    ))
  )

type Kit = Toolkit.WithHandler<Toolkit.Tools<Toolkit.Toolkit<{ readonly DeleteFile: typeof DeleteFile }>>>

const ways = {
  generateText: (toolkit: Kit) =>
    Effect.map(LanguageModel.generateText({ prompt: "go", toolkit }), ({ toolResults }) => toolResults),
  streamText: (toolkit: Kit) =>
    Effect.map(
      Stream.runCollect(LanguageModel.streamText({ prompt: "go", toolkit })),
      (parts) => parts.filter((part) => part.type === "tool-result")
    )
}

for (const [way, turn] of Object.entries(ways)) {
  const results = (toolkit: Kit) => Effect.map(turn(toolkit), (parts) => parts.map(({ result }): unknown => result))

  describe(`under a model that was given everything [${way}]`, () => {
    it.effect("its configuration forbids a guarded call, whoever would approve it", () =>
      Effect.gen(function*() {
        const { runs, toolkit } = yield* build(DeleteFile)
        const said = yield* results(toolkit).pipe(
          Effect.provide(modelWith(ApprovalPolicy.layerConfig({ DeleteFile: "deny" }).pipe(Layer.orDie))),
          Effect.provideService(ApprovalController.ApprovalController, ApprovalController.approveAll)
        )
        assert.deepStrictEqual(runs, [])
        assert.include(JSON.stringify(said), "does not allow")
      }))

    it.effect("its controller is asked, about tools that only its configuration asks about too; once with its memory", () =>
      Effect.gen(function*() {
        const { runs, toolkit } = yield* build(Ungated)
        const seen: Array<string> = []
        const person = ApprovalController.layerInteractive((request) => {
          seen.push(request.description)
          return Approval.approve(request, { remember: "session" })
        })
        const services = Layer.mergeAll(
          person,
          ApprovalMemory.layerSession(),
          ApprovalPolicy.layerConfig({ DeleteFile: "required" }).pipe(Layer.orDie)
        )
        yield* Effect.andThen(results(toolkit), results(toolkit)).pipe(Effect.provide(modelWith(services)))
        assert.deepStrictEqual([seen, runs], [["DeleteFile(path='a')"], ["a", "a"]])
      }))

    it.effect("its events tell of the guarded call, and of a handler's own question", () =>
      Effect.gen(function*() {
        const events = yield* ApprovalEvents.make()
        const seen: Array<string> = []
        yield* Effect.forkScoped(
          Stream.runForEach(yield* events.subscribe, (event) => Effect.sync(() => void seen.push(event._tag)))
        )
        const { toolkit } = yield* build(
          DeleteFile,
          () => Effect.as(Effect.exit(ApprovalController.request({ name: "really" })), "deleted")
        )
        const observed = Layer.succeed(ApprovalEvents.ApprovalEvents, events)
        // Where nobody can be asked, the engine has nothing to do with a guarded call.
        const failing = Layer.merge(observed, ApprovalPolicy.layer(() => Effect.die("broken")))
        yield* results(toolkit).pipe(Effect.provide(modelWith(failing)))
        yield* Effect.yieldNow
        assert.deepStrictEqual(seen.splice(0), ["PolicyFailed"])
        const person = ApprovalController.layerInteractive((request) => {
          if (request.toolName === "really") throw new Error("away")
          return true
        })
        const services = Layer.mergeAll(person, observed)
        yield* results(toolkit).pipe(Effect.provide(modelWith(services)))
        yield* Effect.yieldNow
        assert.deepStrictEqual(seen, ["Requested", "Changed", "ControllerFailed"])
      }).pipe(Effect.scoped))

    it.effect("what the call is provided with wins over what the model was given", () =>
      Effect.gen(function*() {
        const { runs, toolkit } = yield* build(DeleteFile)
        yield* results(toolkit).pipe(
          Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(() => Approval.blocked("not here"))),
          Effect.provide(modelWith(ApprovalPolicy.layer(() => false)))
        )
        assert.deepStrictEqual(runs, [])
      }))

    it.effect("a handler's own question goes to its controller", () =>
      Effect.gen(function*() {
        const { runs, toolkit } = yield* build(DeleteFile, (path) =>
          ApprovalController.request({ name: "really", params: path }).pipe(
            Effect.map(({ _tag }) =>
              _tag
            ),
            Effect.orDie
          ))
        const seen: Array<string> = []
        const person = ApprovalController.layerInteractive((request) => (seen.push(request.toolName), true))
        assert.deepStrictEqual(yield* results(toolkit).pipe(Effect.provide(modelWith(person))), ["Approved"])
        assert.deepStrictEqual([seen, runs], [["DeleteFile", "really"], ["a"]])
      }))
  })
}
