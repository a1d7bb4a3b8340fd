/**
 * What stands between OpenAI and a program, and changes a stream on the way: it leaves out what it takes to be redundant, sends
 * things twice, gives other ids, weaves items into each other, and cuts bytes where it likes.
 */
import * as Edge from "../edges/edge.ts"
import type { Json } from "../recorded/facts.ts"
import type { Wire } from "../recorded/program.ts"
import * as Answers from "./answers.ts"
import type { Random } from "./random.ts"

/** Where all of an answer is said; the rest of its events may be missing. */
export type Source = "end" | "items" | "deltas"

export interface Answer {
  readonly response: Json
  readonly wire: Wire
  /** Whether each event gives an item another id. */
  readonly rotates: boolean
  /** Whether each item ends before the next one does. */
  readonly isOrdered: boolean
}

const isDelta = ({ type }: Json): boolean => String(type).endsWith(".delta")
const isOf = ({ type }: Json, ...names: ReadonlyArray<string>): boolean =>
  names.some((name) => type === `response.${name}`)
const isDone = (event: Json): boolean => isOf(event, "output_item.done")
const isAdded = (event: Json): boolean => isOf(event, "output_item.added")

/** The events of an item as far as they come through. */
const thinned = (random: Random, { events, item }: Answers.Told, source: Source): ReadonlyArray<Json> => {
  let left = events
  const without = (drop: (event: Json) => boolean) => {
    left = left.filter((event) => !drop(event))
  }
  const parts = (event: Json) => /_part\.|\.(in_progress|searching|completed)$/.test(String(event["type"]))
  if (random.chance(0.3)) without(parts)
  if (source === "deltas") {
    // Nothing but the deltas says it: or what is said at their end.
    const told = random.pick(["deltas", "ends", "both", "both"])
    if (told === "deltas") without((event) => /(text|arguments|input)\.done$/.test(String(event["type"])))
    if (told === "ends") without(isDelta)
    const { arguments: _, content: __, input: ___, ...bare } = item
    if (random.chance(0.5)) without(isDone)
    else left = left.map((event) => isDone(event) ? { ...event, item: bare } : event)
    return left
  }
  if (random.chance(0.3)) without((event) => /(text|arguments|input)\.done$/.test(String(event["type"])))
  if (random.chance(0.3)) without(isAdded)
  if (random.chance(0.2)) without(isDelta)
  if (random.chance(0.2) && item["type"] !== "reasoning") {
    // A proxy that gives up on deltas in the middle.
    const last = random.integer(left.length)
    left = left.filter((event, index) => index < last || !isDelta(event))
  }
  if (source === "end" && random.chance(0.4)) without(isDone)
  return left
}

/** Texts in other pieces. */
const split = (random: Random, event: Json): ReadonlyArray<Json> =>
  typeof event["delta"] === "string"
    ? Answers.pieces(random, event["delta"]).map((delta) => ({ ...event, delta }))
    : [event]

/** The events of parallel calls, those of each in their order; what the model says stays between them. */
const woven = (
  random: Random,
  items: ReadonlyArray<Answers.Told>,
  thin: ReadonlyArray<ReadonlyArray<Json>>
): ReadonlyArray<Json> => {
  const found: Array<Json> = []
  let left: Array<Array<Json>> = []
  const weave = () => {
    while (left.length > 0) {
      const from = random.pick(left)
      found.push(from.shift()!)
      left = left.filter((events) => events.length > 0)
    }
  }
  thin.forEach((events, index) => {
    const type = items[index]!.item["type"]
    if (type !== "message" && type !== "reasoning") return events.length > 0 && left.push([...events])
    weave()
    found.push(...events)
  })
  weave()
  return found
}

/** Some events once more, a little later, as after a connection that was lost and taken up again. */
const repeated = (random: Random, events: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const found = [...events]
  for (let count = 1 + random.integer(4); count > 0; count--) {
    const from = random.integer(found.length)
    const length = 1 + random.integer(4)
    const again = found.slice(from, from + length)
    found.splice(from + again.length, 0, ...again)
  }
  return found
}

const rotated = (random: Random, event: Json): Json => {
  const id = `${random.integer(2 ** 30)}`
  const item = event["item"]
  return {
    ...event,
    ...("item_id" in event ? { item_id: id } : undefined),
    ...(typeof item === "object" && item !== null ? { item: { ...item, id } } : undefined)
  }
}

const written = (random: Random, events: ReadonlyArray<Json>): string => {
  const end = random.pick(["\n", "\r\n"])
  const named = random.chance(0.5)
  const blocks = events.map((event) => {
    // What keeps a connection open.
    const comment = random.chance(0.1)
      ? random.pick([
        ": keep-alive",
        `: keep-alive${end}`,
        `data:${end}`,
        `retry: 3000${end}`,
        `event: ping${end}data: {}${end}`
      ]) +
        end
      : ""
    return `${comment}${named ? `event: ${String(event["type"])}${end}` : ""}data:${random.pick(["", " "])}${
      JSON.stringify(event)
    }${end}${end}`
  })
  return blocks.join("") + random.pick(["", `data: [DONE]${end}${end}`])
}

export const answer = (random: Random): Answer => {
  const source = random.pick<Source>(["end", "items", "deltas"])
  const items = Answers.make(random, source === "deltas" ? Answers.spoken : Answers.all)
  const response = Edge.response(items.map(({ item }) => item))
  const thin = items.map((item) => thinned(random, item, source).flatMap((event) => split(random, event)))
  const isWoven = random.chance(0.3)
  const rotates = random.chance(0.15)
  const middle = isWoven ? woven(random, items, thin) : thin.flat()
  const begun = { ...response, status: "in_progress", output: [], usage: null }
  const last = { ...response, output: source === "end" ? response["output"] : [] }
  const whole: ReadonlyArray<Json> = [
    { type: "response.created", response: begun },
    ...(random.chance(0.5) ? [{ type: "response.in_progress", response: begun }] : []),
    ...middle,
    { type: "response.completed", response: last }
  ]
  const sent = rotates ? whole.map((event) => rotated(random, event)) : whole
  const numbered = sent.map((event, sequence_number) => ({ ...event, sequence_number }))
  const way = random.pick(["numbered", "repeated", "unnumbered", "constant"] as const)
  let events: ReadonlyArray<Json> = way === "numbered"
    ? numbered
    : way === "repeated"
    ? repeated(random, numbered)
    : sent.map((event) => way === "constant" ? { ...event, sequence_number: 0 } : event)
  // Without places the ids are all there is.
  if (!rotates && !isWoven && random.chance(0.2) && source !== "end") {
    events = events.map(({ output_index: _, ...event }) => event)
  }
  return {
    response,
    rotates,
    isOrdered: !isWoven && source === "items",
    wire: { status: 200, mediaType: "text/event-stream", body: written(random, events) }
  }
}

/** An answer whose stream ends before its response does. */
export const cut = (random: Random): Answer => {
  const whole = answer(random)
  const body = String(whole.wire.body)
  const end = body.indexOf(`"type":"response.completed"`)
  const bytes = new TextEncoder().encode(body.slice(0, end))
  return { ...whole, wire: { ...whole.wire, body: bytes.slice(0, random.integer(bytes.length)) } }
}

const values: ReadonlyArray<unknown> = [undefined, null, "", "garbled", -1, 1.5, true, [], {}, [null], [{}], {
  type: "new"
}]

/** One field, at so many levels or more below, with another value. */
const garbledIn = (random: Random, value: unknown, levels = 0): unknown => {
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0) return random.pick(values)
  if (levels <= 0 && random.chance(0.2)) return random.pick(values)
  const key = random.pick(Object.keys(value))
  const field = garbledIn(random, Reflect.get(value, key), levels - 1)
  return Array.isArray(value) ? value.with(Number(key), field) : { ...value, [key]: field }
}

/** An answer with a field or two that no server of OpenAI's sends, as a stream or whole. */
export const garbled = (random: Random): Answer => {
  const items = Answers.make(random, Answers.all)
  const response = Edge.response(items.map(({ item }) => item))
  // An event has its type: without it, none of them is one.
  const garble = (event: Json): unknown =>
    random.chance(0.15) ? { ...garbledIn(random, event, 1) as Json, type: event["type"] } : event
  if (random.chance(0.3)) {
    const body = JSON.stringify(garbledIn(random, response, 1))
    return { response, rotates: false, isOrdered: true, wire: { status: 200, mediaType: "application/json", body } }
  }
  const events: ReadonlyArray<Json> = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...items.flatMap(({ events }) => events),
    { type: "response.completed", response: { ...response, output: random.chance(0.5) ? response["output"] : [] } }
  ]
  const body = events.map((event) => `data: ${JSON.stringify(garble(event))}\n\n`).join("")
  return { response, rotates: false, isOrdered: true, wire: { status: 200, mediaType: "text/event-stream", body } }
}
