import { defineProject } from "../ai/test/project.ts"

export default defineProject("web", import.meta.dirname)
