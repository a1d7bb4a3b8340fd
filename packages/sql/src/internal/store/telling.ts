/** A store that tells what it has changed to those who wait for that. */
import type * as Store from "@assent/ai/Store"
import * as Effect from "effect/Effect"
import * as Hub from "../changes/hub.ts"
import type { Database } from "./database.ts"

export const make = (database: Database, hub: Hub.Hub, operations: Store.Operations): Store.Operations => {
  const { conversations, requests } = operations

  // When it is committed, and never where it is undone.
  const told = <A, E>(
    effect: Effect.Effect<A, E>,
    hasChanged: (value: A) => boolean,
    ...topics: ReadonlyArray<Store.Topic>
  ): Effect.Effect<A, E> =>
    Effect.tap(
      effect,
      (value) =>
        hasChanged(value)
          ? database.afterwards(Effect.sync(() => topics.forEach((topic) => hub.tell(Hub.wordOf(topic)))))
          : Effect.void
    )

  const always = () => true
  const isTrue = (value: boolean) => value

  return {
    ...operations,
    changes: { mark: hub.mark, after: hub.after },
    conversations: {
      ...conversations,
      write: (id, version, write) =>
        told(conversations.write(id, version, write), (next) => next !== undefined, { conversation: id }),
      stop: (id) => told(conversations.stop(id), isTrue, { conversation: id }, { stopped: id }),
      remove: (id) => told(conversations.remove(id), always, { conversation: id }, "events")
    },
    requests: {
      ...requests,
      open: (opened) => told(requests.open(opened), always, "events"),
      close: (nonces, ended) => told(requests.close(nonces, ended), () => ended !== undefined, "events"),
      decide: (name, version, decided) =>
        told(requests.decide(name, version, decided), (is) => is && decided.state !== "pending", "events"),
      deliver: (nonce, answer, entry) => told(requests.deliver(nonce, answer, entry), isTrue, "due", "events")
    }
  }
}
