/** Which programs of the tables this machine has, and whether they are the ones that the tables were proved against. */
import * as ChildProcess from "node:child_process"
import type { Program } from "../../src/internal/programs/program.ts"

export interface Found {
  readonly program: Program
  /** What the program says of itself, if it is there. */
  readonly version: string | undefined
  /** Whether that is a version that the table names; nothing if the program tells none. */
  readonly isProved: boolean | undefined
}

export const find = (program: Program): Found => {
  if (program.proved.includes("POSIX")) return { program, version: "built into the shell", isProved: true }
  const { error, status, stdout } = ChildProcess.spawnSync(program.program, ["--version"], {
    encoding: "utf8",
    input: "",
    timeout: 5_000
  })
  if (error !== undefined) return { program, version: undefined, isProved: false }
  const first = stdout.split("\n").find((line) => /\d/.test(line)) ?? ""
  if (status !== 0 || first === "") return { program, version: "a program that tells no version", isProved: undefined }
  return {
    program,
    version: first.trim(),
    isProved: program.proved.some((proved) => {
      const number = /[\d.-]+$/.exec(proved)?.[0] ?? ""
      return number === "" || new RegExp(`(?<![\\d.])${number.replaceAll(".", "\\.")}(?![\\d.]*\\d)`).test(first)
    })
  }
}
