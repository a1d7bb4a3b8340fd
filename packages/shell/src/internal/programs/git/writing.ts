/**
 * Subcommands of git that change the repository, or files of the working folder.
 */
import type { Program } from "../program.ts"
import { heeds } from "./shared.ts"

export const writing: NonNullable<Program["commands"]> = {
  add: {
    does: "writes here",
    says: "git add, which stages files",
    heeds,
    clusters: true,
    flags: "-A --all -u --update -n --dry-run -v --verbose -N --intent-to-add --ignore-errors",
    operands: [["path", "any"]]
  },
  commit: {
    does: "writes here",
    says: "git commit with a message, which runs the repository's hooks",
    heeds,
    besides: [{ says: "packs the repository when it has grown", runs: /git maintenance run --auto/ }],
    needs: "-m --message",
    clusters: true,
    flags: "-a --all -q --quiet -v --verbose -s --signoff --allow-empty --dry-run --no-edit",
    values: { "-m --message": "text" },
    operands: [["path", "any"]]
  },
  restore: {
    does: "writes here",
    says: "git restore --staged, which unstages files",
    heeds,
    needs: "--staged -S",
    flags: "--staged -S -q --quiet",
    operands: [["path", "any"]]
  },
  switch: {
    does: "writes here",
    says: "git switch, which goes to another branch or makes one",
    heeds,
    flags: "-q --quiet --no-guess",
    values: { "-c --create": "revision" },
    operands: [["revision", "at most one"]]
  }
}
