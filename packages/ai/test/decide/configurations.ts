/** The walks there are: each begins with every standing of its kind, made of the lists in `standing.ts`. */
import * as Standing from "../../src/internal/decide/standing.ts"
import { Call, type CallFacts, type EditFacts, type QuestionFacts, type Says, type WaitFacts } from "./facts.ts"
import { type Fact, World } from "./world.ts"

export interface Configuration {
  readonly name: string
  readonly world: World
  readonly call: Call
}

/** Makes the walk anew: it has a state. */
export type Make = () => Configuration

/** The values that facts can have. */
type ListsOf<Facts> = {
  readonly [Name in keyof Facts as Facts[Name] extends Fact<unknown> ? Name : never]: Facts[Name] extends Fact<infer A>
    ? ReadonlyArray<A>
    : never
}

type QuestionLists = ListsOf<QuestionFacts>

interface Lists extends ListsOf<CallFacts> {
  readonly asked: ReadonlyArray<QuestionLists>
  readonly wait?: ListsOf<WaitFacts>
}

const bool = [false, true] as const

const says: ReadonlyArray<Says> = ["no", "yes", "edit"]

type Verdicts = ReadonlyArray<Standing.Verdict>

/** Of policies that name nobody. */
export const unnamed: Verdicts = Standing.verdicts.filter((verdict) => verdict.says !== "ask" || !verdict.names)

/** One of each kind is enough for what is walked again and again. */
export const someVerdicts: Verdicts = Standing.verdicts.filter((verdict) =>
  verdict.says !== "ask" || !verdict.names || verdict.editable
)

const named: Verdicts = someVerdicts.filter((verdict) => verdict.says === "ask" && verdict.names)

const fewVerdicts: Verdicts = someVerdicts.filter((verdict) => verdict.says === "blocked" || named.includes(verdict))

/** Every sequence of answers up to a length. */
const sequences = (length: number): ReadonlyArray<ReadonlyArray<Says>> =>
  length === 0 ? [[]] : [[], ...says.flatMap((head) => sequences(length - 1).map((tail) => [head, ...tail]))]

// =============================================================================
// Requests
// =============================================================================

/** A request of a history. */
const questionOf = (answers: ReadonlyArray<ReadonlyArray<Says>>): QuestionLists => ({
  answers,
  suspension: bool,
  own: bool,
  fate: ["pending", ...Standing.decidedStates],
  claimCounts: bool,
  expired: bool,
  passedOver: bool,
  sealed: bool,
  changed: bool,
  drifted: bool,
  named: bool,
  written: Standing.decidedStates
})

/** One of each kind of what is known of it, and of what is found when it is written. */
const inKinds = (question: QuestionLists): QuestionLists => ({
  ...question,
  fate: ["pending", "running", "unknown", "done", "suspended", "denied"],
  written: ["done", "denied"]
})

/** Fewer of what is much the same: for what has to be walked again and again. */
const briefly = (question: QuestionLists): QuestionLists => ({
  ...question,
  fate: ["pending", "unknown", "done", "denied"],
  sealed: [false],
  named: [false],
  written: ["done", "denied"]
})

/** A request that was made or answered in this turn: nothing of it is old, but for the time that it took. */
const freshQuestionOf = (answers: ReadonlyArray<ReadonlyArray<Says>>): QuestionLists => ({
  ...questionOf(answers),
  suspension: [false],
  own: [true],
  fate: ["pending"],
  passedOver: [false],
  drifted: [false]
})

// =============================================================================
// Calls
// =============================================================================

// What every call has, whatever its way.
const common = {
  deniedElsewhere: bool,
  controlled: bool,
  trusted: bool,
  onInvalid: Standing.onInvalids,
  onNewMessage: Standing.onNewMessages,
  judged: [false],
  verdict: Standing.verdicts,
  memory: ["none", "unknown"],
  recall: Standing.recalls,
  finished: [false],
  finish: Standing.finishes,
  replied: [undefined],
  reply: Standing.replies
} as const

const historyOf = (questions: ReadonlyArray<QuestionLists>): Lists => ({
  ...common,
  way: ["history"],
  // How many requests there are makes no difference where none is ours.
  questions: questions.length === 1 ? ["none", "forged", "asked"] : ["asked"],
  asked: questions,
  tool: Standing.tools,
  powers: ["reads", "asks"]
})

/** A call of a history with requests of ours, each with up to so many answers. */
export const history = (answers: ReadonlyArray<number>, verdicts = Standing.verdicts as Verdicts): Make => () =>
  make(
    `history, ${answers.length === 1 ? "one request" : `${answers.length} requests`} with up to ${
      answers.join(" and ")
    } answers`,
    { ...historyOf(answers.map((length) => questionOf(sequences(length)))), verdict: verdicts },
    verdicts
  )

/** For each run of the tests. */
const shortly = (question: QuestionLists): QuestionLists => ({
  ...question,
  fate: ["pending", "running", "denied"],
  written: ["done", "denied"]
})

/** One of each kind of the standings of one request with one answer. */
export const someOfOne = (short = false): Configuration =>
  make("one request, briefly", {
    ...historyOf([short ? shortly(questionOf(sequences(1))) : inKinds(questionOf(sequences(1)))]),
    verdict: someVerdicts
  }, short ? fewVerdicts : someVerdicts)

/** A part of the standings of two requests with one answer each. */
export const someOfTwo = (short = false): Configuration =>
  make("two requests, briefly", {
    ...historyOf([1, 1].map((length) => (short
      ? { ...briefly(questionOf(sequences(length))), passedOver: [false], fate: ["pending", "unknown", "denied"] }
      : briefly(questionOf(sequences(length))))
    )),
    onNewMessage: ["supersede"],
    verdict: unnamed
  }, [{ says: "allowed" }])

/** Two requests, where one or both named who may decide, and the policy says so now or not. */
export const twoNamed = (answers = sequences(1), verdicts = someVerdicts): Make => () => {
  const question: QuestionLists = {
    ...briefly(questionOf(answers)),
    named: bool,
    passedOver: [false],
    written: ["denied"]
  }
  return make("two requests under policies that name people", {
    ...historyOf([question, question]),
    deniedElsewhere: [false],
    onNewMessage: ["supersede"],
    verdict: verdicts
  }, verdicts)
}

/** As {@link twoNamed}, but without edits. */
export const someOfTwoNamed: Make = twoNamed([[], ["no"], ["yes"]], [{ says: "allowed" }, ...named])

/** Somebody was asked and has answered, or what is remembered does: the answer stands alone. */
export const answered: Make = () => make("answered", answering)

const answering = {
  ...common,
  way: Standing.ways,
  questions: ["asked"],
  asked: [freshQuestionOf(says.map((one) => [one]))],
  tool: ["free", "gated"],
  powers: ["asks"],
  trusted: [true],
  judged: bool,
  memory: ["none", "known", "unknown"],
  finished: bool,
  replied: ["given"]
} as const satisfies Lists

/** One of each kind of those. */
export const someAnswered = (short = false): Configuration =>
  make("answered, briefly", {
    ...answering,
    way: ["history", "received", "hosted"],
    judged: [false],
    finished: [false],
    asked: answering.asked.map((question) => ({ ...question, written: ["done", "denied"] })),
    memory: ["known", "unknown"],
    verdict: someVerdicts
  }, short ? fewVerdicts : someVerdicts)

const waiting = {
  ...common,
  way: ["history", "received"],
  questions: ["asked"],
  asked: [{
    ...questionOf([[]]),
    suspension: [true],
    own: [true],
    named: [false],
    // The chain of its requests was followed to its end.
    fate: ["pending", ...Standing.decidedStates.filter((state) => state !== "suspended")],
    sealed: [false]
  }],
  tool: Standing.tools,
  powers: ["reads", "asks"],
  judged: bool,
  memory: ["none", "known", "unknown"],
  finished: bool,
  // Who is late is so in the walk in which they were asked.
  replied: [undefined, "none", "given"],
  wait: {
    kind: ["gone", "over", ...Standing.waitsFor],
    given: bool,
    expiry: Standing.waitExpiries,
    answer: Standing.waitAnswers,
    came: bool,
    state: Standing.waitStates
  }
} as const satisfies Lists

/** A call whose run waits, whichever way it came to that. */
export const waits: Make = () => make("waits", waiting)

/** A part of the standings of calls that wait. */
export const someWaits = (short = false): Configuration =>
  make("waits, briefly", {
    ...waiting,
    way: ["history"],
    asked: waiting.asked.map(short ? shortly : briefly),
    judged: [false],
    memory: ["known", "unknown"],
    finished: [false],
    replied: [undefined, "given"]
  })

const unasked = {
  ...common,
  questions: ["none"],
  asked: [{ ...freshQuestionOf([[]]), expired: [false] }],
  powers: ["asks"]
} as const

/** A call that the model made in this turn. */
export const received: Make = () =>
  make("received", { ...unasked, way: ["received"], tool: Standing.tools, finished: bool })

/** A call that a guarded toolkit handles. */
export const guarded: Make = () =>
  make("guarded", {
    ...unasked,
    way: ["guarded"],
    tool: ["unfit", "free", "gated"],
    finished: [true],
    finish: ["complete"]
  })

/** A call that the provider runs and asks about. */
export const hosted: Make = () =>
  make("hosted", {
    ...common,
    way: ["hosted"],
    questions: ["forged", "asked"],
    asked: [{
      ...questionOf([[], ["yes"], ["no"]]),
      suspension: [false],
      own: [true],
      fate: ["pending"],
      sealed: [false]
    }],
    tool: ["gated"],
    powers: Standing.powers
  })

// =============================================================================
// In a world
// =============================================================================

const make = (
  name: string,
  { asked, wait, ...lists }: Lists,
  ofEdits: Verdicts = Standing.verdicts
): Configuration => {
  const world = new World()
  const facts: CallFacts = {
    way: world.fact("way", lists.way),
    questions: world.fact("requests", lists.questions),
    asked: asked.map((question, at) => questionIn(world, asked.length === 1 ? "" : `${at}: `, question, ofEdits)),
    deniedElsewhere: world.fact("denied elsewhere", lists.deniedElsewhere),
    tool: world.fact("tool", lists.tool),
    powers: world.fact("powers", lists.powers),
    controlled: world.fact("controlled", lists.controlled),
    trusted: world.fact("trusted", lists.trusted),
    onInvalid: world.fact("onInvalid", lists.onInvalid),
    onNewMessage: world.fact("onNewMessage", lists.onNewMessage),
    judged: world.fact("policy was asked", lists.judged),
    verdict: world.fact("policy", lists.verdict),
    memory: world.fact("memory", lists.memory),
    recall: world.fact("recall", lists.recall),
    finished: world.fact("finish is known", lists.finished),
    finish: world.fact("finish", lists.finish),
    replied: world.fact("reply before", lists.replied),
    reply: world.fact("reply", lists.reply),
    wait: wait === undefined ? undefined : {
      kind: world.fact("waits for", wait.kind),
      given: world.fact("given", wait.given),
      expiry: world.fact("what its expiry does", wait.expiry),
      answer: world.fact("answer", wait.answer),
      came: world.fact("came by itself", wait.came),
      state: world.fact("state", wait.state)
    }
  }
  return { name, world, call: new Call(facts) }
}

const questionIn = (
  world: World,
  name: string,
  lists: QuestionLists,
  ofEdits: ReadonlyArray<Standing.Verdict>
): QuestionFacts => ({
  answers: world.fact(`${name}answers`, lists.answers),
  suspension: world.fact(`${name}suspension`, lists.suspension),
  own: world.fact(`${name}own`, lists.own),
  fate: world.fact(`${name}fate`, lists.fate),
  claimCounts: world.fact(`${name}those who let it run are enough`, lists.claimCounts),
  expired: world.fact(`${name}expired`, lists.expired),
  passedOver: world.fact(`${name}passed over`, lists.passedOver),
  sealed: world.fact(`${name}shown`, lists.sealed),
  changed: world.fact(`${name}shown changed`, lists.changed),
  drifted: world.fact(`${name}drifted`, lists.drifted),
  named: world.fact(`${name}named`, lists.named),
  whos: Array.from(
    { length: Math.max(0, ...lists.answers.map(({ length }) => length)) },
    (_, by) => world.fact(`${name}answer ${by} is worth`, Standing.whos)
  ),
  written: world.fact(`${name}written`, lists.written),
  edits: Array.from(
    { length: Math.max(0, ...lists.answers.map((sequence) => sequence.lastIndexOf("edit") + 1)) },
    (_, by) => editIn(world, `${name}edit ${by} `, ofEdits)
  )
})

const editIn = (world: World, name: string, verdicts: ReadonlyArray<Standing.Verdict>): EditFacts => ({
  leads: world.fact(`${name}leads`, Standing.leads),
  verdict: world.fact(`${name}policy`, verdicts),
  deniedBefore: world.fact(`${name}denied before`, bool)
})
