/**
 * The proof of the tables in short, with what every contributor has: a part of git's options. `npm run proof:shell` tries
 * all of every program, and draws lines under `strace`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Check from "../../src/internal/world/check.ts"
import * as Refusal from "../../src/internal/world/refusal.ts"
import * as Draw from "./draw.ts"
import * as Folder from "./folder.ts"
import { formsOf } from "./forms.ts"
import * as Options from "./options.ts"
import { commands } from "./words.ts"

const git = commands.filter(({ program }) => program.program === "git")

const telling = (result: Options.Result): ReadonlyArray<string> =>
  result.wrong.map(({ ran, words }) => `${words.join(" ")} -> ${ran.status} ${ran.stderr.split("\n")[0]}`)

describe("the tables", () => {
  it("have words to try every option with", () => {
    for (const called of commands) {
      const options = new Set(formsOf(called).map(({ option }) => option))
      const { flags, optional, tests, values } = called.command
      const written = [
        flags,
        ...Object.keys(values ?? {}),
        ...Object.keys(optional ?? {}),
        tests?.alone,
        ...Object.keys(tests?.valued ?? {})
      ]
      for (const option of written.join(" ").split(/\s+/)) {
        if (option !== "" && option !== ")") assert.isTrue(options.has(option), option)
      }
    }
  })

  it("are read by the proof as they are read by the matcher", () => {
    const refusals = commands.flatMap(formsOf).flatMap(({ before, behind, lacking, words }) => {
      const line = [...before, ...words, ...behind]
      const checked = Check.check(line)
      if (lacking === true) return Refusal.isRefusal(checked) ? [] : [`covered: ${line.join(" ")}`]
      return Refusal.isRefusal(checked) ? [`${line.join(" ")} -> ${Refusal.toSentence(checked)}`] : []
    })
    assert.deepStrictEqual(refusals, [])
  })

  it("are drawn from alike by the same seed", () => {
    const lines = (seed: number) => {
      const draw = Draw.make(seed)
      return commands.map((called) => draw(called).join(" "))
    }
    assert.deepStrictEqual(lines(1), lines(1))
    assert.notDeepEqual(lines(1), lines(2))
  })

  it("are found wrong if they are", async () => {
    const log = commands.find(({ name }) => name === "git log")!
    const wrong = {
      ...log,
      command: {
        ...log.command,
        // No option; one that takes a value; one that takes none; one that must have one.
        flags: "--no-such-option --max-count",
        values: { "--oneline": "number" as const, "--author": "text" as const },
        optional: { "--skip": "number" as const }
      }
    }
    const folder = Folder.make()
    try {
      // The last is right.
      const options = ["--oneline", "--no-such-option", "--max-count", "--skip", "--author"]
      const part: Options.Part = ({ option }) => options.includes(option)
      const alone = await Options.alone([wrong], folder, part)
      const followed = await Options.followed([wrong], folder, part)
      const found = (result: Options.Result) => new Set(result.wrong.map(({ form }) => form.option))
      assert.deepStrictEqual(found(alone), new Set(["--no-such-option", "--max-count", "--oneline", "--skip"]))
      assert.isTrue(found(followed).has("--max-count"))
    } finally {
      folder.remove()
    }
  }, 30_000)

  it("say of git's options what git says", async () => {
    const folder = Folder.make()
    try {
      const every = (step: number) => (_: unknown, index: number) => index % step === 0
      const alone = await Options.alone(git, folder, every(20))
      const followed = await Options.followed(git, folder, every(20))
      assert.deepStrictEqual([...telling(alone), ...telling(followed)], [])
      assert.isAtLeast(alone.calls.get("git")! + followed.calls.get("git")!, 80)
    } finally {
      folder.remove()
    }
  }, 30_000)
})
