/** The files of one story: its database, and beside it what happened, which no rollback undoes and no kill loses. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { makeFolder } from "../database.ts"

export interface World {
  readonly folder: string
  readonly filename: string
}

/** What a tool did. */
export interface Done {
  readonly what: "mail" | "remove" | "touch" | "order" | "paid"
}

/** What is about to be sent, so that it can be sent again. */
export interface Sent {
  readonly decided?: ReadonlyArray<{ readonly approvalId: string; readonly approved: boolean }>
  readonly delivered?: string
}

/** What a call has returned: from then on it must not be lost. */
export interface Told {
  readonly text: string
  readonly asked: ReadonlyArray<string>
  readonly sent: Sent | undefined
}

interface Lines {
  readonly done: Done
  readonly sent: Sent
  readonly told: Told
}

/** A line, and how long the log of writes was by then: what was there at a loss of power is the lines up to a length. */
type Line<Name extends keyof Lines> = Lines[Name] & { readonly logBytes: number }

export const at = (folder: string): World => ({ folder, filename: Path.join(folder, "approvals.db") })

/** One that is removed with the scope. */
export const make = makeFolder("assent-chaos-").pipe(
  Effect.map((folder) => at(Fs.realpathSync(folder))),
  Effect.provide(NodeServices.layer)
)

export const logBytes = ({ filename }: World): number =>
  Fs.statSync(`${filename}-wal`, { throwIfNoEntry: false })?.size ?? 0

const fileOf = ({ folder }: World, name: keyof Lines): string => Path.join(folder, `${name}.log`)

/** Written when this returns, also for whoever is killed next. */
export const note = <Name extends keyof Lines>(world: World, name: Name, line: Lines[Name]): void =>
  Fs.appendFileSync(fileOf(world, name), JSON.stringify({ ...line, logBytes: logBytes(world) }) + "\n")

export const read = <Name extends keyof Lines>(world: World, name: Name): ReadonlyArray<Line<Name>> => {
  const file = fileOf(world, name)
  if (!Fs.existsSync(file)) return []
  return Fs.readFileSync(file, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line))
}

/** As it was when the log of writes had no more than so many bytes, with those bytes. */
export const copyUntil = (world: World, other: World, bytes: number, log: Uint8Array): void => {
  for (const name of ["done", "sent", "told"] as const) {
    const lines = read(world, name).filter((line) => line.logBytes <= bytes)
    Fs.writeFileSync(fileOf(other, name), lines.map((line) => JSON.stringify(line) + "\n").join(""))
  }
  Fs.writeFileSync(`${other.filename}-wal`, log)
}
