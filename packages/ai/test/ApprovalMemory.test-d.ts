/** Types of remembering: what may be said of it, and what layers need. */
import { describe, expectTypeOf, it } from "@effect/vitest"
import type { Effect, Layer, Schema } from "effect"
import {
  Approval,
  ApprovalController,
  type ApprovalError,
  ApprovalMatcher,
  ApprovalMemory,
  type Approver,
  type Store
} from "../src/index.ts"

describe("ApprovalMemory", () => {
  it("layers need nothing, or a store", () => {
    expectTypeOf(ApprovalMemory.layerSession()).toEqualTypeOf<Layer.Layer<never>>()
    expectTypeOf(ApprovalMemory.layerSession({ capacity: 10, timeToLive: "1 hour" })).toEqualTypeOf<
      Layer.Layer<never>
    >()
    expectTypeOf(ApprovalMemory.layerStore()).toEqualTypeOf<Layer.Layer<never, never, Store.Store>>()
  })

  it("`Remember` is a word, or what it covers, how long and how often", () => {
    expectTypeOf<"session">().toExtend<ApprovalMemory.Remember>()
    expectTypeOf<"none">().toExtend<ApprovalMemory.Remember>()
    expectTypeOf<{}>().toExtend<ApprovalMemory.Remember>()
    expectTypeOf<{ readonly covers: ApprovalMatcher.Description; readonly uses: 3 }>().toExtend<
      ApprovalMemory.Remember
    >()
    expectTypeOf<"always">().not.toExtend<ApprovalMemory.Remember>()
    expectTypeOf<{ readonly uses: "many" }>().not.toExtend<ApprovalMemory.Remember>()
  })

  it("an answer and a policy take a `Remember` as it is, without a cast", () => {
    const remember: ApprovalMemory.Remember = { covers: ApprovalMatcher.tool.description, uses: 1 }
    expectTypeOf(Approval.approve({ approvalId: "x" }, { remember })).toEqualTypeOf<Approval.ApprovalAnswer>()
    expectTypeOf(Approval.deny({ approvalId: "x" }, "no", { remember })).toEqualTypeOf<Approval.ApprovalAnswer>()
    expectTypeOf(Approval.needsApproval({ remember, rememberable: true })).toEqualTypeOf<Approval.ApprovalResult>()
    expectTypeOf(new Approval.Approved({ remember }).remember).toEqualTypeOf<Schema.Json | undefined>()
  })

  it("a service fails with ApprovalError alone, and wants nothing", () => {
    expectTypeOf<ReturnType<ApprovalMemory.Service["find"]>>().toEqualTypeOf<
      Effect.Effect<ApprovalMemory.Remembered | undefined, ApprovalError.ApprovalError>
    >()
    expectTypeOf<ReturnType<ApprovalMemory.Service["revoke"]>>().toEqualTypeOf<
      Effect.Effect<boolean, ApprovalError.ApprovalError>
    >()
  })
})

describe("ApprovalController", () => {
  it("`request` gives a decision, and its layers keep what their callbacks need", () => {
    expectTypeOf(ApprovalController.request({ name: "deploy" })).toEqualTypeOf<
      Effect.Effect<ApprovalController.Answered, ApprovalError.ApprovalError>
    >()
    expectTypeOf<ApprovalController.Answered>().toExtend<Approval.Approved | Approval.Denied>()
    expectTypeOf<ApprovalController.Answered["decidedBy"]>().toEqualTypeOf<Approver.DecidedBy>()
    expectTypeOf(ApprovalController.layerInteractive(() => true)).toEqualTypeOf<Layer.Layer<never>>()
    expectTypeOf(ApprovalController.layerInteractive(async () => true)).toEqualTypeOf<Layer.Layer<never>>()
    // @ts-expect-error a callback gives a decision, an answer or a boolean
    ApprovalController.interactive(() => "yes")
    // @ts-expect-error a batch gives a list
    ApprovalController.batch(() => true)
  })
})
