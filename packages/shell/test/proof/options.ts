/**
 * Two proofs of the options in the tables, against the programs of this machine. An entry is wrong if the program does not
 * know the option, takes a value where the table has none, or takes none where it has one: then a word that the table
 * reads as a value would be an option, or the other way round.
 */
import type { Folder } from "./folder.ts"
import { type Form, formsOf } from "./forms.ts"
import { each, type Ran, run } from "./run.ts"
import { type Called, started } from "./words.ts"

/** A form whose program did something else than the table says. */
export interface Wrong {
  readonly form: Form
  readonly words: ReadonlyArray<string>
  readonly ran: Ran
}

export interface Result {
  /** How many calls there were of each program. */
  readonly calls: ReadonlyMap<string, number>
  readonly wrong: ReadonlyArray<Wrong>
  /** Accepted entries of {@link known} that were met. */
  readonly met: ReadonlySet<string>
}

const unknown = "--zz-none"

/** What programs say of lines that are right, or do not say of lines that are not, each with its reason. */
export const known: ReadonlyArray<{ readonly lines: RegExp; readonly says: RegExp; readonly because: string }> = [
  {
    lines: /^git (?:log|show) --format$/,
    says: /unrecognized argument: --format$/m,
    because: "takes its value only in the same word, for which the tables have no name; git refuses the line"
  },
  {
    lines: /^git (?:log|show) --format --zz-none$/,
    says: /unrecognized argument: --format$/m,
    because: "as above"
  },
  {
    lines: /^git show --graph(?: --zz-none)?$/,
    says: /cannot be used together/,
    because: "is known to git, which refuses it unless the commits before are shown as well"
  },
  {
    lines: /^git (?:branch|for-each-ref|tag) --(?:contains|merged|no-merged|points-at)$/,
    says: /^$/,
    because: "means HEAD at the end of a line, and takes any word that follows"
  },
  {
    lines: /^git rev-parse --(?:verify|short(?:=1)?) --zz-none HEAD$/,
    says: /^$/,
    because: "prints one revision, and drops what it does not know"
  },
  {
    lines: /^git config --get --system user\.name$/,
    says: /^$/,
    because: "ends with 1 if it is not set, and no settings of the system are read here"
  },
  {
    lines: /^column -(?:xt|tx) /,
    says: /mutually exclusive/,
    because: "the two letters of the table that may stand in one word exclude each other"
  },
  {
    lines: /^tree (?:-a?[LIP]|-[LIP]a) --zz-none/,
    says: /^(?:tree: Invalid level[^\n]*\n)?$/,
    because: "its value is the next word, whatever that is; the table reads it as an option or an operand"
  },
  { lines: /^git (?:--no-pager )?switch /, says: /^Switched to [^\n]*\n$/, because: "says where it switched to" },
  { lines: /^git diff (?:--exit-code|--quiet)$/, says: /^$/, because: "ends with 1 if there are differences" },
  {
    lines: /^tail -5 --zz-none/,
    says: /invalid context -- 5/,
    because: "tail takes `-5` before files only, and no other option"
  }
]

/** A part of the forms, for a proof in short. */
export type Part = (form: Form, index: number) => boolean

const all: Part = () => true

/** Each option in each form alone: the program takes it without a word. Without its value it complains. */
export const alone = (called: ReadonlyArray<Called>, folder: Folder, part: Part = all): Promise<Result> =>
  check(
    called.flatMap(formsOf).filter(part).map((form) => [form, [...form.before, ...form.words, ...form.behind]]),
    folder,
    (form, { status, stderr }) => form.lacking === true ? status !== 0 && stderr !== "" : status === 0 && stderr === ""
  )

/** Each option followed by one that does not exist: the program must speak of that one, or the option swallowed it. */
export const followed = (called: ReadonlyArray<Called>, folder: Folder, part: Part = all): Promise<Result> =>
  check(
    called.filter(({ isAlone }) => !isAlone).flatMap(formsOf).filter((form) => form.lacking === undefined).filter(part)
      .map((form) => [
        form,
        [
          ...form.before,
          ...form.words,
          form.called.command.tests === undefined ? unknown : unknown.slice(1),
          ...form.behind
        ]
      ]),
    folder,
    // `git rev-parse` repeats what it does not know.
    (_, { stderr, stdout }) => /zz-none|usage|illegal option/i.test(stderr) || stdout.includes(unknown)
  )

const check = async (
  calls: ReadonlyArray<readonly [form: Form, words: ReadonlyArray<string>]>,
  folder: Folder,
  isRight: (form: Form, ran: Ran) => boolean
): Promise<Result> => {
  // What writes gets the folder as it was; what reads leaves it alone, and can share it.
  const reading = calls.filter(([form]) => form.called.command.does === "reads")
  const writing = calls.filter(([form]) => form.called.command.does !== "reads")
  const options = { cwd: folder.work, environment: { ...folder.environment, GIT_OPTIONAL_LOCKS: "0" } }
  const results = [
    ...await each(
      reading,
      3,
      async ([form, words]) => ({ form, words, ran: await run(started(form.called, words), options) })
    ),
    ...await each(writing, 1, async ([form, words]) => {
      folder.reset()
      return { form, words, ran: await run(started(form.called, words), options) }
    })
  ]
  if (writing.length > 0) folder.reset()
  const counts = new Map<string, number>()
  const met = new Set<string>()
  const wrong = results.filter(({ form, ran, words }) => {
    counts.set(form.called.program.program, (counts.get(form.called.program.program) ?? 0) + 1)
    if (isRight(form, ran)) return false
    const accepted = known.find(({ lines, says }) => lines.test(words.join(" ")) && says.test(ran.stderr))
    if (accepted !== undefined) met.add(accepted.because)
    return accepted === undefined
  })
  return { calls: counts, wrong, met }
}
