/** Which programs of the tables this machine has, and whether they are the ones that the tables were proved against. */
import * as ChildProcess from "node:child_process"
import type { Program } from "../../src/internal/programs/program.ts"

export interface Found {
  readonly program: Program
  /** Nothing if the program is not there. */
  readonly version: string | undefined
  /** Whether a version that the table names is there. */
  readonly isProved: boolean
}

/** What a shell has built in has no version of its own. */
export const builtin = "POSIX"

export const find = (program: Program): Found => {
  const { error, stderr, stdout } = ChildProcess.spawnSync(program.program, ["--version"], {
    encoding: "utf8",
    input: "",
    timeout: 5_000
  })
  if (error !== undefined) return { program, version: undefined, isProved: false }
  const first = `${stdout}${stderr}`.split("\n").find((line) => line.trim() !== "") ?? ""
  const words = first.split(/[\s()-]+/)
  return {
    program,
    version: first.trim(),
    isProved: program.proved.some((proved) => proved === builtin || words.includes(proved.split(" ").at(-1)!))
  }
}
