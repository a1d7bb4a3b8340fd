/**
 * Tells a chat, a pager or a mailer what waits and what became of it: each event is posted to a webhook, signed, and again
 * until it is taken, also by the next process. `notify/ticket.ts` plays the chat, which is down at first, and what happens.
 */
import { OpenRequests } from "@assent/ai"
import { Effect } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { createHmac } from "node:crypto"
import * as Ticket from "./notify/ticket.ts"

const words = (event: OpenRequests.Event): string => {
  if (event.kind === "missed") return "Some news is lost; look at what is open."
  const what = `${event.request.description} (${event.scope.principal})`
  if (event.kind !== "decided") return event.kind === "opened" ? `Waits: ${what}` : `Too late: ${what}`
  return `${event.decision} by ${event.decidedBy?.name ?? "nobody"}: ${what}`
}

/** Whoever gets an id twice has had it before. */
const notify = (url: string, secret: string) =>
  OpenRequests.follow("chat", (event) => {
    const body = JSON.stringify({ id: event.cursor, text: words(event) })
    const signature = createHmac("sha256", secret).update(body).digest("hex")
    return HttpClientRequest.post(url, { headers: { "x-signature": signature } }).pipe(
      HttpClientRequest.bodyText(body, "application/json"),
      HttpClient.execute,
      Effect.flatMap(HttpClientResponse.filterStatusOk)
    )
  }, { every: "100 millis" })

await Ticket.play(notify)
