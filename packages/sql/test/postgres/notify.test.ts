/** The example that tells a chat what happens, over PostgreSQL. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ChildProcess from "node:child_process"
import * as Path from "node:path"
import { makeClient, url } from "./database.ts"

const program = Path.join(import.meta.dirname, "../../../../scratchpad/notify.ts")

describe("scratchpad/notify.ts", () => {
  it.live("tells of a request and of its decision, once each, though the chat was down at first", () =>
    Effect.scoped(Effect.gen(function*() {
      const sql = yield* makeClient()
      yield* sql`CREATE DATABASE notify`
      const env = {
        ...process.env,
        DATABASE_URL: url.replace(/postgres$/, "notify"),
        ASSENT_APPROVAL_KEY: "a key of the program, of 32 bytes or more"
      }
      const output = yield* Effect.promise(() =>
        new Promise<string>((resolve, reject) => {
          ChildProcess.execFile(
            process.execPath,
            ["--conditions=@assent/source", program],
            { env },
            (error, stdout, stderr) => error === null ? resolve(stdout) : reject(new Error(stdout + stderr))
          )
        })
      )
      assert.match(output, /Waits: .*\napproved by Ada: .*\nTold once each/)
    })))
})
