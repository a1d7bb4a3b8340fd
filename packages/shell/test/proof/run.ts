/** Runs programs without a shell, a few at once. */
import * as ChildProcess from "node:child_process"

export interface Ran {
  /** Nothing if it had to be ended. */
  readonly status: number | undefined
  readonly stdout: string
  readonly stderr: string
}

export interface Options {
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
}

/** A program that reads its input gets two lines, so that none waits for more. */
const input = "foo\nbar\n"

export const run = (words: ReadonlyArray<string>, { cwd, environment }: Options): Promise<Ran> =>
  new Promise((resolve, reject) => {
    const child = ChildProcess.spawn(words[0]!, words.slice(1), { cwd, env: environment, timeout: 8_000 })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("latin1").on("data", (text: string) => stdout += text)
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text)
    // Many programs are done before they have read everything.
    child.stdin.on("error", () => {})
    child.stdin.end(input)
    child.on("error", reject)
    child.on("close", (code) => resolve({ status: code ?? undefined, stdout, stderr }))
  })

/** The results in the order of the inputs, at most `atOnce` of them under way. */
export const each = async <A, B>(
  inputs: ReadonlyArray<A>,
  atOnce: number,
  body: (input: A) => Promise<B>
): Promise<ReadonlyArray<B>> => {
  const results: Array<B> = []
  let next = 0
  const worker = async () => {
    while (next < inputs.length) {
      const index = next++
      results[index] = await body(inputs[index]!)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
