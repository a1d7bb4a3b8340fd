/**
 * What must never be said in an error: the secrets of the client that sends a request, and those its tools carry.
 */
import type * as Responses from "openai/resources/responses/responses"

export const ofParams = (params: Responses.ResponseCreateParams): ReadonlyArray<string> =>
  (params.tools ?? []).flatMap((tool) => {
    if (tool.type === "mcp") {
      const secrets = [tool.authorization, ...Object.values(tool.headers ?? {})].filter((value) => value !== undefined)
      // A header may hold its secret behind a scheme, and an error may quote it without.
      return secrets.flatMap((secret) => [secret, ...secret.split(/\s+/).filter((word) => word.length >= 8)])
    }
    if (tool.type === "code_interpreter" && typeof tool.container === "object") {
      const policy = tool.container.network_policy
      return policy?.type === "allowlist" ? (policy.domain_secrets ?? []).map((secret) => secret.value) : []
    }
    return []
  })

const ofClients = new WeakMap<object, ReadonlyArray<string>>()

/** Notes a client's secrets, for errors that are told elsewhere. */
export const remember = (client: object, secrets: ReadonlyArray<string>): void => void ofClients.set(client, secrets)

/** The secrets of a request, and of the client that sent it, unless somebody else made that one. */
export const ofRequest = (client: object, params: Responses.ResponseCreateParams): ReadonlyArray<string> => [
  ...(ofClients.get(client) ?? []),
  ...ofParams(params)
]
