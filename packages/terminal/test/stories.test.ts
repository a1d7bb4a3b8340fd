/** A person at a real terminal, asked by Assent's engine: what they see, what runs, and what is written down. */
import { assert, describe, it } from "@effect/vitest"
import { assertScreen } from "./screens.ts"
import { type Story, withStory } from "./story.ts"

const params = { path: "src/app.ts", content: "one\n2\n" }

/** To the end of a scene, and what was told in it. */
const over = async ({ program, told }: Story, scene: string) => {
  await program.see(`-- ${scene} is over --`)
  return told().filter((one) => !("scene" in one))
}

describe("a person at a terminal", () => {
  it("approves once, denies with a reason, edits, approves for the session, ticks a list, answers, stops", async () => {
    const scenes = ["approve", "deny", "edit", "session", "same", "tool", "batch", "each", "book", "stop"]
    await withStory(scenes, { rows: 40 }, async (story) => {
      const { program, told } = story
      const ready = program.ready.bind(program)

      // Approve once: it runs once, with what was shown.
      await ready("d details")
      assertScreen("question", program.rows("━━"))
      assert.deepStrictEqual(told(), [])
      program.type("y")
      const approved = await over(story, "approve")
      assertScreen("approved", program.rows("✔", "-- approve is over"))
      assert.deepStrictEqual(approved.filter((one) => "ran" in one), [{ ran: "WriteFile", params }])
      assert.deepInclude(approved.at(-1), { told: "call-1", isFailure: false })

      // Deny with a reason: nothing runs, and the model is told why.
      await ready("d details")
      program.type("n")
      await ready("goes back")
      program.type("not on a Frid")
      program.type("ay\x01it is \x05!")
      await program.see("Friday!▏")
      program.type("\r")
      const denied = await over(story, "deny")
      assertScreen("denied", program.rows("✖", "-- deny is over"))
      assert.deepInclude(denied[0], { journal: "denied", reason: "it is not on a Friday!" })
      assert.deepStrictEqual(denied.filter((one) => "ran" in one), [])
      assert.include(JSON.stringify(denied.at(-1)), "it is not on a Friday!")

      // Edit: what is no JSON, and what the schema refuses, says so and is kept; then it is shown and asked again.
      await ready("d details")
      program.type("e")
      await ready("goes back")
      program.type("\x7f")
      program.type("\r")
      await program.see("! Invalid JSON")
      program.type("}")
      // From the end up to the line of the content, and all of it away.
      program.type("\x1b[A\x1b[A\x05\x15\"content\": \"\",")
      program.type("\r")
      await program.see("! These parameters cannot run: Expected a value with a length of at least 1")
      assertScreen("edit", program.live)
      await ready("goes back")
      program.type("\x1b[A\x1b[A\x05\x15\"content\": \"three\\n\",\r")
      await ready("d details")
      assertScreen("edited", program.rows("━━ Edited"))
      assert.deepStrictEqual(told(), [])
      program.type("y")
      const edited = await over(story, "edit")
      assert.deepStrictEqual(edited.filter((one) => "ran" in one), [
        { ran: "WriteFile", params: { path: "src/app.ts", content: "three\n" } }
      ])

      // For the session, a folder: the second call is covered and not asked, the third is asked.
      await ready("d details")
      program.type("s")
      await ready("goes back")
      assertScreen("session", program.rows("  Approve, and"))
      program.type("2")
      await ready("d details")
      assert.include(program.rows("━━"), "src/c.ts")
      assert.notInclude(program.text, "src/ui/b.ts")
      assert.deepStrictEqual(
        told().filter((one) => "ran" in one).map((one) => (one["params"] as { path: string }).path),
        ["src/ui/a.ts", "src/ui/b.ts"]
      )
      program.type("n")
      await ready("goes back")
      program.type("\r")
      await over(story, "session")

      // This very call: the same one is covered, another is asked.
      await ready("d details")
      program.type("s")
      await ready("goes back")
      program.type("1")
      await program.see("ls -a")
      await ready("d details")
      assert.deepStrictEqual(told().filter((one) => "ran" in one).length, 2)
      program.type("y")
      await over(story, "same")

      // This tool.
      await ready("d details")
      program.type("s")
      await ready("goes back")
      program.type("\x1b[B\x1b[B\r")
      const tool = await over(story, "tool")
      assert.include(program.text, "Approved for the session: any call of Run.")
      assert.deepStrictEqual(tool.filter((one) => "ran" in one).map((one) => one["params"]), [
        { command: "ls" },
        { command: "date" }
      ])

      // A list to tick: nothing is ticked at first; what is not ticked is denied with the reason.
      await ready("n deny all")
      program.type("e")
      await ready("d details")
      assertScreen("batch", program.rows("━━ Your approval is needed: call 3"))
      program.type("t")
      await ready("goes back")
      assert.notInclude(program.live, "☒")
      program.type("3")
      program.type("\x1b[A ")
      await program.until("two ticks", () => program.live.split("☒").length === 3)
      assertScreen("ticks", program.live)
      program.type("\r")
      await ready("The model is told. Enter ends · Tab goes back")
      program.type("not a.txt\r")
      const batch = await over(story, "batch")
      assertScreen("ticked", program.rows("✖ Denied, WriteFile", "-- batch is over"))
      const ran = batch.filter((one) => "ran" in one).map((one) => one["ran"])
      assert.deepStrictEqual(ran.toSorted(), ["Run", "WriteFile"])
      assert.deepInclude(batch.find((one) => "journal" in one), {
        journal: "denied",
        call: "call-1",
        reason: "not a.txt"
      })

      // Ticked are some, and the others are asked alone.
      await ready("d details")
      program.type("t")
      await ready("goes back")
      program.type("1")
      await program.until("a tick", () => program.live.includes("☒"))
      program.type("\r")
      await program.see("Approved once: Run(command='ls')")
      await ready("n deny · d details")
      program.type("n")
      await ready("goes back")
      program.type("\r")
      const each = await over(story, "each")
      assert.deepStrictEqual(each.filter((one) => "ran" in one), [{ ran: "Run", params: { command: "ls" } }])

      // What a tool waits for: a text, a verdict, a choice, choices, a form.
      await ready("Tab declines")
      program.type("\r")
      await program.see("! Type an answer")
      program.paste("The minster,\nthe tallest.")
      await program.see("the tallest.▏")
      assertScreen("answer", program.live)
      program.type("\r")
      await ready("n no")
      program.type("w")
      await ready("goes back")
      program.type("but be back\r")
      await ready("Tab declines")
      assertScreen("choice", program.rows("━━ A tool waits"))
      program.type("\r")
      await program.until("a bell", () => program.raw.endsWith("\x07"))
      program.type("2")
      await ready("Enter ends · Tab declines")
      program.type("13")
      await program.until("ticks", () => program.live.split("☒").length === 3)
      program.type("\r")
      for (const text of ["ada", "two"]) {
        await program.until("a field", () => program.live.includes("Enter ends") && !program.live.includes("☐"))
        await ready("Tab declines")
        program.type(`${text}\r`)
      }
      await program.see("! Enter a whole number.")
      program.type("\x152\r")
      await ready("arrows and Enter · Tab declines")
      program.type("3")
      await program.until("yes or no", () => program.live.includes("window"))
      await ready("Tab declines")
      program.type("1")
      await program.until("the note", () => program.live.includes("may be left empty"))
      await ready("Tab declines")
      program.type("\r")
      await ready("n decline")
      assertScreen("form", program.rows("  Your answer:"))
      program.type("y")
      // The schema that the engine knows says more than its JSON Schema.
      await program.see("! This answer cannot be used")
      await program.until("again", () => program.live.includes("name (a text)"))
      await ready("Tab declines")
      program.type("Ada\r")
      await program.until("nights", () => program.live.includes("nights"))
      program.type("2\r")
      await program.until("board", () => program.live.includes("board"))
      await ready("Tab declines")
      program.type("3")
      await program.until("window", () => program.live.includes("window"))
      await ready("Tab declines")
      program.type("2")
      await program.until("note", () => program.live.includes("note"))
      program.type("no smoking\r")
      await ready("n decline")
      program.type("y")
      const booked = await over(story, "book")
      assert.deepStrictEqual(booked.find((one) => one["ran"] === "Book"), {
        ran: "Book",
        said: ["Ulm", "The minster,\nthe tallest.", "but be back", "9:00", "seat+lunch"],
        trip: { name: "Ada", nights: 2, board: "full", window: false, note: "no smoking" }
      })

      // Ctrl-C: this call is denied and written down so, the next is not asked, and the run is over.
      await ready("d details")
      program.type("\x03")
      assert.strictEqual(await program.ended(), 130)
      assertScreen("stopped", program.rows("✖ Stopped"))
      const stopped = told()
      assert.deepInclude(stopped[0], { journal: "denied", call: "call-1" })
      assert.deepStrictEqual(stopped.filter((one) => "ran" in one), [])
      assert.deepStrictEqual(stopped.at(-1), { finalizer: "ran" })
    })
  }, 60_000)
})
