// Gemini, at Google: GOOGLE_GENERATIVE_AI_API_KEY.
import { createGoogle } from "@ai-sdk/google"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import * as Server from "./played/server.ts"
import * as Story from "./played/story.ts"

const provider = createGoogle(Server.unless("GOOGLE_GENERATIVE_AI_API_KEY", Server.google))

Story.tell(AiSdkLanguageModel.model(provider("gemini-2.5-pro")))
