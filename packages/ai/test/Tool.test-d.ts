import { Context, Effect, pipe, Schema, type Stream } from "effect"
import { LanguageModel, Prompt, Tool as Upstream, Toolkit } from "effect/ai"
import { describe, expectTypeOf, it } from "vitest"
import * as Approval from "../src/Approval.ts"
import * as Tool from "../src/Tool.ts"

class SecurityPolicy extends Context.Service<SecurityPolicy, {
  readonly requiresApproval: (command: string) => Effect.Effect<boolean, "offline">
}>()("test/SecurityPolicy") {}

class Audit extends Context.Service<Audit, { readonly seen: Effect.Effect<boolean> }>()("test/Audit") {}

class Target extends Schema.Class<Target>("Target")({ path: Schema.String, depth: Schema.FiniteFromString }) {}

describe("the tools of the protocol's text", () => {
  const DeleteFile = Tool.make("DeleteFile", {
    description: "Deletes a file from the filesystem",
    parameters: {
      path: Schema.String
    },
    success: Schema.Struct({ deleted: Schema.Boolean }),
    needsApproval: true
  })

  const WriteFile = Tool.make("WriteFile", {
    description: "Writes content to a file",
    parameters: {
      path: Schema.String,
      content: Schema.String
    },
    success: Schema.Struct({ written: Schema.Boolean }),
    needsApproval: (params) => params.path.startsWith("/etc/")
  })

  const ExecuteCommand = Tool.make("ExecuteCommand", {
    description: "Executes a shell command",
    parameters: {
      command: Schema.String
    },
    success: Schema.String,
    needsApproval: (params, _ctx) =>
      Effect.gen(function*() {
        const policy = yield* SecurityPolicy
        return yield* policy.requiresApproval(params.command)
      }),
    dependencies: [SecurityPolicy]
  })

  const toolkit = Toolkit.make(DeleteFile, WriteFile, ExecuteCommand)

  it("compile, with the types upstream gives such tools", () => {
    expectTypeOf(DeleteFile).toEqualTypeOf<
      Upstream.Tool<"DeleteFile", {
        readonly parameters: Schema.Struct<{ path: Schema.String }>
        readonly success: Schema.Struct<{ readonly deleted: Schema.Boolean }>
        readonly failure: Schema.Never
        readonly failureMode: "error"
      }>
    >()
    expectTypeOf<Upstream.Parameters<typeof WriteFile>>().toEqualTypeOf<
      { readonly path: string; readonly content: string }
    >()
    expectTypeOf<Upstream.Requirements<typeof DeleteFile>>().toEqualTypeOf<never>()
    expectTypeOf<Upstream.Requirements<typeof ExecuteCommand>>().toEqualTypeOf<SecurityPolicy>()
    expectTypeOf<Upstream.Success<typeof ExecuteCommand>>().toEqualTypeOf<string>()
  })

  it("tell upstream's generateText which services they need", () => {
    const program = LanguageModel.generateText({ prompt: "", toolkit })
    expectTypeOf<Effect.Services<typeof program>>().toEqualTypeOf<
      | LanguageModel.LanguageModel
      | SecurityPolicy
      | Upstream.HandlersFor<Toolkit.Tools<typeof toolkit>>
    >()
    const chosen = LanguageModel.generateText({ prompt: "", toolkit: Toolkit.make(DeleteFile, WriteFile) })
    expectTypeOf<Extract<Effect.Services<typeof chosen>, SecurityPolicy>>().toEqualTypeOf<never>()
  })

  it("give their handlers their parameters", () => {
    toolkit.toLayer({
      DeleteFile: (params) => {
        expectTypeOf(params).toEqualTypeOf<{ readonly path: string }>()
        return Effect.succeed({ deleted: true })
      },
      WriteFile: ({ content, path }) => Effect.succeed({ written: path.length + content.length > 0 }),
      ExecuteCommand: ({ command }) => Effect.as(SecurityPolicy, command)
    })
  })
})

describe("make", () => {
  it("infers the gate's parameters from plain fields and from schemas, in any order of properties", () => {
    Tool.make("A", {
      parameters: { path: Schema.String, depth: Schema.optionalKey(Schema.Number) },
      needsApproval: (params, context) => {
        expectTypeOf(params).toEqualTypeOf<{ readonly path: string; readonly depth?: number }>()
        expectTypeOf(context).toEqualTypeOf<Upstream.NeedsApprovalContext>()
        return false
      }
    })
    Tool.make("B", {
      needsApproval: (params) => {
        expectTypeOf(params).toEqualTypeOf<{ readonly at: Date }>()
        return params.at.getTime() > 0
      },
      success: Schema.String,
      parameters: Schema.Struct({ at: Schema.Date })
    })
    Tool.make("C", {
      dependencies: [SecurityPolicy],
      needsApproval: (params) => {
        expectTypeOf(params).toEqualTypeOf<Target>()
        return SecurityPolicy.use((policy) => policy.requiresApproval(params.path))
      },
      parameters: Target
    })
    const ReadLine = Tool.make("D", {
      parameters: { line: Schema.FiniteFromString },
      needsApproval: (params) => params.line > 100
    })
    expectTypeOf<Upstream.Parameters<typeof ReadLine>>().toEqualTypeOf<{ readonly line: number }>()
    expectTypeOf<Upstream.ParametersEncoded<typeof ReadLine>>().toEqualTypeOf<{ readonly line: string }>()
  })

  it("rejects a service that is not declared", () => {
    Tool.make("A", {
      parameters: { command: Schema.String },
      // @ts-expect-error SecurityPolicy is not among the dependencies
      needsApproval: (params) => SecurityPolicy.use((policy) => policy.requiresApproval(params.command))
    })
    Tool.make("B", {
      parameters: { command: Schema.String },
      // @ts-expect-error SecurityPolicy is not among the dependencies
      needsApproval: ({ command }) =>
        Effect.gen(function*() {
          const policy = yield* SecurityPolicy
          const audit = yield* Audit
          return (yield* audit.seen) || (yield* policy.requiresApproval(command))
        }),
      dependencies: [Audit]
    })
  })

  it("surfaces every declared service", () => {
    const tool = Tool.make("A", {
      needsApproval: () => Effect.flatMap(Audit, (audit) => audit.seen),
      dependencies: [Audit, SecurityPolicy, Tool.Destructive]
    })
    expectTypeOf<Upstream.Requirements<typeof tool>>().toEqualTypeOf<Audit | SecurityPolicy>()
    const toolkit = Toolkit.make(tool)
    const stream = LanguageModel.streamText({ prompt: "", toolkit })
    expectTypeOf<Exclude<Audit | SecurityPolicy, Stream.Services<typeof stream>>>().toEqualTypeOf<never>()
  })

  it("takes booleans, results, and effects of both that may fail", () => {
    Tool.make("A", { needsApproval: () => Approval.blocked("never") })
    Tool.make("B", { needsApproval: () => Effect.succeed(Approval.needsApproval({ reason: "costs money" })) })
    Tool.make("C", { needsApproval: () => Effect.fail("offline" as const) })
    Tool.make("D", {
      parameters: { cost: Schema.Number },
      needsApproval: ({ cost }) => cost > 100 ? Approval.blocked("too much") : cost > 10
    })
    Tool.make("E", {
      parameters: { cost: Schema.Number },
      needsApproval: ({ cost }) =>
        cost > 100 ? Approval.blocked("too much") : Effect.succeed(cost > 10 ? Approval.needsApproval() : false)
    })
    Tool.make("F", {
      parameters: { cost: Schema.Number },
      needsApproval: Effect.fnUntraced(function*({ cost }) {
        if (cost < 0) return yield* Effect.fail("nonsense")
        return cost > 10
      })
    })
    Tool.make("G", { parameters: { cost: Schema.Number }, needsApproval: async ({ cost }) => cost > 10 })
    Tool.make("H", {
      parameters: { cost: Schema.Number },
      needsApproval: async ({ cost }, { toolCallId }) =>
        cost > 100 ? Approval.blocked("too much") : cost > 10 ? { description: toolCallId } : false
    })
    Tool.dynamic("I", {
      parameters: Schema.Struct({ cost: Schema.Number }),
      needsApproval: async (call) => call.cost > 1
    })
    Tool.setNeedsApproval(Tool.make("J", { parameters: { cost: Schema.Number } }), async ({ cost }) => cost > 10)
  })

  it("rejects other results", () => {
    // @ts-expect-error a string is not an answer
    Tool.make("A", { needsApproval: () => "yes" })
    // @ts-expect-error nor is a promise of a string
    Tool.make("B", { parameters: { path: Schema.String }, needsApproval: async (params) => params.path })
    // @ts-expect-error nor is an effect of a string
    Tool.make("C", { needsApproval: () => Effect.succeed("yes") })
    // @ts-expect-error nor is nothing
    Tool.make("D", { needsApproval: () => {} })
    // @ts-expect-error nor is an object that looks like a result
    Tool.make("E", { needsApproval: () => ({ _tag: "Approved" }) })
    // @ts-expect-error nor is undefined beside a boolean
    Tool.make("F", { parameters: { cost: Schema.Number }, needsApproval: ({ cost }) => cost > 1 ? true : undefined })
  })

  it("keeps upstream's inference", () => {
    const options = {
      description: "d",
      parameters: Schema.Struct({ a: Schema.Number }),
      success: Schema.Struct({ b: Schema.Number }),
      failure: Schema.String,
      failureMode: "return",
      dependencies: [Audit]
    } as const
    const { dependencies: _, ...rest } = options
    expectTypeOf(Tool.make("A", rest)).toEqualTypeOf(Upstream.make("A", rest))
    expectTypeOf(Tool.make("A", { ...rest, dependencies: [Audit] })).toEqualTypeOf(
      Upstream.make("A", { ...rest, dependencies: [Audit] })
    )
    expectTypeOf(Tool.make("A")).toEqualTypeOf(Upstream.make("A"))
    expectTypeOf(Tool.make("A", {})).toEqualTypeOf(Upstream.make("A", {}))
    expectTypeOf(Tool.make("A", { parameters: {} })).toEqualTypeOf(Upstream.make("A", {}))
    expectTypeOf(Tool.make("A", { parameters: Tool.EmptyParams })).toEqualTypeOf(Upstream.make("A", {}))
    Tool.make("A", {
      success: Schema.Struct({ image: Schema.String }),
      toModelOutput: (result) => {
        expectTypeOf(result).toEqualTypeOf<{ readonly image: string }>()
        return [Prompt.makePart("text", { text: result.image })]
      }
    })
    // @ts-expect-error no such option
    Tool.make("A", { needApproval: true })
  })
})

describe("make, in generic code", () => {
  it("keeps the schema of the parameters, as upstream's does", () => {
    const ours = <const Name extends string, P extends Schema.Constraint>(name: Name, parameters: P) =>
      Tool.make(name, { parameters })
    const theirs = <const Name extends string, P extends Schema.Constraint>(name: Name, parameters: P) =>
      Upstream.make(name, { parameters })
    expectTypeOf(ours).toEqualTypeOf(theirs)
    const parameters = Schema.Struct({ path: Schema.String })
    expectTypeOf(ours("A", parameters)).toEqualTypeOf(Upstream.make("A", { parameters }))
    expectTypeOf(ours("A", Target)).toEqualTypeOf(Upstream.make("A", { parameters: Target }))
  })

  it("is a tool of a toolkit, and its gate and handler get these parameters", () => {
    const make = <P extends Schema.Top>(parameters: P, gate: Tool.NeedsApproval<P>) => {
      const tool = Tool.make("A", { parameters, needsApproval: gate })
      const kept: P = tool.parametersSchema
      Tool.setNeedsApproval(tool, gate)
      return Toolkit.make(tool.setParameters(kept))
    }
    const toolkit = make(Target, ({ path }) => path !== "")
    toolkit.toLayer({
      A: (params) => {
        expectTypeOf(params).toEqualTypeOf<Target>()
        return Effect.void
      }
    })
  })

  it("knows fields as the struct of these, and needs no names of them", () => {
    const ofFields = <Fields extends Schema.Struct.Fields>(parameters: Fields) => Tool.make("A", { parameters })
    expectTypeOf(ofFields({ path: Schema.String }).parametersSchema).toEqualTypeOf<
      Schema.Struct<{ path: Schema.String }>
    >()
    const fields: Schema.Struct.Fields = { path: Schema.String }
    Toolkit.make(Tool.make("A", { parameters: fields }))
    // @ts-expect-error a string is neither a schema nor fields
    Tool.make("A", { parameters: { path: "string" } })
    // @ts-expect-error the parameters have no such field
    Tool.make("B", { parameters: { path: Schema.String }, needsApproval: ({ name }) => name === "" })
    // @ts-expect-error nor do these
    Tool.make("C", { parameters: Schema.Struct({ path: Schema.String }), needsApproval: ({ name }) => name === "" })
  })
})

describe("dynamic", () => {
  it("infers the gate's parameters from a schema, and knows nothing of a JSON Schema's", () => {
    const Typed = Tool.dynamic("A", {
      needsApproval: (params) => {
        expectTypeOf(params).toEqualTypeOf<{ readonly a: number }>()
        return params.a > 1
      },
      parameters: Schema.Struct({ a: Schema.Number })
    })
    expectTypeOf(Typed).toEqualTypeOf(Upstream.dynamic("A", { parameters: Schema.Struct({ a: Schema.Number }) }))
    const json = { type: "object", properties: { q: { type: "string" } } } as const
    const Json = Tool.dynamic("B", {
      parameters: json,
      needsApproval: (params) => {
        expectTypeOf(params).toEqualTypeOf<unknown>()
        return true
      }
    })
    expectTypeOf(Json).toEqualTypeOf(Upstream.dynamic("B", { parameters: json }))
    expectTypeOf(Tool.dynamic("B", { parameters: { type: "object" } })).toEqualTypeOf(
      Upstream.dynamic("B", { parameters: { type: "object" } })
    )
    expectTypeOf(Tool.dynamic("C")).toEqualTypeOf(Upstream.dynamic("C"))
    expectTypeOf(Tool.dynamic("C", { success: Schema.String, failureMode: "return" })).toEqualTypeOf(
      Upstream.dynamic("C", { success: Schema.String, failureMode: "return" })
    )
  })

  it("declares services", () => {
    const tool = Tool.dynamic("A", {
      parameters: { type: "object" },
      needsApproval: () => SecurityPolicy.use((policy) => policy.requiresApproval("")),
      dependencies: [SecurityPolicy]
    })
    expectTypeOf<Upstream.Requirements<typeof tool>>().toEqualTypeOf<SecurityPolicy>()
    const program = LanguageModel.generateText({ prompt: "", toolkit: Toolkit.make(tool) })
    expectTypeOf<Extract<Effect.Services<typeof program>, SecurityPolicy>>().toEqualTypeOf<SecurityPolicy>()
    Tool.dynamic("B", {
      // @ts-expect-error SecurityPolicy is not among the dependencies
      needsApproval: () => SecurityPolicy.use((policy) => policy.requiresApproval(""))
    })
  })
})

describe("setNeedsApproval", () => {
  const Plain = Upstream.make("Plain", { parameters: Schema.Struct({ a: Schema.Number }), dependencies: [Audit] })
  const Hosted = Upstream.providerDefined({
    id: "acme.shell",
    customName: "AcmeShell",
    providerName: "shell",
    parameters: Schema.Struct({ command: Schema.String }),
    requiresHandler: true
  })({})
  const Json = Upstream.dynamic("Json", { parameters: { type: "object" } })

  it("keeps the tool's type and infers the parameters, first or last", () => {
    expectTypeOf(Tool.setNeedsApproval(Plain, (params) => params.a > 1)).toEqualTypeOf(Plain)
    expectTypeOf(Tool.setNeedsApproval(Hosted, (params) => params.command !== "ls")).toEqualTypeOf(Hosted)
    expectTypeOf(Tool.setNeedsApproval(Json, (params) => params !== undefined)).toEqualTypeOf(Json)
    expectTypeOf(pipe(Plain, Tool.setNeedsApproval((params) => params.a > 1))).toEqualTypeOf(Plain)
    expectTypeOf(pipe(Hosted, Tool.setNeedsApproval((params, _context) => params.command !== "ls"))).toEqualTypeOf(
      Hosted
    )
    expectTypeOf(pipe(Json, Tool.setNeedsApproval(true))).toEqualTypeOf(Json)
    const ask = Tool.setNeedsApproval(true)
    expectTypeOf(ask(Hosted)).toEqualTypeOf(Hosted)
  })

  it("allows the services the tool declares, and no others", () => {
    Tool.setNeedsApproval(Plain, () => Effect.flatMap(Audit, (audit) => audit.seen))
    pipe(Plain, Tool.setNeedsApproval(({ a }) => Effect.map(Audit, () => a > 1)))
    // @ts-expect-error SecurityPolicy is not among the tool's requirements
    Tool.setNeedsApproval(Plain, () => SecurityPolicy.use((policy) => policy.requiresApproval("")))
    // @ts-expect-error nor, data-last
    pipe(Plain, Tool.setNeedsApproval(({ a }) => Effect.map(SecurityPolicy, () => a > 1)))
    const More = Plain.addDependency(SecurityPolicy)
    expectTypeOf(Tool.setNeedsApproval(More, () => SecurityPolicy.use((policy) => policy.requiresApproval(""))))
      .toEqualTypeOf(More)
    // @ts-expect-error a string is not an answer
    Tool.setNeedsApproval(Plain, () => "yes")
  })
})
