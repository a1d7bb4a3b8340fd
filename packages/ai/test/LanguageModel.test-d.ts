import { Approval, ApprovalController, ApprovalPolicy, LanguageModel, Model, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import type { Stream } from "effect"
import { Context, Effect, Layer, Schema } from "effect"
import { LanguageModel as Upstream } from "effect/ai"
import { describe, expectTypeOf, it } from "vitest"

class Ledger extends Context.Service<Ledger, { readonly limit: number }>()("test/Ledger") {}

const Pay = Tool.make("Pay", {
  parameters: { amount: Schema.Number },
  success: Schema.Struct({ paid: Schema.Number }),
  dependencies: [Ledger],
  needsApproval: ({ amount }) =>
    Effect.map(Ledger, ({ limit }) => amount > limit ? Approval.needsApproval({ reason: "over the limit" }) : false)
})

const toolkit = Toolkit.make(Pay)

describe("LanguageModel", () => {
  it("a service that a gate needs surfaces in generateText and streamText", () => {
    const generated = LanguageModel.generateText({ prompt: "pay", toolkit })
    expectTypeOf<Ledger>().toExtend<Effect.Services<typeof generated>>()
    expectTypeOf<LanguageModel.LanguageModel>().toExtend<Effect.Services<typeof generated>>()
    const streamed = LanguageModel.streamText({ prompt: "pay", toolkit })
    expectTypeOf<Ledger>().toExtend<Stream.Services<typeof streamed>>()
  })

  it("the accessors are typed as upstream's", () => {
    expectTypeOf(LanguageModel.generateText).toEqualTypeOf(Upstream.generateText)
    expectTypeOf(LanguageModel.streamText).toEqualTypeOf(Upstream.streamText)
    expectTypeOf(LanguageModel.generateObject).toEqualTypeOf(Upstream.generateObject)
    expectTypeOf(LanguageModel.LanguageModel).toEqualTypeOf(Upstream.LanguageModel)
  })

  it("results are typed by the tool", () => {
    type Response = Effect.Success<ReturnType<typeof turn>>
    const turn = () => LanguageModel.generateText({ prompt: "pay", toolkit })
    type Success = Extract<Response["toolResults"][number], { readonly isFailure: false }>
    expectTypeOf<Success["result"]>().toEqualTypeOf<{ readonly paid: number }>()
  })

  it("approval keeps the type of the layer, a Model's included", () => {
    const layer = ScriptedModel.layer({ turns: [] })
    expectTypeOf(layer.pipe(LanguageModel.approval())).toEqualTypeOf(layer)
    const model = Model.make("scripted", "one", layer)
    expectTypeOf(model.pipe(LanguageModel.approval({ onNewMessage: "hold" }))).toEqualTypeOf(model)
    // @ts-expect-error a layer without a language model
    Layer.empty.pipe(LanguageModel.approval())
  })

  it("isApprovalNeeded needs what the gate needs, and never fails", () => {
    const needed = LanguageModel.isApprovalNeeded(Pay, { id: "1", name: "Pay", params: { amount: 1 } }, [])
    expectTypeOf(needed).toEqualTypeOf<Effect.Effect<boolean, never, Ledger>>()
  })

  it("layers of a policy or a controller need nothing but what their effects need", () => {
    const values = [
      ApprovalController.layerInteractive((request) => request.toolName === "Pay"),
      ApprovalController.layerInteractive((request) => Promise.resolve(Approval.deny(request))),
      ApprovalPolicy.layer((call) => call.toolName === "Pay" ? true : undefined)
    ]
    expectTypeOf(values).toEqualTypeOf<Array<Layer.Layer<never>>>()
    const ledger = Effect.map(Ledger, ({ limit }) => limit > 0)
    const controller = ApprovalController.layerInteractive(() => ledger)
    expectTypeOf(controller).toEqualTypeOf<Layer.Layer<never, never, Ledger>>()
    const policy = ApprovalPolicy.layer(() => Effect.andThen(ledger, Effect.fail("no" as const)))
    expectTypeOf(policy).toEqualTypeOf<Layer.Layer<never, never, Ledger>>()
  })

  it("withApproval is dual", () => {
    const service = {} as LanguageModel.LanguageModel
    expectTypeOf(LanguageModel.withApproval(service)).toEqualTypeOf<LanguageModel.LanguageModel>()
    expectTypeOf(LanguageModel.withApproval({ concurrency: 2 })(service)).toEqualTypeOf<LanguageModel.LanguageModel>()
    // @ts-expect-error no such rule
    LanguageModel.withApproval(service, { onNewMessage: "ignore" })
  })
})
