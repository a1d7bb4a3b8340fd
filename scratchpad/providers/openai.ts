// OpenAI, on its own SDK: OPENAI_API_KEY.
import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
import { Layer, Redacted } from "effect"
import * as Server from "./played/server.ts"
import * as Story from "./played/story.ts"

const { apiKey, fetch } = Server.unless("OPENAI_API_KEY", Server.responses)

const Client = OpenAiClient.layer({ apiKey: Redacted.make(apiKey), ...fetch && { fetch } })

Story.tell(OpenAiLanguageModel.model("gpt-5.2").pipe(Layer.provide(Client)))
