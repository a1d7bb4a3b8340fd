/**
 * The pages of a story, and an account of what they post. A post carries a decision that was not posted before, or somebody
 * asked for it. What a page posts beyond that it posts by itself: a loop, each round of which somebody pays a model for.
 */
import type { UIMessage } from "ai"
import { cards, history, open, type Page, type PageOptions, type Server } from "../server.ts"

export interface Reader extends Page {
  readonly person: string
  /** Somebody does something that may post once. */
  readonly act: () => void
  /** Somebody decides, which may be posted once. */
  readonly decide: (approvalId: string) => void
  /** Posts that nobody had a part in. */
  readonly unasked: () => number
}

export const isBusy = ({ chat: { status } }: Page): boolean => status === "submitted" || status === "streaming"

export interface ReaderOptions extends PageOptions {
  readonly person: string
}

export const read = (server: Server, options: ReaderOptions): Reader => {
  const unposted = new Set<string>()
  let acts = 0
  let unasked = 0
  let inFlight = 0
  let rounds = 0
  const page = open(server, {
    ...options,
    fetch: async (request, next) => {
      if (request.method === "POST") {
        rounds = 0
        const decided = answeredIn(await request.clone().json()).filter((id) => unposted.delete(id))
        if (decided.length === 0 && acts === 0) unasked++
        if (decided.length === 0) acts = Math.max(0, acts - 1)
      }
      inFlight++
      try {
        return await (options.fetch === undefined ? next(request) : options.fetch(request, next))
      } finally {
        inFlight--
      }
    }
  })
  // What was done to a page that has come to rest, and posted nothing, is not saved up for posts that come later.
  const watch = () => {
    if (isDone) return
    const rests = inFlight === 0 && !isBusy(page)
    rounds = rests ? rounds + 1 : 0
    if (rounds > restful) acts = 0
    setImmediate(watch)
  }
  let isDone = false
  setImmediate(watch)
  return {
    ...page,
    person: options.person,
    act: () => {
      rounds = 0
      acts++
    },
    decide: (approvalId) => void unposted.add(approvalId),
    unasked: () => {
      isDone = true
      return unasked
    }
  }
}

/** A client posts within a few rounds of the event loop. */
const restful = 5

const answeredIn = ({ messages }: { readonly messages: ReadonlyArray<UIMessage> }): ReadonlyArray<string> =>
  cards({ chat: { messages } }).flatMap(({ approval, state }) => state === "approval-responded" ? [approval.id] : [])

/** The same person loads the page again: it begins with what is kept, and follows what is going on. */
export const readAgain = async (server: Server, { id, ...options }: ReaderOptions): Promise<Reader> => {
  const reader = read(server, { ...options, id, messages: await history(server, id, options.person) })
  reader.act()
  void reader.chat.resumeStream()
  return reader
}
