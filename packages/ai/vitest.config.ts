import * as Path from "node:path"
import { write } from "./test/ai-docs/rewrite.ts"
import { defineProject } from "./test/project.ts"

write(Path.join(import.meta.dirname, "test/ai-docs/generated"))

export default defineProject("ai", import.meta.dirname)
