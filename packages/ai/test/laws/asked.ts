/** A deletion that was asked about, what the next turn needs, and who decides on it. */
import { Effect } from "effect"
import { ApprovalController, ApprovalPolicy, type LanguageModel } from "../../src/index.ts"
import * as Support from "./support.ts"

export interface Options {
  readonly handlers?: Parameters<typeof Support.makeTools>[1]
  readonly approval?: LanguageModel.ApprovalOptions | undefined
}

export const deletion = (mode: Support.Mode, { approval, handlers }: Options = {}) =>
  Effect.gen(function*() {
    const tools = yield* Support.makeTools(undefined, handlers)
    const asked = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "DeleteFile", { path: "a" })],
      approval
    })
    const script = yield* Support.answering
    const options = { model: script.model, toolkit: tools.toolkit, history: asked.history, approval }
    return { asked, options, request: asked.requests[0]!, script, tools }
  })

export const withPolicy = (policy: Parameters<typeof ApprovalPolicy.make>[0]) =>
  Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(policy))

export const withController = (callback: Parameters<typeof ApprovalController.interactive>[0]) =>
  Effect.provideService(ApprovalController.ApprovalController, ApprovalController.interactive(callback))
