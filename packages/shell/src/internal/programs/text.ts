/**
 * Programs that pass text on, and those that do nothing.
 */
import type { Kind, Program } from "./program.ts"

const coreutils = ["GNU coreutils 9.1"]

/** `2`, `2,3`, `1.2n,1.4`. */
const sortKey: Kind = { like: /^\d+(?:\.\d+)?[bdfgiMhnRrV]*(?:,\d+(?:\.\d+)?[bdfgiMhnRrV]*)?$/ }

/** `1`, `1,3-5`, `2-`. */
const columns: Kind = { like: /^[\d,-]+$/ }

/** Without `-o`, `--compress-program`, `-T` and `--files0-from`. */
export const sort: Program = {
  program: "sort",
  proved: coreutils,
  command: {
    does: "reads",
    says: "sort and its options",
    plusOptions: true,
    clusters: true,
    flags: `
      -n -r -u -h -V -f -b -d -g -i -M -R -s -c -C -z -m
      --numeric-sort --reverse --unique --human-numeric-sort --version-sort --ignore-case --stable --check
    `,
    values: { "-k --key": sortKey, "-t --field-separator": "text" },
    operands: [["path", "any"]],
    filter: true,
    besides: [{
      says: "keeps what is too big for memory in the folder for temporary files",
      writes: /^\/tmp\/sort\w+$/
    }]
  }
}

/** One operand, because the second is a file that it writes. */
export const uniq: Program = {
  program: "uniq",
  proved: coreutils,
  command: {
    does: "reads",
    says: "uniq and its options",
    plusOptions: true,
    clusters: true,
    flags: "-c -d -D -u -i -z --count --repeated --unique --ignore-case",
    values: { "-f -s -w": "number" },
    operands: [["path", "at most one"]],
    filter: true
  }
}

export const cut: Program = {
  program: "cut",
  proved: coreutils,
  command: {
    does: "reads",
    says: "cut and its options",
    clusters: true,
    flags: "-s -z --complement --only-delimited",
    values: { "-d --delimiter --output-delimiter": "text", "-f -c -b --fields": columns },
    operands: [["path", "any"]],
    filter: true
  }
}

export const nl: Program = {
  program: "nl",
  proved: coreutils,
  command: {
    does: "reads",
    says: "nl and its options",
    clusters: true,
    flags: "-p",
    values: {
      "-b -h -f": { like: /^(?:[atn]|p[^]*)$/ },
      "-n": { oneOf: "ln rn rz" },
      "-i -l -v -w": "number",
      "-s": "text"
    },
    operands: [["path", "any"]],
    filter: true
  }
}

export const tr: Program = {
  program: "tr",
  proved: coreutils,
  command: {
    does: "reads",
    says: "tr and its options",
    clusters: true,
    flags: "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1",
    operands: [["text", "one"], ["text", "at most one"]],
    filter: true
  }
}

export const tac: Program = {
  program: "tac",
  proved: coreutils,
  command: {
    does: "reads",
    says: "tac",
    besides: [{
      says: "keeps what comes through a pipe in the folder for temporary files",
      writes: /^\/tmp\/tac\w+$/
    }],
    operands: [["path", "any"]],
    filter: true
  }
}

export const rev: Program = {
  program: "rev",
  proved: ["util-linux 2.38.1"],
  command: { does: "reads", says: "rev", operands: [["path", "any"]], filter: true }
}

export const fold: Program = {
  program: "fold",
  proved: coreutils,
  command: {
    does: "reads",
    says: "fold and its options",
    clusters: true,
    flags: "-b -s",
    values: { "-w --width": "number" },
    operands: [["path", "any"]],
    filter: true
  }
}

export const comm: Program = {
  program: "comm",
  proved: coreutils,
  command: {
    does: "reads",
    says: "comm and its options",
    clusters: true,
    flags: "-1 -2 -3",
    operands: [["path", "one"], ["path", "one"]]
  }
}

export const paste: Program = {
  program: "paste",
  proved: coreutils,
  command: {
    does: "reads",
    says: "paste and its options",
    clusters: true,
    flags: "-s --serial",
    values: { "-d --delimiters": "text" },
    operands: [["path", "any"]],
    filter: true
  }
}

export const column: Program = {
  program: "column",
  proved: ["util-linux 2.38.1"],
  command: {
    does: "reads",
    says: "column and its options",
    clusters: true,
    flags: "-t -x --table",
    values: { "-s -o --separator --output-separator": "text", "-c --output-width": "number" },
    operands: [["path", "any"]],
    filter: true
  }
}

/** Without `-L`, `-f`, `--args` and files as variables. */
export const jq: Program = {
  program: "jq",
  proved: ["jq 1.6"],
  command: {
    does: "reads",
    says: "jq with filters that only select",
    clusters: true,
    flags: `
      -r -c -s -n -e -S -a -j -M -C -R
      --raw-output --compact-output --slurp --null-input --exit-status --sort-keys --ascii-output --join-output
      --tab --monochrome-output --color-output --raw-input
    `,
    operands: [["jqFilter", "one"], ["path", "any"]],
    filter: true
  }
}

export const sed: Program = {
  program: "sed",
  proved: ["GNU sed 4.9"],
  command: {
    does: "reads",
    says: "sed with ranges of lines to print",
    flags: "-n -E -r",
    values: { "-e": "sedScript" },
    operands: [["sedScript", "one"], ["path", "any"]],
    insteadOfFirst: "-e",
    filter: true
  }
}

/** Without `-f`, `-v`, and all that writes, runs and reads elsewhere. */
export const awk: Program = {
  program: "awk",
  proved: ["mawk 1.3.4"],
  command: {
    does: "reads",
    says: "awk with programs that print fields",
    values: { "-F": "text" },
    operands: [["awkProgram", "one"], ["path", "any"]],
    filter: true
  }
}

export const echo: Program = {
  program: "echo",
  proved: ["POSIX"],
  command: { does: "reads", harmless: true, says: "echo", noOptions: true, operands: [["text", "any"]] }
}

/** `true`, which does nothing. */
export const success: Program = {
  program: "true",
  proved: ["POSIX"],
  command: { does: "reads", harmless: true, says: "true" }
}

export const seq: Program = {
  program: "seq",
  proved: coreutils,
  command: {
    does: "reads",
    says: "seq and its options",
    flags: "-w --equal-width",
    values: { "-s --separator": "text" },
    operands: [["number", "one"], ["number", "at most one"], ["number", "at most one"]]
  }
}

export const od: Program = {
  program: "od",
  proved: coreutils,
  command: {
    does: "reads",
    says: "od and its options",
    clusters: true,
    flags: "-a -b -c -d -o -x -v",
    values: {
      "-A --address-radix": { oneOf: "d o x n" },
      "-t --format": { like: /^(?:[ac]z?|[doux][1248CSIL]?z?)+$/ },
      "-j -N --skip-bytes --read-bytes": "number"
    },
    operands: [["path", "any"]],
    filter: true
  }
}

export const hexdump: Program = {
  program: "hexdump",
  proved: ["util-linux 2.38.1"],
  command: {
    does: "reads",
    says: "hexdump and its options",
    clusters: true,
    flags: "-b -c -C -d -o -x -v --canonical --no-squeezing",
    values: { "-n -s --length --skip": "number" },
    operands: [["path", "any"]],
    filter: true
  }
}

export const base64: Program = {
  program: "base64",
  proved: coreutils,
  command: {
    does: "reads",
    says: "base64 and its options",
    clusters: true,
    flags: "-d -i --decode --ignore-garbage",
    values: { "-w --wrap": "number" },
    operands: [["path", "at most one"]],
    filter: true
  }
}
