/**
 * Programs that tell of names and of the machine.
 */
import { asksForNames, type Program } from "./program.ts"

const coreutils = ["GNU coreutils 9.1"]

export const basename: Program = {
  program: "basename",
  proved: coreutils,
  command: {
    does: "reads",
    harmless: true,
    says: "basename, which takes names apart",
    flags: "-a -z --multiple --zero",
    values: { "-s --suffix": "text" },
    operands: [["text", "any"]]
  }
}

export const dirname: Program = {
  program: "dirname",
  proved: coreutils,
  command: {
    does: "reads",
    harmless: true,
    says: "dirname, which takes names apart",
    flags: "-z --zero",
    operands: [["text", "any"]]
  }
}

export const realpath: Program = {
  program: "realpath",
  proved: coreutils,
  command: {
    does: "reads",
    says: "realpath and its options",
    clusters: true,
    flags: "-e -m -q -s -z --canonicalize-existing --canonicalize-missing --quiet --no-symlinks",
    operands: [["path", "any"]]
  }
}

export const readlink: Program = {
  program: "readlink",
  proved: coreutils,
  command: {
    does: "reads",
    says: "readlink and its options",
    clusters: true,
    flags: "-e -f -m -n -q -z --canonicalize --no-newline",
    operands: [["path", "any"]]
  }
}

export const which: Program = {
  program: "which",
  proved: ["debianutils 5.7"],
  command: {
    does: "reads",
    harmless: true,
    says: "which, which finds programs",
    flags: "-a",
    operands: [["text", "any"]]
  }
}

/** Only `-v`, which finds programs; without it, it runs one. */
export const command: Program = {
  program: "command",
  proved: ["POSIX"],
  command: {
    does: "reads",
    harmless: true,
    says: "command -v, which finds programs",
    needs: "-v",
    flags: "-v",
    optionsFirst: true,
    operands: [[{ like: /^[A-Za-z][\w.+-]*$/ }, "any"]]
  }
}

/** Without `-s`, and without the operand that sets the clock. */
export const date: Program = {
  program: "date",
  proved: coreutils,
  command: {
    does: "reads",
    harmless: true,
    says: "date and its options",
    flags: "-u -R --utc --rfc-email",
    values: { "-d --date": "text" },
    optional: { "-I --iso-8601": { oneOf: "date hours minutes seconds ns" } },
    operands: [[{ like: /^\+/ }, "at most one"]]
  }
}

export const uname: Program = {
  program: "uname",
  proved: coreutils,
  command: {
    does: "reads",
    harmless: true,
    says: "uname and its options",
    clusters: true,
    flags: "-a -m -n -o -p -r -s -v --all"
  }
}

export const whoami: Program = {
  program: "whoami",
  proved: coreutils,
  command: { does: "reads", harmless: true, says: "whoami", besides: asksForNames }
}

export const id: Program = {
  program: "id",
  proved: coreutils,
  command: {
    does: "reads",
    says: "id and its options",
    besides: asksForNames,
    clusters: true,
    flags: "-u -g -n -G -r --user --group --name"
  }
}

export const nproc: Program = {
  program: "nproc",
  proved: coreutils,
  command: { does: "reads", harmless: true, says: "nproc" }
}

/** Without `e`, which shows what is in the environment of others. */
export const ps: Program = {
  program: "ps",
  proved: ["procps-ng 4.0.2"],
  command: {
    does: "reads",
    says: "ps, which lists processes",
    besides: asksForNames,
    clusters: true,
    flags: "-A -e -f -l",
    operands: [[{ oneOf: "aux auxw auxww ax axw u x" }, "at most one"]]
  }
}

/** Up to 999 seconds, because more is as good as no end. */
export const sleep: Program = {
  program: "sleep",
  proved: coreutils,
  command: { does: "reads", says: "sleep", operands: [[{ like: /^(?:\d{1,3}(?:\.\d+)?s?|\d(?:\.\d+)?m)$/ }, "one"]] }
}

export const df: Program = {
  program: "df",
  proved: coreutils,
  command: {
    does: "reads",
    says: "df and its options",
    clusters: true,
    flags: "-a -h -H -i -k -l -P -T --all --human-readable --si --inodes --local --portability --print-type",
    operands: [["path", "any"]]
  }
}
