/** Processes that tests start, talk to and kill. */
import { Effect, type Scope } from "effect"
import * as ChildProcess from "node:child_process"
import * as Path from "node:path"

export interface Child {
  /** Waits for a line that begins so; fails if the process ends before. What follows in the line. */
  readonly said: (word: string) => Effect.Effect<string, Error>
  readonly say: (line: string) => Effect.Effect<void>
  readonly kill: Effect.Effect<void>
  /** Waits for its end. */
  readonly ended: Effect.Effect<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
  readonly output: () => string
}

/** Starts a program of the folder beside this, or at a path; whatever becomes of it, it has ended when the scope has. */
export const start = (program: string, ...args: ReadonlyArray<string>): Effect.Effect<Child, never, Scope.Scope> =>
  startBy([], program, ...args)

/** The same, by a command that carries out what follows it. */
export const startBy = (
  by: ReadonlyArray<string>,
  program: string,
  ...args: ReadonlyArray<string>
): Effect.Effect<Child, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const node = [process.execPath, "--conditions=@assent/source"]
        const [command = "", ...rest] = [
          ...by,
          ...node,
          Path.resolve(import.meta.dirname, "programs", program),
          ...args
        ]
        const child = ChildProcess.spawn(
          command,
          rest,
          { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ASSENT_APPROVAL_KEY: undefined } }
        )
        const output: Array<string> = []
        const listeners = new Set<() => void>()
        const hear = (text: string) => {
          output.push(text)
          for (const listener of listeners) listener()
        }
        child.stdout.setEncoding("utf8").on("data", hear)
        child.stderr.setEncoding("utf8").on("data", hear)
        const exit = new Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>(
          (resolve) => {
            child.once("close", (code, signal) => {
              resolve({ code, signal })
              for (const listener of listeners) listener()
            })
          }
        )
        return { child, exit, listeners, output }
      }),
      ({ child, exit }) =>
        Effect.promise(() => {
          child.kill("SIGKILL")
          return exit
        })
    ),
    ({ child, exit, listeners, output }): Child => {
      const used = new Map<string, number>()
      const find = (word: string): string | undefined => {
        const lines = output.join("").split("\n").slice(0, -1).filter((line) => line.startsWith(word))
        const line = lines[used.get(word) ?? 0]
        if (line !== undefined) used.set(word, (used.get(word) ?? 0) + 1)
        return line?.slice(word.length).trim()
      }
      return {
        output: () => output.join(""),
        said: (word) =>
          Effect.callback<string, Error>((resume) => {
            const look = () => {
              const found = find(word)
              if (found !== undefined) done(Effect.succeed(found))
              else if (child.exitCode !== null || child.signalCode !== null) {
                done(Effect.fail(new Error(`It ended with ${child.exitCode ?? child.signalCode}:\n${output.join("")}`)))
              }
            }
            const done = (result: Effect.Effect<string, Error>) => {
              listeners.delete(look)
              resume(result)
            }
            listeners.add(look)
            look()
          }),
        say: (line) => Effect.sync(() => void child.stdin.write(line + "\n")),
        kill: Effect.promise(async () => {
          child.kill("SIGKILL")
          await exit
        }),
        ended: Effect.promise(() => exit)
      }
    }
  )
