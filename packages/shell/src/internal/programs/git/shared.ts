/**
 * What the subcommands of git have in common.
 */
import type { Kind, Values } from "../program.ts"

/** Below `.git`, or named there: programs that git runs when it looks at files. */
export const heeds = "git's settings"

export const when: Kind = { oneOf: "always never auto" }

const percent: Kind = { like: /^\d+%?$/ }

/** `10,20`, `10,+5`, `/function/`. */
export const lineRange: Kind = { like: /^(?:\d+|\/[\w .]+\/)?(?:,(?:[+-]?\d+|\/[\w .]+\/)?)?$/ }

/** `10,20:a.ts`, `:function:a.ts`. */
const lineRangeOfFile: Kind = {
  like: /^(?:(?:\d+|\/[\w .]+\/),(?:[+-]?\d+|\/[\w .]+\/)|:\w+):(?:[\w-]+\/)*(?:\.?[\w-]+)+$/,
  hasPath: true
}

/** A field of a branch or a tag. */
export const sortField: Kind = {
  like: /^-?(?:refname|objectname|objecttype|(?:committer|author|creator|tagger)date|v(?:ersion)?:refname)$/
}

/** Fields of a branch or a tag, in a text. Others may ask gpg. */
export const refFormat: Kind = {
  like:
    /^(?:[^%]|%\((?:HEAD|refname|upstream|push|objectname|objecttype|subject|contents|(?:committer|author|creator|tagger)(?:name|email|date)?)(?::[\w,=-]+)*\))*$/
}

export const diffFlags = `
  -p -u --patch -s --no-patch --raw --stat --numstat --shortstat --summary --name-only --name-status --check
  --full-index --binary -R -a --text -b -w --ignore-space-change --ignore-all-space --ignore-blank-lines
  --ignore-space-at-eol --minimal --patience --histogram --pickaxe-all --pickaxe-regex --no-renames --no-color
  --no-ext-diff --no-textconv --exit-code --quiet -z -W --function-context -m -c --cc --no-prefix --compact-summary
  --no-indent-heuristic
`

export const diffValues: Values = {
  "-S -G": "text",
  "--diff-algorithm": { oneOf: "myers minimal patience histogram default" },
  "--diff-filter": { like: /^[ACDMRTUXB*]+$/i }
}

export const diffOptional: Values = {
  "-U --unified": "number",
  "--color": when,
  "--stat": { like: /^\d+(?:,\d+)*$/ },
  "-M -C --find-renames": percent,
  "--word-diff": { oneOf: "color plain porcelain none" },
  "--color-words": "text",
  "--abbrev": "number",
  "--relative": "path",
  "--color-moved": { oneOf: "no default plain blocks zebra dimmed-zebra" }
}

export const logFlags = `
  ${diffFlags}
  --oneline --graph --all --decorate --no-decorate --branches --tags --remotes --merges --no-merges --first-parent
  --follow --reverse --date-order --author-date-order --topo-order --left-right --cherry-pick --cherry-mark --boundary
  --abbrev-commit --no-abbrev-commit --parents --children --simplify-by-decoration --full-history
  -i -E -F --regexp-ignore-case --extended-regexp --fixed-strings --all-match --invert-grep --relative-date --no-walk
`

export const logValues: Values = {
  ...diffValues,
  "-n --max-count --skip": "number",
  "--since --until --after --before --author --committer --grep": "text",
  "-L": lineRangeOfFile,
  "--date": {
    like: /^(?:relative|local|iso|iso8601|iso-strict|rfc|rfc2822|short|raw|human|unix|default|format:[^]*)$/
  }
}

/**
 * A format by its name or by placeholders. What begins with `%G`, or `%+G`, `%-G` and `% G`, asks gpg, and `%(describe)`
 * runs `git describe`. Other names are what the settings say, which may be `%G?`.
 */
const format: Kind = {
  like:
    /^(?:|oneline|short|medium|full|fuller|reference|email|mboxrd|raw|(?:t?format:|(?=[^%]*%))(?:[^%]|%(?![-+ ]?(?:G|\(describe)))*)$/
}

export const logOptional: Values = {
  ...diffOptional,
  "--format --pretty": format,
  "--decorate": { oneOf: "short full auto no" }
}
