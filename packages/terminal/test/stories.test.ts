/** A person at a real terminal, asked by Assent's engine: what they see, what runs, and what is written down. */
import { assert, describe, it } from "@effect/vitest"
import { assertScreen } from "./screens.ts"
import { type Story, withStory } from "./story.ts"

const params = { path: "src/app.ts", content: "one\n2\n" }

/** The last words of what takes keys. */
const question = "Enter only after ↑↓"
const list = "or ↑↓ and Enter"

const enter = "\r"
const altEnter = "\u001b\r"
const up = "\u001b[A"
const down = "\u001b[B"
const right = "\u001b[C"

/** To the end of a scene, and what was told in it. */
const over = async ({ program, told }: Story, scene: string) => {
  await program.see(`-- ${scene} is over --`)
  return told().filter((one) => !("scene" in one))
}

const ranOf = (told: ReadonlyArray<Readonly<Record<string, unknown>>>) => told.filter((one) => "ran" in one)

describe("a person at a terminal", () => {
  it("approves once, denies with a reason, edits, approves for the session, ticks a list, answers, stops", async () => {
    const scenes = ["approve", "deny", "edit", "session", "same", "tool", "batch", "each", "book", "stop"]
    await withStory(scenes, { rows: 40 }, async (story) => {
      const { program, told } = story
      const ready = program.ready.bind(program)
      /** Types, until what was typed is to be seen. */
      const type = async (text: string) => {
        program.type(text)
        await program.until(text, () => program.live.includes(`${text}▏`))
      }

      // Approve once: it runs once, with what was shown.
      await ready(question)
      assertScreen("question", program.live)
      assert.deepStrictEqual(told(), [])
      program.type("y")
      const approved = await over(story, "approve")
      assertScreen("approved", program.rows("✔", "-- approve is over"))
      assert.deepStrictEqual(ranOf(approved), [{ ran: "WriteFile", params }])
      assert.deepInclude(approved.at(-1), { told: "call-1", isFailure: false })

      // Deny with a reason: nothing runs, and the model is told why.
      await ready(question)
      program.type("n")
      await ready("Enter denies")
      await type("not on a Frid")
      await program.press("ay\x01it is \x05!", "Friday!▏")
      program.type(enter)
      const denied = await over(story, "deny")
      assertScreen("denied", program.rows("✖", "-- deny is over"))
      assert.deepInclude(denied[0], { journal: "denied", reason: "it is not on a Friday!" })
      assert.deepStrictEqual(ranOf(denied), [])
      assert.include(JSON.stringify(denied.at(-1)), "it is not on a Friday!")

      // Edit: what the schema refuses says so and is kept; then it is shown and asked again. JSON is for all of it.
      await ready(question)
      program.type("e")
      await ready(list)
      assertScreen("edit", program.live)
      program.type("2")
      await ready("Enter done")
      program.type("\x7f".repeat("one\n2\n".length))
      await program.until("an empty text", () => /content ━━\s+│ ▏/.test(program.live))
      await program.press(enter, "! These parameters cannot run: Expected a value with a length of at least 1")
      await ready("Enter done")
      await type("three")
      program.type(altEnter)
      await program.until("a line break", () => /│ three\s+│ ▏/.test(program.live))
      program.type(enter)
      await ready(question)
      assertScreen("edited", program.live)
      program.type("e")
      await ready(list)
      program.type("3")
      await ready("Enter done")
      program.type("\x7f")
      await program.until("no bracket", () => !program.live.includes("}"))
      await program.press(enter, "! Invalid JSON")
      program.type("\u001b")
      await ready(list)
      program.type("\u001b")
      await ready(question)
      assert.deepStrictEqual(told(), [])
      program.type("y")
      assert.deepStrictEqual(ranOf(await over(story, "edit")), [
        { ran: "WriteFile", params: { path: "src/app.ts", content: "three\n" } }
      ])
      assert.include(program.text, "✔ edited   WriteFile │ src/app.ts  +1 parameter")

      // For the session, a folder: the second call is covered and not asked, the third is asked.
      await ready(question)
      program.type("s")
      await ready("the last one by ↑↓ only")
      assertScreen("session", program.live)
      program.type("2")
      await program.until("the third", () => program.live.includes("src/c.ts"))
      await ready(question)
      assert.notInclude(program.text, "src/ui/b.ts")
      assert.deepStrictEqual(
        ranOf(told()).map((one) => (one["params"] as { path: string }).path),
        ["src/ui/a.ts", "src/ui/b.ts"]
      )
      // Esc at the question is no, to this call.
      program.type("\u001b")
      await over(story, "session")

      // This very call: the same one is covered, another is asked.
      await ready(question)
      program.type("s")
      await ready("the last one by ↑↓ only")
      program.type("1")
      await program.until("the third", () => program.live.includes("ls -a"))
      await ready(question)
      assert.lengthOf(ranOf(told()), 2)
      program.type("y")
      await over(story, "same")

      // Every call of the tool: by arrows, and asked once more.
      await ready(question)
      program.type("s")
      await ready("the last one by ↑↓ only")
      program.type(`${down}${down}`)
      await program.until("the last one", () => /❯ {4}every call/.test(program.live))
      program.type(enter)
      await ready(question)
      assertScreen("widest", program.live)
      program.type("y")
      const tool = await over(story, "tool")
      assert.include(program.text, "✔ session  Run │ not asked again: every call of Run, whatever it runs")
      assert.deepStrictEqual(ranOf(tool).map((one) => one["params"]), [{ command: "ls" }, { command: "date" }])

      // A list to tick: nothing is ticked at first; what is not ticked is denied.
      await ready("? help")
      program.type("\u001b[F")
      await ready("n deny all · d details · ? help")
      assert.include(program.live, "0 of 3 ticked: Enter does nothing yet")
      await program.press(enter, "nothing is ticked yet")
      await program.press("3", "1 of 3 ticked")
      program.type(up)
      await program.until("the second", () => /❯ 2/.test(program.live))
      await program.press("x", "2 of 3 ticked: Enter runs these and denies the rest")
      assertScreen("ticks", program.live)
      program.type(enter)
      const batch = await over(story, "batch")
      assertScreen("ticked", program.rows("✖ denied   WriteFile", "-- batch is over"))
      assert.deepStrictEqual(ranOf(batch).map((one) => one["ran"]).toSorted(), ["Run", "WriteFile"])
      assert.deepInclude(batch.find((one) => "journal" in one), { journal: "denied", call: "call-1" })

      // Ticked are some, and the others are asked alone.
      await ready("? help")
      await program.press("1", "1 of 2 ticked: Enter runs these and asks about the rest")
      program.type(enter)
      await program.until("the first ran", () => program.text.split("✔ once     Run │ ls\n").length === 3)
      await ready(question)
      program.type("n")
      await ready("Enter denies")
      program.type(enter)
      assert.deepStrictEqual(ranOf(await over(story, "each")), [{ ran: "Run", params: { command: "ls" } }])

      // What a tool waits for: a text, a verdict, a choice, choices, a form.
      await ready("Esc declines")
      await program.press(enter, "! Type an answer")
      program.paste("The minster,\nthe tallest.")
      await program.see("the tallest.▏")
      assertScreen("answer", program.live)
      await program.press(enter, "May they go?")
      await ready(question)
      await program.press("w", "Yes. A note?")
      await type("but be back")
      await program.press(enter, "Which train?")
      await ready("? help")
      assertScreen("choice", program.live)
      await program.press(enter, "nothing is chosen yet")
      await program.press("2", "Anything else?")
      await ready("? help")
      await program.press("1", "❯ 1 [x]")
      await program.press("3", "❯ 3 [x]")
      await program.press(enter, "Send this answer?")
      await ready(question)
      await program.press("y", "Tell more.")
      await ready("Esc declines")
      await type("ada")
      await program.press("\t", "❯ nights")
      await type("two")
      await program.see("! nights: a whole number, such as 2")
      await program.press("\x152", "2▏")
      await program.press("\t", "❯ board")
      await program.press(`${right}${right}${right}`, "● full")
      await program.press("\t", "❯ window")
      await program.press(enter, "! window: choose one by ←→")
      await program.press(`${right}${right}`, "● no")
      await program.press(enter, "Send this answer?")
      await ready(question)
      program.type("y")
      // The schema that the engine knows says more than its JSON Schema; what was given is kept.
      await program.see("! This answer cannot be used")
      await ready("Enter reads it back")
      await program.press(`${up}${up}${up}`, "❯ name")
      await program.press("\x15Ada", "Ada▏")
      await program.press(enter, "Send this answer?")
      await ready(question)
      assertScreen("form", program.live)
      await program.press("e", "❯ name")
      await ready("Enter reads it back")
      await program.press("\t\t\t\t", "❯ note")
      await type("no smoking")
      await program.press(enter, "no smoking y")
      await ready(question)
      program.type("y")
      const booked = await over(story, "book")
      assert.deepStrictEqual(booked.find((one) => one["ran"] === "Book"), {
        ran: "Book",
        said: ["Ulm", "The minster,\nthe tallest.", "but be back", "9:00", "seat+lunch"],
        trip: { name: "Ada", nights: 2, board: "full", window: false, note: "no smoking" }
      })

      // Ctrl-C: this call is denied and written down so, the next is not asked, and the run is over.
      await ready(question)
      program.type("\x03")
      assert.strictEqual(await program.ended(), 130)
      assertScreen("stopped", program.rows("■ stopped"))
      const stopped = told()
      assert.deepInclude(stopped[0], { journal: "denied", call: "call-1" })
      assert.deepStrictEqual(ranOf(stopped), [])
      assert.deepStrictEqual(stopped.at(-1), { finalizer: "ran" })
    })
  }, 90_000)
})
