/**
 * A random story: two pages of one conversation, and all that people do with them, in any order. The client is that of npm,
 * as it is. What must be so afterwards, whatever happened, is checked at its end.
 */
import { AiError } from "@assent/ai"
import type { ScriptedModel } from "@assent/ai/testing"
import { UiMessageStream } from "@assent/web"
import * as Effect from "effect/Effect"
import { call, cards, history, open, type Page, type PageOptions, reading, serve, type Server } from "../server.ts"
import * as Cluster from "./cluster.ts"

export interface Story {
  readonly seed: number
  /** What was done, for a reader. */
  readonly steps: ReadonlyArray<string>
  readonly posts: number
  readonly clicks: number
  readonly ran: number
  /** What must not be so. */
  readonly problems: ReadonlyArray<string>
}

/** Small, seeded and good enough: mulberry32. */
const randomOf = (seed: number) => {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    below: (end: number) => Math.floor(next() * end),
    chance: (probability: number) => next() < probability,
    one: <A>(some: ReadonlyArray<A>): A => some[Math.floor(next() * some.length)]!
  }
}

type Random = ReturnType<typeof randomOf>

const tick = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Tools that wait until somebody lets them go. */
const makeGates = () => {
  const waiting: Array<() => void> = []
  let isOpen = false
  return {
    wait: Effect.promise(() => isOpen ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve))),
    release: () => waiting.shift()?.(),
    open: () => {
      isOpen = true
      for (const resolve of waiting.splice(0)) resolve()
    }
  }
}

const isCut = "the network was cut"

/** A network that loses what is sent, or the answer, or cuts it in the middle. */
const network = (random: Random) => async (request: Request, next: Server["handler"]): Promise<Response> => {
  const kind = random.below(16)
  if (kind === 0) throw new TypeError(isCut)
  const response = await next(request)
  if (kind === 1) {
    await response.body?.cancel()
    throw new TypeError(isCut)
  }
  if (kind !== 2 || response.body === null) return response
  let pieces = random.below(4)
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform: (piece, controller) => pieces-- > 0 ? controller.enqueue(piece) : controller.error(new TypeError(isCut))
  })
  return new Response(response.body.pipeThrough(cut), response)
}

const noAnswer = AiError.make({
  module: "story",
  method: "streamText",
  reason: new AiError.UnknownError({ description: "The model has a secret of its own." })
})

const turnsOf = (random: Random): ScriptedModel.Options["turns"] => {
  let files = 0
  const fails = random.chance(0.3)
  // Some providers give the same ids in each of their responses.
  const repeatsIds = random.chance(0.3)
  const turn = (): ScriptedModel.Turn => () => {
    if (fails && random.chance(0.1)) return noAnswer
    if (random.chance(0.2)) return "I am done."
    const calls = Array.from({ length: 1 + random.below(3) }, (_, index) => {
      const path = `f${++files}`
      const id = repeatsIds ? `c${index}` : `c${files}`
      return random.chance(0.75) ? call(id, path) : reading(id, path)
    })
    return calls
  }
  return Array.from({ length: 60 }, turn)
}

interface World {
  /** Of each page. */
  readonly servers: readonly [Server, Server]
  readonly restart: ((index: number) => Promise<void>) | undefined
  readonly fetch: PageOptions["fetch"]
  readonly random: Random
  readonly steps: Array<string>
  readonly pages: Array<Page>
  /** Those that were loaded anew since. */
  readonly gone: Array<Page>
  /** The paths that somebody has let be deleted. */
  readonly allowed: Set<string>
  readonly gates: ReturnType<typeof makeGates>
  clicks: number
  sends: number
}

const isBusy = ({ chat: { status } }: Page): boolean => status === "submitted" || status === "streaming"

const asked = (page: Page) => cards(page).filter(({ state }) => state === "approval-requested")

const wait = async (ticks: number) => {
  for (let count = 0; count < ticks; count++) await tick()
}

const click = (world: World, page: Page, { approval: { id }, input: { path } }: any) => {
  const { allowed, random, steps } = world
  world.clicks++
  const kind = random.one(["approve", "approve", "approve", "deny", "deny", "edit", "edit that is lost"] as const)
  steps.push(`  ${kind} ${path}`)
  if (kind === "edit") page.details[id] = { params: { path: `${path}-edited` } }
  if (kind === "deny") return void page.chat.addToolApprovalResponse({ id, approved: false })
  // What was changed once goes with every click on that card.
  const isChanged = id in page.details
  if (isChanged) allowed.add(`${path}-edited`)
  else if (kind === "approve") allowed.add(path)
  void page.chat.addToolApprovalResponse(
    kind === "approve" ? { id, approved: true } : { id, approved: true, reason: UiMessageStream.withDetails }
  )
}

type Action = (world: World, page: Page) => unknown

const actions: Readonly<Record<string, readonly [weight: number, act: Action]>> = {
  "send": [2, (world, page) => {
    if (isBusy(page)) return
    world.sends++
    void page.chat.sendMessage({ text: `message ${world.sends}` })
  }],
  "click": [12, (world, page) => {
    const open = asked(page)
    if (open.length > 0) click(world, page, world.random.one(open))
  }],
  "click twice": [2, (world, page) => {
    const open = asked(page)
    if (open.length === 0) return
    const one = world.random.one(open)
    click(world, page, one)
    click(world, page, one)
  }],
  "send again": [1, (world, page) => {
    if (isBusy(page) || page.chat.messages.length === 0) return
    world.sends++
    void page.chat.sendMessage()
  }],
  "answer anew": [1, (world, page) => {
    if (isBusy(page) || page.chat.messages.length === 0) return
    world.sends++
    void page.chat.regenerate()
  }],
  "leave": [1, (_, page) => void page.chat.stop()],
  "come back": [1, (_, page) => {
    if (!isBusy(page)) void page.chat.resumeStream()
  }],
  "let a tool go": [6, ({ gates }) => gates.release()],
  "wait": [8, () => wait(8)],
  "wait long": [6, () => wait(60)],
  "load anew": [1, async (world, page) => {
    const { id } = page.chat
    await page.chat.stop()
    const index = world.pages.indexOf(page)
    const server = world.random.one(world.servers)
    const made = open(server, { id, fetch: world.fetch, messages: await history(server, id) })
    world.pages[index] = made
    world.gone.push(page)
    void made.chat.resumeStream()
  }]
}

const names = Object.entries(actions).flatMap(([name, [weight]]) => Array.from({ length: weight }, () => name))

/** Two servers, of which each may stop and start again, or one. */
const serving = (options: Parameters<typeof serve>[0], isCluster: boolean) => {
  if (isCluster) return Cluster.make(options)
  const server = serve(options)
  return {
    servers: [server, server] as const,
    restart: undefined,
    deleted: () => server.deleted,
    dispose: server.dispose
  }
}

/** Plays the story of a seed to its end. */
export const play = async (seed: number, isCluster = false): Promise<Story> => {
  const random = randomOf(seed)
  const gates = makeGates()
  const isSlow = random.chance(0.5)
  const before = () => isSlow ? gates.wait : Effect.void
  const { deleted, dispose, restart, servers } = serving(
    { turns: turnsOf(randomOf(seed + 1_000_000)), before },
    isCluster
  )
  // All conversations of a process are in one store.
  const id = `story-${seed}`
  const fetch = random.chance(0.3) ? network(randomOf(seed + 2_000_000)) : undefined
  const world: World = {
    servers,
    restart,
    fetch,
    random,
    steps: [],
    pages: [open(servers[0], { id, fetch }), open(servers[1], { id, fetch, person: "bob" })],
    gone: [],
    allowed: new Set(),
    gates,
    clicks: 0,
    sends: 0
  }
  const length = isCluster ? 15 + random.below(25) : 20 + random.below(60)
  world.sends++
  void world.pages[0]!.chat.sendMessage({ text: "message 1" })
  await wait(60)
  for (let step = 0; step < length; step++) {
    const name = random.one(names)
    const page = random.below(world.pages.length)
    world.steps.push(`${page} ${name}`)
    await actions[name]![1](world, world.pages[page]!)
    if (restart !== undefined && random.chance(0.04)) {
      world.steps.push("a server starts anew")
      await restart(random.below(2))
    }
  }
  gates.open()
  const pages = [...world.pages, ...world.gone]
  await Promise.all(pages.map((page) => page.settled()))
  // Who left before the answer came tries again.
  for (const page of world.pages) {
    for (let tries = 0; tries < 20 && unsettled(page).length > 0; tries++) {
      world.sends++
      world.steps.push("tries again")
      await page.chat.sendMessage()
      await page.settled()
    }
  }
  // What nobody reads any more goes on all the same.
  for (let turns = 0; turns < 5; turns++) {
    const response = await servers[0].handler(new Request(`http://localhost/api/chat/${id}/stream`))
    if (response.status === 204) break
    await response.text()
  }
  const kept = await history(servers[0], id)
  const ran = deleted()
  const posts = pages.reduce((sum, page) => sum + page.posts.length, 0)
  const problems = [
    ...pages.flatMap((page) =>
      page.errors.filter(({ message }) => !expected.has(message)).map(({ message }) => `a client failed: ${message}`)
    ),
    ...(posts > world.sends + world.clicks
      ? [`${posts} posts for ${world.sends} messages and ${world.clicks} clicks`]
      : []),
    ...repeated(textsOf(kept)).map((text) => `"${text}" was said twice`),
    ...repeated(ran).map((path) => `${path} was deleted twice`),
    ...ran.filter((path) => !world.allowed.has(path)).map((path) => `nobody let ${path} be deleted`),
    ...world.pages.flatMap((page) => unsettled(page)),
    ...world.pages.flatMap((page) => different(page, kept))
  ]
  await dispose()
  return { seed, steps: world.steps, posts, clicks: world.clicks, ran: ran.length, problems }
}

/** What people read when the network, the model or a server fails. */
const expected: ReadonlySet<string> = new Set([
  isCut,
  "The model did not answer. What was done is kept; try again.",
  "The server stopped while this was going on. What was done is kept; send the message again to go on.",
  "The turn did not come to its end: whoever took it left, or their process ended. What it did before is in the history.",
  "The conversation could not be read or written. What was done is kept; try again."
])

const repeated = (paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  paths.filter((path, index) => paths.indexOf(path) !== index)

// What the user said: each of them says something else.
const textsOf = (kept: Awaited<ReturnType<typeof history>>): ReadonlyArray<string> =>
  kept.flatMap(({ parts, role }) => role === "user" ? parts.map((part) => part.type === "text" ? part.text : "") : [])

// A card that stays answered in the last message is what a client posts for, again and again.
const unsettled = ({ chat }: Page): ReadonlyArray<string> =>
  chat.lastMessage?.role !== "assistant" || chat.status !== "ready" ?
    [] :
    chat.lastMessage.parts.flatMap((part: any) =>
      part.state === "approval-responded" ? [`${part.input.path} stays answered`] : []
    )

// What a page shows as settled is what is kept.
const different = (page: Page, kept: Awaited<ReturnType<typeof history>>): ReadonlyArray<string> => {
  const inHistory = cards({ chat: { messages: kept } })
  return cards(page).flatMap((one) => {
    const same = inHistory.find((other) =>
      other.approval === undefined || one.approval === undefined
        ? false
        : other.approval.id === one.approval.id
    )
    const isSettled = String(one.state).startsWith("output-") && one.preliminary !== true
    return same === undefined || !isSettled || same.state === one.state
      ? []
      : [`${one.input.path} is ${one.state} on a page and ${same.state} in the history`]
  })
}
