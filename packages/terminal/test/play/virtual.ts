/**
 * A terminal without a process: bytes of keys as Node reads them, what is drawn on the screen of VS Code, and the screen's own
 * answers, such as to a question for its status. Time is the test's.
 */
import type * as Cause from "effect/Cause"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Terminal from "effect/Terminal"
import * as TestClock from "effect/testing/TestClock"
import * as Readline from "node:readline"
import { PassThrough } from "node:stream"
import { makeScreen, textOf } from "../pty.ts"
import * as Files from "./files.ts"
import * as Widths from "./widths.ts"

export interface Options {
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  readonly files?: Files.Files | undefined
  /** By which it measures characters. */
  readonly table?: Widths.Table | undefined
}

/** As NodeServices' terminal does it: after these no more keys are read, until somebody reads keys anew. */
const ends = ({ key }: Terminal.UserInput): boolean =>
  key.name === "escape" || (key.ctrl && (key.name === "c" || key.name === "d"))

/** What a terminal is asked: its status, and where its cursor is. */
const questions = ["\u001b[5n", "\u001b[6n"]

const immediate = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

export const make = Effect.fnUntraced(function*(options: Options = {}) {
  const { columns = 80, files = new Map(), rows = 24, table = "xterm" } = options
  const screen = makeScreen(columns, rows)
  Widths.use(screen, table)
  const stdin = new PassThrough()
  Readline.emitKeypressEvents(stdin)
  screen.onData((answer) => {
    if (answer !== "") stdin.write(answer)
  })
  let drawn = ""
  let all = ""
  let readers = 0
  let ended = false
  const onEnd = new Set<() => void>()
  const sizes = yield* Queue.unbounded<Terminal.Size, Cause.Done>()

  const readInput = Effect.gen(function*() {
    const queue = yield* Queue.make<Terminal.UserInput, Cause.Done>()
    const onKey = (text: string | undefined, key: Readline.Key) => {
      const input: Terminal.UserInput = {
        input: Option.fromUndefinedOr(text),
        key: { name: key.name ?? "", ctrl: key.ctrl === true, meta: key.meta === true, shift: key.shift === true }
      }
      Queue.offerUnsafe(queue, input)
      if (ends(input)) Queue.endUnsafe(queue)
    }
    const end = () => void Queue.endUnsafe(queue)
    readers++
    onEnd.add(end)
    stdin.on("keypress", onKey)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        readers--
        onEnd.delete(end)
        stdin.off("keypress", onKey)
      })
    )
    if (ended) end()
    return queue as Queue.Dequeue<Terminal.UserInput, Cause.Done>
  })

  const terminal = Terminal.make({
    columns: Effect.sync(() => screen.cols),
    rows: Effect.sync(() => screen.rows),
    size: Effect.succeed(sizes),
    readInput,
    readLine: Effect.never,
    display: (text) =>
      Effect.sync(() => {
        // The line discipline of a terminal, as a pty has it.
        drawn += text.replace(/\r?\n/g, "\r\n")
      })
  })

  const flush = Effect.suspend(() => {
    const text = drawn
    drawn = ""
    all += text
    if (text === "") return Effect.void
    return Effect.promise(() =>
      new Promise<void>((done) => {
        // After a key the screen draws at once, and without one when a timer rings.
        screen.input("")
        screen.write(text, done)
      })
    )
  })

  /** What the terminal is asked it answers at once; what is only drawn is drawn when somebody looks. */
  const answers = Effect.suspend(() => questions.some((question) => drawn.includes(question)) ? flush : Effect.void)

  /** Until nothing moves any more, for so long. */
  const settle = (rounds = 6) =>
    Effect.andThen(
      Effect.forEach(
        Array.from({ length: rounds }),
        () => Effect.andThen(Effect.andThen(immediate, answers), TestClock.adjust("60 millis")),
        { discard: true }
      ),
      flush
    )

  /** Waits for what takes a while on a machine that is busy, such as cryptography. */
  const until = Effect.fnUntraced(function*(what: string, holds: () => boolean) {
    const deadline = performance.now() + 20_000
    for (let round = 0; performance.now() < deadline; round++) {
      if (holds()) return
      yield* settle(1)
      if (round > 20) yield* Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve, 2)))
    }
    return yield* Effect.die(new Error(`Waited in vain for: ${what}\n${textOf(screen)}`))
  })

  const send = (bytes: string) => {
    // Node waits half a second for what may come after an escape; nothing does.
    if (bytes === "\u001b") stdin.emit("keypress", undefined, { sequence: bytes, name: "escape", meta: true })
    else stdin.write(bytes)
  }

  /** Of the last question, or of what was said after it: what a person looks at. */
  const live = (): string => {
    const buffer = screen.buffer.normal
    const seen: Array<string> = []
    for (let index = buffer.baseY; index < buffer.length; index++) {
      seen.push(buffer.getLine(index)!.translateToString(true).trimEnd())
    }
    return seen.join("\n").trimEnd()
  }

  return {
    services: Layer.mergeAll(
      Layer.succeed(Terminal.Terminal, terminal),
      Layer.succeed(TerminalCapabilities.TerminalCapabilities, { canColor: false, canAnimate: true, canPrompt: true }),
      Files.layer(files)
    ),
    /** Bytes, as a keyboard sends them. */
    type: (bytes: string, rounds?: number) => Effect.andThen(Effect.sync(() => send(bytes)), settle(rounds)),
    resize: (columns: number, rows: number, rounds = 10) =>
      Effect.andThen(
        Effect.suspend(() => {
          screen.resize(columns, rows)
          return Queue.offer(sizes, { columns, rows })
        }),
        settle(rounds)
      ),
    /** Nobody is there any more. */
    close: Effect.andThen(
      Effect.sync(() => {
        ended = true
        for (const end of onEnd) end()
      }),
      settle()
    ),
    settle,
    until,
    live,
    /** Scrollback and screen. */
    text: () => textOf(screen),
    screen: () => screen,
    /** Whether keys are being read. */
    isRead: () => readers > 0,
    isCursorVisible: () => all.lastIndexOf("\u001b[?25h") >= all.lastIndexOf("\u001b[?25l"),
    /** Whether keys count by now. */
    isReady: () => /(›| :)$/.test(live())
  }
})

export type Virtual = Effect.Success<ReturnType<typeof make>>
