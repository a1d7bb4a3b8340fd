/** The person's story with everything in one database, and notes beside it that no kill takes away. */
import { LanguageModel, type Prompt } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { SqlApproval } from "@assent/sql"
import { Effect, Layer, Logger } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Person from "../../../ai/test/agent/person.ts"
import * as World from "../../../ai/test/agent/world.ts"
import * as Statements from "../chaos/statements.ts"

/**
 * Whether a statement writes something of the story. What a process says of being alive, and how often it looks whether others
 * do, depends on how fast it is: what is counted is the same each time.
 */
export const isWrite = (sql: string): boolean =>
  !Statements.begins(sql, "SELECT", "PRAGMA", "BEGIN", "SAVEPOINT", "RELEASE") && !sql.includes("assent_owner")

/** Written when `note` returns, also for whoever is killed next. */
export const notesIn = (folder: string): Person.Notes => {
  const fileOf = (name: string): string => Path.join(folder, `${name}.log`)
  return {
    note: (name, line) => Fs.appendFileSync(fileOf(name), `${JSON.stringify(line)}\n`),
    read: (name) =>
      Fs.existsSync(fileOf(name))
        ? Fs.readFileSync(fileOf(name), "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line))
        : []
  }
}

/** Plays it to its end, and gives what the outermost agent says last and every prompt that a model was sent. */
export const played = (folder: string, filename: string) =>
  Effect.gen(function*() {
    const notes = notesIn(folder)
    const prompts: Array<Prompt.Prompt> = []
    const toolkit = yield* World.makeToolkit({ does: (what) => notes.note("did", what) })
    const answer = Person.answer(notes)
    const script = yield* ScriptedModel.make({
      turns: [],
      afterLastTurn: (request) => {
        prompts.push(request.prompt)
        return answer(request)
      }
    })
    const text = yield* World.conversationOf({ id: "story", toolkit }).pipe(
      Effect.flatMap((conversation) => Person.play(conversation, notes)),
      Effect.provide(Layer.mergeAll(
        Layer.succeed(LanguageModel.LanguageModel, script.model),
        SqlApproval.layer({ filename, synchronous: "NORMAL", busyTimeout: 50, heartbeat: "100 millis" })
      )),
      Effect.provide(Logger.layer([]))
    )
    return { text, prompts }
  })
