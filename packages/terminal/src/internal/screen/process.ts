/**
 * Node's process, where the terminal is its own: the one module that uses it. It is known by what is displayed, which
 * then goes by `process.stdout`; another terminal, such as one of a user of a server, gets none of what follows.
 *
 * While a question stands, what the program writes is kept until the question can be drawn below it. A signal that ends the
 * process leaves a terminal that can be used; one that stops it does too, and when it goes on, keys come as before.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { PlatformError } from "effect/PlatformError"
import type * as Scope from "effect/Scope"
import type * as Terminal from "effect/Terminal"

// =============================================================================
// Models
// =============================================================================

interface Stream {
  readonly isTTY?: boolean | undefined
  write: (chunk: unknown, ...rest: ReadonlyArray<unknown>) => boolean
}

interface Key {
  readonly name?: string | undefined
  readonly ctrl?: boolean | undefined
  readonly meta?: boolean | undefined
  readonly shift?: boolean | undefined
  readonly sequence?: string | undefined
}

type OnKey = (text: string | undefined, key: Key) => void

interface Input {
  readonly isTTY?: boolean | undefined
  readonly setRawMode?: ((raw: boolean) => unknown) | undefined
  readonly on: (event: "keypress", listener: OnKey) => void
  readonly off: (event: "keypress", listener: OnKey) => void
}

type Signal = "SIGHUP" | "SIGQUIT" | "SIGTERM" | "SIGINT" | "SIGTSTP" | "SIGCONT"

interface Process {
  readonly stdin: Input
  readonly stdout: Stream
  readonly stderr: Stream
  readonly pid: number
  readonly platform: string
  readonly on: (event: Signal | "exit", listener: () => void) => void
  readonly off: (event: Signal | "exit", listener: () => void) => void
  readonly listeners: (event: Signal) => ReadonlyArray<unknown>
  readonly kill: (pid: number, signal: Signal) => void
}

export interface Host {
  readonly display: (text: string) => Effect.Effect<void, PlatformError>
  /** What a terminal sent for a key, where that is known. */
  readonly sequenceOf: (input: Terminal.UserInput) => string | undefined
  /** Takes the whole lines that the program wrote. */
  readonly written: () => string
  /** Stops the process, as the terminal does at Ctrl-Z, until it goes on; not where the terminal is another's. */
  readonly suspend: Effect.Effect<boolean>
  /** After the process was stopped by others. */
  readonly resume: Effect.Effect<void>
}

export interface Listener {
  readonly wrote: () => void
  /** A signal says that the process is to stop. */
  readonly stopping: () => void
  /** It was stopped, and goes on. */
  readonly continued: () => void
}

// =============================================================================
// Streams
// =============================================================================

/** Calls `take` with what is written to a stream; what it does not take is written. */
const intercept = (
  stream: Stream,
  take: (chunk: unknown) => boolean
): { readonly write: Stream["write"]; readonly end: () => void } => {
  const isOwn = Object.hasOwn(stream, "write")
  const before = stream.write
  const write: Stream["write"] = (chunk, ...rest) => before.call(stream, chunk, ...rest)
  const intercepted: Stream["write"] = (chunk, ...rest) => {
    if (!take(chunk)) return write(chunk, ...rest)
    const done = rest[rest.length - 1]
    if (typeof done === "function") queueMicrotask(() => done())
    return true
  }
  stream.write = intercepted
  return {
    write,
    end: () => {
      // Whoever came after stays; they write through to what passes everything by then.
      if (stream.write !== intercepted) return
      if (isOwn) stream.write = before
      else Reflect.deleteProperty(stream, "write")
    }
  }
}

// =============================================================================
// Keys
// =============================================================================

const maxKeys = 10_000

/** What Node says of each key, in their order: Effect's `UserInput` does not say what was sent. */
const recorder = (stdin: Input) => {
  let recorded: Array<{ readonly text: string | undefined; readonly key: Key }> = []
  const record: OnKey = (text, key) => {
    if (recorded.length === maxKeys) recorded = []
    recorded.push({ text, key })
  }
  stdin.on("keypress", record)
  return {
    sequenceOf: ({ input, key }: Terminal.UserInput): string | undefined => {
      const index = recorded.findIndex((one) =>
        one.text === (input._tag === "Some" ? input.value : undefined) && (one.key.name ?? "") === key.name &&
        (one.key.ctrl ?? false) === key.ctrl && (one.key.meta ?? false) === key.meta &&
        (one.key.shift ?? false) === key.shift
      )
      return index < 0 ? undefined : recorded.splice(0, index + 1)[index]!.key.sequence
    },
    end: () => stdin.off("keypress", record)
  }
}

// =============================================================================
// Attaching
// =============================================================================

const deadly: ReadonlyArray<Signal> = ["SIGHUP", "SIGQUIT", "SIGTERM", "SIGINT"]

/** A process that is stopped goes on here; one that cannot be stopped, such as one without a shell, does so at once. */
const patience = "100 millis"

const ours = new WeakSet<() => void>()

const alone = (terminal: Terminal.Terminal): Host => ({
  display: terminal.display,
  sequenceOf: () => undefined,
  written: () => "",
  suspend: Effect.succeed(false),
  resume: Effect.void
})

/** `enter` makes a terminal one for questions, and is displayed; `leave` makes it one of a shell. */
export const attach = Effect.fnUntraced(function*(
  terminal: Terminal.Terminal,
  { enter, leave, listener }: { readonly enter: string; readonly leave: string; readonly listener: Listener }
): Effect.fn.Return<Host, never, Scope.Scope> {
  const { process } = globalThis as { readonly process?: Process }
  if (process?.stdout === undefined || process.stdin === undefined) {
    yield* Effect.ignore(terminal.display(enter))
    return alone(terminal)
  }
  const { stdin, stdout } = process
  let isOwn = false
  let isOpen = true
  let displayed: string | undefined
  let kept = ""
  let isTold = false

  const keep = (stream: Stream) => {
    const decoder = new TextDecoder()
    return intercept(stream, (chunk) => {
      if (displayed !== undefined && chunk === displayed) {
        isOwn = true
        return false
      }
      if (!isOpen || !isOwn || stream.isTTY !== true) return false
      kept += typeof chunk === "string" ? chunk : decoder.decode(chunk as Uint8Array, { stream: true })
      if (!isTold) listener.wrote()
      isTold = true
      return true
    })
  }
  const out = keep(stdout)
  const errors = keep(process.stderr)
  const keys = recorder(stdin)

  const display = (text: string) =>
    Effect.suspend(() => {
      displayed = text
      return Effect.ensuring(
        terminal.display(text),
        Effect.sync(() => {
          displayed = undefined
        })
      )
    })
  const written = (end: number): string => {
    const lines = kept.slice(0, end)
    kept = kept.slice(end)
    return lines
  }
  const setRaw = (raw: boolean) => {
    if (stdin.isTTY === true) stdin.setRawMode?.(raw)
  }

  // What a program leaves behind that crashes, or is killed, is a terminal that can be used; there are no finalizers then,
  // and nobody to wait for what is written.
  const atExit = () => {
    if (isOwn) out.write(leave)
    else Effect.runSyncExit(terminal.display(leave))
    if (kept !== "") out.write(written(kept.length))
  }
  process.on("exit", atExit)

  const signals = new Map<Signal, () => void>()
  const listen = (signal: Signal, then: () => void) => {
    ours.add(then)
    signals.set(signal, then)
    process.on(signal, then)
  }
  const unlisten = (signal: Signal) => {
    const then = signals.get(signal)
    if (then !== undefined) process.off(signal, then)
    signals.delete(signal)
  }
  const die = (signal: Signal) => () => {
    // Somebody else knows what the signal means to the program.
    if (process.listeners(signal).some((other) => !ours.has(other as () => void))) return
    try {
      atExit()
      setRaw(false)
    } catch {
      // The terminal is gone.
    }
    for (const one of signals.keys()) unlisten(one)
    process.kill(process.pid, signal)
  }

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isOpen = false
      process.off("exit", atExit)
      for (const signal of signals.keys()) unlisten(signal)
      keys.end()
      out.end()
      errors.end()
      if (kept !== "") out.write(written(kept.length))
    })
  )
  yield* Effect.addFinalizer(() => Effect.ignore(display(leave)))
  yield* Effect.ignore(display(enter))
  if (!isOwn) return { ...alone(terminal), display }

  let goesOn: Deferred.Deferred<void> | undefined
  const continued = () => {
    if (goesOn === undefined) listener.continued()
    else Deferred.doneUnsafe(goesOn, Effect.void)
  }
  for (const signal of deadly) listen(signal, die(signal))
  listen("SIGTSTP", listener.stopping)
  listen("SIGCONT", continued)

  const resume = Effect.suspend(() => {
    // Node takes the mode to be what it was; a shell may have changed it.
    setRaw(false)
    setRaw(true)
    return Effect.ignore(display(enter))
  })
  const suspend = Effect.gen(function*() {
    if (process.platform === "win32") return false
    yield* Effect.ignore(display(leave))
    setRaw(false)
    const goOn = goesOn = Deferred.makeUnsafe<void>()
    unlisten("SIGTSTP")
    // The whole job, as the terminal does it: a program that waits for this one is stopped too.
    process.kill(0, "SIGTSTP")
    yield* Effect.timeoutOption(Deferred.await(goOn), patience)
    goesOn = undefined
    listen("SIGTSTP", listener.stopping)
    yield* resume
    return true
  })
  return {
    display,
    sequenceOf: keys.sequenceOf,
    written: () => {
      isTold = false
      return written(kept.lastIndexOf("\n") + 1)
    },
    suspend,
    resume
  }
})
