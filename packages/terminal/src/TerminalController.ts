/**
 * The person at a terminal, asked about tool calls: approve once or for the session, edit, deny with a reason, stop.
 *
 * A call is shown whole before it can be approved: every parameter to its last character, escaped (law L15), in place, page
 * after page if it is taller than the window; a text that a diff stands for is folded where the engine has proved that
 * (`covers` of a presentation). No key that was pressed, and no text that was pasted, before a question was on the screen
 * answers it, and Enter says yes to nothing that nobody chose. What is edited is shown whole again before it runs. What a
 * tool waits for (`DeferredTool`) is asked with the same face. After the answer one line stays.
 *
 * Esc denies this call alone, and the run goes on. Ctrl-C, Ctrl-D and the end of the input deny the request and everything
 * that is asked after it; {@link untilStopped} ends the run.
 *
 * Colours follow `Prompt.Theme` of effect/cli, and so `NO_COLOR`; no sign is told by its colour alone.
 *
 * @since 0.1.0
 */
import type * as Approval from "@assent/ai/Approval"
import * as ApprovalController from "@assent/ai/ApprovalController"
import * as ApprovalEvents from "@assent/ai/ApprovalEvents"
import type * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import type * as Approver from "@assent/ai/Approver"
import type * as Prompt from "effect/cli/Prompt"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as Terminal from "effect/Terminal"
import * as Asker from "./internal/asker.ts"
import type * as Stopping from "./internal/stopping.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * How people are asked.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  /**
   * Asks about calls that come together as a list to tick. What is not ticked is denied (`"deny"`), or asked alone
   * (`"ask"`). `window` is how long others are waited for (default 10 milliseconds). Default: one after the other.
   */
  readonly batch?: {
    readonly unticked: "deny" | "ask"
    readonly window?: Duration.Input | undefined
  } | undefined
  /**
   * More of what may be approved for the session, beside what `ApprovalMatcher.suggest` offers: this call, its folder, what
   * is known of its command line (with `ApprovalMatcher.layer()` of `@assent/shell`), and the tool. What does not cover the
   * call is left out.
   */
  readonly patterns?:
    | ((request: Approval.ApprovalRequest) => ReadonlyArray<ApprovalMatcher.ApprovalMatcher>)
    | undefined
  /** The editor's command. Default: `$VISUAL`, or `$EDITOR`. It is offered where there is a `ChildProcessSpawner`. */
  readonly editor?: string | undefined
  /**
   * Who is at the terminal: it stands in the journal as who decided (law L16), and where a policy names approvers, who has
   * none of their ids is told so and not asked. Default: somebody without an id, by the name that they have logged in by.
   */
  readonly by?: Approver.Person | undefined
}

// =============================================================================
// Errors
// =============================================================================

/**
 * There is nobody to ask: input or output is no terminal, or one that cannot move its cursor (`TERM=dumb`).
 *
 * @example
 * import { TerminalController } from "@assent/terminal"
 *
 * new TerminalController.NoTerminal({}).message.includes("ApprovalController.layerStrict") // => true
 *
 * @category errors
 * @since 0.1.0
 */
export class NoTerminal extends Schema.TaggedError<NoTerminal>()("NoTerminal", {}) {
  override get message(): string {
    return "Nobody can be asked: this program's input and output are not both a terminal, or TERM is \"dumb\"." +
      " TerminalController asks a person, so nothing would ever be approved. Run the program in a terminal, or provide" +
      " ApprovalController.layerStrict (whatever needs approval is denied) or ApprovalController.layerDeferred (it waits" +
      " for an answer from elsewhere)."
  }
}

// Whoever presses Ctrl-C wants no report of it, and the exit code that a shell expects.
class Stopped extends Terminal.QuitError {
  override readonly [Runtime.errorExitCode] = 130
  override readonly [Runtime.errorReported] = false
}

// =============================================================================
// Constructors
// =============================================================================

/**
 * The controller. Fails with {@link NoTerminal} where nobody can be asked: never a yes, and never a wait for nobody.
 *
 * @example
 * import { ApprovalController } from "@assent/ai"
 * import { TerminalController } from "@assent/terminal"
 * import { Effect, FileSystem, Layer, Path, Terminal } from "effect"
 * import { TerminalCapabilities } from "effect/cli"
 *
 * // Asks where somebody is at a terminal; elsewhere, as in a job at night, whatever needs approval is denied.
 * const controller = TerminalController.make({ by: { id: "ada" } }).pipe(
 *   Effect.catchTag("NoTerminal", () => Effect.succeed(ApprovalController.strict))
 * )
 * const program = ApprovalController.request({ name: "deploy" }).pipe(
 *   Effect.map((decision) => decision._tag),
 *   Effect.provideServiceEffect(ApprovalController.ApprovalController, controller)
 * )
 *
 * // A job at night (in a program: NodeServices.layer):
 * const nobody = { canColor: false, canAnimate: false, canPrompt: false }
 * const terminal = Terminal.make({
 *   columns: Effect.succeed(80),
 *   rows: Effect.succeed(24),
 *   size: Effect.never,
 *   readInput: Effect.never,
 *   readLine: Effect.never,
 *   display: () => Effect.void
 * })
 * const services = Layer.mergeAll(
 *   Layer.succeed(TerminalCapabilities.TerminalCapabilities, nobody),
 *   Layer.succeed(Terminal.Terminal, terminal),
 *   FileSystem.layerNoop({}),
 *   Path.layer
 * )
 *
 * await Effect.runPromise(Effect.provide(program, services)) // => "Denied"
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  options?: Options
): Effect.Effect<ApprovalController.Service, NoTerminal, Prompt.Environment> =>
  Effect.gen(function*() {
    const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
    if (!canPrompt) return yield* new NoTerminal({})
    // Who writes without types is not told by the compiler.
    if (Option.isNone(yield* Effect.serviceOption(Terminal.Terminal))) return yield* Effect.die(new Error(noServices))
    const { controller, stopping } = yield* Asker.make(options ?? {})
    controllers.set(controller, stopping)
    return controller
  })

const noServices = "Service not found: effect/Terminal. TerminalController needs the services of the system: install" +
  " @effect/platform-node, and provide NodeServices.layer, as in Effect.provide(program, NodeServices.layer)."

// =============================================================================
// Layers
// =============================================================================

/**
 * {@link make}, as the controller of a program. Its services are those of `NodeServices.layer`.
 *
 * @example
 * import { ApprovalController } from "@assent/ai"
 * import { TerminalController } from "@assent/terminal"
 * import { Effect, FileSystem, Layer, Path, Terminal } from "effect"
 * import { TerminalCapabilities } from "effect/cli"
 *
 * const program = ApprovalController.request({ name: "deploy", params: { to: "production" } }).pipe(
 *   Effect.map((decision) => decision._tag),
 *   TerminalController.untilStopped,
 *   Effect.provide(TerminalController.layer())
 * )
 *
 * // Where there is no terminal, such as in this example (in a program: NodeServices.layer):
 * const nobody = Layer.succeed(TerminalCapabilities.TerminalCapabilities, {
 *   canColor: false,
 *   canAnimate: false,
 *   canPrompt: false
 * })
 * const terminal = Terminal.make({
 *   columns: Effect.succeed(80),
 *   rows: Effect.succeed(24),
 *   size: Effect.never,
 *   readInput: Effect.never,
 *   readLine: Effect.never,
 *   display: () => Effect.void
 * })
 * const services = Layer.mergeAll(nobody, FileSystem.layerNoop({}), Path.layer, Layer.succeed(Terminal.Terminal, terminal))
 *
 * await Effect.runPromise(Effect.flip(Effect.provide(program, services))).then(({ _tag }) => _tag) // => "NoTerminal"
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<never, NoTerminal, Prompt.Environment> =>
  Layer.effect(ApprovalController.ApprovalController, make(options))

// =============================================================================
// Combinators
// =============================================================================

/**
 * Ends a run with `Terminal.QuitError` once the person has pressed Ctrl-C at one of its questions: after the denial is in
 * the journal, before a model is called again, by the agent that asked or one around it, and with finalizers run. Under
 * `NodeRuntime.runMain` the program ends with exit code 130 and no stack trace.
 *
 * Without it the turn ends without another call of its model, the run goes on, and whatever it asks is denied at once. It
 * has to stand where the controller is in the context: inside of what provides {@link layer}. To a program that another
 * controller answers it is nothing.
 *
 * @example
 * import { TerminalController } from "@assent/terminal"
 * import { Effect } from "effect"
 *
 * await Effect.runPromise(TerminalController.untilStopped(Effect.succeed(1))) // => 1
 *
 * @category combinators
 * @since 0.1.0
 */
export const untilStopped = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E | Terminal.QuitError, R> =>
  Effect.flatMap(ApprovalController.ApprovalController, (controller): Effect.Effect<A, E | Terminal.QuitError, R> => {
    const stopping = controllers.get(controller)
    if (stopping === undefined) return self
    const quit = Effect.suspend((): Effect.Effect<never, Terminal.QuitError> => Effect.fail(new Stopped({})))
    const toItsEnd = Effect.flatMap(
      Effect.exit(Effect.updateService(self, ApprovalEvents.ApprovalEvents, stopping.holding)),
      (exit): Effect.Effect<A, E | Terminal.QuitError> => stopping.hasLeft() ? quit : exit
    )
    return stopping.ending(Effect.raceFirst(toItsEnd, Effect.andThen(stopping.stopped, quit)))
  })

// =============================================================================
// Internals
// =============================================================================

const controllers = new WeakMap<ApprovalController.Service, Stopping.Stopping>()
