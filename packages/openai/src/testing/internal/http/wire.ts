/** What a request is answered with, step by step. */
import type * as Effect from "effect/Effect"
import type { ApiError } from "../../ApiError.ts"

/** One thing to do with a connection. */
export type Step =
  | { readonly _tag: "Write"; readonly data: string | Uint8Array }
  | { readonly _tag: "Run"; readonly effect: Effect.Effect<void> }
  | Ending

export type Ending =
  | { readonly _tag: "Cut"; readonly how: "destroy" | "end" }
  | { readonly _tag: "Stall" }

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Instead of everything else, headers included. */
  readonly before?: Ending | undefined
  readonly steps: Iterable<Step>
}

export const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  steps: [{ _tag: "Write", data: JSON.stringify(body, undefined, 2) }]
})

export const refuse = (error: ApiError): Reply =>
  json(
    error.status,
    { error: { message: error.message, type: error.type, param: error.param, code: error.code } },
    error.headers
  )
