/** What a newcomer reads and does: the pages of the packages and the programs on them. */
import { Effect, FileSystem, Path } from "effect"
import { compiled } from "./consumers.ts"
import { brokenLinks } from "./links.ts"
import type { Packed } from "./pack.ts"
import { expect, expectNone, run } from "./run.ts"

/** The programs on the pages, and what a page says that one prints. */
export type Programs = ReadonlyMap<string, string | undefined>

/** Checks the links of every page of a package, and of the repository's own. */
export const checkPages = Effect.fnUntraced(function*(root: string, packages: ReadonlyArray<Packed>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const guides = (yield* fs.readDirectory(path.join(root, "docs"))).filter((file) => file.endsWith(".md"))
  // What is tested, story by story, where a package has such a page.
  const tested = yield* Effect.filter(
    packages.map(({ name }) => `packages/${name}/test/README.md`),
    (page) => fs.exists(path.join(root, page))
  )
  const ours = yield* Effect.forEach(
    ["README.md", "SECURITY.md", ...guides.map((guide) => `docs/${guide}`), ...tested],
    (page) =>
      Effect.map(fs.readFileString(path.join(root, page)), (text) => brokenLinks({ page, text, published: false }))
  )
  const published = yield* Effect.forEach(
    packages,
    ({ directory, files, name }) =>
      Effect.forEach(
        files.filter((file) => /^([^/]+|docs\/.*)\.md$/.test(file)),
        (file) =>
          Effect.map(fs.readFileString(path.join(directory, file)), (text) =>
            brokenLinks({ page: `packages/${name}/${file}`, text, published: true }))
      )
  )
  yield* expect(published.flat().length >= 2 * packages.length, "some package has too few pages")
  yield* expectNone([ours, ...published].flat(2))
})

/** Writes the programs of the READMEs into the folder. */
export const writePrograms = Effect.fnUntraced(function*(options: {
  readonly root: string
  readonly folder: string
  readonly packages: ReadonlyArray<Packed>
}) {
  const { folder, packages, root } = options
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const printed = new Map<string, string | undefined>()
  for (const readme of ["README.md", ...packages.map(({ name }) => `packages/${name}/README.md`)]) {
    const text = yield* fs.readFileString(path.join(root, readme))
    // What a program prints may stand right behind it.
    for (const [, program = "", prints] of text.matchAll(/^```ts\n([^]*?)^```\n(?:\n```text\n([^]*?)^```$)?/gm)) {
      if (!program.includes(`from "@assent/`)) continue
      const file = `${path.dirname(readme).split("/").at(-1)}-${printed.size}`.replace(/^\./, "readme")
      printed.set(file, prints)
      yield* fs.writeFileString(path.join(folder, `${file}.ts`), program)
    }
  }
  yield* fs.writeFileString(path.join(folder, "package.json"), JSON.stringify({ type: "module" }))
  const programs: Programs = printed
  return programs
})

/** Runs the programs that need no key. */
export const runPrograms = Effect.fnUntraced(function*(folder: string, programs: Programs) {
  const ran: Array<string> = []
  for (const [file, prints] of programs) {
    if (prints === undefined) continue
    const output = yield* run(folder, process.execPath, [`${compiled}/${file}.js`])
    yield* expect(output.endsWith(prints), `${file} prints:\n${output}`)
    ran.push(file)
  }
  const hello = yield* run(folder, process.execPath, [`${compiled}/readme-0.js`])
  yield* expect(hello.endsWith("debug.log is gone; thesis.txt stays.\n"), `hello prints:\n${hello}`)
  // Whoever has a key in their environment already is not stopped by it, nor told of a missing one.
  const key = "ASSENT_APPROVAL_KEY=a key of a newcomer, of 32 bytes or more"
  const keyed = yield* run(folder, "env", [key, process.execPath, `${compiled}/readme-0.js`])
  yield* expect(keyed === "deleting debug.log\ndebug.log is gone; thesis.txt stays.\n", `hello prints:\n${keyed}`)
  const terminal = [...programs.keys()].filter((file) => file.startsWith("terminal"))
  for (const file of terminal) {
    const output = yield* run(folder, process.execPath, [`${compiled}/${file}.js`], false)
    yield* expect(output.includes("NoTerminal: Nobody can be asked"), `${file} prints:\n${output}`)
  }
  yield* expect(terminal.length > 0 && ran.length > 1, `too few programs ran: ${[...terminal, ...ran].join(" ")}`)
})
