/** Ours: sealed requests, a journal in memory. */
import { Approval, ApprovalJournal, ApprovalSeal, LanguageModel, Prompt, Response, Tool, Toolkit } from "@assent/ai"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Schema from "effect/Schema"
import * as Provider from "../../packages/bench/src/provider.ts"
import type { Contestant } from "../measure.ts"
import { versionOf } from "../versions.ts"
import * as Work from "../work.ts"

const DeleteFile = Tool.make("DeleteFile", {
  description: "Deletes a file",
  parameters: { path: Schema.String, force: Schema.Boolean },
  success: Schema.Struct({ deleted: Schema.Boolean }),
  needsApproval: true
})
export const toolkit = Toolkit.make(DeleteFile)

/** It reads the parameters' text each time, as a provider does, and looks whether it is told of what it has to be told of. */
export const model = (calls: number) =>
  Provider.makeModel((messages) => {
    if (messages.length === 1) {
      return Provider.calls(Array.from({ length: calls }, (_, index) => ({
        id: `call-${index}`,
        name: "DeleteFile",
        params: JSON.parse(Work.paramsOf(index))
      })))
    }
    const last = messages.at(-1)!
    let results = 0
    if (typeof last.content !== "string") {
      for (const part of last.content) if (part.type === "tool-result") results++
    }
    Work.expect("results that the model is told of", results, calls)
    return Provider.text([Work.finalText])
  })

export const handlers = toolkit.toLayer({ DeleteFile: (params) => Effect.sync(() => Work.deleteFile(params)) })

const services = Layer.mergeAll(
  handlers,
  ApprovalSeal.layer({ key: Work.key }),
  ApprovalJournal.layerMemory()
)

const makeRuntime = (calls: number) =>
  ManagedRuntime.make(Layer.merge(services, Layer.effect(LanguageModel.LanguageModel, model(calls))))

const ask = LanguageModel.generateText({ prompt: Work.question, toolkit })

const answered = (
  turn: Effect.Success<typeof ask>,
  answer: (request: Approval.ApprovalRequest) => Approval.ApprovalAnswer
): Prompt.Prompt =>
  Prompt.fromMessages([
    Prompt.userMessage({ content: [Prompt.textPart({ text: Work.question })] }),
    ...Prompt.fromResponseParts(turn.content).content,
    ...Prompt.approvalResponses(Response.approvalRequests(turn).map(answer)).content
  ])

const library = "assent"
const version = versionOf("@assent/ai")

export const asks = (calls: number): Contestant => {
  const runtime = makeRuntime(calls)
  const one = Effect.map(ask, (turn) => {
    Work.expect("requests", Response.approvalRequests(turn).length, calls)
  })
  return {
    library,
    version,
    prepare: async (operations) => () =>
      Work.expectRuns(
        operations,
        0,
        () => runtime.runPromise(Effect.replicateEffect(one, operations, { discard: true }))
      ),
    close: () => runtime.dispose()
  }
}

const resumes = (calls: number, approved: boolean): Contestant => {
  const runtime = makeRuntime(calls)
  const answer = (request: Approval.ApprovalRequest) =>
    approved ? Approval.approve(request) : Approval.deny(request, Work.denialReason)
  return {
    library,
    version,
    prepare: async (operations) => {
      const prompts = await runtime.runPromise(
        Effect.replicateEffect(Effect.map(ask, (turn) => answered(turn, answer)), operations)
      )
      const all = Effect.forEach(
        prompts,
        (prompt) =>
          Effect.map(
            LanguageModel.generateText({ prompt, toolkit }),
            (turn) => Work.expect("text", turn.text, Work.finalText)
          ),
        { discard: true }
      )
      return () => Work.expectRuns(operations, approved ? calls : 0, () => runtime.runPromise(all))
    },
    close: () => runtime.dispose()
  }
}

export const approves = (calls: number): Contestant => resumes(calls, true)
export const denies = (calls: number): Contestant => resumes(calls, false)
