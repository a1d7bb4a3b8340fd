/** docs/coming-from.md shows programs of other libraries: those that are installed here run, and do what ours does. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Page from "./page.ts"

const here = import.meta.dirname
const page = Page.read("coming-from")
const printed = Page.printedBy(page, Path.join(here, "programs/coming-from.ts"))

describe.concurrent.each(["effect", "vercel"])("the program of %s", (name) => {
  const file = Path.join(here, "peers", `${name}.ts`)

  it("is on the page", () => {
    const [, shown] = /^\/\/ Shown from here\n([^]*?)^\/\/ to here$/m.exec(Fs.readFileSync(file, "utf8")) ?? []
    assert.include(page, `\`\`\`ts\n${shown}\`\`\``)
  })

  it("prints what ours prints", async () => {
    assert.strictEqual(await Page.run(file), printed)
  }, 60_000)
})
