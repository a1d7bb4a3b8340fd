/** A page of docs/, the programs on it, and what they print. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"

const docs = Path.join(import.meta.dirname, "../../../../docs")

export const read = (name: string): string => Fs.readFileSync(Path.join(docs, `${name}.md`), "utf8")

/** What stands on the page, if this file is on it as it is: the program, and right behind it what it prints. */
export const printedBy = (page: string, file: string): string | undefined => {
  const [, behind] = page.split(`\`\`\`ts\n${Fs.readFileSync(file, "utf8")}\`\`\`\n`)
  return behind === undefined ? undefined : /^\n```text\n([^]*?)^```$/m.exec(behind)?.[1] ?? ""
}

/** Every program of a page that can be run: it says where it imports from. */
export const programsOf = (page: string): ReadonlyArray<string> =>
  [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, program]) => program!).filter((program) =>
    program.includes(`from "@assent/`)
  )

/** What a program prints, as a process of its own that knows no key. */
export const run = (file: string, options?: { readonly cwd?: string; readonly args?: ReadonlyArray<string> }) =>
  new Promise<string>((resolve, reject) => {
    ChildProcess.execFile(
      process.execPath,
      ["--conditions=@assent/source", file, ...options?.args ?? []],
      {
        cwd: options?.cwd ?? import.meta.dirname,
        env: { ...process.env, ASSENT_APPROVAL_KEY: undefined, NO_COLOR: "1" },
        timeout: 50_000
      },
      (error, stdout, stderr) => error === null ? resolve(stdout) : reject(new Error(`${stdout}\n${stderr}`))
    )
  })
