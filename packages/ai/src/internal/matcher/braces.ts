/**
 * The globs without braces that one with braces stands for.
 */

/** More than this is nothing that a person wrote or reads. */
const most = 1_000

export const tooMany = `its braces stand for more than ${most.toLocaleString("en")} globs.`

/**
 * `undefined` if there are too many, or if a bracket or a backslash beside the braces makes it hard to say where a group
 * ends: then the glob is for `effect/Glob` alone. A group without a comma stays as it is.
 */
export const expand = (glob: string): ReadonlyArray<string> | undefined =>
  !glob.includes("{") ? [glob] : /[[\]\\]/.test(withoutPlainClasses(glob)) || isTooMany(glob) ? undefined : all(glob)

/** Whether a glob stands for too many; those that are hard to read are not counted. */
export const isTooMany = (glob: string): boolean => glob.includes("{") && countOf(parse(glob)) > most

const withoutPlainClasses = (glob: string): string => glob.replaceAll(/\[[^\][/\\{},]+\]/g, "")

type Sequence = Array<string | Array<Sequence>>

/** Every text stands for itself, every group for one of its alternatives. */
const parse = (glob: string): Sequence => {
  let sequence: Sequence = []
  const open: Array<{ readonly outer: Sequence; readonly group: Array<Sequence> }> = []
  for (const part of glob.split(/([{},])/)) {
    const group = open[open.length - 1]
    if (part === "{") {
      open.push({ outer: sequence, group: [] })
      sequence = []
    } else if (part === "," && group !== undefined) {
      group.group.push(sequence)
      sequence = []
    } else if (part === "}" && group !== undefined) {
      open.pop()
      group.outer.push(...(group.group.length === 0 ? ["{", ...sequence, "}"] : [[...group.group, sequence]]))
      sequence = group.outer
    } else if (part !== "") sequence.push(part)
  }
  // Braces that are never closed are text.
  for (const { group, outer } of open.toReversed()) {
    sequence = [...outer, "{", ...group.flatMap((alternative) => [...alternative, ","]), ...sequence]
  }
  return sequence
}

const countOf = (sequence: Sequence): number =>
  sequence.reduce<number>(
    (count, part) =>
      typeof part === "string"
        ? count
        : Math.min(most + 1, count * part.reduce((sum, alternative) => sum + countOf(alternative), 0)),
    1
  )

const all = (glob: string): ReadonlyArray<string> => [...new Set(textsOf(parse(glob)))]

const textsOf = (sequence: Sequence): ReadonlyArray<string> =>
  sequence.reduce<ReadonlyArray<string>>(
    (texts, part) => {
      const next = typeof part === "string" ? [part] : part.flatMap(textsOf)
      return texts.flatMap((text) => next.map((more) => text + more))
    },
    [""]
  )
