/**
 * What the subcommands of git have in common.
 */
import type { Kind, Values } from "../program.ts"

/** Below `.git`, or named there: programs that git runs when it looks at files. */
export const heeds = "git's settings"

export const when: Kind = { oneOf: "always never auto" }

const percent: Kind = { like: /^\d+%?$/ }

/** `10,20`, `10,+5`, `/function/`, and with a file: `10,20:a.ts`. */
export const lineRange: Kind = {
  like: /^(?:\d+|\/[\w .]+\/)?(?:,(?:[+-]?\d+|\/[\w .]+\/)?)?(?::[\w./-]+)?$/
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
  "--diff-algorithm": { oneOf: "myers minimal patience histogram default" }
}

export const diffOptional: Values = {
  "-U --unified": "number",
  "--color": when,
  "--stat": { like: /^\d+(?:,\d+)*$/ },
  "-M -C --find-renames": percent,
  "--word-diff": { oneOf: "color plain porcelain none" },
  "--color-words": "text",
  "--diff-filter": { like: /^[A-Za-z]+$/ },
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
  "-L": lineRange
}

/** What begins with `%G` asks gpg. */
const format: Kind = { like: /^(?:[^%]|%(?!G))*$/ }

export const logOptional: Values = {
  ...diffOptional,
  "--format --pretty": format,
  "--date": {
    like: /^(?:relative|local|iso|iso8601|iso-strict|rfc|rfc2822|short|raw|human|unix|default|format:[^]*)$/
  },
  "--decorate": { oneOf: "short full auto no" }
}
