/**
 * What stands in for a provider where there is no key: its answers in the form of its own API, as `fetch`. It calls the
 * tool twice, and goes on once it has been told of both calls, the person's reason among it.
 */
interface Call {
  readonly id: string
  readonly params: { readonly path: string }
}

/** How a provider writes its answers. */
export interface Api {
  readonly ids: readonly [string, string]
  readonly calls: (calls: ReadonlyArray<Call>) => unknown
  readonly text: (text: string) => unknown
}

const name = "DeleteFile"

const fetchFrom = ({ calls, ids, text }: Api): typeof fetch => async (url, init) => {
  const body = await new Request(url, init).text()
  if (!ids.some((id) => body.includes(id))) {
    const [first, second] = ids
    return Response.json(calls([
      { id: first, params: { path: "debug.log" } },
      { id: second, params: { path: "thesis.txt" } }
    ]))
  }
  return body.includes("deleted") && body.includes("keep it")
    ? Response.json(text("debug.log is gone; thesis.txt stays."))
    : Response.json({ error: { message: "A call is without its result.", type: "invalid_request_error" } }, {
      status: 400
    })
}

/** The key of this environment variable, for the real provider; without one, this one. */
export const unless = (variable: string, api: Api): { readonly apiKey: string; readonly fetch?: typeof fetch } => {
  const apiKey = process.env[variable]?.trim()
  if (apiKey) return { apiKey }
  console.log(`There is no ${variable}: what answers is a script.`)
  return { apiKey: "none", fetch: fetchFrom(api) }
}

/** Anthropic's Messages. */
export const anthropic: Api = (() => {
  const message = (content: unknown, stop_reason: string) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-5",
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 }
  })
  return {
    ids: ["toolu_1", "toolu_2"],
    calls: (calls) =>
      message(calls.map(({ id, params }) => ({ type: "tool_use", id, name, input: params })), "tool_use"),
    text: (text) => message([{ type: "text", text }], "end_turn")
  }
})()

/** Google's `generateContent`. */
export const google: Api = (() => {
  const response = (parts: unknown) => ({
    candidates: [{ content: { role: "model", parts }, index: 0, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 }
  })
  return {
    ids: ["call-1", "call-2"],
    calls: (calls) => response(calls.map(({ id, params }) => ({ functionCall: { id, name, args: params } }))),
    text: (text) => response([{ text }])
  }
})()

/** Chat Completions, which Mistral, Groq, Ollama and many more speak. */
export const chat: Api = (() => {
  const completion = (message: object, finish_reason: string) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "a-model",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  })
  return {
    // Mistral takes ids of nine letters and digits alone.
    ids: ["D681PevKs", "VvvODy9mT"],
    calls: (calls) =>
      completion({
        content: "",
        tool_calls: calls.map(({ id, params }) => ({
          id,
          type: "function",
          function: { name, arguments: JSON.stringify(params) }
        }))
      }, "tool_calls"),
    text: (content) => completion({ content }, "stop")
  }
})()

/** Responses, as xAI has them too. */
export const responses: Api = (() => {
  const response = (output: unknown) => ({
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    status: "completed",
    model: "a-model",
    output,
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 15
    }
  })
  return {
    ids: ["call_1", "call_2"],
    calls: (calls) =>
      response(calls.map(({ id, params }) => ({
        type: "function_call",
        id: `fc_${id}`,
        call_id: id,
        name,
        arguments: JSON.stringify(params),
        status: "completed"
      }))),
    text: (text) =>
      response([{
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text, annotations: [] }]
      }])
  }
})()
