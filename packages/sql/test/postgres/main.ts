/**
 * `npm run test:postgres`: starts a PostgreSQL server, the one in PATH or else one that npm installs into this folder, and
 * runs these tests over it; words pick test files. Where there is no server it says that nothing was tested, and ends well.
 */
import * as ChildProcess from "node:child_process"
import { once } from "node:events"
import * as Path from "node:path"
import * as Binaries from "./server/binaries.ts"
import * as Server from "./server/server.ts"

const root = Path.join(import.meta.dirname, "../../../..")

const main = async (): Promise<number> => {
  const bin = Binaries.find()
  if (bin === undefined) {
    console.log(
      "No PostgreSQL server was found, so the tests of @assent/sql over PostgreSQL did NOT run: there is no `postgres`" +
        ` in PATH, and npm has none for ${process.platform}-${process.arch}.`
    )
    return 0
  }
  const server = await Server.start({ bin })
  try {
    const vitest = [
      Path.join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      "--config",
      Path.join(import.meta.dirname, "vitest.config.ts"),
      ...process.argv.slice(2)
    ]
    const env = { ...process.env, ASSENT_TEST_POSTGRES: server.url, ASSENT_TEST_POSTGRES_BIN: bin }
    const child = ChildProcess.spawn(process.execPath, vitest, { cwd: root, stdio: "inherit", env })
    const [code] = await once(child, "exit")
    return Number(code ?? 1)
  } finally {
    await server.stop()
  }
}

process.exitCode = await main()
