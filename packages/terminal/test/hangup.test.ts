/** A real process whose person leaves, or whose window is closed: nothing runs, and the terminal can be used. */
import { assert, describe, it } from "@effect/vitest"
import * as Pieces from "./play/pieces.ts"

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe.concurrent("a process", () => {
  it("is left by Ctrl-D in the middle of a text: exit code 130, and the terminal is as it was", async () => {
    const shell = "before=$(stty -g); $0; echo code=$?; [ \"$before\" = \"$(stty -g)\" ] && echo as before"
    await Pieces.withScenes(["mail"], { shell }, async ({ begun, ended, over, press, program }) => {
      await begun(0)
      await press("e")
      await press("4")
      program.type("\u0004")
      await ended()
      assert.match(program.text, /^code=130$/m)
      assert.match(program.text, /^as before$/m)
      assert.isAbove(program.raw.lastIndexOf("\u001b[?25h"), program.raw.lastIndexOf("\u001b[?25l"))
      assert.deepStrictEqual(over(), [{ scene: "mail", ran: [], models: 1 }])
    })
  }, 60_000)

  it("ends with its window, and has run nothing", async () => {
    await Pieces.withScenes(["edit"], {}, async ({ begun, over, program }) => {
      await begun(0)
      program.close()
      await program.until("the end", () => !isAlive(program.pid))
      assert.deepStrictEqual(over().flatMap(({ ran }) => ran), [])
    })
  }, 60_000)
})
