/** The lock itself: what opens it, what does not, and what a handler finds behind it. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Schema, Stream } from "effect"
import * as Upstream from "effect/ai"
import {
  Approval,
  ApprovalController,
  ApprovalPolicy,
  LanguageModel,
  Prompt,
  Response,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel, withConsent } from "../../src/testing/index.ts"
import * as Support from "../laws/support.ts"

const Delete = Tool.make("Delete", {
  parameters: { path: Schema.String },
  success: Schema.String,
  failure: Schema.String,
  failureMode: "return",
  needsApproval: true
})
const Files = Toolkit.make(Delete)

type Handlers = Toolkit.WithHandler<Toolkit.Tools<typeof Files>>

const live = Files.toLayer({ Delete: ({ path }) => Effect.succeed(`deleted ${path}`) })

const handle = ({ handle }: Handlers, id?: string) =>
  Effect.map(Stream.runCollect(Stream.unwrap(handle("Delete", { path: "a" }, id))), ([output]) => output?.result)

const byHand = (id?: string) => Effect.flatMap(Files, (toolkit) => handle(toolkit, id))

const defectOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<string, never, R> =>
  Effect.map(Effect.exit(effect), (exit) => {
    const reason = Exit.isFailure(exit) ? exit.cause.reasons.find(Cause.isDieReason) : undefined
    return reason?.defect instanceof Error ? reason.defect.name : assert.fail(String(exit))
  })

const yes = Effect.provideService(ApprovalController.ApprovalController, ApprovalController.approveAll)

const callsDelete = [ScriptedModel.toolCall({ id: "c1", name: "Delete", params: { path: "a" } })]

/** One turn of our engine in which the model calls the tool, and somebody says yes. */
const turn = Effect.fnUntraced(function*(toolkit: unknown) {
  const { model } = yield* ScriptedModel.make({ turns: [callsDelete] })
  const response = yield* LanguageModel.generateText({ prompt: "go", toolkit: toolkit as Handlers }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, model),
    yes
  )
  return response.content.flatMap((part) => part.type === "tool-result" ? [part.result] : [])
})

describe("L1 the lock on a tool", () => {
  it.effect("a call by hand dies, whatever the failure mode, and is opened by withConsent of the test tools alone", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* defectOf(byHand()), "WithoutConsent")
      assert.strictEqual(yield* withConsent(byHand()), "deleted a")
      assert.strictEqual(yield* defectOf(byHand()), "WithoutConsent")
    }).pipe(Effect.provide(live)))

  it.effect("is on handlers in whatever way they are given: of, an effect, toHandlers, another toolkit's layer", () =>
    Effect.gen(function*() {
      const handlers = Files.of({ Delete: () => Effect.succeed("ran") })
      assert.strictEqual(
        yield* defectOf((handlers.Delete as (params: unknown) => Effect.Effect<string>)({ path: "a" })),
        "WithoutConsent"
      )
      const theirs = Upstream.Toolkit.make(Upstream.Tool.make("Delete", {
        parameters: Delete.parametersSchema,
        success: Schema.String
      }))
      const layers: ReadonlyArray<Layer.Layer<Tool.Handler<"Delete">>> = [
        Files.toLayer(handlers),
        Files.toLayer(Effect.succeed(handlers)),
        Files.toLayer(Effect.succeed({ Delete: () => Effect.succeed("ran") })),
        Layer.effectContext(Files.toHandlers(handlers)),
        theirs.toLayer({ Delete: () => Effect.succeed("ran") })
      ]
      for (const layer of layers) {
        assert.strictEqual(yield* defectOf(Effect.provide(byHand(), layer)), "WithoutConsent")
        assert.strictEqual(yield* withConsent(Effect.provide(byHand(), layer)), "ran")
      }
    }))

  it.effect("parameters that do not fit are told as upstream tells them, before the lock", () =>
    Effect.gen(function*() {
      const toolkit = yield* Files
      const [output] = yield* Stream.runCollect(Stream.unwrap(toolkit.handle("Delete", { path: 1 as never })))
      assert.strictEqual((output!.result as Upstream.AiError.AiError).reason._tag, "ToolParameterValidationError")
    }).pipe(Effect.provide(live)))

  it.effect("a wrapper may try again and may lose the call's id; the consent is to no other call and no other tool", () =>
    Support.fresh(Effect.gen(function*() {
      const Wipe = Tool.make("Wipe", { success: Schema.String, needsApproval: true })
      const kit = Toolkit.make(Delete, Wipe)
      const toolkit = yield* Effect.provide(
        kit,
        kit.toLayer({ Delete: () => Effect.succeed("ran"), Wipe: () => Effect.succeed("wiped") })
      )
      const seen: Array<unknown> = []
      const wrapper = {
        ...toolkit,
        handle: (name: "Delete", params: { readonly path: string }, id: string) =>
          Effect.gen(function*() {
            seen.push(yield* handle(toolkit as never, id))
            seen.push(yield* handle(toolkit as never))
            seen.push(yield* defectOf(handle(toolkit as never, "another")))
            seen.push(yield* defectOf(Stream.runCollect(Stream.unwrap(toolkit.handle("Wipe", {}, id)))))
            return yield* toolkit.handle(name, params, id)
          })
      } as unknown as typeof toolkit
      assert.deepStrictEqual(yield* turn(wrapper), ["ran"])
      assert.deepStrictEqual(seen, ["ran", "ran", "WithoutConsent", "WithoutConsent"])
    })))

  it.effect("a toolkit whose handlers run where their output is read finds the consent there", () =>
    Support.fresh(Effect.gen(function*() {
      const toolkit = yield* Files
      const late = {
        ...toolkit,
        handle: (name: "Delete", params: { readonly path: string }, id: string) =>
          Effect.succeed(Stream.unwrap(toolkit.handle(name, params, id)))
      } as unknown as Handlers
      assert.deepStrictEqual(yield* turn(late), ["deleted a"])
      assert.strictEqual(yield* yes(handle(Toolkit.guard(late))), "deleted a")
    })).pipe(Effect.provide(live)))

  it.effect("a tool that a toolkit calls by another name is opened by either", () =>
    Support.fresh(Effect.gen(function*() {
      const toolkit = yield* Files
      const renamed = {
        tools: { Remove: Delete },
        handle: (_: "Remove", params: { readonly path: string }, id: string) => toolkit.handle("Delete", params, id)
      } as unknown as Toolkit.WithHandler<{ readonly Remove: typeof Delete }>
      const { model } = yield* ScriptedModel.make({
        turns: [[ScriptedModel.toolCall({ id: "c1", name: "Remove", params: { path: "a" } })]]
      })
      const response = yield* LanguageModel.generateText({ prompt: "go", toolkit: renamed }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model),
        yes
      )
      assert.deepStrictEqual(response.toolResults.map(({ result }) => result), ["deleted a"])
    })).pipe(Effect.provide(live)))

  it.effect("what a handler calls has no consent of its own, and its context has nothing of ours", () =>
    Support.fresh(Effect.gen(function*() {
      const found: Array<unknown> = []
      const inner = yield* Effect.provide(Files, live)
      const outer = Files.toLayer({
        Delete: (_, { toolCallId }) =>
          Effect.gen(function*() {
            found.push(...(yield* Effect.context<never>()).mapUnsafe.keys())
            return yield* defectOf(handle(inner, toolCallId))
          })
      })
      assert.deepStrictEqual(yield* turn(yield* Effect.provide(Files, outer)), ["WithoutConsent"])
      assert.deepStrictEqual(found.filter((key) => String(key).includes("Consent")), [])
    })))

  it.effect("a layer of handlers that is built within a consent keeps none of it", () =>
    Effect.gen(function*() {
      const context = yield* withConsent(Layer.build(live))
      assert.strictEqual(yield* defectOf(Effect.provideContext(byHand(), context)), "WithoutConsent")
    }).pipe(Effect.scoped))

  it.effect("a loosened copy over the layer of the gated tool is refused, alone and beside another that asks", () =>
    Support.fresh(Effect.gen(function*() {
      const loose = Tool.setNeedsApproval(Delete, false)
      const Other = Tool.make("Other", { needsApproval: true })
      const handlers = Layer.merge(live, Toolkit.make(Other).toLayer({ Other: () => Effect.void }))
      for (const kit of [Toolkit.make(loose), Toolkit.make(loose, Other)]) {
        const toolkit = yield* Effect.provide(kit as Toolkit.Toolkit<{ readonly Delete: typeof Delete }>, handlers)
        assert.strictEqual(yield* defectOf(turn(toolkit)), "WithoutConsent")
        const exit = yield* Effect.exit(turn(toolkit))
        assert.include(String(Exit.isFailure(exit) && exit.cause), "needs a layer of handlers of its own")
      }
      const own = Toolkit.make(loose)
      const toolkit = yield* Effect.provide(own, own.toLayer({ Delete: () => Effect.succeed("ran") }))
      assert.deepStrictEqual(yield* turn(toolkit), ["ran"])
    })))

  it.effect("a policy that lets a gated tool run opens it, under the engine and guarded", () =>
    Support.fresh(Effect.gen(function*() {
      const none = Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(() => false))
      const toolkit = yield* Files
      assert.deepStrictEqual(yield* none(turn(toolkit)), ["deleted a"])
      assert.strictEqual(yield* none(handle(Toolkit.guard(toolkit))), "deleted a")
      const careful = Toolkit.guard(Toolkit.withPolicy(toolkit, () => false))
      assert.strictEqual(yield* handle(careful), "deleted a")
      assert.strictEqual(yield* defectOf(handle(Toolkit.withPolicy(toolkit, () => false))), "WithoutConsent")
    })).pipe(Effect.provide(live)))

  it.effect("what a policy is put over is locked, whoever made it and whatever it asks, and a name it has not is not found", () =>
    Effect.gen(function*() {
      const Look = Upstream.Tool.make("Look", { success: Schema.String })
      const kit = Upstream.Toolkit.make(Look)
      const over = Toolkit.withPolicy(
        yield* Effect.provide(kit, kit.toLayer({ Look: () => Effect.succeed("seen") })),
        () => undefined
      )
      const look = (name: string) =>
        Effect.map(Stream.runCollect(Stream.unwrap(over.handle(name as "Look", {}))), ([output]) => output?.result)
      assert.strictEqual(yield* defectOf(look("Look")), "WithoutConsent")
      assert.strictEqual(yield* withConsent(look("Look")), "seen")
      const error = yield* Effect.flip(look("Gone"))
      assert.strictEqual((error as Upstream.AiError.AiError).reason._tag, "ToolNotFoundError")
    }))

  it.effect("an ungated tool is as upstream has it: nothing locked, nothing hidden", () =>
    Effect.gen(function*() {
      const Look = Tool.make("Look", { success: Schema.String })
      const ours = Toolkit.make(Look)
      const theirs = Upstream.Toolkit.make(Look)
      const look = () => Effect.succeed("seen")
      assert.deepStrictEqual(Object.keys(ours), Object.keys(theirs))
      assert.strictEqual(ours.of({ Look: look }).Look, look)
      for (const kit of [ours, theirs]) {
        const toolkit = yield* Effect.provide(kit, kit.toLayer({ Look: look }))
        const [output] = yield* Stream.runCollect(Stream.unwrap(toolkit.handle("Look", {})))
        assert.strictEqual(output?.result, "seen")
      }
    }))

  it.effect("a guarded toolkit's tools are put into no other toolkit of ours, and find the handlers locked in effect/ai's", () =>
    Effect.gen(function*() {
      const guarded = Toolkit.guard(yield* Files)
      const sentence =
        /^The tool "Delete" is from a guarded toolkit, and nobody would be asked about it in another one\. Put the tool that you made into Toolkit\.make/
      assert.throws(() => Toolkit.make(guarded.tools.Delete), TypeError, sentence)
      const theirs = Upstream.Toolkit.make(guarded.tools.Delete)
      assert.throws(() => Toolkit.merge(theirs), TypeError, sentence)
      const again = Toolkit.guard(guarded)
      assert.throws(() => Toolkit.make(...Object.values(again.tools)), TypeError, sentence)
      assert.strictEqual(
        yield* defectOf(Effect.flatMap(theirs as typeof Files, (toolkit) => handle(toolkit))),
        "WithoutConsent"
      )
    }).pipe(Effect.provide(live)))

  it.effect("a tool of effect/ai that asks still asks under effect/ai's engine in a toolkit of ours; its run is refused", () =>
    Effect.gen(function*() {
      const theirs = Upstream.Tool.make("Delete", { parameters: Delete.parametersSchema, success: Schema.String })
      const kit = Toolkit.make(theirs.setNeedsApproval(true))
      const { model } = yield* ScriptedModel.make({ turns: [callsDelete, "done"], strict: false })
      const within = Effect.provide(kit.toLayer({ Delete: () => Effect.die("ran") }))
      const asked = yield* within(model.generateText({ prompt: "go", toolkit: kit }))
      const [request] = Response.approvalRequests(asked)
      const history = Prompt.concat(Prompt.make("go"), Prompt.fromResponseParts(asked.content))
      const prompt = Prompt.concat(history, Prompt.approvalResponses([Approval.approve(request!)]))
      assert.strictEqual(yield* defectOf(within(model.generateText({ prompt, toolkit: kit }))), "WithoutConsent")
    }))
})
