/** What axe finds on a page as it stands. */
import * as Fs from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"

const source = Fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: ReadonlyArray<{ readonly html: string }>
}

/** A policy that lets no other script in does not concern what the debugger evaluates. */
export const violationsIn = async (page: Page): Promise<ReadonlyArray<string>> => {
  if (await page.evaluate("!('axe' in globalThis)")) await page.evaluate(source)
  const violations: ReadonlyArray<Violation> = await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)"
  )
  return violations.map(({ help, id, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`)
}
