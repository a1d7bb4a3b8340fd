/** Tests of the store on a real PostgreSQL server: `npm run test:postgres`, which starts one. */
import * as Path from "node:path"
import { defineProject } from "../../../ai/test/project.ts"

const project: ReturnType<typeof defineProject> = defineProject("postgres", Path.join(import.meta.dirname, "../.."))

const postgres: typeof project = {
  ...project,
  // One file after the other: each has many processes of its own, which are to be in the way of one another alone.
  test: {
    ...project.test,
    include: ["test/postgres/**/*.test.ts"],
    exclude: ["**/node_modules/**"],
    testTimeout: 60_000,
    fileParallelism: false
  }
}

export default postgres
