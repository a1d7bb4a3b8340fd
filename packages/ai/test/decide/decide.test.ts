/**
 * The table of decisions against the laws, over every standing of a call: what a decision never reads is walked once.
 * `npm run laws -- --exhaustive` walks further, and changes each row in every way it can.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { decide, rows } from "../../src/internal/decide/table.ts"
import * as Source from "../source.ts"
import { decideBy, short } from "./exhaustive.ts"
import { laws } from "./laws.ts"
import { reasons } from "./lawsOfReasons.ts"
import * as Mutants from "./mutants.ts"
import * as Report from "./report.ts"
import { walk } from "./walk.ts"

const configurations = short.map((make) => make())

const timeout = 60_000

describe("every standing of a call", () => {
  const met = new Set<string>()

  for (const configuration of configurations) {
    it(`keeps every law: ${configuration.name}`, () => {
      const walked = walk(configuration, { decide, laws })
      for (const name of walked.decisions.keys()) met.add(name)
      assert.deepStrictEqual(walked.breaches.map(Report.breach), [])
      assert.isTrue(walked.whole)
      // Nothing was left out.
      assert.strictEqual(walked.standings, walked.size)
    }, timeout)
  }

  it("meets every kind of decision", () => {
    assert.deepStrictEqual(Object.keys(reasons).filter((name) => !met.has(name)), [])
  })
})

describe("a table without one of its rows", () => {
  for (const mutant of Mutants.dropped(rows)) {
    it(`breaks a law: ${mutant.row}`, () => {
      assert.isDefined(Mutants.judge(mutant, rows, configurations, laws, decideBy).breach)
    }, timeout)
  }
})

describe("the laws", () => {
  const modules = new Map(Source.readModules(import.meta.dirname).map((module) => [`./${module.name}.ts`, module]))

  // What a module imports, here and beyond, types included.
  const reachedFrom = (name: string, reached = new Set<string>()): ReadonlySet<string> => {
    const module = modules.get(name)
    if (module === undefined || reached.has(name)) return reached
    reached.add(name)
    for (const specifier of Source.importsOf(module)) {
      if (specifier.startsWith("./")) reachedFrom(specifier, reached)
      else reached.add(Path.basename(specifier))
    }
    return reached
  }

  it("know no table", () => {
    const reached = reachedFrom("./laws.ts")
    assert.includeMembers([...reached], ["./lawsOfReasons.ts", "./truth.ts", "standing.ts"])
    assert.notInclude([...reached], "table.ts")
  })
})
