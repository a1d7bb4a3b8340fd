/** What is still read, and is to be written otherwise. */
import type * as Lines from "./lines.ts"
import type { ApprovalConfig } from "./model.ts"
import { show } from "./problem.ts"

/** What to write in place of `pre_approved`, in the words of the format; nothing where it is not used. */
export const warningOf = (
  { entries, file }: ApprovalConfig,
  format: Lines.Format | undefined
): string | undefined => {
  const names = entries.filter(({ section }) => section === "pre_approved")
  const [first] = names
  if (first === undefined) return undefined
  const place = [file === undefined ? "" : show(file), first.line === undefined ? "" : `line ${first.line}`]
    .filter((part) => part !== "")
    .join(" ")
  const lines = names.slice(0, 20).map(({ name }) => lineOf(name, format))
  const more = names.length > lines.length ? `, and ${names.length - lines.length} more` : ""
  return `Assent: pre_approved${place === "" ? "" : ` (${place})`} is deprecated. Write below tools instead: ${
    lines.join(", ")
  }${more}`
}

const lineOf = (name: string, format: Lines.Format | undefined): string => {
  const isWord = /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)
  const quoted = show(JSON.stringify(name))
  switch (format) {
    case "json":
      return `${quoted}: "none"`
    case "toml":
      return `${isWord && /^\w+$/.test(name) ? name : quoted} = "none"`
    case "yaml":
      return `${isWord ? name : quoted}: none`
    default:
      return `${isWord ? name : quoted}: "none"`
  }
}
