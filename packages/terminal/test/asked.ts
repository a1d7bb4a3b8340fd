/** The program `asks.ts` at a terminal: requests that a test makes, and what was decided about them. */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { type Options, type Program, withProgram } from "./pty.ts"

export interface Asked {
  readonly program: Program
  /** Lets the program go on that waits before a request with `after`. */
  readonly goOn: (after: string) => void
  readonly decisions: () => ReadonlyArray<unknown>
  /** Answers the question that stands, and waits for what was decided. */
  readonly decide: (keys: string) => Promise<unknown>
  /** Denies without a reason. */
  readonly deny: () => Promise<unknown>
}

export const withAsked = async (
  requests: ReadonlyArray<object>,
  options: Options,
  use: (asked: Asked) => Promise<void>
): Promise<void> => {
  const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-terminal-"))
  const input = Path.join(folder, "requests.json")
  const output = Path.join(folder, "decisions.jsonl")
  Fs.writeFileSync(input, JSON.stringify(requests))
  Fs.writeFileSync(output, "")
  const decisions = () =>
    Fs.readFileSync(output, "utf8").split("\n").slice(0, -1).map((line): unknown => JSON.parse(line))
  try {
    await withProgram(
      Path.join(import.meta.dirname, "programs/asks.ts"),
      { ...options, args: [input, output] },
      (program) => {
        const decide = async (keys: string) => {
          const before = decisions().length
          const said = () => program.text.match(/^[✔✖+x] \w/gm)?.length ?? 0
          const saidBefore = said()
          program.type(keys)
          // The screen comes after the program.
          await program.until("a decision", () => decisions().length > before && said() > saidBefore)
          return decisions()[before]
        }
        const deny = async () => {
          program.type("n")
          await program.ready("Enter denies")
          return decide("\r")
        }
        return use({
          program,
          decisions,
          goOn: (after) => Fs.writeFileSync(`${output}.${after}`, ""),
          decide,
          deny
        })
      }
    )
  } finally {
    Fs.rmSync(folder, { recursive: true })
  }
}
