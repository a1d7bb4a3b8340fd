// Claude, at Anthropic: ANTHROPIC_API_KEY.
import { createAnthropic } from "@ai-sdk/anthropic"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import * as Server from "./played/server.ts"
import * as Story from "./played/story.ts"

const provider = createAnthropic(Server.unless("ANTHROPIC_API_KEY", Server.anthropic))

Story.tell(AiSdkLanguageModel.model(provider("claude-sonnet-4-5")))
