/**
 * What the tables cannot know: the settings of a folder that is not to be trusted. Which lines run programs that these
 * name is measured here, and shown in the README as it was measured.
 */
import { Shell } from "@assent/shell"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { programs } from "../../src/internal/programs/all.ts"
import { git } from "../../src/internal/programs/git/git.ts"
import * as Lines from "./lines.ts"
import * as Repository from "./repository.ts"

const hostile = Repository.make()
afterAll(hostile.remove)

const see = async (row: Lines.Row, where?: Repository.Where): Promise<ReadonlyArray<Lines.Row>> => {
  const [runs, environment] = await Promise.all([
    hostile.runs(row.lines, {}, where),
    hostile.runs(row.lines, Shell.environment, where)
  ]) as [ReadonlyArray<ReadonlyArray<Repository.Name>>, ReadonlyArray<ReadonlyArray<Repository.Name>>]
  return row.lines.map((line, index) => ({ lines: [line], runs: runs[index]!, environment: environment[index]! }))
}

const version = (program: string): string | undefined => {
  const { error, stdout } = ChildProcess.spawnSync(program, ["--version"], { encoding: "utf8" })
  return error === undefined ? stdout : undefined
}

/** A row for each line, so that a failure names it. */
const apart = (rows: ReadonlyArray<Lines.Row>): ReadonlyArray<Lines.Row> =>
  rows.flatMap((row) => row.lines.map((line) => ({ ...row, lines: [line] })))

describe("in a folder whose settings name programs", () => {
  it("lines of git run what the table says, with and without Shell.environment", async () => {
    const lines = Lines.rows.flatMap(({ lines }) => lines)
    const seen = await see({ lines, runs: [], environment: [] })
    // Another git may run less or more; the environment leaves open what no variable closes, and nothing else.
    if (version("git")?.includes(Lines.measured) === true) assert.deepStrictEqual(seen, apart(Lines.rows))
    const open = new Set(Lines.rows.flatMap(({ environment }) => environment))
    assert.deepStrictEqual(seen.flatMap(({ environment }) => environment).filter((name) => !open.has(name)), [])
  }, 60_000)

  it("a line of git is in the table for each subcommand that is known, is covered, and heeds the settings", () => {
    const subcommands = Object.keys(git.commands ?? {})
    const patterns = subcommands.map((subcommand) => `git ${subcommand} *`)
    const missing = new Set(subcommands)
    for (const line of Lines.rows.flatMap(({ lines }) => lines)) {
      const explained = Shell.explain(line, patterns)
      assert.deepStrictEqual(explained, { covered: true, refusals: [], heeds: ["git's settings"] }, line)
      const [one, two] = line.split(" ").slice(1)
      for (const subcommand of [`${one} ${two}`, one!]) if (missing.delete(subcommand)) break
    }
    assert.deepStrictEqual([...missing], [])
  })

  it("a bare repository that was committed as plain files is no repository in Shell.environment", async () => {
    assert.deepStrictEqual(await see(Lines.bare, Repository.bare), [Lines.bare])
  })

  it("git switch writes where core.worktree says", async () => {
    assert.deepStrictEqual(await see(Lines.elsewhere, Repository.elsewhere), [Lines.elsewhere])
  })

  it("git at a terminal asks no pager in Shell.environment", async () => {
    assert.deepStrictEqual(await see(Lines.terminal, Repository.terminal), [Lines.terminal])
  })

  it("ripgrep reads no settings in Shell.environment", async () => {
    assert.strictEqual(Shell.explain("rg x", ["rg *"]).covered, true)
    // Not every contributor has it; without it, the empty variable is all there is to see.
    assert.strictEqual(Shell.environment["RIPGREP_CONFIG_PATH"], "")
    if (version("rg") !== undefined) assert.deepStrictEqual(await see(Lines.ripgrep), [Lines.ripgrep])
  })

  it("a variable that can name programs is empty in Shell.environment", () => {
    const variables = programs.flatMap(({ command }) => command?.variable ?? [])
    assert.deepStrictEqual(new Set(variables), new Set(["RIPGREP_CONFIG_PATH", "TAR_OPTIONS"]))
    for (const variable of variables) assert.strictEqual(Shell.environment[variable], "", variable)
  })

  it("the README shows the table", () => {
    const readme = Fs.readFileSync(Path.join(import.meta.dirname, "../../README.md"), "utf8")
    const plain = (text: string) => text.replaceAll(/ +\|/g, " |").replaceAll(/-{3,}/g, "---")
    assert.include(plain(readme), plain(Lines.table()))
  })
})
