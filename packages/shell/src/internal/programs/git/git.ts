/**
 * git, by its subcommands.
 */
import type { Program } from "../program.ts"
import { reading } from "./reading.ts"
import { writing } from "./writing.ts"

export const git: Program = {
  program: "git",
  proved: ["git 2.39.5"],
  alone: "--version",
  before: "--no-pager",
  commands: { ...reading, ...writing }
}
