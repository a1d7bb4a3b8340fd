/**
 * Every program that is known.
 */
import * as Files from "./files.ts"
import { git } from "./git/git.ts"
import * as Making from "./making.ts"
import type { Program } from "./program.ts"
import { runners } from "./runners.ts"
import * as Search from "./search.ts"
import * as System from "./system.ts"
import * as Text from "./text.ts"

export const programs: ReadonlyArray<Program> = [
  git,
  ...Object.values(Files),
  ...Object.values(Search),
  ...Object.values(Text),
  ...Object.values(System),
  ...Object.values(Making),
  ...runners
]
