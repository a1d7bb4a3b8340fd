/** Ours, with sealed requests and a journal in memory. */
import { LanguageModel, Tool, Toolkit } from "@assent/ai"
import { versionOf } from "../versions.ts"
import * as OnEffect from "./onEffect.ts"

export const toolkit = Toolkit.make(
  Tool.make("DeleteFile", { ...OnEffect.file, needsApproval: true }),
  Tool.make("DeleteDraft", OnEffect.file)
)

export const handlers = toolkit.toLayer(OnEffect.handlers)

export const { approves, approvesBehind, asks, denies, holds, runs, streams } = OnEffect.programs({
  library: "assent",
  version: versionOf("@assent/ai"),
  handlers,
  generate: (prompt) => LanguageModel.generateText({ prompt, toolkit }),
  stream: (prompt) => LanguageModel.streamText({ prompt, toolkit })
})
