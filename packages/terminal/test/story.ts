/** The program `agent.ts` at a terminal, and what it wrote down. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { type Options, type Program, withProgram } from "./pty.ts"

type Told = Readonly<Record<string, unknown>>

export interface Story {
  readonly program: Program
  /** What was written since it was asked the last time. */
  readonly told: () => ReadonlyArray<Told>
}

export const withStory = async (
  scenes: ReadonlyArray<string>,
  options: Options,
  use: (story: Story) => Promise<void>
): Promise<void> => {
  const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-terminal-"))
  const output = Path.join(folder, "told.jsonl")
  Fs.writeFileSync(output, "")
  let read = 0
  const told = () => {
    const lines = Fs.readFileSync(output, "utf8").split("\n").slice(0, -1)
    const fresh = lines.slice(read).map((line): Told => JSON.parse(line))
    read = lines.length
    return fresh
  }
  try {
    await withProgram(
      Path.join(import.meta.dirname, "programs/agent.ts"),
      { ...options, args: [output, ...scenes] },
      (program) => use({ program, told })
    )
  } finally {
    Fs.rmSync(folder, { recursive: true })
  }
}
