/**
 * Trees of agents as data: what each of them calls, step by step, and what has to come of it. Everything an agent does follows
 * from the tree and from what was decided, so {@link stand} says at any moment what is open, what has run, and what is said in
 * the end, without any of the code that is tested.
 */

/**
 * A call of an agent: something is paid, which needs consent; something is looked at, which needs none; the user is asked
 * something; an hour is waited for, or the call of another system; another agent is given a task; or one tool talks to several agents.
 */
export type Call =
  | { readonly _tag: "Pay" }
  | { readonly _tag: "Look" }
  | { readonly _tag: "Ask" }
  | { readonly _tag: "Wait" }
  | { readonly _tag: "Hook" }
  | { readonly _tag: "Agent"; readonly name: AgentName; readonly isGated: boolean; readonly agent: Agent }
  | { readonly _tag: "Team"; readonly agents: ReadonlyArray<Agent> }

/** The names of agents: few, so that equal ones stand at many levels. */
export type AgentName = "Agent" | "Clerk"

/** What an agent calls in each of its steps, before it says what came of it. */
export interface Agent {
  readonly steps: ReadonlyArray<ReadonlyArray<Call>>
}

/** What somebody decided about what is asked under a key. */
export type Decision =
  | { readonly _tag: "Yes"; readonly edit?: string | undefined }
  | { readonly _tag: "No" }
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Due" }

export type Decisions = ReadonlyMap<string, Decision>

/** Something that is asked. `key` says where in the tree it stands, `id` is that of its call, at every level. */
export interface Open {
  readonly key: string
  readonly kind: "approval" | "askUser" | "timer" | "webhook"
  readonly toolName: string
  readonly path: ReadonlyArray<string>
  readonly callIds: ReadonlyArray<string>
}

/** How a tree stands after some decisions. */
export interface Stand {
  readonly open: ReadonlyArray<Open>
  /** What the world saw, in no order. */
  readonly did: ReadonlyArray<string>
  /** What the outermost agent says in the end; `undefined` while something is open. */
  readonly text: string | undefined
}

/** The key of the outermost agent. */
export const rootKey = "r"

/** What the tools write in their parameters: the key, with a mark where the agent itself needs consent. */
export const taskOf = (key: string, isGated: boolean): string => isGated ? `${key}!` : key

export const callKey = (agent: string, step: number, index: number): string => `${agent}.${step}${index}`

/** The same ids in every agent. */
export const callId = (step: number, index: number): string => `c${step}${index}`

/** The key of an agent that a team talks to. */
export const memberKey = (call: string, index: number): string => `${call}#${index}`

/** The name under which the tool talks to it. */
export const memberName = (index: number): string => `member${index}`

/** How the tree stands. */
export const stand = (agent: Agent, decisions: Decisions): Stand => {
  const open: Array<Open> = []
  const did: Array<string> = []

  const ofAgent = (
    { steps }: Agent,
    key: string,
    path: ReadonlyArray<string>,
    callIds: ReadonlyArray<string>
  ): string | undefined => {
    const said: Array<string> = []
    for (const [step, calls] of steps.entries()) {
      const results = calls.map((call, index) =>
        ofCall(call, callKey(key, step, index), path, [...callIds, callId(step, index)])
      )
      if (results.includes(undefined)) return undefined
      said.push(...results as ReadonlyArray<string>)
    }
    return `[${said.join(" ")}]`
  }

  const ofCall = (
    call: Call,
    key: string,
    path: ReadonlyArray<string>,
    callIds: ReadonlyArray<string>
  ): string | undefined => {
    const decision = decisions.get(key)
    const asks = (kind: Open["kind"], toolName: string): undefined => {
      open.push({ key, kind, toolName, path, callIds })
      return undefined
    }
    const does = (what: string): string => {
      did.push(what)
      return what
    }
    switch (call._tag) {
      case "Look":
        return does(`saw:${key}`)
      case "Pay":
        if (decision === undefined) return asks("approval", "Pay")
        return decision._tag === "Yes" ? does(`paid:${decision.edit ?? key}`) : "no"
      case "Ask":
        does(`ask:${key}`)
        if (decision === undefined) return asks("askUser", "Ask")
        return decision._tag === "Text" ? does(`heard:${key}:${decision.text}`) : "no"
      case "Wait":
        return decision === undefined ? asks("timer", "Wait") : does(`woke:${key}`)
      case "Hook":
        if (decision?._tag !== "Text") return asks("webhook", "Hook")
        return does(`called:${key}:${decision.text}`)
      case "Agent": {
        if (call.isGated) {
          if (decision === undefined) return asks("approval", call.name)
          if (decision._tag === "No") return "no"
        }
        return ofAgent(call.agent, key, [...path, call.name], callIds)
      }
      case "Team": {
        const said = call.agents.map((member, index) =>
          ofAgent(member, memberKey(key, index), [...path, "Team", memberName(index)], callIds)
        )
        return said.includes(undefined) ? undefined : `{${said.join(" ")}}`
      }
    }
  }

  const text = ofAgent(agent, rootKey, [], [])
  return { open, did, text }
}

/** Every agent of a tree, by its key. */
export const agentsOf = (agent: Agent): ReadonlyMap<string, Agent> => {
  const found = new Map<string, Agent>()
  const visit = (one: Agent, key: string): void => {
    found.set(key, one)
    for (const [step, calls] of one.steps.entries()) {
      for (const [index, call] of calls.entries()) {
        const at = callKey(key, step, index)
        if (call._tag === "Agent") visit(call.agent, at)
        if (call._tag === "Team") call.agents.forEach((member, index) => visit(member, memberKey(at, index)))
      }
    }
  }
  visit(agent, rootKey)
  return found
}

/** How many levels of agents there are; 1 without any inside. */
export const depthOf = ({ steps }: Agent): number =>
  1 + Math.max(
    0,
    ...steps.flat().flatMap((call) =>
      call._tag === "Agent" ? [depthOf(call.agent)] : call._tag === "Team" ? call.agents.map(depthOf) : []
    )
  )

// =============================================================================
// Constructors
// =============================================================================

export const pay: Call = { _tag: "Pay" }
export const look: Call = { _tag: "Look" }
export const ask: Call = { _tag: "Ask" }
export const wait: Call = { _tag: "Wait" }
export const hook: Call = { _tag: "Hook" }

export const agent = (...steps: ReadonlyArray<ReadonlyArray<Call>>): Agent => ({ steps })

/** A call of an agent whose steps are these. */
export const inner = (...steps: ReadonlyArray<ReadonlyArray<Call>>): Call => ({
  _tag: "Agent",
  name: "Agent",
  isGated: false,
  agent: { steps }
})

/** The same, where somebody has to agree before the agent begins. */
export const gated = (...steps: ReadonlyArray<ReadonlyArray<Call>>): Call => ({
  _tag: "Agent",
  name: "Agent",
  isGated: true,
  agent: { steps }
})

export const team = (...agents: ReadonlyArray<Agent>): Call => ({ _tag: "Team", agents })

/** Approvals at each of three levels, in equal tools with equal ids. */
export const threeLevels: Agent = agent([inner([inner([pay, look]), pay]), pay])
