/**
 * The person at a terminal, asked about tool calls: a controller for `@assent/ai`, on effect/cli.
 *
 * @since 0.1.0
 */
export * as TerminalController from "./TerminalController.ts"
