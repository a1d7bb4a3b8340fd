/**
 * Keys out of what Node reads: it takes a sequence that it does not know, such as what a mouse sends, for letters. Here
 * such a sequence is one unknown key, even if it comes in pieces; what the terminal says of its cursor is no key at all.
 */
import * as Option from "effect/Option"
import type * as Terminal from "effect/Terminal"

export interface Read {
  readonly input: Terminal.UserInput
  /** What was sent, where that is known. */
  readonly sequence: string | undefined
}

export interface Keys {
  readonly keys: ReadonlyArray<Terminal.UserInput>
  /** Columns of the cursor, where they were asked for: 10 stands for that and more. */
  readonly columns: ReadonlyArray<number>
}

export interface Sequences {
  /** What came at once; `now` in milliseconds. */
  readonly push: (together: ReadonlyArray<Read>, now: number) => Keys
  /** Some of what was sent is lost: the end of a paste that had begun, which is over by that. */
  readonly lost: () => ReadonlyArray<Terminal.UserInput>
  /** So many answers are awaited of where the cursor is. */
  readonly expect: (answers: number) => void
}

const unknown: Terminal.UserInput = {
  input: Option.none(),
  key: { name: "unknown", ctrl: false, meta: false, shift: false }
}

/** Later than that, what comes is no part of a sequence that began before. */
const patience = 200

const maxLength = 4_096

const esc = "\u001b"

/** What follows Esc, or a second one, which is Alt's; nothing if there is none. */
const bodyOf = (text: string): string | undefined => {
  let at = 0
  while (text[at] === esc) at++
  return at === 0 ? undefined : text.slice(at)
}

/** The beginnings of texts, which end in a bell, or in Esc and a backslash. */
const texts = new Set("]PX^_")

/** Whether what follows Esc is all of a sequence. */
const isOver = (body: string): boolean => {
  if (body === "") return false
  if (texts.has(body[0]!)) return body.endsWith("\u0007") || body.endsWith("\u009c") || body.endsWith(`${esc}\\`)
  if (body.startsWith("O")) return /^O[0-9;]*[@-~]/.test(body)
  if (!body.startsWith("[")) return true
  // A mouse of old: three characters follow.
  if (body.startsWith("[M")) return Array.from(body).length >= 5
  return body.startsWith("[[") ? body.length >= 3 : /^\[[0-?]*[ -/]*[@-~]/.test(body)
}

const report = /^\[\d+;(\d+)R$/

/** Whether Node knows of what was sent, or at least where it ends. */
const isKnown = ({ key }: Terminal.UserInput): boolean =>
  key.name !== "undefined" || (key.ctrl && key.meta && key.shift)

/** Whether a key is the beginning of a text, or one with Alt. */
const mayBeginText = ({ input, key }: Terminal.UserInput): boolean =>
  Option.isNone(input) && key.meta && !key.ctrl &&
  (key.name === "" || (key.shift && (key.name === "p" || key.name === "x")))

export const make = (): Sequences => {
  let expected = 0
  let pending: string | undefined
  let pendingAt = -Infinity
  let escapedAt = -Infinity
  let isPaste = false

  /** Without what was sent: a sequence that Node does not know goes on to the end of what came with it. */
  const blind = (together: ReadonlyArray<Terminal.UserInput>): Keys => {
    const keys: Array<Terminal.UserInput> = []
    const columns: Array<number> = []
    for (let index = 0; index < together.length; index++) {
      const input = together[index]!
      const { key } = input
      if (key.name === "paste-start") isPaste = true
      if (key.name === "paste-end") isPaste = false
      if (isPaste) {
        keys.push(input)
        continue
      }
      // Of two numbers Node reads one digit of the second: what is left of an answer with more is an R.
      const isReport = expected > 0 && Option.isNone(input.input) && (!isKnown(input) || key.name === "f3")
      if (isReport) {
        const isMore = Option.contains(together[index + 1]?.input ?? Option.none(), "R")
        columns.push(isMore ? 10 : 9)
        expected--
        if (isMore) index++
      } else if (isKnown(input) && !(mayBeginText(input) && index + 1 < together.length)) {
        keys.push(input)
      } else {
        keys.push(unknown)
        while (index + 1 < together.length && isText(together[index + 1]!)) index++
      }
    }
    return { keys, columns }
  }

  const push = (together: ReadonlyArray<Read>, now: number): Keys => {
    if (together.some(({ sequence }) => sequence === undefined)) return blind(together.map(({ input }) => input))
    const keys: Array<Terminal.UserInput> = []
    const columns: Array<number> = []
    if (now - pendingAt > patience) pending = undefined
    const goOn = (body: string) => {
      const column = expected > 0 ? report.exec(body)?.[1] : undefined
      if (column !== undefined) {
        columns.push(Number(column))
        expected--
      }
      pending = isOver(body) || body.length > maxLength ? undefined : body
      pendingAt = now
    }
    const read = ({ input, sequence = "" }: Read, index: number): void => {
      const { name } = input.key
      const body = bodyOf(sequence)
      if (isPaste || name === "paste-start") {
        pending = undefined
        isPaste = name !== "paste-end"
        keys.push(input)
      } else if (pending !== undefined) {
        goOn(pending + sequence)
      } else if (index === 0 && now - escapedAt <= patience && /^[[O]$/.test(sequence)) {
        // The rest of a key whose Esc came by itself, over a slow line.
        keys.push(unknown)
        goOn(sequence)
      } else if (name === "escape" || body === undefined) {
        if (name === "escape") escapedAt = now
        keys.push(input)
      } else if (texts.has(body) && index === together.length - 1) {
        // Alt, and one of these.
        keys.push(input)
      } else if (expected > 0 && /^\[\d+;\d+R?$/.test(body)) {
        goOn(body)
      } else if (isOver(body)) {
        keys.push(isKnown(input) ? input : unknown)
      } else {
        keys.push(unknown)
        goOn(body)
      }
    }
    together.forEach(read)
    return { keys, columns }
  }
  return {
    push,
    lost: () => {
      pending = undefined
      if (!isPaste) return []
      isPaste = false
      return [pasteEnd]
    },
    expect: (answers) => {
      expected = answers
    }
  }
}

const pasteEnd: Terminal.UserInput = {
  input: Option.none(),
  key: { name: "paste-end", ctrl: false, meta: false, shift: false }
}

const isText = ({ input, key }: Terminal.UserInput): boolean => Option.isSome(input) && !key.ctrl && !key.meta
