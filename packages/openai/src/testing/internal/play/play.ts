/** Plays one turn of the script. */
import * as Effect from "effect/Effect"
import type * as Responses from "openai/resources/responses/responses"
import type { ApiError } from "../../ApiError.ts"
import type { Turn, TurnPart } from "../../ScriptedResponse.ts"
import * as ScriptedResponse from "../../ScriptedResponse.ts"
import type { Finish } from "../../StageDirection.ts"
import * as Wire from "../http/wire.ts"
import type { JsonObject } from "../json.ts"
import type { Context } from "../stage/context.ts"
import * as Items from "../stage/items.ts"
import type { Direction, Stage } from "../stage/stage.ts"
import * as Output from "./output.ts"
import * as Response from "./response.ts"
import * as Steps from "./steps.ts"

/** Plays a turn that is no function any more. */
export const turn = Effect.fnUntraced(function*(
  stage: Stage,
  params: JsonObject,
  context: Context,
  turn: Exclude<Turn, (...args: never) => unknown>
): Effect.fn.Return<Wire.Reply> {
  if (isApiError(turn)) return Wire.refuse(turn)
  const output = yield* Output.ofServer(stage, params, context)
  const scene = new Map<number, Array<Direction>>()
  let finish: Finish | undefined
  let usage: Responses.ResponseUsage = defaultUsage
  for (const part of partsOf(turn)) {
    switch (part._tag) {
      case "Finish":
        finish = part.finish
        break
      case "Usage":
        usage = part.usage
        break
      case "Text":
      case "Reasoning":
      case "FunctionCall":
      case "McpCall":
      case "Item": {
        const made = yield* Output.ofModel(stage, params, part)
        if ("_tag" in made) return Wire.refuse(made)
        output.push(made.item)
        break
      }
      default:
        scene.set(output.length, [...(scene.get(output.length) ?? []), part])
    }
  }
  if (finish?.status === "incomplete") {
    const last = output.pop()
    if (last !== undefined) output.push(Items.unfinished(last))
  }
  const played = { output, scene, finish, usage }
  const respond = Response.make(stage, params, context)
  return params["stream"] === true
    ? Steps.stream(stage, params, context, played, respond)
    : Steps.atOnce(stage, params, context, played, respond)
})

const isApiError = (turn: Turn): turn is ApiError => typeof turn === "object" && "_tag" in turn

const partsOf = (turn: string | ReadonlyArray<TurnPart>): ReadonlyArray<TurnPart> => {
  if (typeof turn !== "string") return turn
  return turn === "" ? [] : [ScriptedResponse.text(turn)]
}

const defaultUsage: Responses.ResponseUsage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15
}
