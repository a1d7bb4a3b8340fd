/**
 * What approvals cost, beside upstream's own service on the same turns: `npm run bench:smoke`.
 *
 * Every figure is printed with its ratio and, where there is one, its bound; the command fails when a bound is exceeded.
 */
import { Approval, ApprovalJournal, ApprovalSeal, LanguageModel, Prompt, Response, Tool, Toolkit } from "@assent/ai"
import * as Upstream from "effect/ai/LanguageModel"
import * as UpstreamTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Harness from "./harness.ts"
import * as Provider from "./provider.ts"

// =============================================================================
// Tools
// =============================================================================

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

const open = Toolkit.make(Weather, Search, Clock)
const gated = Toolkit.make(Weather, Search, DeleteFile)
const upstreamGated = Toolkit.make(Weather, Search, UpstreamDeleteFile)

const openHandlers = {
  Weather: () => Effect.succeed({ degrees: 21, sky: "clear" }),
  Search: () => Effect.succeed(["a", "b"]),
  Clock: () => Effect.succeed("noon")
}
const gatedHandlers = { ...openHandlers, DeleteFile: () => Effect.succeed({ deleted: true }) }

const live = Layer.mergeAll(
  open.toLayer(openHandlers),
  gated.toLayer(gatedHandlers),
  upstreamGated.toLayer(gatedHandlers),
  ApprovalSeal.layer({ key: "a key of the benchmark, 32 bytes or more" }),
  ApprovalJournal.layerMemory()
)

type Model = LanguageModel.LanguageModel

const using = (model: Model) => Effect.provideService(LanguageModel.LanguageModel, model)

// =============================================================================
// a. A program without approvals
// =============================================================================

const short = Provider.text(["It ", "is ", "21 ", "degrees ", "and ", "clear."])
const calling = Provider.calls([{ id: "call-1", name: "Weather", params: { city: "Vienna" } }])

/** Ten turns of one conversation, each with what came before; the third is answered with a call. */
const conversation: ReadonlyArray<Prompt.Prompt> = Array.from({ length: 10 }, (_, turn) =>
  Prompt.make(Array.from({ length: turn + 1 }, (_, index): ReadonlyArray<Prompt.MessageEncoded> => [
    { role: "user", content: `What is the weather in city ${index}?` },
    ...(index === turn ? [] : index === 2 ? [
      { role: "assistant", content: [{ type: "tool-call", ...weatherCall }] } as const,
      { role: "tool", content: [{ type: "tool-result", ...weatherResult }] } as const
    ] : [{ role: "assistant", content: "It is 21 degrees and clear." } as const])
  ]).flat()))
