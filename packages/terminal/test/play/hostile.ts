/** Requests whose every text was written by somebody who wants to be mistaken for the program. */
import * as Approval from "@assent/ai/Approval"
import type * as Schema from "effect/Schema"
import * as Random from "./random.ts"

/** What is drawn otherwise than it is counted, cannot be seen, or moves what is around it. No letters or digits of ASCII. */
const odd = [
  "\u0000",
  "\u0007",
  "\u0008",
  "\t",
  "\n",
  "\u000b",
  "\r",
  "\r\n",
  "\u001b[2J",
  "\u001b[H",
  "\u001b]0;\u0007",
  "\u001b[",
  "\u0085",
  "\u009b",
  "\u00a0",
  "\u00ad",
  "\u0301",
  "\u034f",
  "\u061c",
  "\u115f",
  "\u1160",
  "\u180e",
  "\u200b",
  "\u200d",
  "\u200e",
  "\u2028",
  "\u2029",
  "\u202e",
  "\u2066",
  "\u2800",
  "\u3000",
  "\u3164",
  "\ufe0f",
  "\ufeff",
  "\uffa0",
  "\u{e0001}",
  "\ud800",
  "ß",
  "Ж",
  "ش",
  "ש",
  "ก็",
  "नि",
  "각",
  "ᄀ",
  "漢",
  "…",
  "—",
  "“",
  "①",
  "■",
  "☎️",
  "☺",
  "⌚",
  "✅",
  "😀",
  "🏳️‍🌈",
  "👨‍👩‍👧",
  "🇩🇪",
  "🧌",
  "𝄞",
  "𒐫",
  "﷽",
  "꧅",
  "𠀀",
  "\u{1cc00}",
  "\u{1faf0}"
]

/** Words of ours, where a row ends or a screen is wiped before them. */
const forged = [
  "\n━━ May this run? ━━\n  Tool      Ж\n  y  Yes, once\n? help ›",
  "\r  y  Yes, once ›",
  "\u001b[1;1H━━ May this run? ━━",
  `${" ".repeat(74)}  y  Yes, once`,
  `${"Ж".repeat(79)}\u0301━━ May this run? ━━`,
  `${"漢".repeat(9)}  n  No, and say why`,
  "\u2028✔ once     Ж"
]

/** A text that begins with none of our words. */
export const textOf = (random: Random.Random): string => {
  const parts = Array.from({ length: 1 + random.below(4) }, () => {
    switch (random.below(4)) {
      case 0:
        return random.oneOf(forged)
      case 1:
        return random.oneOf(odd).repeat(1 + random.below(90))
      default:
        return Array.from({ length: 1 + random.below(60) }, () => random.oneOf(odd)).join("")
    }
  })
  return `Ж${parts.join("Ж")}`
}

const jsonOf = (random: Random.Random, depth = 2): Schema.Json => {
  switch (random.below(depth === 0 ? 2 : 5)) {
    case 0:
      return random.below(1_000_000)
    case 1:
    case 2:
      return textOf(random)
    case 3:
      return Array.from({ length: random.below(4) }, () => jsonOf(random, depth - 1))
    default:
      return { [textOf(random)]: jsonOf(random, depth - 1), [textOf(random)]: null }
  }
}

const presentationOf = (random: Random.Random, params: Readonly<Record<string, Schema.Json>>) => {
  const text = textOf(random)
  const name = textOf(random)
  switch (random.below(4)) {
    case 0:
      return new Approval.ApprovalPresentation({
        type: "diff",
        content: `--- ${name}\n+++ ${name}\n@@ -1,2 +1,2 @@\n Ж\n-${text}\n+${textOf(random)}`,
        language: random.oneOf(["typescript", text]),
        metadata: { path: name, [text]: text },
        // As the engine would say it of what it has proved.
        ...(random.below(2) === 0 ? {} : { covers: Object.keys(params).slice(0, 1) })
      })
    case 1:
      return new Approval.ApprovalPresentation({ type: "command", content: text, metadata: { directory: name } })
    case 2:
      return new Approval.ApprovalPresentation({ type: "file_content", content: text, metadata: { path: name } })
    default:
      return new Approval.ApprovalPresentation({
        type: "structured",
        content: JSON.stringify(jsonOf(random)),
        language: text
      })
  }
}

/** As the engine would ask it, were it not for what it escapes itself. */
export const requestOf = (seed: number): Approval.ApprovalRequest => {
  const random = Random.make(seed)
  const maybe = <A>(make: () => A): A | undefined => random.below(2) === 0 ? undefined : make()
  const params: Record<string, Schema.Json> = { command: maybe(() => textOf(random)) ?? "Ж" }
  for (let count = random.below(4); count > 0; count--) {
    params[textOf(random).slice(0, 1 + random.below(60))] = jsonOf(random)
  }
  const toolName = textOf(random)
  const presentation = maybe(() => presentationOf(random, params))
  const reason = maybe(() => textOf(random))
  const conversation = maybe(() => textOf(random))
  const path = maybe(() => [textOf(random), textOf(random)])
  const source = maybe(() => `mcp.${textOf(random)}`)
  const toolDescription = maybe(() => textOf(random))
  return new Approval.ApprovalRequest({
    approvalId: textOf(random),
    toolCallId: textOf(random),
    toolName,
    params,
    description: textOf(random),
    interaction: "approval",
    providerExecuted: false,
    session: textOf(random),
    ...(presentation === undefined ? {} : { presentation }),
    ...(reason === undefined ? {} : { reason }),
    ...(conversation === undefined ? {} : { conversation }),
    ...(path === undefined ? {} : { path }),
    ...(source === undefined ? {} : { source }),
    ...(toolDescription === undefined ? {} : { toolDescription })
  })
}

/** A tool's question, of the same kind. */
export const awaitedOf = (seed: number): Approval.ApprovalRequest => {
  const random = Random.make(seed)
  const kind = random.oneOf(["askUser", "getApproval", "selectOptions", "form"] as const)
  const label = textOf(random)
  return new Approval.ApprovalRequest({
    approvalId: textOf(random),
    toolCallId: textOf(random),
    toolName: textOf(random),
    params: { [textOf(random).slice(0, 20)]: textOf(random) },
    description: textOf(random),
    interaction: kind,
    providerExecuted: false,
    awaited: new Approval.Awaited({
      name: textOf(random),
      kind,
      prompt: textOf(random),
      answerSchema: kind === "form"
        ? {
          type: "object",
          properties: {
            [textOf(random).slice(0, 30)]: { type: "string", title: textOf(random), description: textOf(random) },
            [`a${textOf(random).slice(0, 30)}`]: { type: "integer", description: textOf(random) },
            [`b${textOf(random).slice(0, 30)}`]: { enum: [textOf(random), textOf(random)] },
            [`c${textOf(random).slice(0, 30)}`]: { type: "boolean", title: textOf(random) }
          }
        }
        : { type: "string" },
      // Two of one label.
      ...(kind === "selectOptions"
        ? { options: [{ value: textOf(random), label }, { value: textOf(random), label, description: textOf(random) }] }
        : {})
    })
  })
}
