import { defineProject } from "../ai/test/project.ts"

export default defineProject("terminal", import.meta.dirname)
