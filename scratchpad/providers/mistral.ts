// Mistral: MISTRAL_API_KEY.
import { createMistral } from "@ai-sdk/mistral"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import * as Server from "./played/server.ts"
import * as Story from "./played/story.ts"

const provider = createMistral(Server.unless("MISTRAL_API_KEY", Server.chat))

Story.tell(AiSdkLanguageModel.model(provider("mistral-large-latest")))
