// Grok, at xAI: XAI_API_KEY.
import { createXai } from "@ai-sdk/xai"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import * as Server from "./played/server.ts"
import * as Story from "./played/story.ts"

const provider = createXai(Server.unless("XAI_API_KEY", Server.responses))

Story.tell(AiSdkLanguageModel.model(provider("grok-4")))
