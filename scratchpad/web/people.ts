/**
 * Who is at the other end. This login is made up: whoever comes says who they are. What a real one does too is the rest: the
 * session is a cookie that no script reads and no other site sends, signed with a key that only the server has.
 */
import { Decider } from "@assent/web"
import { Effect, FileSystem, Layer, Path, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"

const people = [{ id: "ada", name: "Ada" }, { id: "grace", name: "Grace" }] as const

const find = (id: unknown) => people.find((person) => person.id === id)

const cookie = "session"

const LogIn = HttpServerRequest.schemaBodyJson(Schema.Struct({ person: Schema.String }))

const nobody = new Decider.Refused({ status: 401, message: "Please say who you are." })

/** The `Decider` of the chat's routes, and the routes of the login: GET, POST and DELETE `/session`. */
export const layer = (data: string) =>
  Layer.unwrap(Effect.gen(function*() {
    const key = yield* keyIn(data)
    const sign = (id: string) => createHmac("sha256", key).update(id).digest("base64url")

    const personOf = ({ cookies }: HttpServerRequest.HttpServerRequest) => {
      const [id = "", given = ""] = (cookies[cookie] ?? "").split(".")
      const expected = Buffer.from(sign(id))
      const signature = Buffer.from(given)
      return signature.length === expected.length && timingSafeEqual(signature, expected) ? find(id) : undefined
    }

    const who = (person: (typeof people)[number] | undefined) =>
      HttpServerResponse.jsonUnsafe({ person: person ?? null, people }, { headers: { "cache-control": "no-store" } })

    const logIn = Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      // A form of another site cannot post JSON.
      if (request.headers["content-type"] !== "application/json") return HttpServerResponse.empty({ status: 415 })
      const person = find((yield* LogIn).person)
      if (person === undefined) return HttpServerResponse.empty({ status: 422 })
      return HttpServerResponse.setCookieUnsafe(who(person), cookie, `${person.id}.${sign(person.id)}`, options)
    }).pipe(Effect.catch(() => Effect.succeed(HttpServerResponse.empty({ status: 422 }))))

    const logOut = Effect.sync(() =>
      HttpServerResponse.setCookieUnsafe(who(undefined), cookie, "", { ...options, maxAge: 0 })
    )

    const Login = HttpRouter.addAll([
      HttpRouter.route("GET", "/session", (request) => Effect.succeed(who(personOf(request)))),
      HttpRouter.route("POST", "/session", logIn),
      HttpRouter.route("DELETE", "/session", logOut)
    ])

    // Both see the same conversations; a scope of each one's own would be `{ principal: person.id }`.
    const People = Decider.layer((request) => {
      const person = personOf(request)
      return person === undefined ? Effect.fail(nobody) : Effect.succeed({ person, scope: { tenant: "household" } })
    })

    return Layer.merge(People, Login)
  }))

const options = { httpOnly: true, path: "/", sameSite: "strict" } as const

/** Kept, so that whoever is logged in is so after a restart. */
const keyIn = Effect.fnUntraced(function*(data: string) {
  const fs = yield* FileSystem.FileSystem
  const { join } = yield* Path.Path
  const file = join(data, "session.key")
  if (yield* fs.exists(file)) return yield* fs.readFileString(file)
  yield* fs.makeDirectory(data, { recursive: true })
  const key = randomBytes(32).toString("base64")
  yield* fs.writeFileString(file, key, { mode: 0o600 })
  return key
})
