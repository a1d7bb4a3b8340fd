/**
 * Reads a recorded answer by itself, without any provider's package.
 */
import type { Answer } from "../answer.ts"
import type { Exchange } from "../exchange.ts"
import { streamed, values } from "../exchange.ts"
import * as Anthropic from "./anthropic.ts"
import * as Bedrock from "./bedrock.ts"
import * as Chat from "./chat.ts"
import * as Google from "./google.ts"
import * as Interactions from "./interactions.ts"
import * as Responses from "./responses.ts"

/** What a recording says. */
export const read = (exchange: Exchange): Answer => {
  const events = values(exchange)
  const [body] = events
  switch (exchange.format) {
    case "anthropic":
      return streamed(exchange) ? Anthropic.stream(events) : Anthropic.message(body)
    case "bedrock":
      return streamed(exchange) ? Bedrock.stream(events) : Bedrock.response(body)
    case "google":
      return Google.responses(events)
    case "google-interactions":
      return streamed(exchange) ? Interactions.stream(events) : Interactions.interaction(body)
    case "openai-responses":
    case "xai-responses":
      return streamed(exchange) ? Responses.stream(events) : Responses.response(body)
    default:
      return streamed(exchange) ? Chat.stream(events) : Chat.completion(body)
  }
}
