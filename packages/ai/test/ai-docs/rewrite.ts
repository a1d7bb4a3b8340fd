/**
 * Upstream's own example programs of its AI modules, as somebody has them who comes to Assent: their imports switched, and
 * a tool that needs approval put into their kits. They are read from `node_modules` and written to `generated`, which is
 * not in git, when vitest starts and before `check:types`; `programs.test.ts` runs them.
 */
import * as Fs from "node:fs"
import { createRequire } from "node:module"
import * as Path from "node:path"

const effect = Path.dirname(createRequire(import.meta.url).resolve("effect/package.json"))

const programs = Path.join(effect, "ai-docs/src/71_ai")

interface Change {
  readonly from: string
  readonly to: string
}

/** What every program is changed by who moves to Assent; the providers are played by `provider.ts`. */
const imports: ReadonlyArray<Change> = [
  { from: " from \"effect/ai\"", to: " from \"@assent/ai\"" },
  { from: " from \"@effect/ai-openai\"", to: " from \"../provider.ts\"" },
  { from: " from \"@effect/ai-anthropic\"", to: " from \"../provider.ts\"" },
  { from: " from \"./fixtures/", to: " from \"./" }
]

const kit: ReadonlyArray<Change> = [
  { from: "Toolkit.make(", to: "Toolkit.make(Guarded.CancelOrder, " },
  { from: ".of({", to: ".of({ ...Guarded.handlers," }
]

const toolkit = (opening: string): Change => ({ from: opening, to: `${opening} toolkit: Guarded.toolkit,` })

/** The programs, and what puts a gated tool into what each gives the model. */
const changes: Readonly<Record<string, ReadonlyArray<Change>>> = {
  "10_language-model.ts": [
    toolkit("model.generateText({"),
    toolkit("model.generateObject({"),
    toolkit("LanguageModel.streamText({")
  ],
  "20_tools.ts": kit,
  "30_chat.ts": kit,
  "fixtures/domain/LaunchPlan.ts": []
}

// Upstream's services are made by `of` too, and take no handlers.
const isService = (before: string): boolean => /(AiWriter|ProductAssistant|AiAssistant)$/.test(before)

const replaceAll = (file: string, text: string, { from, to }: Change): string => {
  const pieces = text.split(from)
  if (pieces.length === 1) throw new Error(`effect's ai-docs have no ${JSON.stringify(from)} in ${file} any more`)
  let written = pieces[0]!
  for (const piece of pieces.slice(1)) written += (isService(written) ? from : to) + piece
  return written
}

/** Writes the programs; a file that is right already is not touched. */
export const write = (directory: string): void => {
  const known = Fs.readdirSync(programs, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))
  const unknown = known.filter((file) => !Object.hasOwn(changes, file.split(Path.sep).join("/")))
  if (unknown.length > 0) throw new Error(`effect's ai-docs have programs that are not run here: ${unknown.join(", ")}`)
  for (const [file, own] of Object.entries(changes)) {
    const original = Fs.readFileSync(Path.join(programs, file), "utf8")
    const applying = [...imports.filter(({ from }) => original.includes(from)), ...own]
    const changed = applying.reduce((text, change) => replaceAll(file, text, change), original)
    const text = own.length === 0 ? changed : `import * as Guarded from "../guarded.ts"\n${changed}`
    const path = Path.join(directory, file.replace("fixtures/", ""))
    if (Fs.existsSync(path) && Fs.readFileSync(path, "utf8") === text) continue
    Fs.mkdirSync(Path.dirname(path), { recursive: true })
    // Written aside and renamed: a test run beside this one never reads half a file.
    const aside = `${path}.${process.pid}`
    Fs.writeFileSync(aside, text)
    Fs.renameSync(aside, path)
  }
}

if (import.meta.main) write(Path.join(import.meta.dirname, "generated"))
