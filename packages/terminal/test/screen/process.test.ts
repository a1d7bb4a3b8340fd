/** A program at a real terminal, that writes, is stopped, and is killed, while its question stands. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { type Options, type Program, withProgram } from "../pty.ts"
import { drawBy, terminals } from "../widths/terminals.ts"

const withTalk = async (
  { args = [], ...options }: Options,
  use: (program: Program, say: (by: string, text: string) => void) => Promise<void>
): Promise<void> => {
  const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-terminal-"))
  const file = Path.join(folder, "talk")
  Fs.writeFileSync(file, "")
  try {
    await withProgram(
      Path.join(import.meta.dirname, "../programs/talks.ts"),
      { ...options, args: [file, ...args] },
      (program) => use(program, (by, text) => Fs.appendFileSync(file, `${JSON.stringify({ by, text })}\n`))
    )
  } finally {
    Fs.rmSync(folder, { recursive: true })
  }
}

const standing = async (program: Program) => {
  await program.see("git status")
  await program.until("a question that takes keys", () => /›\s*$/.test(program.live))
}

/** What the question begins with; all that is above it is not of the question. */
const above = (program: Program): string => program.text.slice(0, program.text.length - program.live.length)

/** Raw mode, the cursor and pastes, as the program has left them. */
const isUsable = (raw: string): boolean =>
  raw.lastIndexOf("\u001b[?25h") > raw.lastIndexOf("\u001b[?25l") &&
  raw.lastIndexOf("\u001b[?2004l") > raw.lastIndexOf("\u001b[?2004h")

describe.concurrent("what a program writes while a question stands", () => {
  it("goes above it, in its order, whole lines, and the question is there once", async () => {
    await withTalk({}, async (program, say) => {
      await standing(program)
      say("Console", "by Console\nand a second line")
      say("stderr", "half a line, ")
      say("stdout", "and the other half\n")
      say("bytes", "grüße 漢\n")
      say("log", "by a logger")
      say("stdout", "with no end")
      await program.until("all of it", () => above(program).includes("by a logger"))
      await standing(program)
      const rows = above(program).split("\n")
      const from = rows.indexOf("by Console")
      assert.deepStrictEqual(rows.slice(from, from + 4), [
        "by Console",
        "and a second line",
        "half a line, and the other half",
        "grüße 漢"
      ])
      assert.notInclude(program.text, "with no end")
      assert.strictEqual(program.text.split("git status").length, 2)
      // What was on the screen before stays, and the question begins at the left.
      assert.match(program.text, /^a row that is left open *\n/)
      program.type("n")
      await program.see("decided: no")
      assert.include(program.text, "with no end")
      assert.isTrue(isUsable(program.raw))
    })
  }, 60_000)

  it("lets no key count that was pressed before the question was drawn again", async () => {
    await withTalk({ answers: false }, async (program, say) => {
      await standing(program)
      say("Console", "something new")
      await program.until("the line above", () => above(program).includes("something new"))
      program.type("y")
      await standing(program)
      assert.notInclude(program.text, "decided:")
      program.type("y")
      await program.see("decided:")
      assert.include(program.text, "decided: yes")
    })
  }, 60_000)
})

describe.concurrent("our signs", () => {
  it.each([[1, "✔ y · n ›"], [2, "+ y . n :"]] as const)(
    "are drawn where each takes a cell, and not where one takes two: %i",
    async (ambiguous, asked) => {
      await withTalk({ args: ["漢字 │ я ".repeat(20)] }, async (program) => {
        drawBy(program.screen, terminals.find(({ name }) => name === "vte")!, ambiguous)
        await program.see(`Run it? ${asked}`)
        const rows = program.live.split("\n")
        assert.isAbove(rows.length, 2)
        for (const row of rows) assert.match(row, /^( {2}[│⋮|:] |Run it\?)/)
        await program.until("a question that takes keys", () => /[›:]\s*$/.test(program.live))
        program.type("n")
        await program.see("decided: no")
      })
    },
    60_000
  )
})

describe.concurrent("a signal", () => {
  it.each(["SIGHUP", "SIGQUIT", "SIGTERM"] as const)(
    "%s leaves a terminal that can be used, and approves nothing",
    async (signal) => {
      await withTalk({}, async (program, say) => {
        await standing(program)
        say("stdout", "the last words")
        await program.changed()
        process.kill(program.pid, signal)
        await program.ended()
        assert.isTrue(isUsable(program.raw))
        assert.notInclude(program.text, "decided")
      })
    },
    60_000
  )

  it("that stops it gives the terminal back to the shell; after fg it is asked again, and takes keys", async () => {
    await withTalk({ shell: "exec bash --norc --noprofile -i", env: { PS1: "shell> " } }, async (program) => {
      await program.see("shell>")
      // The same program, as a job of a shell.
      const command = [process.execPath, "--conditions=@assent/source", "talks.ts", "/dev/null"].join(" ")
      for (const stop of ["\u001a", "TSTP", "STOP"] as const) {
        program.type(`clear; ${command}\r`)
        await standing(program)
        if (stop === "\u001a") program.type(stop)
        else process.kill(childOf(program.pid), `SIG${stop}`)
        await program.until("the shell", () => /Stopped.*\nshell>\s*$/s.test(program.text))
        // Bash then has pastes of its own.
        if (stop !== "STOP") assert.isTrue(isUsable(program.raw.slice(0, program.raw.lastIndexOf("Stopped"))))
        program.type("echo y | cat\r")
        await program.until("a command of the shell", () => /\ny\nshell>\s*$/.test(program.text))
        program.type("fg\r")
        await program.until("the question again", () => program.live.includes("…") || /›\s*$/.test(program.live))
        await standing(program)
        assert.strictEqual(program.text.slice(program.text.lastIndexOf("shell> fg")).split("git status").length, 2)
        program.type("y")
        await program.until("a decision", () => /decided: yes\nshell>\s*$/.test(program.text))
      }
    })
  }, 90_000)
})

describe.concurrent("a window that becomes narrower", () => {
  it("has the question once, and no row that the terminal broke", async () => {
    await withTalk({ args: [`git status; ${"echo a few words; ".repeat(20)}`] }, async (program) => {
      await standing(program)
      for (const [columns, rows] of [[40, 24], [23, 24], [80, 12], [30, 10]] as const) {
        const before = program.raw.length
        program.resize(columns, rows)
        await program.until("a question that takes no keys", () => program.raw.includes("…", before))
        await standing(program)
        const seen = program.visible.map((row) => row.trimEnd()).filter((row) => row !== "")
        assert.deepStrictEqual(seen.filter((row) => !/^( {2}[│⋮] |Run it\?)/.test(row)), [], `${columns}`)
        assert.strictEqual(seen.filter((row) => row.startsWith("  │ ")).length, rows > 10 ? 1 : 0, `${columns}`)
        assert.strictEqual(seen.at(-1)?.slice(-1), "›")
      }
      program.type("n")
      await program.see("decided: no")
    })
  }, 60_000)
})

/** The process that a shell has begun. */
const childOf = (pid: number): number =>
  Number(Fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").at(-1))
