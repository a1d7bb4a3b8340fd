/** What nobody who signs questions and runs each once can do without: an HMAC, JSON and a Map. */
import { createHmac, randomUUID, timingSafeEqual } from "node:crypto"
import type { Holder } from "../heap.ts"
import type { Contestant } from "../measure.ts"
import * as Work from "../work.ts"

interface Asked {
  readonly id: string
  readonly callId: string
  readonly params: string
  readonly tag: Buffer
}

export const library = "bare loop"
export const version = process.version.slice(1)

const seal = (id: string, callId: string, params: string): Buffer =>
  createHmac("sha256", Work.key).update(JSON.stringify([id, callId, "DeleteFile", params])).digest()

export const ask = (calls: number): ReadonlyArray<Asked> =>
  Array.from({ length: calls }, (_, index) => {
    const id = randomUUID()
    const callId = `call-${index}`
    const params = JSON.stringify(JSON.parse(Work.paramsOf(index)))
    return { id, callId, params, tag: seal(id, callId, params) }
  })

export const verify = ({ callId, id, params, tag }: Asked): void => {
  if (!timingSafeEqual(tag, seal(id, callId, params))) throw new Error("It is forged.")
}

const settle = async (states: Map<string, string>, asked: Asked, approved: boolean): Promise<void> => {
  const { id, params } = asked
  verify(asked)
  if (states.has(id)) throw new Error("It ran.")
  states.set(id, approved ? "running" : "denied")
  if (approved) states.set(id, JSON.stringify(await Work.deleteFile(JSON.parse(params))))
}

export const asks = (calls: number): Contestant => ({
  library,
  version,
  prepare: async (operations) => async () => {
    for (let i = 0; i < operations; i++) Work.expect("requests", ask(calls).length, calls)
  }
})

/** The program holds what is signed. */
export const holds = (): Holder => ({ library, version, ask: async () => ask(1) })

const resumes = (calls: number, approved: boolean): Contestant => {
  const states = new Map<string, string>()
  return {
    library,
    version,
    prepare: async (operations) => {
      const all = Array.from({ length: operations }, () => ask(calls))
      return () =>
        Work.expectRuns(operations, approved ? calls : 0, async () => {
          for (const asked of all) for (const one of asked) await settle(states, one, approved)
        })
    }
  }
}

export const approves = (calls: number): Contestant => resumes(calls, true)
export const denies = (calls: number): Contestant => resumes(calls, false)
