import { defineProject } from "./test/project.ts"

export default defineProject("ai", import.meta.dirname)
