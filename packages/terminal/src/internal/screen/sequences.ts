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

/** What a sequence is that began, from what came of it. */
const isOver = (text: string): boolean => {
  // Its lead, without a second Esc of Alt.
  const body = text.replace(/^\x1b+/, "")
  switch (body[0]) {
    case undefined:
      return false
    case "[":
      // A mouse of old: three characters follow.
      if (body.startsWith("[M")) return Array.from(body).length >= 5
      if (body.startsWith("[[")) return body.length >= 3
      return /^\[[0-?]*[ -/]*[@-~]/.test(body)
    case "O":
      return /^O[0-9;]*[@-~]/.test(body)
    // Texts, which end in a bell, or in Esc and a backslash.
    case "]":
    case "P":
    case "X":
    case "^":
    case "_":
      return /[\x07\x9c]$|\x1b\\$/.test(body)
    default:
      return true
  }
}

const report = /^\x1b\[\d+;(\d+)R$/

/** Whether Node knows of what was sent, or at least where it ends. */
const isKnown = ({ key }: Terminal.UserInput): boolean =>
  key.name !== "undefined" || (key.ctrl && key.meta && key.shift)

export const make = (): Sequences => {
  let expected = 0
  let pending: string | undefined
  let pendingAt = 0
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
      } else if (isKnown(input)) {
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
    if (pending !== undefined && now - pendingAt > patience) pending = undefined
    together.forEach(({ input, sequence = "" }, index) => {
      const { name } = input.key
      if (isPaste || name === "paste-start") {
        pending = undefined
        isPaste = name !== "paste-end"
        keys.push(input)
        return
      }
      if (pending !== undefined) {
        pending += sequence
        pendingAt = now
      } else if (index === 0 && now - escapedAt <= patience && /^[[O]$/.test(sequence)) {
        // The rest of a key whose Esc came by itself, over a slow line.
        pending = `\x1b${sequence}`
        pendingAt = now
        keys.push(unknown)
      } else if (sequence.startsWith("\x1b") && name !== "escape" && !isOver(sequence)) {
        // Alt and one of these is a key, if nothing else comes with it.
        if (/^\x1b+[\]PX^_]$/.test(sequence) && index === together.length - 1) {
          keys.push(input)
          return
        }
        pending = sequence
        pendingAt = now
        if (expected === 0 || !/^\x1b\[\d+;\d+$/.test(sequence)) keys.push(unknown)
      } else if (expected > 0 && report.test(sequence)) {
        columns.push(Number(report.exec(sequence)![1]))
        expected--
        return
      } else {
        keys.push(name === "undefined" && !isKnown(input) ? unknown : input)
        if (name === "escape") escapedAt = now
        return
      }
      if (pending === undefined) return
      if (expected > 0 && report.test(pending)) {
        columns.push(Number(report.exec(pending)![1]))
        expected--
        pending = undefined
      } else if (isOver(pending) || pending.length > maxLength) {
        pending = undefined
      }
    })
    return { keys, columns }
  }
  return {
    push,
    expect: (answers) => {
      expected = answers
    }
  }
}

const isText = ({ input, key }: Terminal.UserInput): boolean => Option.isSome(input) && !key.ctrl && !key.meta
