/**
 * Programs that show files and folders.
 */
import type { Kind, Program } from "./program.ts"

const coreutils = ["GNU coreutils 9.1"]

const when: Kind = { oneOf: "always never auto" }

/** `5`, `+5`, `-5`, `10k`. */
const amount: Kind = { like: /^[+-]?\d+[bkKMG]?$/ }

export const ls: Program = {
  program: "ls",
  proved: coreutils,
  command: {
    does: "reads",
    says: "ls and its options",
    clusters: true,
    flags: `
      -a -A -l -h -1 -R -t -S -r -d -F -p -i -s -n -g -o -G -c -u -U -X -v -x -m -k -L -Q -b -B -N
      --all --almost-all --human-readable --recursive --reverse --directory --size --inode
      --group-directories-first --full-time --no-group --si
    `,
    values: {
      "-w": "number",
      "-I --ignore": "text",
      "--sort": { oneOf: "none size time version extension" },
      "--time-style": { like: /^(?:full-iso|long-iso|iso|locale|\+[^]*)$/ }
    },
    optional: { "--color": when },
    operands: [["path", "any"]]
  }
}

export const cat: Program = {
  program: "cat",
  proved: coreutils,
  command: {
    does: "reads",
    says: "cat and its options",
    clusters: true,
    flags: "-n -b -s -A -e -E -t -T -v -u --number --number-nonblank --squeeze-blank --show-all",
    operands: [["path", "any"]],
    filter: true
  }
}

export const head: Program = {
  program: "head",
  proved: coreutils,
  command: {
    does: "reads",
    says: "head and its options",
    clusters: true,
    digits: true,
    flags: "-q -v -z --quiet --silent --verbose",
    values: { "-n -c --lines --bytes": amount },
    operands: [["path", "any"]],
    filter: true
  }
}

/** Without `-f`, which does not end. */
export const tail: Program = {
  program: "tail",
  proved: coreutils,
  command: {
    does: "reads",
    says: "tail and its options",
    clusters: true,
    digits: true,
    flags: "-q -v -z --quiet --silent --verbose",
    values: { "-n -c --lines --bytes": amount },
    operands: [["path", "any"]],
    filter: true
  }
}

export const wc: Program = {
  program: "wc",
  proved: coreutils,
  command: {
    does: "reads",
    says: "wc and its options",
    clusters: true,
    flags: "-l -w -c -m -L --lines --words --bytes --chars --max-line-length",
    operands: [["path", "any"]],
    filter: true
  }
}

/** Without `-l`, which runs `pr`. */
export const diff: Program = {
  program: "diff",
  proved: ["GNU diffutils 3.8"],
  command: {
    does: "reads",
    says: "diff and its options",
    clusters: true,
    flags: `
      -u -c -r -q -N -a -b -B -w -i -E -s -y -t -d -e -n -p
      --recursive --brief --new-file --text --ignore-case --ignore-all-space --ignore-blank-lines
      --ignore-space-change --side-by-side --suppress-common-lines --report-identical-files --minimal --no-dereference
    `,
    values: { "-U -C -W": "number", "-x --exclude -I --label": "text" },
    optional: { "--color": when, "--unified": "number" },
    operands: [["path", "one"], ["path", "one"]]
  }
}

export const pwd: Program = {
  program: "pwd",
  proved: ["POSIX"],
  command: { does: "reads", says: "pwd" }
}
