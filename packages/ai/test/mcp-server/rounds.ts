/**
 * A client of MCP 2026-07-28, in which a call ends with the question and is made again with the answer. The SDK does not
 * speak it yet, so this is a few lines of HTTP.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { McpProtocol } from "../../src/index.ts"
import type * as S from "./support.ts"

export const protocols: Parameters<typeof S.serve>[1] = [McpProtocol.v2026_07_28]

export interface Outcome {
  readonly resultType?: string
  readonly inputRequests?: { readonly approval: { readonly params: { readonly message: string } } }
  readonly requestState?: string
  readonly isError?: boolean
  readonly content?: ReadonlyArray<{ readonly text: string }>
}

export interface Call {
  readonly name: string
  readonly arguments: object
  readonly inputResponses?: object | undefined
  readonly requestState?: string | undefined
}

let id = 0

export const call = (
  { url }: S.Server,
  params: Call,
  clientCapabilities: object = { elicitation: {} }
): Effect.Effect<Outcome> =>
  Effect.promise(async () => {
    const version = "2026-07-28"
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": version,
      "io.modelcontextprotocol/clientCapabilities": clientCapabilities
    }
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": version,
        "mcp-method": "tools/call",
        "mcp-name": params.name
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: ++id, method: "tools/call", params: { ...params, _meta } })
    })
    const body: { readonly result?: Outcome } = await response.json()
    assert.isDefined(body.result, JSON.stringify(body))
    return body.result!
  })

export const remove = (path: string) => ({ name: "delete_file", arguments: { path } })

export const answering = (answer: object, { requestState = "" }: Outcome) => ({
  inputResponses: { approval: answer },
  requestState
})

export const reasonOf = ({ content, isError }: Outcome): string => {
  assert.isTrue(isError)
  return JSON.parse(content![0]!.text).reason
}

export const approve = { action: "accept", content: { decision: "approve" } }

export const denials = [
  "The user declined this call.",
  "The user dismissed the question without a decision, so nothing was approved.",
  "mine",
  "The client accepted the question, but sent no answer, so nothing was approved.",
  "The client accepted the question, but its answer does not fit the question, so nothing was approved."
]
