import { defineProject } from "../ai/test/project.ts"

export default defineProject("openai", import.meta.dirname)
