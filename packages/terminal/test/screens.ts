/** Screens as text: what a person sees is compared with a file, to the last character; times are all one. */
import { assert } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"

const folder = Path.join(import.meta.dirname, "screens")

export const fileOf = (name: string): string => Path.join(folder, `${name}.txt`)

/** `SCREENS=write npm test -- terminal` writes what is seen: look at it before it is kept. */
export const assertScreen = (name: string, seen: string): void => {
  const text = `${
    seen.replace(/[ ]+$/gm, "").replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2026-12-22T09:30:00.000Z")
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "2026-12-22 09:30 UTC")
      .replace(/^\n+/, "").trimEnd()
  }\n`
  if (process.env["SCREENS"] === "write") Fs.writeFileSync(fileOf(name), text)
  assert.strictEqual(text, Fs.existsSync(fileOf(name)) ? Fs.readFileSync(fileOf(name), "utf8") : "(no such file)")
}
