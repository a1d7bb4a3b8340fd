import { defineProject } from "../ai/test/project.ts"

const project = defineProject("sql", import.meta.dirname)

// They need a server: `npm run test:postgres`.
const exclude = ["**/node_modules/**", "test/postgres/**"]

export default { ...project, test: { ...project.test, exclude } }
