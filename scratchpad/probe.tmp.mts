import { ApprovalConfig } from "@assent/ai"
import { Effect } from "effect"
const yaml = [
  "tools:\n  a: requird\n  b: { aproval: none }\n  c:\n    approval: no\n  d: { approval: false }\n  e:\n  f: [required]\n  g: 3\n  h: { approval: { write: required } }\n  i: { expires_in: soon, approvers: [] }\n",
  "tools:\n\ta: required\n",
  "tools:\n  a: required\n   b: none\n",
  "tools:\n  a: required\n  a: none\n",
  "",
  "# c\n",
  "- a\n- b\n",
  "required\n",
  "tool:\n  a: deny\n",
  "pre_aproved: [a]\n",
  "combine: tigten\na: deny\n",
  "123: required\n~: deny\n__proto__: deny\n\"a b\": none\n",
  "tools: { a: required, b none }\nx: 1\n",
  "x: &r { approval: required }\ny: *r\nz: { <<: *r, reason: q }\n",
  "a: *nope\n",
  "tools:\n  w:\n    rules:\n      - { path: 'src/**', approval: none }\n      - path: x\n        shell: y\n        approval: deny\n      - approval: none\n      - exact: {a: 1}\n        param: q\n        approval: none\n",
  "tools: { approval: required }\n",
  "tools:\n  a: none\nextra: 1\n",
  "a: {approval: required, toString: 1}",
  "a: \"x\n",
  "a: {" + "{a: ".repeat(3) + "\n"
]
for (const text of yaml) {
  const r = await Effect.runPromise(Effect.result(ApprovalConfig.parse(text, { file: "approval.yaml" })))
  console.log(JSON.stringify(text))
  console.log(r._tag === "Failure" ? r.failure.message : JSON.stringify(r.success))
  console.log()
}
for (
  const [text, file] of [
    ["{\"a\":\"none\",\n\"a\":\"deny\"}", "a.json"],
    ["{\"a\":\"none\",\n}", "a.json"],
    ["{\"tools\":{\n\"a\":{\n\"approval\":\"non\"}}}", "a.json"],
    ["{\"a\":", "a.json"],
    [
      "[tools.a]\napproval = \"required\"\n[[tools.w.rules]]\npath = \"a\"\napproval=\"none\"\n[[tools.w.rules]]\npath = \"b\"\napproval=\"nome\"\n",
      "a.toml"
    ],
    ["a = \n", "a.toml"],
    ["a = 2020-01-01T00:00:00Z", "a.toml"],
    ["a = \"none\"\na = \"deny\"", "a.toml"]
  ] as const
) {
  const r = await Effect.runPromise(Effect.result(ApprovalConfig.parse(text, { file })))
  console.log(JSON.stringify(text))
  console.log(r._tag === "Failure" ? r.failure.message : JSON.stringify(r.success))
  console.log()
}
