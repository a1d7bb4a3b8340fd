/**
 * Configurations with each kind of mistake: nothing that is misspelt is passed over, and whoever wrote it is told the
 * line, the path, what may stand there and what was probably meant.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, PlatformError, Result, Schema } from "effect"
import { ApprovalConfig } from "../src/index.ts"

const parse = (text: string, format: ApprovalConfig.Format = "yaml") =>
  Effect.result(ApprovalConfig.parse(text, { format, file: `approval.${format}` }))

/** The problems of a text as lines; a text that is accepted has none. */
const problems = (text: string, format: ApprovalConfig.Format = "yaml") =>
  Effect.map(parse(text, format), (result) => Result.isFailure(result) ? result.failure.message.split("\n") : [])

const says = (entry: ApprovalConfig.Entry) => [entry.name, entry.approval]

const values = "required, none, deny, once_per_session, default"

// =============================================================================
// Mistakes
// =============================================================================

const mistakes: ReadonlyArray<readonly [string, string, ReadonlyArray<string>]> = [
  ["a tab for indentation", "tools:\n\ta: required\n", [":2: Tabs cannot be used"]],
  ["bad indentation", "tools:\n  a: required\n   b: none\n", [":3: "]],
  ["a duplicate key", "tools:\n  a: required\n  b: none\n  a: none\n", [":4: Duplicate key 'a'"]],
  ["a duplicate key in a flow map", "tools:\n  x: deny\n  y: { approval: deny, approval: none }\n", [
    ":3: Duplicate key"
  ]],
  ["an unknown value", "tools:\n  a: requird\n", [
    `:2: tools.a: "requird" is not a known value here. It may be ${values}. Did you mean required?`
  ]],
  ["an unknown value in the long form", "tools:\n  a:\n    approval: once-per-session\n", [
    ":3: tools.a.approval: ",
    "Did you mean once_per_session?"
  ]],
  ["an unknown key", "tools:\n  a: { aproval: deny }\n", [":2: tools.a.aproval: ", "Did you mean approval?"]],
  ["a key of another style", "a:\n  approval: required\n  expiresIn: 10 minutes\n", [
    ":3: a.expiresIn: ",
    "Did you mean expires_in?"
  ]],
  ["an unknown key of a rule", "a:\n  approval: deny\n  rules:\n    - pth: x\n      approval: none\n", [
    ":4: a.rules[0].pth: ",
    "Did you mean path?"
  ]],
  ["an unknown key at the top", "tools: {}\npre_aproved: [a]\n", [":2: pre_aproved: ", "Did you mean pre_approved?"]],
  ["a name beside tools", "tools:\n  a: deny\nb: deny\n", [":3: b: ", "go below `tools`"]],
  ["pre_approved misspelt without tools", "pre_aproved: [a]\n", [":1: ", "Did you mean pre_approved?"]],
  ["combine misspelt", "combin: tighten\na: deny\n", [":1: combin: ", "Did you mean combine?"]],
  ["an unknown way to combine", "combine: tigten\na: deny\n", [":1: combine: ", "Did you mean tighten?"]],
  ["a list for a tool", "a: [required]\n", [":1: a: This is a list"]],
  ["a number for a tool", "a: 3\n", [":1: a: This is a number"]],
  ["nothing for a tool", "a:\nb: deny\n", [":1: a: This is empty", "Write `{}` to leave it to the tool."]],
  ["a text for a boolean", "a: { approval: required, editable: yes }\n", [
    "a.editable: This is a text; it has to be true or"
  ]],
  ["a map for a text", "a: { approval: required, reason: {} }\n", ["a.reason: This is a map; it has to be a text"]],
  ["a text for a list", "pre_approved: a\ntools: {}\n", ["pre_approved: This is a text; it has to be a list"]],
  ["a list for a map", "- a\n- b\n", ["A configuration is a map"]],
  ["a word for a map", "required\n", ["A configuration is a map"]],
  ["a map of lists", "tools: [a, b]\n", [":1: tools: This is a list; it has to be a map"]],
  ["no, which is not false", "a: { approval: no }\n", ["\"no\" is not a known value here", "Did you mean none?"]],
  ["false", "a: { approval: false }\n", ["false is not a known value here", "Did you mean none?"]],
  ["true", "a: true\n", ["Did you mean required?"]],
  ["an empty file", "", ["It is empty"]],
  ["a file of comments", "# later\n\n---\n", ["It is empty"]],
  ["a byte order mark alone", "\uFEFF", ["It is empty"]],
  ["two documents", "a: deny\n---\nb: deny\n", [":2: ", "Multiple YAML documents"]],
  ["an unclosed quote", "a: deny\nb: \"deny\nc: none\n", ["approval.yaml:"]],
  ["an unclosed flow map", "a: deny\nb: { approval: deny\n", ["approval.yaml:"]],
  ["a missing colon in a flow map", "a: deny\nb: { approval deny }\n", [":2: Expected ':'"]],
  ["an unknown alias", "a: deny\nb: *nope\n", [":2: Unknown YAML alias"]],
  ["an anchor in itself", "a: &x { approval: *x }\n", [":1: "]],
  ["a tag", "a: !!str none\n", ["\"!!str none\" is not a known value here"]],
  ["a name that is nothing", "~: deny\n", [":1: ", "A tool has a name."]],
  ["a name of blanks", "\" \": deny\n", ["A tool has a name."]],
  ["a name with blanks around it", "\" a\": deny\n", ["begins or ends with a space"]],
  ["a name with a wildcard of files", "\"{a,b}\": deny\n", ["only \"*\" is a wildcard"]],
  ["a name in brackets, as of a complex key", "? [a, b]\n: deny\n", ["approval.yaml"]],
  ["rules that leave the rest open", "a:\n  rules:\n    - { path: x, approval: none }\n", [
    ":1: a: ",
    "for all other calls"
  ]],
  ["no rules", "a: { approval: deny, rules: [] }\n", ["It has no rules"]],
  ["a rule without approval", "a: { approval: deny, rules: [{ path: x }] }\n", ["a.rules[0].approval: It is missing."]],
  ["a rule of no calls", "a: { approval: deny, rules: [{ approval: none }] }\n", ["does not say which calls"]],
  ["a rule of calls in two ways", "a: { approval: deny, rules: [{ path: x, shell: y, approval: none }] }\n", [
    "in 2 ways"
  ]],
  ["a match inside and outside", "a: { approval: deny, rules: [{ match: { path: x }, param: y, approval: none }] }\n", [
    "not in both: `param`"
  ]],
  ["a parameter of all parameters", "a: { approval: deny, rules: [{ exact: { x: 1 }, param: y, approval: none }] }\n", [
    "a.rules[0].param: It has no effect together with `exact`."
  ]],
  ["a program that is trusted with paths", "a: { approval: deny, rules: [{ path: x, trust: y, approval: none }] }\n", [
    "a.rules[0].trust: It has no effect together with `path`."
  ]],
  ["a time that is none", "a: { approval: required, expires_in: soon }\n", ["a.expires_in: ", "10 minutes"]],
  ["a time that has passed", "a: { approval: required, expires_in: -5 minutes }\n", ["a.expires_in: "]],
  ["a time without end", "a: { approval: required, expires_in: Infinity }\n", ["a.expires_in: "]],
  ["no approvers", "a: { approval: required, approvers: [] }\n", ["a.approvers: Name at least one"]],
  ["an approver without a name", "a: { approval: required, approvers: [\"\"] }\n", ["a.approvers: Name at least one"]],
  ["approval below tools", "tools: { approval: required }\n", [
    ":1: tools.approval: The name of a tool is expected",
    "for a tool of this name write `approval: { approval: … }`."
  ]],
  ["approval for all tools", "approval: required\n", [":1: approval: The name of a tool is expected"]],
  ["a key of another program", "a: { approval: none, rules: [{ comand: ls, approval: deny }] }\n", [
    "a.rules[0].comand: ",
    "Did you mean shell?"
  ]],
  ["tools misspelt", "tool:\n  a: deny\n", [":1: tool: The names of tools go below `tools`. Did you mean tools?"]],
  ["tools misspelt, in the long form", "tool:\n  a:\n    approval: deny\n", [":1: tool: ", "Did you mean tools?"]],
  ["a glob that matches no path", "a: { approval: none, rules: [{ path: ../**, approval: deny }] }\n", [
    "a.rules[0].path: The glob"
  ]],
  [
    "one bad glob among good ones",
    "a:\n  approval: none\n  rules:\n    - path: [src/**, a//b]\n      approval: deny\n",
    [
      ":4: a.rules[0].path: The glob"
    ]
  ],
  ["a number for globs", "a: { approval: none, rules: [{ path: 3, approval: deny }] }\n", [
    "a.rules[0].path: This is a number; it has to be a text or a list"
  ]],
  [
    "an unknown value below a list at the same column",
    "a:\n  rules:\n  - path: x\n    approval: none\n  approval: nome\n",
    [
      ":5: a.approval: "
    ]
  ],
  [
    "an unknown value in a flow map of many lines",
    "a: { approval: deny, rules: [\n  { path: x,\n    approval: nome } ] }\n",
    [
      ":3: a.rules[0].approval: "
    ]
  ],
  ["no glob", "a: { approval: none, rules: [{ path: [], approval: deny }] }\n", ["It has no glob"]],
  ["a Cyrillic letter among Latin ones", "d\u0435lete_file: deny\n", ["\"\u0435\" (U+0435)", "not a Latin letter"]],
  ["an invisible letter", "\"delete\u200b_file\": deny\n", ["U+200B in the name cannot be seen"]],
  ["a wide letter", "\uff44elete_file: deny\n", ["U+FF44 in the name only looks like \"d\""]],
  ["an accent by itself", "cafe\u0301: deny\n", ["Write it in NFC"]],
  ["a colour of terminals", "a: \"\\e[31mdeny\"\n", ["\\u001b"]]
]

describe("YAML with each kind of mistake", () => {
  for (const [title, text, expected] of mistakes) {
    it.effect(title, () =>
      Effect.gen(function*() {
        const lines = yield* problems(text)
        assert.isNotEmpty(lines, "it was accepted")
        for (const part of expected) assert.include(lines.join("\n"), part)
        for (const line of lines) {
          assert.isTrue(line.startsWith("approval.yaml"))
          // Law L15: what stands in a file cannot paint on a screen.
          assert.notMatch(line, /\p{Cc}/u)
        }
      }))
  }

  it.effect("everything that is wrong is said at once", () =>
    Effect.gen(function*() {
      const lines = yield* problems("tools:\n  a: non\n  b: { aproval: none }\n  c: 3\n  d: { approval: nope, x: 1 }\n")
      assert.deepStrictEqual(lines.map((line) => /:(\d+): /.exec(line)?.[1]), ["2", "3", "4", "5", "5"])
    }))

  it.effect("whoever writes below `tools` is not told to", () =>
    Effect.gen(function*() {
      const [line] = yield* problems("tools: [a, b]\n")
      assert.strictEqual(line, "approval.yaml:1: tools: This is a list; it has to be a map.")
    }))

  it.effect("a tool may be called tool, and names may be in any one alphabet", () =>
    Effect.gen(function*() {
      for (const name of ["tool", "удалить_файл", "διαγραφή", "ファイル削除", "delete_文件", "파일_삭제"]) {
        assert.deepStrictEqual(yield* problems(`${name}: deny\n`), [])
        assert.deepStrictEqual(yield* problems(`${name}: { approval: deny }\n`), [])
      }
    }))

  it.effect("names are texts, whatever YAML makes of them; __proto__ is a name like others", () =>
    Effect.gen(function*() {
      const config = yield* ApprovalConfig.parse(
        "tools:\n  123: required\n  true: deny\n  __proto__: deny\n  constructor: deny\n  toString: none\n",
        { format: "yaml" }
      )
      assert.deepStrictEqual(config.entries.map(says), [
        ["123", "required"],
        ["true", "deny"],
        ["__proto__", "deny"],
        ["constructor", "deny"],
        ["toString", "none"]
      ])
      const bare = yield* ApprovalConfig.parse("{ \"__proto__\": \"deny\" }", { format: "json" })
      assert.deepStrictEqual(bare.entries.map(says), [["__proto__", "deny"]])
      for (const key of ["__proto__", "constructor", "toString"]) {
        assert.isNotEmpty(yield* problems(`a: { approval: none, ${key}: {} }`), key)
      }
    }))

  it.effect("a tool may be called as a field is", () =>
    Effect.gen(function*() {
      const config = yield* ApprovalConfig.parse(
        "shell: required\npath: deny\nkey: none\napproval: { approval: deny }\n",
        {
          format: "yaml"
        }
      )
      assert.deepStrictEqual(config.entries.map(says), [
        ["shell", "required"],
        ["path", "deny"],
        ["key", "none"],
        ["approval", "deny"]
      ])
    }))

  it.effect("anchors and merge keys are what YAML says they are, and say no less than what they stand for", () =>
    Effect.gen(function*() {
      const text = "base: &base { approval: required, reason: ours }\nb: *base\nc: { <<: *base, approval: deny }\n"
      const config = yield* ApprovalConfig.parse(text, { format: "yaml" })
      assert.deepStrictEqual(config.entries.map((entry) => [...says(entry), entry.reason, entry.line]), [
        ["base", "required", "ours", 1],
        ["b", "required", "ours", 2],
        ["c", "deny", "ours", 3]
      ])
      assert.include(
        (yield* problems("base: &base { approval: none, x: 1 }\nb: { <<: *base }\n")).join("\n"),
        "approval.yaml:2: b.x: "
      )
    }))

  it.effect("a huge file is refused, and one that stands for endlessly much", () =>
    Effect.gen(function*() {
      assert.include((yield* problems(`# ${"x".repeat(2_000_000)}`)).join(), "longer than")
      const many = `a: { approval: required, reason: x }\n${
        Array.from({ length: 60_000 }, (_, index) => `t${index}: deny\n`).join("")
      }`
      assert.include((yield* problems(many)).join(), "more than 50,000 values")
      const bomb = [
        "x0: &x0 [a, a, a, a, a, a, a, a, a, a]",
        ...Array.from({ length: 12 }, (_, index) =>
          `x${index + 1}: &x${index + 1} [${Array.from({ length: 10 }, () => `*x${index}`).join(", ")}]`)
      ].join("\n")
      assert.include((yield* problems(bomb)).join(), "more than 50,000 values")
      assert.isNotEmpty(yield* problems(`a: ${"[".repeat(100_000)}`))
      assert.isNotEmpty(yield* problems(`a: ${"{x: ".repeat(200)}1${"}".repeat(200)}`))
      assert.isNotEmpty(yield* problems("[".repeat(200_000), "json"))
    }))

  it.effect("thousands of good lines are read in reasonable time", () =>
    Effect.gen(function*() {
      const text = Array.from({ length: 5_000 }, (_, index) => `t${index}: { approval: deny, reason: "r" }\n`).join("")
      const config = yield* ApprovalConfig.parse(text, { format: "yaml" })
      assert.strictEqual(config.entries.at(-1)?.line, 5_000)
    }), 10_000)
})

describe("JSON and TOML with mistakes", () => {
  const cases: ReadonlyArray<readonly [ApprovalConfig.Format, string, string, ReadonlyArray<string>]> = [
    ["json", "a duplicate key", "{\"a\": \"deny\",\n\"a\": \"none\"}", [":2: a: ", "appears twice"]],
    ["json", "a duplicate key, escaped", "{\"a\": \"deny\",\n\"\\u0061\": \"none\"}", [":2: a: ", "appears twice"]],
    ["json", "a duplicate key far inside", "{\"a\": {\"approval\": \"deny\",\n\n\"approval\": \"none\"}}", [":3: "]],
    ["json", "a comma too many", "{\"a\": \"deny\",\n}", [":2: "]],
    ["json", "an end too soon", "{\"a\":", [":1: "]],
    ["json", "an unknown value", "{\"tools\": {\n\"a\": {\n\"approval\": \"non\"}}}", [
      ":3: tools.a.approval",
      "Did you mean none?"
    ]],
    [
      "json",
      "half of a letter",
      "{\"a\": {\"approval\": \"deny\", \"rules\": [\n{\"exact\": {\"x\": \"\\ud83d\"}, \"approval\": \"none\"}]}}",
      [
        ":2: a.rules[0].exact: "
      ]
    ],
    ["json", "nothing", "null", ["It is empty"]],
    ["toml", "an unknown value below comments", "# ours\n[tools] # all\n\n# one\na = \"nome\" # of them\n", [
      ":5: tools.a: "
    ]],
    ["toml", "a missing value", "a = \n", [":1: Expected a value"]],
    ["toml", "a duplicate key", "a = \"none\"\na = \"deny\"", [":2: "]],
    ["toml", "a table twice", "[tools.a]\napproval = \"deny\"\n[tools.a]\napproval = \"none\"\n", [":3: "]],
    ["toml", "a date for a tool", "a = 2020-01-01T00:00:00Z", ["not plain data"]],
    [
      "toml",
      "an unknown value in a list of tables",
      "[[tools.a.rules]]\npath = \"x\"\napproval = \"none\"\n" +
      "[[tools.a.rules]]\npath = \"y\"\napproval = \"nome\"\n",
      [":6: tools.a.rules[1].approval", "Did you mean none?"]
    ],
    ["toml", "an unknown key in an inline table", "x = \"deny\"\na = { approval = \"none\", aproval = \"deny\" }\n", [
      ":2: a.aproval: ",
      "Did you mean approval?"
    ]],
    [
      "toml",
      "an unknown key behind quotes and brackets in a text of many lines",
      "a = { approval = \"none\", reason = \"\"\"say \"x\"}\n\"\"\", aproval = \"deny\" }\n",
      [":2: a.aproval: "]
    ]
  ]
  for (const [format, title, text, expected] of cases) {
    it.effect(`${format}: ${title}`, () =>
      Effect.gen(function*() {
        const lines = yield* problems(text, format)
        assert.isNotEmpty(lines, "it was accepted")
        for (const part of expected) assert.include(lines.join("\n"), part)
      }))
  }
})

describe("whatever is written", () => {
  const good: Record<ApprovalConfig.Format, string> = {
    yaml: "tools:\n  a: &x\n    approval: deny # no\n    rules:\n      - { path: \"src/**\", approval: none }\n" +
      "      - match:\n          shell: [git status, 'x']\n        approval: required\n  \"b.*\": *x\n" +
      "pre_approved:\n- c\n- d\n",
    json:
      "{ \"tools\": { \"a\": { \"approval\": \"deny\",\n \"rules\": [{ \"path\": \"x\", \"approval\": \"none\" }] } } }",
    toml:
      "combine = 'tighten'\n[tools.a]\napproval = \"deny\"\n[[tools.a.rules]]\npath = [\"x\", 'y']\napproval = \"none\"\n"
  }
  const Edit = Schema.Tuple([
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 250 })),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
    Schema.Literals([
      "",
      " ",
      "\n",
      "\t",
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      "\"",
      "'",
      "#",
      "- ",
      "=",
      ".",
      "|",
      ">",
      "&x ",
      "*x",
      "<<: ",
      "\\",
      "\u2028"
    ])
  ])

  it.effect.prop(
    "it is read, or refused with what is wrong; never a defect",
    { format: Schema.Literals(["yaml", "json", "toml"]), edits: Schema.Array(Edit) },
    ({ edits, format }) =>
      Effect.gen(function*() {
        const text = edits.reduce(
          (text, [at, remove, insert]) => text.slice(0, at) + insert + text.slice(at + remove),
          good[format]
        )
        const result = yield* parse(text, format)
        const lines = text.split(/\r\n?|\n/).length
        const places = Result.isSuccess(result)
          ? result.success.entries.flatMap((entry) => [entry.line, ...entry.rules.map((rule) => rule.line)])
          : result.failure.problems.map((problem) => problem.line)
        if (Result.isFailure(result)) assert.isNotEmpty(result.failure.problems)
        for (const line of places) if (line !== undefined) assert.isTrue(line >= 1 && line <= lines)
      }),
    { arbitrary: { runs: 1_000, seed: "config" } }
  )
})

describe("a file that cannot be read", () => {
  const reading = (file: string, _tag: PlatformError.SystemErrorTag) =>
    ApprovalConfig.fromFile(file).pipe(
      Effect.provide(FileSystem.layerNoop({
        readFileString: (path) =>
          Effect.fail(PlatformError.systemError({
            _tag,
            module: "FileSystem",
            method: "readFile",
            pathOrDescriptor: path,
            description: "ENOENT: no such file or directory, open '/home/ada/approval'"
          }))
      })),
      Effect.flip
    )

  const missing = {
    "approval.yaml": "`tools: {}`",
    "approval.toml": "`[tools]`",
    "approval.json": "`{\"tools\":{}}`"
  }
  for (const [file, line] of Object.entries(missing)) {
    it.effect(`${file} is not there: what happened, why, and the line that fixes it`, () =>
      Effect.gen(function*() {
        const error = yield* reading(file, "NotFound")
        assert.strictEqual(error._tag, "ApprovalConfigError")
        assert.strictEqual(
          error.message,
          `${file}: There is no such file; a path that does not begin at the root begins where the program was started.` +
            ` Give ApprovalConfig.fromFile the path of yours, or write one: with ${line} in it, every tool keeps its own gate.`
        )
        const config = yield* ApprovalConfig.parse(line.slice(1, -1), { file })
        assert.deepStrictEqual(config.entries, [])
      }))
  }

  for (const [tag, says] of [["PermissionDenied", "may not read it"], ["BadResource", "BadResource"]] as const) {
    it.effect(`${tag}: the file is named, and nothing of the system's own words is told`, () =>
      Effect.gen(function*() {
        const { message } = yield* reading("approval.yaml", tag)
        assert.include(message, "approval.yaml: ")
        assert.include(message, says)
        assert.notInclude(message, "ENOENT")
      }))
  }
})
