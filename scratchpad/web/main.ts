/**
 * A page on which an agent asks before it acts: `npm run web`, and open the address that it prints. Everything outlives the
 * program in one SQLite file, and the page is files, without a build. Its agent follows a script, so that no key is needed.
 */
import { Conversation } from "@assent/ai"
import { SqlApproval } from "@assent/sql"
import { UiMessageStream } from "@assent/web"
import { NodeHttpServer, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Duration, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { HttpRouter, HttpServer, HttpServerResponse, HttpStaticServer } from "effect/http"
import { fileURLToPath } from "node:url"
import * as Agent from "./agent.ts"
import * as People from "./people.ts"
import { createPatientServer } from "./starting.ts"
import * as Tools from "./tools.ts"

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

// What `useChat` talks to; our page speaks the same.
const Chat = UiMessageStream.layer({ conversation: (id) => Conversation.make({ id, toolkit: Tools.toolkit }) })

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
    const Routes = Layer.mergeAll(Chat, Page, Secured).pipe(
      Layer.provide([
        People.layer(data),
        Agent.layer(Duration.millis(pace)),
        Tools.layerOf(data, Duration.millis(step))
      ]),
      Layer.provide(SqlApproval.layer({ filename: `${data}/conversations.db` }))
    )
    const Server = HttpRouter.serve(Routes, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layer(createPatientServer, {
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
