/** The handlers of tools that end when they have begun: each writes down its run. */
import { Effect } from "effect"
import type { Toolkit } from "../../src/index.ts"
import * as Behaviour from "./behaviour.ts"
import type * as Plan from "./plan.ts"
import type * as Record from "./record.ts"
import * as Stage from "./stage.ts"

/** What a handler does, apart from writing down that it does. */
export type Act<E> = (
  params: Behaviour.Params,
  mark: string,
  say: (word: string) => Effect.Effect<void>
) => Effect.Effect<void, E>

const behave: Act<{ readonly why: string }> = ({ how }, mark, say) => Behaviour.behave(how, mark, say)

/** The handler of a tool. */
export const run = <E = { readonly why: string }>(
  name: Plan.ToolName | "Dig",
  act: Act<E | { readonly why: string }> = behave
) =>
(params: Behaviour.Params, context: Toolkit.HandlerContext<any>) =>
  Effect.flatMap(
    Stage.Stage,
    ({ alive, process, record, turn }) =>
      Effect.flatMap(Effect.andThen(alive, Effect.clockWith((clock) => clock.currentTimeMillis)), (startedAt) => {
        const number = record.runs.length
        const call = { id: context.toolCallId ?? "", tool: name, params: Behaviour.encode(name, params) }
        const started: Record.Run = { number, turn, process, call, startedAt, endedAt: Infinity, outcome: "running" }
        record.runs.push(started)
        const success = (done: string) => ({ done, ...(name === "Charge" ? { at: new Date(0) } : undefined) })
        const mark = Behaviour.markOf(number)
        const say = (word: string) => context.preliminary(success(`${mark} ${word}`) as never)
        return act(params, mark, say).pipe(
          Effect.tap(alive),
          Effect.as(success(mark)),
          Behaviour.concluding(started)
        )
      })
  )
