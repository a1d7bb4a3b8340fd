/**
 * What "not asked again" may mean for a call: the narrowest first, each in the words of what would be stored, and whole. The
 * widest is reached by arrows alone, and asked about once more.
 */
import type * as Approval from "@assent/ai/Approval"
import * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import type * as ApprovalMemory from "@assent/ai/ApprovalMemory"
import type * as Schema from "effect/Schema"
import * as Words from "../keys/words.ts"
import * as Scene from "../scene/scene.ts"
import * as Safe from "../text/safe.ts"
import * as Style from "../text/style.ts"
import type { Line } from "../text/style.ts"
import * as Options from "./options.ts"
import type * as Rows from "./rows.ts"

export interface Choice {
  readonly remember: ApprovalMemory.Remember
  readonly sentence: string
  /** Whatever the tool is called with. */
  readonly isWidest: boolean
}

/** What a program offers besides. */
export type Patterns = (request: Approval.ApprovalRequest) => ReadonlyArray<ApprovalMatcher.ApprovalMatcher>

/** From the narrowest to the widest. */
export const choices = (
  asked: Approval.ApprovalRequest,
  params: Schema.Json,
  patterns: Patterns | undefined,
  behaviors: ApprovalMatcher.Behaviors
): ReadonlyArray<Choice> => {
  const { session, toolName } = asked
  const [exact, ...others] = ApprovalMatcher.suggest({ toolName, params }, behaviors, patterns?.(asked)).map((
    { isWidest = false, matcher, sentence }
  ): Choice => ({ remember: { covers: matcher.description }, sentence, isWidest }))
  return [
    ...(exact === undefined ? [] : [{ ...exact, remember: {} }]),
    ...(session === undefined ? [] : [{ remember: "session" as const, sentence: Safe.line(session), isWidest: false }]),
    ...others
  ]
}

const item = ({ isWidest, sentence }: Choice, index: number, at: number | undefined, room: Rows.Room): Line => {
  const number = isWidest || index > 8 ? " " : String(index + 1)
  return {
    first: Style.plain(`${Options.pointer(index === at, room)}${number}  `, "primary"),
    rest: Style.plain(`   ${room.signs.more} `, "muted"),
    body: Style.plain(isWidest ? `${sentence}: asks once more` : sentence, index === at ? "bold" : undefined),
    prose: true
  }
}

export const scene = <A>(
  offered: ReadonlyArray<Choice>,
  chosen: (choice: Choice) => Scene.Step<A>,
  at?: number
): Scene.Scene<A> => {
  const take = (choice: Choice) => choice.isWidest ? Scene.go(widest(choice, chosen)) : chosen(choice)
  return {
    place: "session",
    now: { items: offered.filter(({ isWidest }) => !isWidest).length },
    guarded: true,
    takesPaste: false,
    draw: (window) => ({
      block: [
        Style.heading("Yes, and not asked again for", window.signs),
        ...offered.map((choice, index) => item(choice, index, at, window))
      ],
      focus: at === undefined ? undefined : at + 1
    }),
    press: ({ at: by, key }) => {
      switch (key) {
        case "↑↓":
          return Scene.stay(scene(offered, chosen, Scene.moved(at, by, offered.length)))
        case "1-9": {
          const choice = offered[by]
          return choice === undefined || choice.isWidest
            ? Scene.say(Words.meansNothing(String(by + 1)))
            : chosen(choice)
        }
        case "Enter":
          return at === undefined
            ? Scene.say("Enter takes what ❯ points at: nothing is chosen yet.")
            : take(offered[at]!)
        default:
          return Scene.back
      }
    }
  }
}

/** Once more, and by a letter that means yes: what is granted here has no bound. */
const widest = <A>(choice: Choice, chosen: (choice: Choice) => Scene.Step<A>, at?: number): Scene.Scene<A> => {
  const options: ReadonlyArray<Options.Option<A>> = [
    {
      key: "y",
      says: "Yes, never ask about it again in this session",
      short: "Yes, for this session",
      step: () => chosen(choice)
    },
    { key: "n", says: "No, back to the list", step: () => Scene.back }
  ]
  return {
    place: "widest",
    now: { points: at !== undefined },
    guarded: true,
    takesPaste: false,
    draw: (window) => ({
      block: [
        Style.heading("Really?", window.signs),
        {
          first: Style.plain("  not asked again: ", "muted"),
          rest: Style.plain(`  ${window.signs.more} `, "muted"),
          body: Style.plain(choice.sentence),
          prose: true
        }
      ],
      below: Options.rows(options, at, window)
    }),
    press: (pressed) => Options.press(options, at, pressed, (at) => widest(choice, chosen, at)) ?? Scene.back
  }
}
