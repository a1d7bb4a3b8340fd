import { defineProject } from "../ai/test/project.ts"

export default defineProject("sql", import.meta.dirname)
