/** A server with one tool that asks and one that does not, and the unmodified client of `@ai-sdk/react` in front of it. */
import { Chat } from "@ai-sdk/react"
import { Conversation, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { UiMessageStream } from "@assent/web"
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from "ai"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import { DeleteFile, deleting, People, type Server } from "./people.ts"

export { People, type Server }

const ReadFile = Tool.make("ReadFile", { parameters: { path: Schema.String }, success: Schema.String })

export const toolkit = Toolkit.make(DeleteFile, ReadFile)

export interface ServerOptions {
  readonly turns: ScriptedModel.Options["turns"]
  /** What deleting a file waits for. */
  readonly before?: ((path: string) => Effect.Effect<void, string>) | undefined
  readonly heartbeat?: UiMessageStream.Options<never, never>["heartbeat"]
  readonly rateLimit?: UiMessageStream.Options<never, never>["rateLimit"]
  /** What the server keeps things in, or is seen by. */
  readonly services?: Layer.Layer<never> | undefined
}

export const routesOf = (
  { before, heartbeat, rateLimit, services = Layer.empty, turns }: ServerOptions
) => {
  const { deleted, handler } = deleting(before)
  const Handlers = toolkit.toLayer({
    DeleteFile: handler,
    ReadFile: ({ path }) => Effect.succeed(`text of ${path}`)
  })
  const conversation = (id: string) => Conversation.make({ id, toolkit })
  const routes = UiMessageStream.layer({ conversation, heartbeat, rateLimit }).pipe(
    Layer.provide([People, Handlers, ScriptedModel.layer({ turns, afterLastTurn: "Is there anything else?" })]),
    Layer.provide(services),
    Layer.provide(Logger.layer([]))
  )
  return { routes, deleted }
}

export const serve = (options: ServerOptions): Server => {
  const { deleted, routes } = routesOf(options)
  return { ...HttpRouter.toWebHandler(routes, { disableLogger: true }), deleted }
}

export const call = (id: string, path: string) => ScriptedModel.toolCall({ id, name: "DeleteFile", params: { path } })

export const reading = (id: string, path: string) => ScriptedModel.toolCall({ id, name: "ReadFile", params: { path } })

// =============================================================================
// Pages
// =============================================================================

export interface Page {
  readonly chat: Chat<UIMessage>
  /** The bodies that were posted. */
  readonly posts: Array<any>
  readonly errors: Array<Error>
  readonly data: Array<any>
  /** What goes with the clicks, by the ids of the requests. */
  readonly details: Record<string, unknown>
  /** Waits until nothing goes on any more. */
  readonly settled: () => Promise<void>
}

export interface PageOptions {
  readonly id: string
  readonly person?: string | undefined
  readonly messages?: Array<UIMessage> | undefined
  /** Stands between the page and the server. */
  readonly fetch?: ((input: Request, next: Server["handler"]) => Promise<Response>) | undefined
}

export const open = (server: Server, { fetch, id, messages, person = "ada" }: PageOptions): Page => {
  const posts: Array<any> = []
  const errors: Array<Error> = []
  const data: Array<any> = []
  const details: Record<string, unknown> = {}
  let running = 0
  const chat = new Chat<UIMessage>({
    id,
    ...(messages === undefined ? undefined : { messages }),
    transport: new DefaultChatTransport({
      api: "http://localhost/api/chat",
      headers: { "x-person": person },
      // A function, so that it is read when something is posted.
      body: () => ({ details }),
      fetch: async (input, init) => {
        running++
        try {
          const request = new Request(input as string, init)
          if (request.method === "POST") posts.push(JSON.parse(String(init?.body)))
          return await (fetch === undefined ? server.handler(request) : fetch(request, server.handler))
        } finally {
          running--
        }
      }
    }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onError: (error) => errors.push(error),
    onData: (part) => data.push(part)
  })
  const settled = async () => {
    for (let quiet = 0; quiet < 3;) {
      await new Promise((resolve) => setImmediate(resolve))
      const isBusy = running > 0 || chat.status === "submitted" || chat.status === "streaming"
      quiet = isBusy ? 0 : quiet + 1
    }
  }
  return { chat, posts, errors, data, details, settled }
}

/** The parts of the last message that are calls. */
export const cards = ({ chat }: { readonly chat: { readonly messages: ReadonlyArray<UIMessage> } }): Array<any> =>
  chat.messages.flatMap(({ parts }) => parts.filter(({ type }) => type.startsWith("tool-")))

export const card = (page: Page, path: string): any => cards(page).findLast(({ input }) => input?.path === path)

export const texts = ({ chat }: Page): ReadonlyArray<string> =>
  chat.messages.map(({ parts }) => parts.map((part) => part.type === "text" ? part.text : "").join(""))

/** What a tool waits for until it is let go. */
export const gate = () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => open = resolve)
  return { open: () => open(), before: () => Effect.promise(() => opened) }
}

export const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

export const history = async (server: Server, id: string, person = "ada"): Promise<Array<UIMessage>> =>
  (await server.handler(new Request(`http://localhost/api/chat/${id}`, { headers: { "x-person": person } }))).json()
