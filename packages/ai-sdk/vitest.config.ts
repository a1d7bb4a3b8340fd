import { defineProject } from "../ai/test/project.ts"

export default defineProject("ai-sdk", import.meta.dirname)
