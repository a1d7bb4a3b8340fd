/**
 * A program at a real terminal: a pty, and a screen that shows what the program paints. Keys and sizes go to the pty; the
 * screen's answers, such as to a question for its status, do as well.
 */
import * as Pty from "@lydell/node-pty"
import Headless from "@xterm/headless"
import * as Path from "node:path"

export interface Cell {
  readonly text: string
  /** Colours and attributes, as a word. */
  readonly style: string
}

export interface Options {
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string>>
  readonly args?: ReadonlyArray<string>
  readonly cwd?: string
  /** What the shell makes of the command: `echo y | $0`. */
  readonly shell?: string
  /** Whether the terminal answers when it is asked for its status. */
  readonly answers?: boolean
}

const limit = 30_000

/** What Node compiled is kept: half of what a program takes to begin. */
const compiled = Path.join(import.meta.dirname, "../../../node_modules/.cache/assent-terminal")

/** A screen without a program: what it would show of a text. */
export const makeScreen = (columns: number, rows: number) =>
  new Headless.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true })

/** Everything from the beginning, the end of the screen without its empty rows. */
export const textOf = (screen: Headless.Terminal): string => {
  const buffer = screen.buffer.normal
  const rows: Array<string> = []
  for (let index = 0; index < buffer.length; index++) rows.push(buffer.getLine(index)!.translateToString(true))
  return rows.join("\n").trimEnd()
}

export const cellsOf = (screen: Headless.Terminal): ReadonlyArray<ReadonlyArray<Cell>> => {
  const buffer = screen.buffer.normal
  return Array.from({ length: buffer.length }, (_, index) => {
    const line = buffer.getLine(index)!
    return Array.from({ length: screen.cols }, (_, column): Cell => {
      const cell = line.getCell(column)!
      const style = [
        cell.getFgColorMode(),
        cell.getFgColor(),
        cell.getBgColorMode(),
        cell.getBgColor(),
        cell.isBold(),
        cell.isInverse(),
        cell.isUnderline(),
        cell.isInvisible()
      ].join(",")
      return { text: cell.getChars(), style }
    })
  })
}

export class Program {
  readonly screen: Headless.Terminal
  private readonly pty: Pty.IPty
  private output = ""
  private pending = 0
  /** What was on the screen, until it changes: it is looked at more often than that. */
  private seen: string | undefined
  private waiting: Array<() => void> = []
  private exitCode: number | undefined

  constructor(file: string, options: Options = {}) {
    const { answers = true, args = [], columns = 80, cwd, env, rows = 24, shell } = options
    this.screen = makeScreen(columns, rows)
    const { CI: _ci, FORCE_COLOR: _force, NO_COLOR: _no, VISUAL: _visual, EDITOR: _editor, ...inherited } = process.env
    const command = [process.execPath, "--conditions=@assent/source", file, ...args]
    const [program, ...rest] = shell === undefined ? command : ["/bin/sh", "-c", shell.replace("$0", command.join(" "))]
    this.pty = Pty.spawn(program!, rest, {
      cols: columns,
      rows,
      cwd: cwd ?? Path.join(import.meta.dirname, "programs"),
      env: { ...inherited, NODE_COMPILE_CACHE: compiled, TERM: "xterm-256color", ...env } as Record<string, string>
    })
    if (answers) this.screen.onData((answer) => this.pty.write(answer))
    this.pty.onData((data) => {
      this.output += data
      this.pending++
      this.screen.write(data, () => {
        this.pending--
        this.seen = undefined
        this.wake()
      })
    })
    this.pty.onExit(({ exitCode }) => {
      this.exitCode = exitCode
      this.wake()
    })
  }

  private wake() {
    const waiting = this.waiting
    this.waiting = []
    for (const done of waiting) done()
  }

  /** All that the program has written. */
  get raw(): string {
    return this.output
  }

  /** Scrollback and screen. */
  get text(): string {
    return this.seen ??= textOf(this.screen)
  }

  type(keys: string): void {
    this.pty.write(keys)
  }

  /** As a terminal does it that knows of bracketed paste. */
  paste(text: string): void {
    const bracketed = this.screen.modes.bracketedPasteMode
    this.pty.write(bracketed ? `\x1b[200~${text.replaceAll("\n", "\r")}\x1b[201~` : text.replaceAll("\n", "\r"))
  }

  /** Page after page, to the last. */
  async readOn(): Promise<void> {
    while (/space next/.test(this.live)) {
      const before = this.live
      this.type(" ")
      await this.until("the next page", () => this.live !== before)
    }
  }

  resize(columns: number, rows: number): void {
    this.screen.resize(columns, rows)
    this.seen = undefined
    this.pty.resize(columns, rows)
  }

  /** Until the screen changes, or has not for a while. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 200)
      this.waiting.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  /** Until something is so; it is looked at whenever the screen changes. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const deadline = Date.now() + limit
    while (!holds()) {
      if (this.exitCode !== undefined && this.pending === 0 && !holds()) {
        throw new Error(`The program ended (${this.exitCode}) before: ${what}\n${this.text}`)
      }
      if (Date.now() > deadline) throw new Error(`Waited in vain for: ${what}\n${this.text}`)
      await this.changed()
    }
  }

  /** What is on the screen alone. */
  get visible(): ReadonlyArray<string> {
    const buffer = this.screen.buffer.normal
    return Array.from(
      { length: this.screen.rows },
      (_, index) => buffer.getLine(buffer.baseY + index)!.translateToString(true)
    )
  }

  /** The rows from the last that begins so, to the end, or to the first after it that begins with the other. */
  rows(first: string, last?: string): string {
    const all = this.text.split("\n")
    const from = all.findLastIndex((row) => row.startsWith(first))
    if (from < 0) throw new Error(`No row begins with: ${first}\n${this.text}`)
    const to = last === undefined ? -1 : all.findIndex((row, index) => index >= from && row.startsWith(last))
    return all.slice(from, to < 0 ? undefined : to + 1).join("\n")
  }

  /** Until the text is on the screen, or above it. */
  async see(text: string): Promise<void> {
    // Wherever a row ends.
    await this.until(JSON.stringify(text), () => this.text.replace(/\s+/g, " ").includes(text))
  }

  /** Types, and waits for what that brings about. */
  async press(keys: string, text: string): Promise<void> {
    this.type(keys)
    await this.see(text)
  }

  /** Until a question is on the screen that takes keys, its last words being these. */
  async ready(words: string): Promise<void> {
    await this.until(`${words} ›`, () => {
      // The marker ends the question, above what is typed; a row may end anywhere.
      return this.live.replace(/\s+/g, " ").includes(words) && /›\s*$/m.test(this.live)
    })
  }

  /** The rows that live: those from the cursor on. */
  get live(): string {
    const buffer = this.screen.buffer.normal
    const rows: Array<string> = []
    for (let index = buffer.baseY + buffer.cursorY; index < buffer.length; index++) {
      rows.push(buffer.getLine(index)!.translateToString(true))
    }
    return rows.join("\n").trimEnd()
  }

  /** The exit code, once everything is on the screen. */
  async ended(): Promise<number> {
    const deadline = Date.now() + limit
    while (this.exitCode === undefined || this.pending > 0) {
      if (Date.now() > deadline) throw new Error(`It does not end.\n${this.text}`)
      await this.changed()
    }
    return this.exitCode
  }

  get pid(): number {
    return this.pty.pid
  }

  /** As when its window is closed. */
  close(): void {
    if (!("destroy" in this.pty) || typeof this.pty.destroy !== "function") throw new Error("node-pty has no destroy")
    this.pty.destroy()
  }

  kill(): void {
    if (this.exitCode === undefined) this.pty.kill("SIGKILL")
  }
}

/** Runs a program while it is used, and ends it. */
export const withProgram = async (
  file: string,
  options: Options,
  use: (program: Program) => Promise<void>
): Promise<void> => {
  const program = new Program(file, options)
  try {
    await use(program)
  } finally {
    program.kill()
  }
}
