/** A whole response as parts. */
import type * as Response from "effect/ai/Response"
import * as Approvals from "./approvals.ts"
import * as Carrier from "./carrier.ts"
import * as Content from "./content.ts"
import * as Finish from "./finish.ts"
import * as Metadata from "./metadata.ts"
import type { GenerateResult } from "./models.ts"

type Part = Response.PartEncoded

export interface Options extends Content.Reading {
  /** Whether a program decodes the text. */
  readonly isStructured: boolean
}

export const parts = (result: GenerateResult, options: Options): Array<Part> => {
  const parts: Array<Part> = []
  const stamp = Approvals.stamp(options.provider)
  const reader = Content.make(options, {
    part: (part) => parts.push(part),
    carried: (carried) => parts.push(Carrier.make(carried, stamp))
  })
  if (result.response !== undefined) parts.push(Finish.metadata(result.response))
  // Where the answer is not the whole text, the rest goes back to the provider and to nobody else.
  const selected = options.isStructured && "structuredOutputText" in result ? result.structuredOutputText : undefined
  for (const content of result.content) {
    if (content.type === "text" || content.type === "reasoning") {
      const metadata = Metadata.ofProvider(content.providerMetadata)
      if (content.type === "text" && selected !== undefined) {
        const providerOptions = Metadata.toProvider(metadata)
        parts.push(Carrier.make({
          type: "text",
          text: content.text,
          ...(providerOptions === undefined ? undefined : { providerOptions })
        }, stamp))
      } else {
        parts.push({
          type: content.type,
          text: content.text,
          ...(metadata === undefined ? undefined : { metadata })
        })
      }
      if ("citations" in content && content.citations !== undefined) reader.citations(content.citations)
    } else {
      reader.read(content)
    }
  }
  if (selected !== undefined) {
    parts.push({ type: "text", text: selected, metadata: { [Metadata.own]: { selected: true } } })
  }
  parts.push(Finish.part(result, reader.asksApproval()))
  return parts
}
