/** Warnings of a provider, such as of a setting that a model does not know: each is logged once for a model. */
import * as Effect from "effect/Effect"
import * as ErrorText from "./errorText.ts"
import type { Warning } from "./models.ts"

/** Logs what has not been logged before. */
export type Log = (warnings: ReadonlyArray<Warning> | undefined) => Effect.Effect<void> | undefined

// A provider that words each warning anew is not listened to for ever.
const maxKnown = 1_000

export const make = (model: { readonly provider: string; readonly modelId: string }): Log => {
  const known = new Set<string>()
  return (warnings) => {
    if (warnings === undefined || warnings.length === 0) return undefined
    const fresh: Array<string> = []
    for (const warning of warnings) {
      const text = ErrorText.safe(textOf(warning))
      if (known.has(text) || known.size >= maxKnown) continue
      known.add(text)
      fresh.push(text)
    }
    return fresh.length === 0
      ? undefined
      : Effect.annotateLogs(Effect.forEach(fresh, (text) => Effect.logWarning(text), { discard: true }), {
        provider: model.provider,
        model: model.modelId
      })
  }
}

const textOf = (warning: Warning): string => {
  switch (warning.type) {
    case "unsupported":
      return `${warning.feature} is not supported${warning.details === undefined ? "" : `: ${warning.details}`}`
    case "compatibility":
      return `${warning.feature} is used in a compatible form${
        warning.details === undefined ? "" : `: ${warning.details}`
      }`
    case "deprecated":
      return `${warning.setting} is deprecated: ${warning.message}`
    default:
      return String(warning.message)
  }
}
