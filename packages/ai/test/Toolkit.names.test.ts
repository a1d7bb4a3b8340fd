/** Names never lose a gate: two tools of one name clash if one of them asks, and what takes another's place asks no less. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Upstream from "effect/ai"
import { Approval, Tool, Toolkit } from "../src/index.ts"
import * as Gate from "../src/internal/tool/gate.ts"

const open = Tool.make("Delete")
const gated = Tool.make("Delete", { needsApproval: true })
const decided = Tool.make("Delete", { needsApproval: () => false })
const theirs = Upstream.Tool.make("Delete", { needsApproval: true })

describe("two tools of one name", () => {
  const pairs = [[gated, open], [open, gated], [decided, open], [gated, decided], [theirs, open], [
    open,
    theirs
  ]] as const

  const ways: Record<string, (one: Tool.Any, other: Tool.Any) => unknown> = {
    "Toolkit.make": (one, other) => Toolkit.make(one, other),
    "Toolkit.make of arrays": (one, other) => {
      const [mine, others] = [[one, Tool.make("Look")], [other]]
      return Toolkit.make(...mine!, ...others!)
    },
    "Toolkit.merge": (one, other) => Toolkit.merge(Toolkit.make(one), Toolkit.make(other)),
    "Toolkit.merge of effect/ai's": (one, other) =>
      Toolkit.merge(Upstream.Toolkit.make(one), Toolkit.make(Tool.make("Look")), Upstream.Toolkit.make(other))
  }

  for (const [name, way] of Object.entries(ways)) {
    it(`${name}: an error that names it, if one of them has a gate`, () => {
      for (const [one, other] of pairs) {
        assert.throws(() => way(one, other), TypeError, /Two tools are called "Delete"[^]*Toolkit\.tighten/)
      }
    })

    it(`${name}: the same tool twice, and two without a gate, are as upstream has them`, () => {
      assert.doesNotThrow(() => way(gated, gated))
      assert.doesNotThrow(() => way(open, Tool.make("Delete")))
    })
  }

  it("names that every object has are names as others", () => {
    const names = ["constructor", "toString", "__proto__"]
    const kit = Toolkit.make(...names.map((name) => Tool.make(name, { needsApproval: true })))
    assert.deepStrictEqual(Object.keys(kit.tools), names)
    assert.throws(() => Toolkit.make(...names.map((name) => Tool.make(name)), ...Object.values(kit.tools)), TypeError)
  })
})

describe("Toolkit.tighten", () => {
  const parameters = Schema.Struct({ path: Schema.String })
  const gates = {
    none: undefined,
    no: () => false,
    maybe: ({ path }: typeof parameters.Type) => path === "b" || path === "c",
    yes: true,
    blocks: ({ path }: typeof parameters.Type) => path === "b" ? Approval.blocked("never b") : false,
    fails: () => Effect.fail("offline")
  } as const
  const Read = Tool.make("Read", { parameters, success: Schema.String })
  const make = (gate: keyof typeof gates) => gates[gate] === undefined ? Read : Tool.setNeedsApproval(Read, gates[gate])

  const severities = ["PreApproved", "NeedsApproval", "Blocked"]
  /** What the tool says of a call; one that fails is asked about. */
  const severity = (tool: Tool.Any, path: string) =>
    Effect.map(
      Effect.match(Gate.evaluate(tool, { path }, { toolCallId: "c", messages: [] }), {
        onFailure: () => "NeedsApproval",
        onSuccess: (result) => result?._tag ?? "PreApproved"
      }),
      (tag) => severities.indexOf(tag)
    )

  it.effect("asks whenever one of the two would ask, and blocks whenever one of them would", () =>
    Effect.gen(function*() {
      for (const one of Object.keys(gates) as ReadonlyArray<keyof typeof gates>) {
        for (const other of Object.keys(gates) as ReadonlyArray<keyof typeof gates>) {
          const kit = Toolkit.tighten(Toolkit.make(make(one), Tool.make("Look")), make(other) as typeof Read)
          assert.deepStrictEqual(Object.keys(kit.tools), ["Read", "Look"])
          for (const path of ["a", "b", "c"]) {
            const [first, second, both] = yield* Effect.all([
              severity(make(one), path),
              severity(make(other), path),
              severity(kit.tools.Read, path)
            ])
            assert.strictEqual(both, Math.max(first, second), `${one} ${other} ${path}`)
          }
        }
      }
    }))

  it("keeps what either says of how to ask", () => {
    const kit = Toolkit.make(Tool.setNeedsApproval(Read, () => Approval.needsApproval({ approvers: ["ada", "grace"] })))
    const both = Toolkit.tighten(
      kit,
      Tool.setNeedsApproval(Read, () => Approval.needsApproval({ approvers: ["grace"] }))
    )
    const said = Effect.runSync(Gate.evaluate(both.tools.Read, { path: "a" }, { toolCallId: "c", messages: [] }))
    assert.deepStrictEqual(said?._tag === "NeedsApproval" ? said.approvers : said, [["ada", "grace"], ["grace"]])
  })

  it("takes no tool that is not there, and none with parameters of its own", () => {
    const kit = Toolkit.make(gated)
    assert.throws(() => Toolkit.tighten(kit, Read as never), TypeError, /no tool called "Read"/)
    const other = Tool.make("Delete", { parameters, needsApproval: true })
    assert.throws(() => Toolkit.tighten(kit, other as never), TypeError, /its own parameters/)
  })
})
