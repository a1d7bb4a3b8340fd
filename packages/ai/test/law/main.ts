/**
 * `npm run law -- L4`: the tests of one law, in every package, and no other file is loaded. Several laws may be named;
 * what begins with `-` is vitest's.
 */
import * as ChildProcess from "node:child_process"
import * as Path from "node:path"
import { find, laws, named, root } from "./find.ts"

const main = (words: ReadonlyArray<string>): number => {
  const options = words.filter((word) => word.startsWith("-"))
  const wanted = words.filter((word) => !word.startsWith("-")).map((word) => word.toUpperCase())
  const unknown = wanted.filter((law) => !laws.includes(law))
  if (wanted.length === 0 || unknown.length > 0) {
    console.error(
      `${wanted.length === 0 ? "Say which law: npm run law -- L4." : `There is no law ${unknown.join(", ")}.`} ` +
        `The laws are ${laws[0]} to ${laws.at(-1)}, in docs/the-laws.md.`
    )
    return 1
  }
  const found = find()
  const files = [...new Set(wanted.flatMap((law) => found.get(law) ?? []))]
  if (files.length === 0) {
    console.error(`No test names ${wanted.join(" or ")} in its title, so nothing was tested.`)
    return 1
  }
  console.log(`${files.length} files have tests of ${wanted.join(" or ")}.`)
  const { status } = ChildProcess.spawnSync(
    process.execPath,
    [
      Path.join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      "--config=vitest.workspace.ts",
      `--testNamePattern=${named(...wanted).source}`,
      ...options,
      ...files
    ],
    { cwd: root, stdio: "inherit" }
  )
  return status ?? 1
}

process.exitCode = main(process.argv.slice(2))
