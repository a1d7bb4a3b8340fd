/**
 * Reads recorded answers of Google's Interactions API.
 *
 * https://ai.google.dev/api/interactions-api
 */
import type { Answer } from "../answer.ts"
import { empty } from "../answer.ts"
import { at, list, number, params, present, string, sum } from "../json.ts"

/** Reads an interaction. */
export const interaction = (body: unknown): Answer => {
  const steps = list(body, "steps")
  const of = (type: string) => steps.filter((step) => string(step, "type") === type)
  const calls = of("function_call")
  return {
    ...empty,
    text: of("model_output").flatMap((step) => list(step, "content").map((part) => string(part, "text") ?? "")).join(
      ""
    ),
    reasoning: of("thought").flatMap((step) => list(step, "summary").map((part) => string(part, "text") ?? "")).join(
      ""
    ),
    signatures: present(of("thought").map((step) => string(step, "signature"))),
    calls: calls.map((step) => ({
      id: string(step, "id"),
      name: string(step, "name") ?? "",
      params: at(step, "arguments")
    })),
    finish: calls.length > 0 ? "tool-calls" : string(body, "status") === "completed" ? "stop" : "other",
    usage: {
      input: number(body, "usage", "total_input_tokens"),
      output: sum(number(body, "usage", "total_output_tokens"), number(body, "usage", "total_thought_tokens")),
      reasoning: number(body, "usage", "total_thought_tokens")
    },
    id: string(body, "id"),
    model: string(body, "model")
  }
}

/** Reads the events of a stream: they are put together to the interaction that they tell of. */
export const stream = (events: ReadonlyArray<unknown>): Answer => {
  const steps = new Map<number, { step: Record<string, unknown>; text: string; json: string }>()
  for (const event of events) {
    const index = number(event, "index") ?? -1
    if (string(event, "event_type") === "step.start") {
      steps.set(index, { step: { ...at(event, "step") as object }, text: "", json: "" })
    }
    const here = steps.get(index)
    if (here === undefined || string(event, "event_type") !== "step.delta") continue
    here.text += string(event, "delta", "text") ?? string(event, "delta", "content", "text") ?? ""
    here.json += string(event, "delta", "arguments") ?? ""
    const signature = string(event, "delta", "signature")
    if (signature !== undefined) here.step["signature"] = signature
  }
  const last = events.findLast((event) => string(event, "event_type") === "interaction.completed")
  return interaction({
    ...at(last, "interaction") as object,
    steps: [...steps.values()].map(({ json, step, text }) => ({
      ...step,
      ...(json === "" ? {} : { arguments: params(json) }),
      ...(step["type"] === "thought"
        ? { summary: [...list(step, "summary"), { text }] }
        : { content: [...list(step, "content"), { text }] })
    }))
  })
}
