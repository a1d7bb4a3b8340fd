/**
 * Programs that search files and folders.
 */
import { asksForNames, type Kind, type Program } from "./program.ts"

const when: Kind = { oneOf: "always never auto" }

/** `5`, `+5`, `-5`. */
const signed: Kind = { like: /^[+-]?\d+$/ }

/** Without `-R`, which follows links out of the folder. */
export const grep: Program = {
  program: "grep",
  proved: ["GNU grep 3.8"],
  command: {
    does: "reads",
    says: "grep and its options",
    clusters: true,
    digits: true,
    flags: `
      -r -n -i -w -x -v -l -L -c -o -q -s -h -H -E -F -G -P -b -a -I -z -Z -T -U -y
      --recursive --line-number --ignore-case --no-ignore-case --word-regexp --line-regexp --invert-match
      --files-with-matches --files-without-match --count --only-matching --quiet --silent --no-messages
      --no-filename --with-filename --extended-regexp --fixed-strings --basic-regexp --perl-regexp
      --text --null --null-data
    `,
    values: {
      "-e --regexp": "text",
      "-f --file": "path",
      "-A -B -C -m --after-context --before-context --context --max-count": "number",
      "--include": "glob",
      "--exclude --exclude-dir --label": "text",
      "--binary-files": { oneOf: "binary text without-match" }
    },
    optional: { "--color --colour": when },
    operands: [["text", "one"], ["path", "any"]],
    insteadOfFirst: "-e --regexp -f --file",
    filter: { unless: "-r --recursive" }
  }
}

/** Without `--pre`, `--hostname-bin` and `-z`, which run programs, and `-L`, which follows links out of the folder. */
export const rg: Program = {
  program: "rg",
  proved: ["ripgrep 13.0.0"],
  command: {
    does: "reads",
    says: "rg and its options",
    variable: "RIPGREP_CONFIG_PATH",
    clusters: true,
    flags: `
      --files -n -N -i -s -S -w -x -v -l -c -o -q -F -P -U -u -uu -uuu -a -H -I -p -0
      --line-number --no-line-number --ignore-case --case-sensitive --smart-case --word-regexp --line-regexp
      --invert-match --files-with-matches --files-without-match --count --count-matches --only-matching --quiet
      --fixed-strings --pcre2 --multiline --multiline-dotall --hidden --no-ignore --no-ignore-vcs --unrestricted
      --text --with-filename --no-filename --heading --no-heading --pretty --column --vimgrep --json --stats --null
      --trim --no-messages --no-config --sort-files
    `,
    values: {
      "-e --regexp": "text",
      "-f --file": "path",
      "-A -B -C -m -M -j --after-context --before-context --context --max-count --max-depth --max-columns": "number",
      "-g --glob --iglob": "glob",
      "-r --replace": "text",
      "-t -T --type --type-not": { like: /^\w+$/ },
      "--max-filesize": { like: /^\d+[KMG]?$/ },
      "--color": { oneOf: "always never auto ansi" },
      "--sort --sortr": { oneOf: "none path modified accessed created" }
    },
    operands: [["text", "one"], ["path", "any"]],
    insteadOfFirst: "-e --regexp -f --file --files",
    filter: { unless: "--files" }
  }
}

/** Without the actions that write, delete, and run programs in other folders or after a question, and without `-L`, which follows links out of the folder. */
export const find: Program = {
  program: "find",
  proved: ["GNU findutils 4.9.0"],
  command: {
    does: "reads",
    says: "find and its tests, which list files, and -exec with programs that only read",
    besides: [...asksForNames, { says: "runs what -exec names", runs: /^(?:cat|grep|head|wc) / }],
    flags: "-H -P",
    operands: [["path", "any"]],
    tests: {
      running: "-exec",
      alone: `
        ( ) ! -not -o -or -a -and -print -print0 -ls -prune -quit -empty -depth -mount -xdev
        -readable -writable -executable -true -false -daystart -nouser -nogroup
      `,
      valued: {
        "-name -iname -path -ipath -wholename": "glob",
        "-regex -iregex -lname": "text",
        "-type": { like: /^[bcdpfls](?:,[bcdpfls])*$/ },
        "-maxdepth -mindepth": "number",
        "-size": { like: /^[+-]?\d+[cwbkMG]?$/ },
        "-mtime -mmin -atime -amin -ctime -cmin -links -inum": signed,
        "-newer -samefile": "path",
        "-newermt -user -group -printf": "text",
        "-perm": { like: /^[-/]?(?:[0-7]{1,4}|[ugoa]*[-+=][rwxst]+(?:,[ugoa]*[-+=][rwxst]+)*)$/ },
        "-regextype": { oneOf: "emacs posix-awk posix-basic posix-egrep posix-extended" }
      }
    }
  }
}

/** Without `-x`, `-X` and `-l`, which run programs, and `-L`, which follows links out of the folder. */
export const fd: Program = {
  program: "fd",
  proved: ["fd 8.6.0"],
  command: {
    does: "reads",
    says: "fd and its options",
    clusters: true,
    flags: `
      -H -I -s -i -g -F -a -p -0 -1 -q
      --hidden --no-ignore --no-ignore-vcs --case-sensitive --ignore-case --glob --fixed-strings --absolute-path
      --full-path --print0 --quiet --strip-cwd-prefix
    `,
    values: {
      "-d --max-depth --min-depth --exact-depth --max-results": "number",
      "-t --type": { oneOf: "f file d directory l symlink x executable e empty" },
      "-e --extension -E --exclude": "text",
      "-S --size": { like: /^[+-]?\d+(?:b|[kmgt]i?b?)$/i },
      "-c --color": when
    },
    operands: [["text", "at most one"], ["path", "any"]]
  }
}

/** Without `--pager`, and `-f`, which follows links out of the folder. */
export const ag: Program = {
  program: "ag",
  proved: ["ag 2.2.0"],
  command: {
    does: "reads",
    says: "ag and its options",
    besides: [{ says: "asks git for a list of what is ignored", runs: /^(?:sh -c )?git config -z --path --get / }],
    flags: `
      -i -s -S -w -v -l -L -c -Q -a -u -U -t
      --ignore-case --case-sensitive --smart-case --word-regexp --invert-match --files-with-matches
      --files-without-matches --count --literal --all-types --hidden --column --nocolor --nogroup --vimgrep
    `,
    values: { "--depth": "number", "-G --file-search-regex --ignore --ignore-dir": "text" },
    operands: [["text", "one"], ["path", "any"]]
  }
}
