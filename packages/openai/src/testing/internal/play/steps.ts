/** A played turn as bytes: in one piece, or as server-sent events. */
import type { Ending, Reply, Step } from "../http/wire.ts"
import * as Wire from "../http/wire.ts"
import type { JsonObject } from "../json.ts"
import * as Json from "../json.ts"
import type { Context } from "../stage/context.ts"
import type { Direction, Played, Stage } from "../stage/stage.ts"
import * as Events from "./events.ts"
import * as Response from "./response.ts"

// =============================================================================
// In one piece
// =============================================================================

export const atOnce = (
  stage: Stage,
  params: JsonObject,
  context: Context,
  played: Played,
  respond: Response.Respond
): Reply => {
  const directions = directionsOf(played)
  const error = directions.find((direction) => direction._tag === "StreamError")
  if (error !== undefined) return Wire.refuse(error.error)
  const response = Response.final(played, respond)
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    before: before(directions),
    steps: bodyOf(
      directions,
      JSON.stringify(response, undefined, 2),
      () => Response.keep(stage, params, context, response)
    )
  }
}

function* bodyOf(directions: ReadonlyArray<Direction>, body: string, keep: () => void): Generator<Step> {
  let own = false
  for (const direction of directions) {
    switch (direction._tag) {
      case "Pause":
        yield { _tag: "Run", effect: direction.effect }
        break
      case "Bytes":
        own = true
        yield { _tag: "Write", data: direction.bytes }
        break
      case "HalfCharacter":
        yield { _tag: "Write", data: half("{ \"id\": \"resp_") }
        return yield { _tag: "Cut", how: direction.how }
      case "Cut":
      case "Stall":
        if (!own) yield { _tag: "Write", data: body.slice(0, body.length / 2) }
        return yield direction
      case "StreamError":
        break
    }
  }
  if (own) return
  // Before the last byte, so that whoever has read the response can go on from it.
  keep()
  yield { _tag: "Write", data: body }
}

// =============================================================================
// Server-sent events
// =============================================================================

export const stream = (
  stage: Stage,
  params: JsonObject,
  context: Context,
  played: Played,
  respond: Response.Respond
): Reply => ({
  status: 200,
  headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
  before: before(directionsOf(played)),
  steps: eventsOf(stage, params, context, played, respond)
})

function* eventsOf(
  stage: Stage,
  params: JsonObject,
  context: Context,
  played: Played,
  respond: Response.Respond
): Generator<Step> {
  const timed = directionsOf(played).filter((direction) => direction.afterEvents !== undefined)
    .toSorted((one, other) => (one.afterEvents ?? 0) - (other.afterEvents ?? 0))
  let number = 0
  let over = false

  const write = (event: JsonObject): Step => ({
    _tag: "Write",
    data: `event: ${String(event["type"])}\ndata: ${JSON.stringify({ ...event, sequence_number: number++ })}\n\n`
  })

  function* direct(direction: Direction): Generator<Step> {
    switch (direction._tag) {
      case "Cut":
      case "Stall":
        over = true
        yield direction
        break
      case "HalfCharacter":
        over = true
        yield { _tag: "Write", data: half("event: response.output_text.delta\ndata: {\"delta\":\"") }
        yield { _tag: "Cut", how: direction.how }
        break
      case "Bytes":
        yield { _tag: "Write", data: direction.bytes }
        break
      case "Pause":
        yield { _tag: "Run", effect: direction.effect }
        break
      case "StreamError": {
        over = true
        const { code, message, param, type } = direction.error
        yield write(
          direction.shape === "flat"
            ? { type: "error", code, message, param }
            : { type: "error", error: { type, code, message, param } }
        )
        yield write({ type: "response.failed", response: respond("failed", { error: { code, message } }) })
        break
      }
    }
  }

  /** What is due before the next event, and the event. */
  function* play(event: JsonObject): Generator<Step> {
    while (!over && timed[0] !== undefined && number >= (timed[0].afterEvents ?? 0)) {
      const direction = timed.shift()
      if (direction !== undefined) yield* direct(direction)
    }
    if (!over) yield write(event)
  }

  const started = respond("in_progress")
  yield* play({ type: "response.created", response: started })
  yield* play({ type: "response.in_progress", response: started })
  const options = { deltaSize: stage.deltaSize, obfuscate: obfuscates(params) }
  for (let place = 0; place <= played.output.length; place++) {
    for (const direction of played.scene.get(place) ?? []) {
      if (!over && direction.afterEvents === undefined) yield* direct(direction)
    }
    const item = played.output[place]
    if (item === undefined) continue
    for (const event of Events.ofItem(item, place, options)) {
      if (over) return
      yield* play({ ...event })
    }
  }
  if (over) return
  const response = Response.final(played, respond)
  const last = play({ type: `response.${String(response["status"])}`, response })
  for (const step of last) {
    // Before the last event, so that whoever has read it can go on from it.
    if (!over && step._tag === "Write") Response.keep(stage, params, context, response)
    yield step
  }
}

const obfuscates = (params: JsonObject): boolean => {
  const options = params["stream_options"]
  return !(Json.isObject(options) && options["include_obfuscation"] === false)
}

// =============================================================================
// Both
// =============================================================================

const directionsOf = (played: Played): ReadonlyArray<Direction> => [...played.scene.values()].flat()

const before = (directions: ReadonlyArray<Direction>): Ending | undefined =>
  directions.find((direction): direction is Extract<Direction, { readonly beforeHeaders: boolean }> =>
    (direction._tag === "Cut" || direction._tag === "Stall") && direction.beforeHeaders
  )

const half = (text: string): Uint8Array => new TextEncoder().encode(`${text}€`).subarray(0, -1)
