import { defineProject } from "../ai/test/project.ts"

export default defineProject("shell", import.meta.dirname)
