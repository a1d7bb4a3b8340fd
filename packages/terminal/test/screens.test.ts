/** What is on the screen of a real terminal, and which keys answer it. */
import { assert, describe, it } from "@effect/vitest"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { withAsked } from "./asked.ts"
import { withProgram } from "./pty.ts"
import { assertScreen } from "./screens.ts"
import { withStory } from "./story.ts"

const once = { _tag: "Approved", remember: "none" }

const lines = Array.from({ length: 60 }, (_, index) => `line ${index + 1}`)

const hostile = {
  toolName: "Write\u202eFile",
  reason: "A good reason.",
  params: {
    "path\u200b": "holiday\u202egpj.exe",
    content: "\u001b[2J\u001b[H\u001b[32m━━ May this run? ━━\r\n  y  Yes, once ›\u001b[0m\u0007",
    spaces: `ls${" ".repeat(200)}; rm -rf ~`,
    marks: `Z${"\u0301".repeat(12)}algo`,
    wide: "漢字".repeat(30)
  }
}

/** The last words of a question that takes keys. */
const question = "Enter only after ↑↓"

describe.concurrent("80 columns", () => {
  it("pages, details, type-ahead, pastes, resizes", async () => {
    const requests = [
      // Details, and a call that must be asked every time.
      {
        toolName: "mcp.files.Delete",
        params: { path: "/srv/data", recursive: true, "a key": { of: ["JSON"] }, count: "3", n: 3 },
        source: "mcp.files",
        reason: "It cannot be undone.",
        approvers: ["ada", "bob"],
        expiresAt: Date.UTC(2026, 11, 22),
        issuedAt: Date.UTC(2026, 10, 22),
        rememberable: false,
        editable: false,
        presentation: { type: "command", content: "rm -r /srv/data", metadata: { directory: "/srv" } }
      },
      { params: { path: "long.txt", content: lines.join("\n") } },
      { toolName: "Second", params: {}, source: "program" },
      { toolName: "Third", params: {}, after: "typing" },
      { toolName: "Pasted", params: {} },
      { params: { path: "src/resize.ts", content: `export const wide = "${"0123456789".repeat(9)}"\n` } },
      hostile,
      // Ada is at the terminal.
      { toolName: "Deploy", params: { to: "production" }, approvers: [["bob"], ["ben", "eve"]] }
    ]
    await withAsked(requests, {}, async ({ decide, decisions, deny, goOn, program }) => {
      await program.ready(question)
      assertScreen("mcp", program.live)
      await program.press("d", "Details ━━")
      await program.ready("Esc goes back")
      assertScreen("details", program.live.replace(/(?:expires|expired).*/, "expires"))
      program.type("\u001b")
      await program.ready(question)
      // Neither to be remembered nor to be edited.
      await program.press("s", "s means nothing here.")
      await program.press("e", "e means nothing here.")
      assert.deepStrictEqual(await decide("y"), once)

      // Page after page, in place: no key says yes before every row was shown.
      await program.ready("? help")
      assertScreen("page", program.live)
      assert.notInclude(program.text, "line 60")
      await program.press("y", "y waits for all rows.")
      await program.press(" ", "line 35")
      assert.lengthOf(decisions(), 1)
      await program.press("b", "line 1 ")
      await program.press("\u001b[F", "line 60")
      await program.press("y", "y waits for all rows.")
      await program.readOn()
      await program.ready(question)
      assertScreen("last-page", program.live)
      assert.lengthOf(decisions(), 1)

      // What was typed before the next question was on the screen does not answer it, nor do the lines of a paste.
      assert.deepStrictEqual(await decide("y"), once)
      await program.press("yyyyyy\ry\ry\r", "Second")
      await program.ready(question)
      // A program's own question, in no conversation: nothing would be remembered, and no edit would count.
      assert.notMatch(program.live, /^ {2}[se] /m)
      assert.lengthOf(decisions(), 2)
      const refused = async (use: () => void) => {
        const before = program.raw.length
        use()
        await program.until("a refusal", () => program.raw.includes("↑↓ …", before))
        await program.ready(question)
      }
      await refused(() => program.paste("y\ny\ny"))
      assert.lengthOf(decisions(), 2)
      // A paste of a terminal that does not say so.
      await refused(() => program.type("yes, please"))
      // A paste that claims to be over before it is.
      await refused(() => program.type("\x1b[200~y\x1b[201~yyy"))
      assert.lengthOf(decisions(), 2)
      assert.deepStrictEqual(await decide("y"), once)

      // What was typed while the program was at work, a line and half of one, does not answer what it asks next.
      await program.see("at work")
      // The terminal shows it by itself, once nobody reads keys.
      while (!/at work\s+y/.test(program.text)) {
        program.type("y")
        await program.changed()
      }
      await program.press("\ryyy", "y yyy")
      goOn("typing")
      await program.see("Third")
      await program.ready(question)
      assert.lengthOf(decisions(), 3)

      // A long paste is a reason, line breaks and all, and is not painted once for each of its characters.
      program.type("n")
      await program.ready("Enter denies")
      const lines = Array.from({ length: 1_000 }, (_, index) => `no ${String(index).padStart(6, "0")}`)
      const reason = `${lines.join("\n")}!`
      assert.strictEqual(reason.length, 10_000)
      const painted = program.raw.length
      program.paste(reason)
      await program.see("no 000999!▏")
      assert.isBelow(program.raw.length - painted, 5_000)
      assertScreen("paste", program.live)
      assert.deepStrictEqual(await decide("\r"), { _tag: "Denied", note: reason })

      // Without bracketed paste, each key costs the same, however long the text is by now.
      await program.ready(question)
      program.type("n")
      await program.ready("Enter denies")
      const before = program.raw.length
      await program.press("x".repeat(3_000), "3000 characters, at 3000")
      assert.isBelow((program.raw.length - before) / 3_000, 2_000)
      assert.deepStrictEqual(await decide("\r"), { _tag: "Denied", note: "x".repeat(3_000) })

      // Narrower: it is drawn anew, in place.
      await program.ready(question)
      program.resize(40, 24)
      await program.until("the end of 40", () => program.live.endsWith("Enter after ↑↓ ›"))
      assertScreen("narrower", program.live)
      program.resize(80, 24)
      await program.ready(question)
      program.type("n")
      await program.ready("Enter denies")
      await program.press("a reason that goes on beyond the right side of a narrow window, and is whole", "whole▏")
      program.resize(40, 12)
      await program.until("rows of 40", () => program.live.split("\n").length > 4 && program.live.includes("whole▏"))
      program.resize(80, 24)
      await program.until("rows of 80", () => program.live.split("\n").length < 5 && program.live.includes("whole▏"))
      assert.deepInclude(await decide("\r"), { _tag: "Denied" })

      // Hostile text.
      await program.ready("? help")
      assertScreen("hostile", program.live)
      assert.deepStrictEqual(await deny(), { _tag: "Denied" })

      // For others to decide: it is said, and nothing is asked.
      assert.strictEqual(await program.ended(), 0)
      assert.deepInclude(decisions().at(-1), { _tag: "Info" })
      assertScreen("elsewhere", program.rows("✖ open").replace(/^done$/m, ""))
    })
  }, 90_000)
})

describe.concurrent("40 columns, without colour, of a terminal that answers nothing", () => {
  it("is readable, writes no colour, and takes keys after a while", async () => {
    const requests = [
      // Nothing for a person.
      {
        interaction: "webhook",
        awaited: { name: "payment", kind: "webhook", prompt: "Has it been paid?", answerSchema: {} }
      },
      {
        params: { path: "src/a.ts", content: "const a = 1\n" },
        reason: "It writes where the program is built from.",
        presentation: { type: "diff", content: "--- src/a.ts\n+++ src/a.ts\n@@ -1 +1 @@\n-const a = 0\n+const a = 1\n" }
      },
      hostile
    ]
    await withAsked(requests, { columns: 40, rows: 60, env: { NO_COLOR: "1" }, answers: false }, async (asked) => {
      const { decide, decisions, deny, program } = asked
      await program.ready("d details")
      assert.deepStrictEqual(decisions(), [{ _tag: "Info", note: "This is not for a person at a terminal to answer." }])
      assertScreen("narrow", program.live)
      program.type("s")
      await program.ready("Esc back")
      assertScreen("narrow-session", program.live)
      assert.deepInclude(await decide("2"), {
        remember: { covers: { _tag: "Path", globs: ["src/**"], param: "path", others: ["content"] } }
      })
      await program.ready("d details")
      assertScreen("narrow-hostile", program.live)
      assert.notMatch(program.raw.replaceAll("\x1b", "ESC"), /ESC\[[\d;]*[1-9][\d;]*m/)
      assert.deepStrictEqual(await deny(), { _tag: "Denied" })
      assert.strictEqual(await program.ended(), 0)
    })
  }, 90_000)
})

describe.concurrent("an editor", () => {
  it("has the terminal while it runs; what it wrote is shown and asked again", async () => {
    const folder = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-editor-"))
    const editor = Path.join(folder, "editor")
    const seen = Path.join(folder, "seen")
    Fs.writeFileSync(
      editor,
      `#!/bin/sh
stat -c %a "$2" > ${seen}; echo "$2" >> ${seen}
printf 'Editor: '; read line
[ "$line" = quit ] && exit 7
sed -i "s/one/$line/" "$2"
`,
      { mode: 0o700 }
    )
    try {
      const request = { params: { path: "a.txt", content: "one" } }
      await withAsked([request], { env: { EDITOR: `${editor} --wait` } }, async ({ decide, program }) => {
        await program.ready(question)
        program.type("e")
        await program.ready("or ↑↓ and Enter")
        program.type("3")
        await program.ready("Enter done")
        await program.press("\x07", "Editor:")
        program.type("broken\"\r")
        await program.until("the text that it wrote", () => program.live.includes("broken"))
        await program.ready("Enter done")
        await program.press("\r", "! Invalid JSON")
        program.type("\x07")
        await program.until("the editor again", () => program.raw.split("Editor:").length === 3)
        await program.press("quit\r", `! "${editor}" ended with 7, so nothing is changed.`)
        program.type("\u001b")
        await program.ready("or ↑↓ and Enter")
        // A text is edited as what it is.
        program.type("2")
        await program.ready("Enter done")
        program.type("\x07")
        await program.until("the editor once more", () => program.raw.split("Editor:").length === 4)
        await program.press("two\r", "two▏")
        program.type("\r")
        await program.ready(question)
        assert.include(program.live, "content │ two")
        assert.deepStrictEqual(await decide("y"), { ...once, params: { path: "a.txt", content: "two" } })
        assert.strictEqual(await program.ended(), 0)
        const [mode, file] = Fs.readFileSync(seen, "utf8").split("\n").slice(-3)
        assert.strictEqual(mode, "600")
        assert.isFalse(Fs.existsSync(file!))
        assert.isFalse(Fs.existsSync(Path.dirname(file!)))
      })
    } finally {
      Fs.rmSync(folder, { recursive: true })
    }
  }, 60_000)
})

describe.concurrent("the end", () => {
  it(
    "without untilStopped: Ctrl-C in a batch runs nothing of it, and denies the next call without asking",
    async () => {
      await withStory(["on"], { env: { NO_COLOR: "1" } }, async ({ program, told }) => {
        await program.ready("? help")
        program.type("o")
        await program.ready(question)
        await program.press("y", "✔ once Run │ ls")
        await program.ready(question)
        program.type("\x03")
        assert.strictEqual(await program.ended(), 0)
        const all = told()
        assert.deepStrictEqual(
          all.flatMap((one) => "journal" in one ? [[one["journal"], one["call"]]] : []).toSorted(),
          [["denied", "call-1"], ["denied", "call-2"], ["denied", "call-3"]]
        )
        assert.deepStrictEqual(all.filter((one) => "ran" in one), [])
        assert.notInclude(program.text, "date")
        assert.include(program.text, "■ stopped  whatever is asked from now on is denied")
      })
    },
    60_000
  )

  it("a terminal on output only is no terminal: an error that says what to do, and no yes", async () => {
    const file = Path.join(import.meta.dirname, "programs/asks.ts")
    await withProgram(file, { args: ["/dev/null", "/dev/null"], shell: "echo y | $0" }, async (program) => {
      assert.strictEqual(await program.ended(), 1)
      const said = program.text.replace(/\s+/g, " ")
      assert.include(said, "NoTerminal: Nobody can be asked")
      assert.include(said, "ApprovalController.layerStrict")
    })
  }, 60_000)
})
