// Any model at Groq: GROQ_API_KEY.
import { createGroq } from "@ai-sdk/groq"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import * as Server from "./played/server.ts"
import * as Story from "./played/story.ts"

const provider = createGroq(Server.unless("GROQ_API_KEY", Server.chat))

Story.tell(AiSdkLanguageModel.model(provider("openai/gpt-oss-120b")))
