/**
 * The pages of a story, and an account of what they post. A post carries a decision that was not posted before, or somebody
 * asked for it. What a page posts beyond that it posts by itself: a loop, each round of which somebody pays a model for.
 */
import { lastAssistantMessageIsCompleteWithApprovalResponses as isComplete, type UIMessage } from "ai"
import { cards, history, open, type Page, type PageOptions, type Server } from "../server.ts"

export interface Reader extends Page {
  readonly person: string
  /** Somebody does something that may post once. */
  readonly act: () => void
  /** Somebody decides, which may be posted once. */
  readonly decide: (approvalId: string) => void
  /** Posts that nobody had a part in. */
  readonly unasked: () => number
  /** What the user had said last in each post whose response came to its end, and told of no error. */
  readonly heard: ReadonlySet<string>
}

export const isBusy = ({ chat: { status } }: Page): boolean => status === "submitted" || status === "streaming"

export interface ReaderOptions extends PageOptions {
  readonly person: string
}

export const read = (server: Server, options: ReaderOptions): Reader => {
  const unposted = new Set<string>()
  let acts = 0
  let unasked = 0
  let rest: string | undefined
  const heard = new Set<string>()
  let inFlight = 0
  let rounds = 0
  const page = open(server, {
    ...options,
    fetch: async (request, next) => {
      let said: ReadonlyArray<string> = []
      if (request.method === "POST") {
        rounds = 0
        const body: Posted = await request.clone().json()
        said = saidIn(body)
        const decided = answeredIn(body).filter((id) => unposted.delete(id))
        const isRest = rest !== undefined && body.messageId === rest
        rest = restOf(body)
        if (decided.length === 0 && !isRest) {
          if (acts === 0) unasked++
          acts = Math.max(0, acts - 1)
        }
      }
      inFlight++
      try {
        const response = await (options.fetch === undefined ? next(request) : options.fetch(request, next))
        return untilItsEnd(response, () => said.forEach((text) => heard.add(text)))
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
    heard,
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

interface Posted {
  readonly messages: Array<UIMessage>
  readonly messageId?: string | undefined
}

/**
 * A response goes into one message of a page. Where the last one is answered as well, the client posts once more, for that
 * one: `ai` does so by itself, and `page.test.ts` shows it. The post after that is one of nobody's again.
 */
const restOf = ({ messageId, messages }: Posted): string | undefined => {
  const last = messages.at(-1)
  return messageId !== undefined && last?.id !== messageId && isComplete({ messages }) ? last?.id : undefined
}

const saidIn = ({ messages }: Posted): ReadonlyArray<string> =>
  messages.findLast(({ role }) => role === "user")?.parts.flatMap((part) => part.type === "text" ? [part.text] : []) ??
    []

/** A response that tells when it was read to its end, unless it ends with an error. */
const untilItsEnd = (response: Response, ended: () => void): Response => {
  if (response.body === null || !response.ok) return response
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let last = ""
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await reader.read()
      if (!done) {
        last = `${last}${decoder.decode(value, { stream: true })}`.split("\n\n").slice(-3).join("\n\n")
        return controller.enqueue(value)
      }
      if (last.endsWith("data: [DONE]\n\n") && !last.startsWith("data: {\"type\":\"error\"")) ended()
      controller.close()
    },
    cancel: (reason) => reader.cancel(reason)
  }, { highWaterMark: 0 })
  return new Response(body, response)
}

const answeredIn = ({ messages }: Posted): ReadonlyArray<string> =>
  cards({ chat: { messages } }).flatMap(({ approval, state }) => state === "approval-responded" ? [approval.id] : [])

/** The same person loads the page again: it begins with what is kept, and follows what is going on. */
export const readAgain = async (server: Server, { id, ...options }: ReaderOptions): Promise<Reader> => {
  const reader = read(server, { ...options, id, messages: await history(server, id, options.person) })
  reader.act()
  void reader.chat.resumeStream()
  return reader
}
