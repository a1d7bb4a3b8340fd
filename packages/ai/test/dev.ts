/**
 * `npm run dev -- seal`: runs the tests whose path contains one of the words, then again those that a saved file may have
 * broken, and checks the types of everything meanwhile. Without a word it begins with all tests.
 */
import * as ChildProcess from "node:child_process"
import * as Path from "node:path"
import * as Readline from "node:readline"

const root = Path.join(import.meta.dirname, "../../..")
const words = process.argv.slice(2)
if (words.length === 0) console.log("All tests run first, which takes minutes. For some: npm run dev -- seal")

const start = (script: string, args: ReadonlyArray<string>, stdio: ChildProcess.StdioOptions) =>
  ChildProcess.spawn(process.execPath, [Path.join(root, "node_modules", script), ...args], { cwd: root, stdio })

// It may read the keys: it lists its own with `h`.
const tests = start("vitest/vitest.mjs", ["watch", "--config=vitest.workspace.ts", ...words], "inherit")
const types = start("typescript/bin/tsc", ["-b", "-w", "--preserveWatchOutput"], ["ignore", "pipe", "inherit"])

if (types.stdout !== null) {
  Readline.createInterface(types.stdout).on("line", (line) => {
    if (line !== "") console.log(`types: ${line}`)
  })
}

const both = [tests, types]
for (const child of both) {
  child.once("exit", (code) => {
    for (const other of both) other.kill()
    process.exitCode ??= code ?? 0
  })
}
