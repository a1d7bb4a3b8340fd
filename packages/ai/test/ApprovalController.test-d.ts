import { Approval, ApprovalController, type Chat, Prompt } from "@assent/ai"
import { Effect } from "effect"
import type { Layer } from "effect"
import { describe, expectTypeOf, it } from "vitest"

declare const request: Approval.ApprovalRequest

describe("callbacks", () => {
  it("are told when nobody waits any more, or do not look", () => {
    ApprovalController.interactive((request, options) => {
      expectTypeOf(request).toEqualTypeOf<Approval.ApprovalRequest>()
      expectTypeOf(options).toEqualTypeOf<ApprovalController.AskOptions>()
      expectTypeOf(options.signal).toEqualTypeOf<AbortSignal>()
      return true
    })
    ApprovalController.batch((requests, { signal }) => {
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
      return requests.map(() => true)
    })
    const layer = ApprovalController.layerInteractive((_, { signal }) =>
      Effect.map(Approval.Scope, () => !signal.aborted)
    )
    expectTypeOf(layer).toEqualTypeOf<Layer.Layer<never>>()
    ApprovalController.interactive(() => true)
    ApprovalController.interactive(async () => true)
  })

  it("may answer in plain JSON, and not with anything", () => {
    ApprovalController.interactive(() => ({ _tag: "Approved" }))
    ApprovalController.interactive(() => ({ _tag: "Denied", reason: "no", stop: true }))
    ApprovalController.interactive(async ({ approvalId }) => ({
      approvalId,
      decision: { _tag: "Denied", reason: "no" }
    }))
    ApprovalController.interactive(({ approvalId }) => ({ approvalId, approved: false, reason: "no" }))
    // @ts-expect-error: it is no decision.
    ApprovalController.interactive(() => ({ _tag: "approved" }))
    // @ts-expect-error: nor is a text.
    ApprovalController.interactive(() => "yes")
  })
})

describe("answers", () => {
  it("are read as plain JSON wherever they are taken", () => {
    const answer = { approvalId: "a1", decision: { _tag: "Denied", reason: "no" } } as const
    const upstreams = { approvalId: "a1", approved: true }
    Prompt.approvalResponses([answer, upstreams, Approval.approve(request)])
    expectTypeOf<Parameters<typeof Chat.answer>[1]>().toEqualTypeOf<ReadonlyArray<Approval.AnswerInput>>()
    // @ts-expect-error: it says nothing of what was decided.
    Prompt.approvalResponses([{ approvalId: "a1" }])
    expectTypeOf(Approval.deny(request, "no", { stop: true })).toEqualTypeOf<Approval.ApprovalAnswer>()
    expectTypeOf<Approval.Denied["stop"]>().toEqualTypeOf<boolean | undefined>()
    // @ts-expect-error: only a denial may end the turn.
    Approval.approve(request, { stop: true })
  })
})
