/** The providers that are played. */
import { anthropic } from "./anthropic.ts"
import { bedrockClaude, bedrockLlama } from "./bedrock.ts"
import { compatible, compatibleMistral, groq, mistral, openaiChat } from "./chat.ts"
import { google } from "./google.ts"
import { openai, xai } from "./responses.ts"
import type { Provider } from "./strict.ts"

export const providers: ReadonlyArray<Provider> = [
  anthropic,
  google,
  openai,
  openaiChat,
  mistral,
  xai,
  groq,
  bedrockClaude,
  bedrockLlama,
  compatible,
  compatibleMistral
]
