/** The drawings, of scenes alone: state by width gives rows. A real terminal is held to the same in `drawings.test.ts`. */
import * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import { ApprovalMatcher as ShellMatcher } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Batch from "../../src/internal/call/batch.ts"
import * as Question from "../../src/internal/call/question.ts"
import * as Dialogue from "../../src/internal/scene/dialogue.ts"
import * as Frame from "../../src/internal/scene/frame.ts"
import type * as Scene from "../../src/internal/scene/scene.ts"
import * as Signs from "../../src/internal/text/signs.ts"
import * as Answers from "../../src/internal/waiting/answers.ts"
import * as Dialogues from "./dialogues.ts"
import * as Requests from "./requests.ts"

const behaviors = Effect.runSync(Effect.provide(Effect.service(ApprovalMatcher.Behaviors), ShellMatcher.layer()))

const question = (request: typeof Requests.bash) => Question.scene(Requests.asked(request, behaviors))

const waiting = (request: typeof Requests.form) =>
  Answers.scene({ request, awaited: request.awaited!, editor: "vim", now: Requests.now })!

const [first, second, ...others] = Requests.batch.map((request) => Requests.asked(request))
const batch = Batch.scene({ calls: [first!, second!, ...others], unticked: "deny" })

const full = ["→", "→", "→"]
const tail = "by Friday, or tell us what is missing so that we can help.\n\nKind regards\nAda"
const typed = (text: string) => Array.from(text)

interface Drawn {
  readonly name: string
  readonly scene: Scene.Scene<unknown>
  readonly keys?: ReadonlyArray<string>
  readonly rows?: number
  readonly last?: number
  readonly columns?: number
}

const drawn: ReadonlyArray<Drawn> = [
  { name: "bash", scene: question(Requests.bash) },
  { name: "unknown", scene: question(Requests.bash), keys: ["x"], last: 1 },
  { name: "help", scene: question(Requests.bash), keys: ["?"] },
  { name: "narrow", scene: question(Requests.bash), columns: 19 },
  { name: "edit", scene: question(Requests.edit), rows: 40 },
  { name: "mail", scene: question(Requests.mail) },
  { name: "edit-field", scene: question(Requests.mail), keys: ["e", "↓", "↓", "↓", "↓"] },
  {
    name: "edit-text",
    scene: question(Requests.mail),
    keys: ["e", "4", ...typed(tail).map(() => "Backspace"), ...typed("today.")]
  },
  { name: "mcp", scene: question(Requests.mcp), rows: 40 },
  { name: "batch", scene: batch },
  { name: "batch-ticked", scene: batch, keys: ["1", "2"] },
  { name: "form", scene: waiting(Requests.form), keys: [...typed("ada"), "Tab", "Tab", ...full, "↑", "x"] },
  {
    name: "form-back",
    scene: waiting(Requests.form),
    keys: [...typed("ada"), "Tab", "2", "Tab", ...full, "Tab", "→", "→", "Enter"]
  },
  { name: "deferred", scene: waiting(Requests.deferred), keys: typed("staging") },
  { name: "session", scene: question(Requests.log), keys: ["s"] },
  { name: "deny", scene: question(Requests.push), keys: ["n", ...typed("Not on a Friday.")] },
  { name: "hostile", scene: question(Requests.hostile) },
  { name: "page", scene: question(Requests.edit), columns: 40 }
]

const folder = Path.join(import.meta.dirname, "../drawings")

const drawingOf = (name: string, columns: number) =>
  Fs.readFileSync(Path.join(folder, `${name}-${columns}.txt`), "utf8").trimEnd().split("\n")

describe("a scene", () => {
  it.each([[9, "9"], [10, " "]])("of %d options has a digit for each, or none", (count, digit) => {
    const options = Array.from({ length: count }, (_, index) => ({ value: `${index}`, label: `option ${index + 1}` }))
    const rows = Dialogues.seen(Dialogues.begin(waiting(Requests.choosing({ options }))), Dialogues.windowOf(80))
    assert.match(rows.find((row) => row.endsWith("option 9"))!, new RegExp(`^ *${digit} +│ option 9$`))
  })

  it("of a form says what is wrong with a field only once something was typed in it", () => {
    const window = Dialogues.windowOf(80)
    const wrong = (keys: ReadonlyArray<string>) =>
      Dialogues.seen(Dialogues.press(Dialogues.begin(waiting(Requests.form)), keys, window), window)
        .filter((row) => row.startsWith("  ! ")).length
    assert.deepStrictEqual([wrong(["Tab"]), wrong(["Tab", "x"])], [0, 1])
  })

  it("is no taller than its window, whichever field of it is at hand", () => {
    for (let rows = 6; rows < 24; rows++) {
      for (let tabs = 0; tabs < 4; tabs++) {
        const window = Dialogues.windowOf(40, rows)
        const { open } = Dialogues.press(Dialogues.begin(waiting(Requests.form)), Array(tabs).fill("Tab"), window)
        const { rows: seen } = Frame.frame({ ...Dialogue.top(open), page: 99 }, window)
        assert.isBelow(seen.length, rows, `${tabs} of ${rows}`)
      }
    }
  })
})

describe.each([80, 40])("of %d columns", (columns) => {
  for (const { columns: width = columns, keys = [], last, name, rows = 24, scene } of drawn) {
    if (name === "page" && columns === 80) continue
    it(name, () => {
      const window = Dialogues.windowOf(width, rows)
      const played = Dialogues.press(Dialogues.begin(scene), keys, window)
      const seen = Dialogues.seen(played, window)
      assert.deepStrictEqual(
        last === undefined ? seen : seen.slice(-last),
        drawingOf(name, columns).map((row) => row.trimEnd())
      )
    })
  }

  it("nocolour", () => {
    const window = Dialogues.windowOf(columns, 24, { signs: Signs.ascii, ascii: true })
    const played = Dialogues.press(Dialogues.begin(question(Requests.plain)), ["↓"], window)
    assert.deepStrictEqual(Dialogues.seen(played, window), drawingOf("nocolour", columns))
  })
})
