/** Tests of the store on a real PostgreSQL server: `npm run test:postgres`, which starts one. */
import * as Path from "node:path"
import { defineProject } from "../../../ai/test/project.ts"

const project: ReturnType<typeof defineProject> = defineProject("postgres", Path.join(import.meta.dirname, "../.."))

const postgres: typeof project = {
  ...project,
  test: { ...project.test, include: ["test/postgres/**/*.test.ts"], testTimeout: 60_000 }
}

export default postgres
