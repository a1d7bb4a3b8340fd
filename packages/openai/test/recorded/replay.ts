/** Replays one answer through `OpenAiLanguageModel`. */
import { AiError } from "@assent/ai"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type Difference, differences, type Facts, isObject, type Json, parse, string } from "./facts.ts"
import * as GoingOn from "./goingOn.ts"
import * as Program from "./program.ts"
import * as Reader from "./reader.ts"

export interface Replayed {
  readonly verdict: "right" | "wrong" | "lost" | "refused"
  readonly differences: ReadonlyArray<Difference>
  /** The error that the program got, where the server sent one. */
  readonly error: string | undefined
  /** What the program saw. */
  readonly facts?: Facts | undefined
}

export const eventsOf = (body: string): ReadonlyArray<Json> =>
  body.split(/\r?\n\r?\n/u).flatMap((block) => {
    const data = block.split(/\r?\n/u).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim())
    if (data.length === 0 || data[0] === "[DONE]") return []
    const event = parse(data.join("\n"))
    return [isObject(event) ? event : { type: unreadable }]
  })

/** A line that is no event: the stream has to fail there. */
const unreadable = "unreadable"

const text = ({ body }: Program.Wire): string => typeof body === "string" ? body : new TextDecoder().decode(body)

/** Whether the server says that it failed: by its status, in the response, or with an event. */
const isRefusal = (wire: Program.Wire, events: ReadonlyArray<Json>, { response }: Reader.Answer): boolean =>
  wire.status >= 400 || response["status"] === "failed" || isObject(response["error"]) ||
  events.some(({ type }) => type === "error" || type === unreadable)

export const replay = async (wire: Program.Wire): Promise<Replayed> => {
  const streams = Program.isStream(wire)
  const events = streams ? eventsOf(text(wire)) : []
  const answer = streams ? Reader.ofEvents(events) : Reader.ofBody(parse(text(wire)) as Json)
  const exit = await Effect.runPromiseExit(Program.see(wire, answer))
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  const said = AiError.isAiError(error)
    ? `${error.reason._tag}: ${string((error.reason as unknown as Json)["description"]) ?? ""}`
    : error === undefined
    ? undefined
    : String(error)
  if (isRefusal(wire, events, answer)) {
    return { verdict: AiError.isAiError(error) ? "refused" : "wrong", differences: [], error: said }
  }
  if (Exit.isFailure(exit)) {
    return {
      verdict: "lost",
      differences: [{ kind: "lost", fact: "answer", sent: answer.items.map(({ type }) => type), seen: said }],
      error: said
    }
  }
  const found = [...differences(Reader.facts(answer), exit.value.facts), ...GoingOn.differences(answer, exit.value)]
  return {
    verdict: found.some(({ kind }) => kind === "lost") ? "lost" : found.length > 0 ? "wrong" : "right",
    differences: found,
    error: undefined,
    facts: exit.value.facts
  }
}
