/** The table of keys, in every state: each key means what it says, or says that it means nothing. */
import { assert, describe, it } from "@effect/vitest"
import * as Batch from "../../src/internal/call/batch.ts"
import * as Question from "../../src/internal/call/question.ts"
import * as Key from "../../src/internal/keys/key.ts"
import * as Table from "../../src/internal/keys/table.ts"
import * as Words from "../../src/internal/keys/words.ts"
import * as Dialogue from "../../src/internal/scene/dialogue.ts"
import * as Frame from "../../src/internal/scene/frame.ts"
import type * as Scene from "../../src/internal/scene/scene.ts"
import { textOf } from "../../src/internal/text/style.ts"
import * as Answers from "../../src/internal/waiting/answers.ts"
import * as Dialogues from "../scene/dialogues.ts"
import * as Requests from "../scene/requests.ts"

const window = Dialogues.windowOf(80)

const question = (request: typeof Requests.bash) => Question.scene(Requests.asked(request, {}))
const waiting = (request: typeof Requests.form) =>
  Answers.scene({ request, awaited: request.awaited!, editor: "vim", now: Requests.now })!
const [first, second, ...others] = Requests.batch.map((request) => Requests.asked(request))
const batch = Batch.scene({ calls: [first!, second!, ...others], unticked: "deny" })

const long = Requests.request("WriteFile", { content: Requests.edit.params === null ? "" : "a\n".repeat(900) })

/** A state of each kind, and the keys that lead to it. */
const states: Record<Table.Place, readonly [Scene.Scene<unknown>, ReadonlyArray<string>]> = {
  question: [question(Requests.bash), []],
  page: [question(long), []],
  pages: [
    question(Requests.request("Call", Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`p${at}`, at])))),
    ["space", "space", "e"]
  ],
  narrow: [question(Requests.bash), []],
  details: [question(Requests.edit), ["d"]],
  help: [question(Requests.bash), ["?"]],
  session: [question(Requests.log), ["s"]],
  widest: [question(Requests.log), ["s", "↑", "Enter"]],
  edit: [question(Requests.mail), ["e"]],
  value: [question(Requests.mail), ["e", "4"]],
  reason: [question(Requests.bash), ["n"]],
  batch: [batch, []],
  answer: [waiting(Requests.deferred), []],
  note: [waiting(Requests.approval), ["w"]],
  verdict: [waiting(Requests.approval), []],
  choice: [waiting(Requests.choosing()), []],
  choices: [waiting(Requests.choosing({ multiple: true })), []],
  form: [waiting(Requests.form), ["Tab"]],
  formText: [waiting(Requests.form), []],
  readBack: [waiting(Requests.form), [
    "a",
    "Tab",
    "2",
    "Tab",
    "→",
    "Tab",
    "→",
    "Enter"
  ]]
}

const windowOf = (place: Table.Place) => place === "narrow" ? Dialogues.windowOf(19) : window

const reached = (place: Table.Place) => {
  const [scene, keys] = states[place]
  return Dialogues.press(Dialogues.begin(scene), keys, windowOf(place))
}

/** Every key that means something somewhere, and some that never do. */
const pressed: ReadonlyArray<string> = [
  ..."ysenwd?xaob159",
  "↑",
  "↓",
  "←",
  "→",
  "Enter",
  "Alt-Enter",
  "Tab",
  "space",
  "End",
  "Esc",
  "Ctrl-G",
  ..."zY0-漢",
  "F5"
]

const isTold = (says: string | undefined) => says !== undefined && /means nothing here|waits for all rows/.test(says)

describe.each(Table.all)("%s", (place) => {
  it("is where its keys lead", () => {
    assert.strictEqual(Dialogues.frameOf(reached(place), windowOf(place)).place, place)
  })

  it("each key means something, is a character of a text, or says that it means nothing", () => {
    const { open } = reached(place)
    const view = Dialogue.top(open)
    const { now } = Dialogues.frameOf(reached(place), windowOf(place))
    const meanings = Table.meanings(place, now).map(({ key }) => key)
    for (const key of pressed) {
      const event = Dialogues.keyOf(key)
      const next = Frame.on(view, event, windowOf(place))
      const known = Key.pressed(event)?.key
      const isTyped = view.scene.input !== undefined && place === view.scene.place &&
        (known === undefined || known === "Alt-Enter" || !meanings.includes(known))
      const says = next._tag === "Next" ? next.view.says : undefined
      if (isTyped) {
        // What is no character may mean nothing.
        assert.isTrue(next._tag === "Next" && (next.view.scene !== view.scene || isTold(says)), key)
      } else if (place === "narrow") {
        assert.strictEqual(next._tag === "Leave", key === "n" || key === "Esc", key)
      } else {
        // A number beyond the last one, and a page before the first, mean nothing either.
        const isBound = known === "1-9" || known === "b" || known === "space" || known === "End"
        if (known === undefined || !meanings.includes(known)) assert.isTrue(isTold(says), `${key}: ${says}`)
        else if (!isBound) assert.isFalse(isTold(says), `${key}: ${says}`)
      }
    }
  })

  it("Ctrl-C and Ctrl-D stop", () => {
    for (const name of ["c", "d"]) {
      const next = Frame.on(
        Dialogue.top(reached(place).open),
        { _tag: "Key", name, text: "", ctrl: true, meta: false },
        windowOf(place)
      )
      assert.deepInclude(next, { _tag: "Leave", step: { _tag: "Stop" } })
    }
  })

  it("Enter alone approves nothing, however often", () => {
    let played = reached(place)
    // These were reached by arrows.
    if (place === "widest" || place === "readBack") {
      played = Dialogues.press(Dialogues.begin(states[place][0]), [], window)
    }
    for (let times = 0; times < 100 && played.ended === undefined; times++) {
      played = Dialogues.press(played, ["Enter"], windowOf(place))
    }
    const ended = played.ended
    assert.isFalse(ended?._tag === "Done" && JSON.stringify(ended.value).includes("\"Approved\""))
    assert.isFalse(ended?._tag === "Done" && JSON.stringify(ended.value).includes("\"Given\""))
  })

  it("space, Tab and Esc approve nothing, in any order", () => {
    for (let order = 0; order < 3 ** 3; order++) {
      const keys = Array.from({ length: 3 }, (_, at) => ["space", "Tab", "Esc"][Math.floor(order / 3 ** at) % 3]!)
      const { ended } = Dialogues.press(reached(place), keys, windowOf(place))
      assert.isFalse(ended?._tag === "Done" && /"(?:Approved|Given)"/.test(JSON.stringify(ended.value)), keys.join(" "))
    }
  })

  it("says of no key what it does not do", () => {
    const { now } = Dialogues.frameOf(reached(place), windowOf(place))
    for (const { key, narrow, wide } of Table.meanings(place, now)) {
      const named = key === "1-9" ? /^\d|^1 or 2/ : undefined
      for (const said of [wide, narrow]) {
        if (said === undefined) continue
        if (named === undefined) assert.isTrue(said.startsWith(key) || said.includes("Esc"), said)
        else assert.match(said, named)
      }
    }
    const rows = Words.help(place, now, window.signs).map(({ first }) => textOf(first).trim())
    const meanings = Table.meanings(place, now).map(({ key }) => key)
    assert.deepStrictEqual(rows.filter((key) => !meanings.some((one) => one === key)), [])
  })
})
