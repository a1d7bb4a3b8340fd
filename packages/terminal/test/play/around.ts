/** What is around every scene, at whatever terminal. */
import * as Approval from "@assent/ai/Approval"
import * as ApprovalController from "@assent/ai/ApprovalController"
import * as ApprovalMemory from "@assent/ai/ApprovalMemory"
import * as ConversationStore from "@assent/ai/ConversationStore"
import * as SuspensionStore from "@assent/ai/SuspensionStore"
import * as ShellMatcher from "@assent/shell/ApprovalMatcher"
import * as TerminalController from "@assent/terminal/TerminalController"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SceneName } from "./scenes.ts"

const by = { id: "ada", name: "Ada" }

/** With the id and the time of the drawing. */
const Drawn = Layer.effect(
  ApprovalController.ApprovalController,
  Effect.map(TerminalController.make({ by }), (controller): ApprovalController.Service => ({
    ...controller,
    ask: (request) =>
      controller.ask!(
        new Approval.ApprovalRequest({
          ...request,
          approvalId: "request-1",
          issuedAt: Date.UTC(2026, 10, 22, 17, 25, 32)
        })
      )
  }))
)

const Asks = (name: SceneName) =>
  name === "details"
    ? Drawn
    : TerminalController.layer({ by, ...(name === "batch" ? { batch: { unticked: "deny" } } : {}) })

export const layer = (name: SceneName) =>
  Layer.mergeAll(
    Asks(name),
    ApprovalMemory.layerSession(),
    ShellMatcher.layer(),
    SuspensionStore.layerMemory,
    ConversationStore.layerMemory()
  )
