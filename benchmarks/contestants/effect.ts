/** Upstream's own service: nothing is sealed, and nothing is written down. */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { versionOf } from "../versions.ts"
import * as OnEffect from "./onEffect.ts"

const toolkit = Toolkit.make(
  Tool.make("DeleteFile", { ...OnEffect.file, needsApproval: true }),
  Tool.make("DeleteDraft", OnEffect.file)
)

export const { approves, approvesBehind, asks, denies, holds, runs, streams } = OnEffect.programs({
  library: "effect",
  version: versionOf("effect"),
  handlers: toolkit.toLayer(OnEffect.handlers),
  generate: (prompt) => LanguageModel.generateText({ prompt, toolkit }),
  stream: (prompt) => LanguageModel.streamText({ prompt, toolkit })
})
