/**
 * Replays one recorded answer: read by itself, by the provider's package, and by a program over the bridge.
 */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import * as AiError from "effect/ai/AiError"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Answer, Difference } from "./answer.ts"
import { differences, facts } from "./answer.ts"
import type { Exchange } from "./exchange.ts"
import { streamed } from "./exchange.ts"
import * as Package from "./package-answer.ts"
import * as Program from "./program.ts"
import * as Providers from "./providers.ts"
import { read } from "./readers/index.ts"

/** What became of a recorded answer. */
export interface Replayed {
  /** A refusal is right if the program gets it as an `AiError`. */
  readonly verdict: "right" | "wrong" | "lost"
  /** What the program saw otherwise than it was recorded, though the provider's package had it. */
  readonly differences: ReadonlyArray<Difference>
  /** What the provider's package itself says otherwise, or does not say; no bridge can know better. */
  readonly ofPackage: ReadonlyArray<Difference>
  /** The error that the program got, where the provider or its package refused. */
  readonly refused: string | undefined
}

const prompt: LanguageModelV4CallOptions = { prompt: [{ role: "user", content: [{ type: "text", text: "Hello." }] }] }

/** Replays an answer. */
export const replay = async (exchange: Exchange): Promise<Replayed> => {
  const model = () =>
    Providers.model(exchange.format, () =>
      Promise.resolve(
        new Response(exchange.body, { status: exchange.status, headers: { "content-type": exchange.mediaType } })
      ))
  const first = await Package.ask(model(), prompt, streamed(exchange)).catch((error: unknown) => ({ error }))
  if (first === undefined || "error" in first) return refused(exchange, model, first?.error)
  const recorded = read(exchange)
  const tools = { local: [...recorded.calls, ...first.answer.calls].map((call) => call.name), hosted: first.hosted }
  // Watched, because a package makes up ids where its provider has none, and others each time.
  const { asked, model: watching } = Package.watched(model())
  const exit = await Effect.runPromiseExit(Program.ask(watching, tools, streamed(exchange)))
  const given = asked()?.answer ?? first.answer
  const ofPackage = differences(recorded, given)
  if (Exit.isFailure(exit)) {
    const difference = { fact: "answer", kind: "lost" as const, recorded, seen: Cause.pretty(exit.cause) }
    return { verdict: "lost", differences: [difference], ofPackage, refused: undefined }
  }
  const found = compare(recorded, given, exit.value, ofPackage)
  return {
    verdict: found.some((each) => each.kind === "lost") ? "lost" : found.length > 0 ? "wrong" : "right",
    differences: found,
    ofPackage,
    refused: undefined
  }
}

// Where the package says otherwise, the program must see what the package says.
const compare = (
  recorded: Answer,
  given: Answer,
  seen: Answer,
  ofPackage: ReadonlyArray<Difference>
): ReadonlyArray<Difference> => {
  const others = new Set(ofPackage.map((each) => each.fact))
  return [
    ...differences(recorded, seen).filter((each) => !others.has(each.fact)),
    ...differences(given, seen).filter((each) => others.has(each.fact) || !facts(recorded).has(each.fact))
  ]
}

const refused = async (
  exchange: Exchange,
  model: () => ReturnType<typeof Providers.model>,
  error: unknown
): Promise<Replayed> => {
  const exit = await Effect.runPromiseExit(Program.ask(model(), { local: [], hosted: [] }, streamed(exchange)))
  const reason = Exit.isFailure(exit) ? Cause.squash(exit.cause) : "no error"
  const tag = AiError.isAiError(reason) ? reason.reason._tag : `not an AiError: ${String(reason)}`
  const difference = { fact: "error", kind: "wrong" as const, recorded: String(error), seen: tag }
  return {
    verdict: AiError.isAiError(reason) ? "right" : "wrong",
    differences: AiError.isAiError(reason) ? [] : [difference],
    ofPackage: [],
    refused: `${exchange.status >= 400 ? `status ${exchange.status}` : `package: ${said(error)}`} → ${tag}`
  }
}

const said = (error: unknown): string =>
  (error instanceof Error ? `${error.name}: ${error.message}` : JSON.stringify(error)).split("\n")[0]?.slice(0, 90) ??
    ""
