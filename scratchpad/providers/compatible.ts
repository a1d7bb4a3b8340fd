// Any server with OpenAI's interface. Ollama on this computer, without a key of its own: COMPATIBLE_API_KEY=ollama.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import * as Server from "./played/server.ts"
import * as Story from "./played/story.ts"

const provider = createOpenAICompatible({
  name: "local",
  baseURL: process.env["COMPATIBLE_BASE_URL"] ?? "http://localhost:11434/v1",
  ...Server.unless("COMPATIBLE_API_KEY", Server.chat)
})

Story.tell(AiSdkLanguageModel.model(provider(process.env["COMPATIBLE_MODEL"] ?? "qwen3")))
