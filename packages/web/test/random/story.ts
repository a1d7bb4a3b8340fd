/**
 * A random story: two people with pages of one conversation, and all that they do with them, in any order, over a server that
 * is slow, fails, or is killed. The client is that of npm, as it is.
 */
import { AiError } from "@assent/ai"
import type { ScriptedModel } from "@assent/ai/testing"
import { UiMessageStream } from "@assent/web"
import * as Effect from "effect/Effect"
import { call, cards, history, type Page, type PageOptions, reading } from "../server.ts"
import { edited, isStuck, problemsOf } from "./checks.ts"
import { type Random, randomOf } from "./choosing.ts"
import { isCut, make, type Mortal } from "./mortal.ts"
import { isBusy, read, readAgain, type Reader, type ReaderOptions } from "./paging.ts"

export interface Counts {
  readonly posts: number
  readonly clicks: number
  readonly edits: number
  readonly reloads: number
  readonly kills: number
  readonly ran: number
}

export interface Story extends Counts {
  readonly seed: number
  /** What was done, for a reader. */
  readonly steps: ReadonlyArray<string>
  /** What must not be so. */
  readonly problems: ReadonlyArray<string>
}

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

/** A network that loses what is sent, or the answer, or cuts it in the middle. */
const network = (random: Random): NonNullable<PageOptions["fetch"]> => async (request, next) => {
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

const failing = AiError.make({
  module: "story",
  method: "streamText",
  reason: new AiError.UnknownError({ description: "The model has a secret of its own." })
})

const makeModel = (random: Random, fails: boolean) => {
  let files = 0
  let turns = 0
  // Some providers give the same ids in each of their responses.
  const repeatsIds = random.chance(0.3)
  return (): ScriptedModel.Turn => {
    if (++turns > 60) return "Is there anything else?"
    if (fails && random.chance(0.1)) return failing
    if (random.chance(0.2)) return "I am done."
    return Array.from({ length: 1 + random.below(3) }, (_, index) => {
      const path = `f${++files}`
      const id = repeatsIds ? `c${index}` : `c${files}`
      return random.chance(0.75) ? call(id, path) : reading(id, path)
    })
  }
}

interface World {
  readonly server: Mortal
  readonly options: Pick<ReaderOptions, "id" | "fetch">
  readonly random: Random
  readonly steps: Array<string>
  readonly pages: Array<Reader>
  /** Those that were loaded again since. */
  readonly gone: Array<Reader>
  readonly allowed: Set<string>
  readonly gates: ReturnType<typeof makeGates>
  readonly count: { clicks: number; edits: number; reloads: number; kills: number; messages: number }
}

const asked = (page: Page) => cards(page).filter(({ state }) => state === "approval-requested")

const wait = async (ticks: number) => {
  for (let count = 0; count < ticks; count++) await tick()
}

const click = (world: World, page: Reader, { approval: { id }, input: { path } }: any) => {
  const { allowed, count, random, steps } = world
  count.clicks++
  page.decide(id)
  const kind = random.one(["approve", "approve", "approve", "deny", "deny", "edit", "edit that is lost"] as const)
  steps.push(`  ${kind} ${path}`)
  if (kind === "edit") {
    count.edits++
    page.details[id] = { params: { path: edited(path) } }
  }
  if (kind === "deny") return void page.chat.addToolApprovalResponse({ id, approved: false })
  // What was changed once goes with every click on that card.
  const isChanged = id in page.details
  if (isChanged) allowed.add(edited(path))
  else if (kind === "approve") allowed.add(path)
  void page.chat.addToolApprovalResponse(
    kind === "approve" ? { id, approved: true } : { id, approved: true, reason: UiMessageStream.withDetails }
  )
}

const reload = async (world: World, page: Reader) => {
  const { gone, options, pages, server } = world
  await page.chat.stop()
  // A browser shows an error, and its user tries again when the server is there.
  if (server.isDown()) server.start()
  world.count.reloads++
  const made = await readAgain(server, { ...options, person: page.person }).catch((error: unknown) => {
    if (error instanceof TypeError && error.message === isCut) return undefined
    throw error
  })
  if (made === undefined) return
  pages[pages.indexOf(page)] = made
  gone.push(page)
}

type Action = (world: World, page: Reader) => unknown

const actions: Readonly<Record<string, readonly [weight: number, act: Action]>> = {
  "send": [2, ({ count }, page) => {
    if (isBusy(page)) return
    page.act()
    void page.chat.sendMessage({ text: `message ${++count.messages}` })
  }],
  "click": [12, (world, page) => {
    const open = asked(page)
    if (open.length > 0) click(world, page, world.random.one(open))
  }],
  // One decision: it posts once. On a card of an older message each click lets the client look whether it has to post.
  "click twice": [2, (world, page) => {
    const open = asked(page)
    if (open.length === 0) return
    const one = world.random.one(open)
    if (!page.chat.lastMessage?.parts.includes(one)) page.act()
    click(world, page, one)
    click(world, page, one)
  }],
  "send again": [1, (_, page) => {
    if (isBusy(page) || page.chat.messages.length === 0) return
    page.act()
    void page.chat.sendMessage()
  }],
  "answer anew": [1, async (_, page) => {
    // A click that nobody has posted yet would be posted with what is left of the messages.
    await tick()
    if (isBusy(page) || page.chat.messages.length === 0) return
    page.act()
    void page.chat.regenerate()
  }],
  "leave": [1, (_, page) => void page.chat.stop()],
  "come back": [1, (_, page) => {
    if (isBusy(page)) return
    // A client that finds no turn to follow posts what was answered meanwhile.
    page.act()
    void page.chat.resumeStream()
  }],
  "let a tool go": [6, ({ gates }) => gates.release()],
  "wait": [8, () => wait(8)],
  "wait long": [6, () => wait(60)],
  "load anew": [1, reload]
}

const names = Object.entries(actions).flatMap(([name, [weight]]) => Array.from({ length: weight }, () => name))

/** Plays the story of a seed to its end. */
export const play = async (seed: number, servers = 1): Promise<Story> => {
  const random = randomOf(seed)
  const gates = makeGates()
  const isSlow = random.chance(0.5)
  const mayFail = random.chance(0.3)
  const isCutOff = random.chance(0.3)
  const isKilled = random.chance(0.4)
  const server = await make({
    turn: makeModel(randomOf(seed + 1_000_000), mayFail),
    before: isSlow ? gates.wait : Effect.void,
    servers
  })
  const id = `story-${seed}`
  const options = { id, fetch: isCutOff ? network(randomOf(seed + 2_000_000)) : undefined }
  const world: World = {
    server,
    options,
    random,
    steps: [],
    pages: [read(server, { ...options, person: "ada" }), read(server, { ...options, person: "bob" })],
    gone: [],
    allowed: new Set(),
    gates,
    count: { clicks: 0, edits: 0, reloads: 0, kills: 0, messages: 1 }
  }
  const { count, pages, steps } = world
  const length = 20 + random.below(60)
  pages[0]!.act()
  void pages[0]!.chat.sendMessage({ text: "message 1" })
  await wait(60)
  for (let step = 0; step < length; step++) {
    if (isKilled && !server.isDown() && random.chance(0.05)) {
      steps.push("- kill")
      count.kills++
      server.kill()
    } else if (server.isDown() && random.chance(0.3)) {
      steps.push("- start")
      server.start()
    }
    const name = random.one(names)
    const page = random.below(pages.length)
    steps.push(`${page} ${name}`)
    await actions[name]![1](world, pages[page]!)
  }
  gates.open()
  server.start()
  await end(world)
  const kept = await history(server, id)
  const everyone = [...pages, ...world.gone]
  const problems = problemsOf({ ...world, kept, mayFail, mayBeCut: isCutOff || count.kills > 0 })
  await server.dispose()
  const posts = everyone.reduce((sum, page) => sum + page.posts.length, 0)
  return { seed, steps, posts, ...count, ran: server.begun.length, problems }
}

/** What is going on comes to its end, and whoever left before the answer came, or read an error, tries again. */
const end = async ({ gone, options, pages, server, steps }: World) => {
  await Promise.all([...pages, ...gone].map((page) => page.settled()))
  for (const page of pages) {
    for (let tries = 0; tries < 20 && isStuck(page) && page.chat.messages.length > 0; tries++) {
      steps.push("tries again")
      page.act()
      await page.chat.sendMessage()
      await page.settled()
    }
  }
  // What nobody reads any more goes on all the same.
  for (let turns = 0; turns < 5; turns++) {
    const response = await server.handler(new Request(`http://localhost/api/chat/${options.id}/stream`))
    if (response.status === 204) break
    await response.text()
  }
}
