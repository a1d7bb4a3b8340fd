/**
 * Programs that make files and folders.
 */
import type { Kind, Program } from "./program.ts"

const coreutils = ["GNU coreutils 9.1"]

/** What may be made: below the folder, and not of a repository, whose settings name programs. */
const place: Kind = { like: /^(?![/~])(?!(?:[^/]*\/)*(?:\.\.|\.git)(?:\/|$))[^]+$/i }

export const mkdir: Program = {
  program: "mkdir",
  proved: coreutils,
  command: {
    does: "writes here",
    says: "mkdir, which makes folders",
    clusters: true,
    flags: "-p -v --parents --verbose",
    operands: [[place, "one"], [place, "any"]]
  }
}

export const touch: Program = {
  program: "touch",
  proved: coreutils,
  command: {
    does: "writes here",
    says: "touch, which makes empty files and changes their times",
    clusters: true,
    flags: "-a -c -m --no-create",
    operands: [[place, "one"], [place, "any"]]
  }
}
