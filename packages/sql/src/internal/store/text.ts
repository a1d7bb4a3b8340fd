/** Texts as both dialects keep them: neither takes half of a surrogate pair, and PostgreSQL no U+0000. */

const mark = "\u0001"

// With `u`, a surrogate that has its other half is none.
// oxlint-disable-next-line no-control-regex
const needsMark = /^\u0001|\0|\p{Surrogate}/u

/** As it is, or, for the few that could not be, as JSON after a mark. No two texts have one form. */
export const encode = (text: string): string => needsMark.test(text) ? mark + JSON.stringify(text) : text

export const decode = (kept: string): string => {
  if (!kept.startsWith(mark)) return kept
  try {
    const text: unknown = JSON.parse(kept.slice(1))
    return typeof text === "string" ? text : kept
  } catch {
    // Something else wrote it; whoever knows what it should be finds out.
    return kept
  }
}

export const encodeOptional = (text: string | undefined): string | null => text === undefined ? null : encode(text)

const encoder = new TextEncoder()

/** How many bytes a text has where it is kept. */
export const bytesOf = (kept: string): number => encoder.encode(kept).length

/** The fields that are there. */
export const optionalFields = <Name extends string>(
  fields: Readonly<Record<Name, string | null>>
): { readonly [K in Name]?: string } => {
  const there: { [K in Name]?: string } = {}
  for (const name in fields) {
    const kept = fields[name]
    if (kept !== null) there[name] = decode(kept)
  }
  return there
}
