/**
 * What some providers ask of a prompt beyond the provider interface, where their packages do not see to it. Where each is
 * documented or reported stands beside the provider that is played in the tests.
 */

/** What one model asks for. */
export interface Requirements {
  /** The assistant speaks between the results of its calls and the user's next message. */
  readonly assistantAfterResults: boolean
  /** Whether the result of a call may be a text of nothing but space. */
  readonly takesBlankResults: boolean
  /** The form of the ids of calls: nine letters and digits, none that was used before, or any. */
  readonly callIds: "short" | "unique" | "any"
}

export const of = (model: { readonly provider: string; readonly modelId: string }): Requirements => {
  const { modelId, provider } = model
  const isMistral = provider.startsWith("mistral.") || mistral.test(modelId)
  return {
    assistantAfterResults: isMistral || (provider === "amazon-bedrock" && aloneAtBedrock.test(modelId)),
    takesBlankResults: provider !== "amazon-bedrock",
    callIds: isMistral ? "short" : provider.endsWith(".responses") ? "unique" : "any"
  }
}

// Mistral asks for it, and so does whoever serves models of Mistral's with its templates.
const mistral = /(?:^|[^a-z])(?:mistral|mixtral|ministral|magistral|devstral|codestral|pixtral|voxtral)/iu

// At Bedrock results and the message behind them are one turn, and these take results by themselves alone.
const aloneAtBedrock = /(?:^|\.)(?:meta\.llama|writer\.)/u

/** What the assistant says there. */
export const acknowledgement = "OK."

/** The ids of calls as the provider takes them, in the order of the prompt: what was written once stays the same. */
export interface CallIds {
  /** `given` is the one that this provider gave the call, where the conversation has another. */
  readonly ofCall: (id: string, given?: string) => string
  /** The id of the latest call of an id. */
  readonly ofResult: (id: string) => string
}

export const callIds = ({ callIds }: Requirements): CallIds => {
  const form = callIds === "short" ? shortened : same
  const used = callIds === "any" ? undefined : new Set<string>()
  const latest = new Map<string, string>()
  return {
    ofCall: (id, given) => {
      let written = given ?? form(id)
      for (let count = 2; used?.has(written) === true; count++) written = form(`${id}_${count}`)
      used?.add(written)
      latest.set(id, written)
      return written
    },
    ofResult: (id) => latest.get(id) ?? form(id)
  }
}

const same = (id: string): string => id

/**
 * The id of a call in a conversation: others than the provider that gave it take 64 characters, and the engine
 * asks nobody about a call of a very long one. A proxy in front of Gemini keeps there what the model thought.
 */
export const inConversation = (id: string): string => id.length <= 64 ? id : `${id.slice(0, 32)}_${shortened(id)}`

// Of nine letters and digits: others come from other providers, or were used twice in a response.
const shortened = (id: string): string => {
  if (/^[a-zA-Z0-9]{9}$/u.test(id)) return id
  let hash = 0
  for (let index = 0; index < id.length; index++) hash = (hash * 31 + id.charCodeAt(index)) % shortIds
  return hash.toString(36).padStart(9, "0")
}

const shortIds = 36 ** 9
