import { defineWorkspace } from "./packages/ai/test/project.ts"

export default defineWorkspace("ai", "ai-sdk", "openai", "shell", "sql", "terminal", "web")
