/**
 * Programs that show files and folders.
 */
import { asksForNames, type Kind, type Program } from "./program.ts"

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
    besides: asksForNames,
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
    operands: [["path", "any"]],
    tame: true
  }
}

/**
 * Without `-o`, which writes, and `-l`, which follows links. What belongs to `-L`, `-I` and `-P` is always a word of its
 * own: in `-Iof` the `f` is an option, and the `o` is the one that writes. So these stand among the flags, and their
 * values among the operands.
 */
export const tree: Program = {
  program: "tree",
  proved: ["tree 2.1.0"],
  command: {
    does: "reads",
    says: "tree and its options",
    besides: asksForNames,
    clusters: true,
    flags: "-a -d -f -i -s -h -D -C -n -F -r -t -p -u -g -L -I -P --dirsfirst --noreport --gitignore --du --prune",
    operands: [["path", "any"]]
  }
}

export const du: Program = {
  program: "du",
  proved: coreutils,
  command: {
    does: "reads",
    says: "du and its options",
    clusters: true,
    flags: "-a -b -c -h -k -m -s -x -S -0 --all --apparent-size --human-readable --summarize --total",
    values: { "-d --max-depth": "number", "--exclude": "text" },
    operands: [["path", "any"]],
    tame: true
  }
}

/** Without `-L`, which follows links. */
export const stat: Program = {
  program: "stat",
  proved: coreutils,
  command: {
    does: "reads",
    says: "stat and its options",
    besides: asksForNames,
    flags: "-t --terse",
    values: { "-c --format": "text" },
    operands: [["path", "any"]]
  }
}

/** Without `-C`, which writes, `-z`, which runs programs, and files of names and of rules. */
export const file: Program = {
  program: "file",
  proved: ["file 5.44"],
  command: {
    does: "reads",
    says: "file and its options",
    clusters: true,
    flags: "-b -i -h --brief --mime --mime-type --mime-encoding",
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
    filter: true,
    tame: true
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
    plusOptions: true,
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
    filter: true,
    tame: true
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

/** An archive without `:`, which would be on another machine. */
const archive: Kind = { like: /^(?!-)(?!(?:.*\/)?\.\.(?:\/|$))(?:[\w.+@-]+\/)*[\w.+@-]+$/ }

/** Only `-t`, which lists. */
export const tar: Program = {
  program: "tar",
  proved: ["GNU tar 1.34"],
  command: {
    does: "reads",
    says: "tar -t, which lists",
    variable: "TAR_OPTIONS",
    besides: [...asksForNames, {
      says: "runs what unpacks the archive",
      runs: /^\S*(?:gzip|bzip2|xz|zstd|lzma|sh -c (?:gzip|bzip2|xz|zstd)) /
    }],
    needs: "-t --list",
    dashFirst: true,
    clusters: true,
    flags: "-t -v -z -j -J --list --verbose --gzip --bzip2 --xz",
    values: { "-f --file": archive },
    operands: [["text", "any"]]
  }
}

export const cmp: Program = {
  program: "cmp",
  proved: ["GNU diffutils 3.8"],
  command: {
    does: "reads",
    says: "cmp and its options",
    flags: "-b -l -s --print-bytes --verbose --quiet --silent",
    values: { "-n --bytes": "number" },
    operands: [["path", "one"], ["path", "one"]]
  }
}

/** Without `-c`, which reads the files that a file names. */
const sum = (program: string): Program => ({
  program,
  proved: coreutils,
  command: {
    does: "reads",
    says: `${program} of files`,
    flags: "-b -t --binary --text --tag",
    operands: [["path", "any"]],
    filter: true
  }
})

export const sha256sum: Program = sum("sha256sum")

export const sha512sum: Program = sum("sha512sum")

export const sha1sum: Program = sum("sha1sum")

export const md5sum: Program = sum("md5sum")

/** One operand, because the second is a file that it writes. */
export const xxd: Program = {
  program: "xxd",
  proved: ["xxd 2022-01-14"],
  command: {
    does: "reads",
    says: "xxd and its options",
    flags: "-b -i -p -u",
    values: { "-c -g -l": "number", "-s": { like: /^[+-]?\d+$/ } },
    operands: [["path", "at most one"]],
    filter: true
  }
}

export const pwd: Program = {
  program: "pwd",
  proved: ["POSIX"],
  command: { does: "reads", harmless: true, says: "pwd" }
}
