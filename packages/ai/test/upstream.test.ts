/**
 * `@assent/ai` stands in for `effect/ai`: each of its modules is here under its name, in the index and as a sub-path, with
 * everything it exports.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import * as Assent from "../src/index.ts"

type Module = Readonly<Record<string, unknown>>

const directory = Path.dirname(fileURLToPath(import.meta.resolve("effect/ai")))
const names = Fs.readdirSync(directory).flatMap((file) => /^([A-Z]\w*)\.js$/.exec(file)?.[1] ?? [])

/** Which exports of these have another value here. */
const extended: Readonly<Record<string, ReadonlyArray<string>>> = {
  Chat: ["Chat", "Persistence", "empty", "fromExport", "fromJson", "fromPrompt", "layerPersisted", "makePersisted"],
  LanguageModel: ["LanguageModel", "generateObject", "generateText", "make", "streamText"],
  McpClient: ["layerHttp", "layerStdio", "make"],
  McpServer: ["registerToolkit", "toolkit"],
  Prompt: ["fromResponseParts"],
  Tool: ["dynamic", "make"],
  Toolkit: ["make", "merge"]
}

describe("the modules of effect/ai", () => {
  it("there are some to look at", () => {
    assert.isAbove(names.length, 20)
    assert.includeMembers(names, Object.keys(extended))
  })

  it.each(names)("%s has everything upstream's has", async (name) => {
    const upstream: Module = await import(`effect/ai/${name}`)
    const ours: Module = await import(`../src/${name}.ts`)
    assert.includeMembers(Object.keys(ours), Object.keys(upstream))
    const others = Object.keys(upstream).filter((key) => ours[key] !== upstream[key])
    assert.deepStrictEqual(others.toSorted(), extended[name] ?? [])
    const inIndex: Module = (Assent as unknown as Readonly<Record<string, Module>>)[name]!
    assert.deepStrictEqual(Object.keys(inIndex).toSorted(), Object.keys(ours).toSorted())
    for (const key of Object.keys(ours)) assert.strictEqual(inIndex[key], ours[key], key)
  })
})
