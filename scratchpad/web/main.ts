/**
 * A page on which an agent asks before it acts: `npm run web`, and open the address that it prints. Everything outlives the
 * program in one SQLite file, and the page is files, without a build. Its agent follows a script, so that no key is needed.
 */
import { Approval, Conversation } from "@assent/ai"
import { SqlApproval } from "@assent/sql"
import { Decider, UiMessageStream } from "@assent/web"
import { NodeHttpServer, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Duration, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { HttpRouter, HttpServer, HttpServerResponse, HttpStaticServer } from "effect/http"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import * as Agent from "./agent.ts"
import * as People from "./people.ts"
import * as Tools from "./tools.ts"

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const conversation = (id: string) => Conversation.make({ id, toolkit: Tools.toolkit })

// What `useChat` talks to; our page speaks the same.
const Chat = UiMessageStream.layer({ conversation })

/** Stops what goes on in a conversation: `useChat` has no word for it, so this route is ours. */
const Stop = HttpRouter.use((router) =>
  Effect.gen(function*() {
    const { identify } = yield* Decider.Decider
    const context = yield* Effect.context<Effect.Services<ReturnType<typeof conversation>>>()
    const stop = Effect.gen(function*() {
      const { person, scope } = yield* identify
      const { id = "" } = yield* HttpRouter.params
      const { cancel } = yield* Effect.provideService(conversation(id), Approval.Scope, scope)
      yield* cancel(`${person?.name ?? "Somebody"} stopped it.`)
      return HttpServerResponse.empty()
    }).pipe(
      Effect.provideContext(context),
      Effect.catchTag("Refused", ({ message, status }) => Effect.succeed(HttpServerResponse.text(message, { status }))),
      Effect.catch(() =>
        Effect.succeed(HttpServerResponse.text("It could not be stopped. Try again.", { status: 503 }))
      )
    )
    yield* router.add("POST", "/api/chat/:id/stop", stop)
  })
)

const Page = HttpStaticServer.layer({ root: here("page"), cacheControl: "no-cache" })

/** Nothing runs, is drawn or is asked for but what comes from here, and nothing that is text becomes markup or a program. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'"
].join("; ")

const Secured = HttpRouter.middleware(
  Effect.map(HttpServerResponse.setHeaders({
    "content-security-policy": policy,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff"
  })),
  { global: true }
)

const flags = {
  port: Flag.Int("port").pipe(
    Flag.withDescription("Where it listens; 0 takes any that is free"),
    Flag.withDefault(4180)
  ),
  data: Flag.String("data").pipe(
    Flag.withDescription("The folder of what outlives the program"),
    Flag.withDefault(here("data"))
  ),
  pace: Flag.Int("pace").pipe(
    Flag.withDescription("How long the agent takes for a word, in milliseconds"),
    Flag.withDefault(20)
  ),
  step: Flag.Int("step").pipe(
    Flag.withDescription("How long the slow tool takes for a file, in milliseconds"),
    Flag.withDefault(700)
  )
}

const web = Command.make("web", flags, ({ data, pace, port, step }) =>
  Effect.gen(function*() {
    const Routes = Layer.mergeAll(Chat, Stop, Page, Secured).pipe(
      Layer.provide([
        People.layer(data),
        Agent.layer(Duration.millis(pace)),
        Tools.layerOf(data, Duration.millis(step))
      ]),
      Layer.provide(SqlApproval.layer({ filename: `${data}/conversations.db` }))
    )
    const Server = HttpRouter.serve(Routes, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layer(createServer, {
        port,
        host: "127.0.0.1",
        // Streams that are open then are cut; their pages come back by themselves.
        gracefulShutdownTimeout: "1 second"
      }))
    )
    const listening = HttpServer.addressFormattedWith((address) => Console.log(`The page is at ${address}/`))
    yield* Effect.scoped(Effect.provide(Effect.andThen(listening, Effect.never), Server))
  }))

Command.run(web, { version: "0.0.0" }).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
