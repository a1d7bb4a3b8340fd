/** The tools of the benchmarks, ours and upstream's, with the same handlers, and what programs around them need. */
import { ApprovalJournal, ApprovalSeal, LanguageModel, Tool, Toolkit } from "@assent/ai"
import * as UpstreamTool from "effect/ai/Tool"
import * as UpstreamToolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Weather = Tool.make("Weather", {
  description: "The weather of a city",
  parameters: { city: Schema.String },
  success: Schema.Struct({ degrees: Schema.Number, sky: Schema.String })
})
const Search = Tool.make("Search", {
  parameters: { query: Schema.String, limit: Schema.optionalKey(Schema.Number) },
  success: Schema.Array(Schema.String)
})
const Clock = Tool.make("Clock", { success: Schema.String })

const deletion = {
  description: "Deletes a file",
  parameters: Schema.Struct({ path: Schema.String, force: Schema.Boolean }),
  success: Schema.Struct({ deleted: Schema.Boolean })
}
const DeleteFile = Tool.make("DeleteFile", { ...deletion, needsApproval: true })
const UpstreamDeleteFile = UpstreamTool.make("DeleteFile", { ...deletion, needsApproval: true })

export const open = Toolkit.make(Weather, Search, Clock)
export const gated = Toolkit.make(Weather, Search, DeleteFile)
export const upstreamGated = UpstreamToolkit.make(Weather, Search, UpstreamDeleteFile)

const openHandlers = {
  Weather: () => Effect.succeed({ degrees: 21, sky: "clear" }),
  Search: () => Effect.succeed(["a", "b"]),
  Clock: () => Effect.succeed("noon")
}
const gatedHandlers = { ...openHandlers, DeleteFile: () => Effect.succeed({ deleted: true }) }

export const live = Layer.mergeAll(
  open.toLayer(openHandlers),
  gated.toLayer(gatedHandlers),
  // Of tools of the same names, and last: ours locks what it finds, upstream's does not.
  upstreamGated.toLayer(gatedHandlers),
  ApprovalSeal.layer({ key: "a key of the benchmark, 32 bytes or more" }),
  ApprovalJournal.layerMemory()
)

export type Live = Layer.Success<typeof live>

/** Gives a row a journal of its own. */
export const withJournal = Effect.provide(ApprovalJournal.layerMemory(), { local: true })

export const using = (model: LanguageModel.LanguageModel) => Effect.provideService(LanguageModel.LanguageModel, model)
