/**
 * What an answer of a provider says, whoever reads it: a reader of the recording, a provider's package, or the bridge.
 */

/** A call of a tool. The id is left out where the provider gave none. */
export interface Call {
  readonly id: string | undefined
  readonly name: string
  readonly params: unknown
}

/** What belongs to an id or an address; left out where a reader leaves its form to the package. */
export interface Named {
  readonly key: string
  readonly value?: unknown
}

/** Counted tokens; what a provider does not count is left out. */
export interface Usage {
  readonly input?: number | undefined
  readonly output?: number | undefined
  readonly cacheRead?: number | undefined
  readonly reasoning?: number | undefined
}

/** An answer, in terms that all providers share. */
export interface Answer {
  readonly text: string
  readonly reasoning: string
  readonly signatures: ReadonlyArray<string>
  /** Calls for the program to run. */
  readonly calls: ReadonlyArray<Call>
  /** Ids of calls that the provider ran itself, with their parameters. */
  readonly hosted: ReadonlyArray<Named>
  /** Ids of calls whose result the provider sent, with the result. */
  readonly results: ReadonlyArray<Named>
  /** Ids of the approvals that the provider asks for. */
  readonly asked: ReadonlyArray<string>
  /** Addresses that were cited, with their titles. */
  readonly sources: ReadonlyArray<Named>
  /** Files that the model made, as their data in base64. */
  readonly files: ReadonlyArray<string>
  readonly finish: string | undefined
  readonly usage: Usage
  readonly id: string | undefined
  readonly model: string | undefined
}

/** An answer that says nothing. */
export const empty: Answer = {
  text: "",
  reasoning: "",
  signatures: [],
  calls: [],
  hosted: [],
  results: [],
  asked: [],
  sources: [],
  files: [],
  finish: undefined,
  usage: {},
  id: undefined,
  model: undefined
}

/** Each thing that an answer says, by name; what it does not say is not in the map. */
export const facts = (answer: Answer): ReadonlyMap<string, unknown> => {
  const map = new Map<string, unknown>()
  const say = (name: string, value: unknown) => {
    if (value !== undefined && value !== "") map.set(name, value)
  }
  say("text", answer.text)
  say("reasoning", answer.reasoning)
  answer.signatures.forEach((signature, index) => say(`signature ${index}`, signature))
  answer.calls.forEach((call, index) => {
    say(`call ${index} id`, call.id)
    say(`call ${index} name`, call.name)
    say(`call ${index} parameters`, call.params)
  })
  const sayNamed = (what: string, { key, value }: Named) => {
    say(`${what} ${key}`, true)
    say(`value of ${what} ${key}`, value)
  }
  for (const call of answer.hosted) sayNamed("hosted call", call)
  for (const result of answer.results) sayNamed("hosted result", result)
  for (const id of answer.asked) say(`approval ${id}`, true)
  // However it is spelled, an address is the same: `URL` escapes what was not.
  for (const { key, value } of answer.sources) {
    sayNamed("source", { key: URL.canParse(key) ? new URL(key).href : key, value })
  }
  answer.files.forEach((data, index) => say(`file ${index}`, data))
  say("finish", answer.finish)
  say("input tokens", answer.usage.input)
  say("output tokens", answer.usage.output)
  say("cached tokens", answer.usage.cacheRead)
  say("reasoning tokens", answer.usage.reasoning)
  say("response id", answer.id)
  say("model", answer.model)
  return map
}

/** A fact that is not seen as it was recorded. */
export interface Difference {
  readonly fact: string
  readonly kind: "wrong" | "lost"
  readonly recorded: unknown
  readonly seen: unknown
}

const same = (left: unknown, right: unknown): boolean => stable(left) === stable(right)

const stable = (value: unknown): string =>
  JSON.stringify(
    value,
    (_key, inner: unknown) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => left < right ? -1 : 1))
        : inner
  )

/** What of a recorded answer is seen otherwise, or not at all. A call that was never made is wrong. */
export const differences = (recorded: Answer, seen: Answer): ReadonlyArray<Difference> => {
  const found: Array<Difference> = []
  const there = facts(seen)
  for (const [fact, value] of facts(recorded)) {
    if (!there.has(fact)) found.push({ fact, kind: "lost", recorded: value, seen: undefined })
    else if (!same(value, there.get(fact))) found.push({ fact, kind: "wrong", recorded: value, seen: there.get(fact) })
  }
  for (let index = recorded.calls.length; index < seen.calls.length; index++) {
    found.push({ fact: `call ${index} name`, kind: "wrong", recorded: undefined, seen: seen.calls[index]?.name })
  }
  return found
}
