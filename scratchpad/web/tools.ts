/** What the agent can do. Each tool says what a person has to see before it runs. */
import { Approval, ApprovalMatcher, ApprovalPresentation, DeferredTool, Interaction, Tool, Toolkit } from "@assent/ai"
import { Duration, Effect, Layer, Schema } from "effect"
import { Folder } from "./folder.ts"

const text = Schema.String

/** What fails is told to the model, and the conversation goes on. */
const returned = { failure: text, failureMode: "return" } as const

// =============================================================================
// Files
// =============================================================================

const quoted = (name: string): string => /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`

const DeleteFile = Tool.make("DeleteFile", {
  description: "Deletes a file of the folder, for good",
  parameters: { path: text },
  success: text,
  ...returned,
  dependencies: [Folder],
  // A file that is not there is not worth a question.
  needsApproval: ({ path }) =>
    Folder.use((folder) =>
      Effect.match(folder.read(path), {
        onFailure: Approval.blocked,
        onSuccess: (content) =>
          Approval.needsApproval({
            description: `Delete ${path}`,
            reason: `${Buffer.byteLength(content)} bytes are gone for good.`,
            presentation: ApprovalPresentation.command(`rm ${quoted(path)}`, { directory: folder.path }),
            // What "for this session" covers, which the card says.
            ...(path.endsWith(".log")
              ? { session: { covers: ApprovalMatcher.path(["*.log"], { param: "path" }).description } }
              : undefined)
          })
      })
    )
})

const ChangeFile = Tool.make("ChangeFile", {
  description: "Changes a file of the folder",
  parameters: { path: text, content: text },
  success: text,
  ...returned,
  dependencies: [Folder],
  needsApproval: ({ content, path }) =>
    Folder.use((folder) => folder.read(path)).pipe(
      Effect.flatMap((before) => ApprovalPresentation.diff({ path, before, after: content })),
      Effect.match({
        onFailure: Approval.blocked,
        onSuccess: (presentation) => Approval.needsApproval({ description: `Change ${path}`, presentation })
      })
    )
})

const WriteFile = Tool.make("WriteFile", {
  description: "Writes a new file into the folder",
  parameters: { path: text, content: text },
  success: text,
  ...returned,
  needsApproval: ({ content, path }) =>
    Effect.succeed(Approval.needsApproval({
      description: `Write ${path}`,
      presentation: ApprovalPresentation.fileContent(content, { path, language: "bash" })
    }))
})

const ImportRows = Tool.make("ImportRows", {
  description: "Adds rows to a table",
  parameters: { table: text, rows: Schema.Array(Schema.Struct({ month: text, rent: Schema.Int, food: Schema.Int })) },
  success: text,
  needsApproval: ({ rows, table }) =>
    Effect.succeed(Approval.needsApproval({
      description: `Import ${rows.length} rows into ${table}`,
      presentation: ApprovalPresentation.structured(rows, { metadata: { table } })
    }))
})

// =============================================================================
// The world
// =============================================================================

/** Small sums anybody may approve; large ones are Grace's. */
const Pay = Tool.make("Pay", {
  description: "Pays an invoice",
  parameters: { to: text, amount: Schema.Finite, currency: text, reference: text },
  success: text,
  needsApproval: ({ amount, currency, to }) =>
    Effect.succeed(Approval.needsApproval({
      description: `Pay ${amount} ${currency} to ${to}`,
      reason: amount > 100 ? "More than 100 is for Grace to approve." : "The invoice is due today.",
      expiresIn: Duration.toMillis("10 minutes"),
      ...(amount > 100 ? { approvers: ["grace"], rememberable: false } : undefined)
    }))
})

const SendMail = Tool.make("SendMail", {
  description: "Sends a mail",
  parameters: { to: text, subject: text, body: text },
  success: text,
  ...returned,
  needsApproval: ({ to }) => Effect.succeed(Approval.needsApproval({ description: `Send a mail to ${to}` }))
})

/** Takes its time, and says how far it is. */
const BackUp = Tool.make("BackUp", {
  description: "Copies the folder to another place",
  parameters: { to: Schema.Literals(["this computer", "the cloud"]) },
  success: Schema.Struct({ copied: Schema.Int, of: Schema.Int }),
  needsApproval: ({ to }) =>
    Effect.succeed(
      to === "the cloud"
        ? Approval.needsApproval({ description: "Back up to the cloud", reason: "Files leave this computer." })
        : Approval.preApproved()
    )
})

/** Asks the user before it goes on. */
const PlanTrip = DeferredTool.make("PlanTrip", {
  description: "Plans a trip, and asks what it needs to know",
  parameters: { ask: Schema.Literals(["form", "choice", "choices", "text", "consent"]) },
  success: text,
  interactions: {
    form: Interaction.form(Schema.Struct({
      city: text.annotate({ description: "Where to?" }),
      nights: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 })),
      quiet: Schema.Boolean.annotate({ description: "A room that looks on the courtyard" }),
      board: Schema.optionalKey(Schema.Literals(["breakfast", "half board"]))
    })),
    choice: Interaction.selectOptions,
    choices: Interaction.selectMany,
    text: Interaction.askUser,
    consent: Interaction.getApproval
  }
})

const options = [
  { value: "rail", label: "By train", description: "6 hours, one change" },
  { value: "air", label: "By plane", description: "2 hours" },
  { value: "road", label: "By car" }
]

export const toolkit = Toolkit.make(
  DeleteFile,
  ChangeFile,
  WriteFile,
  ImportRows,
  Pay,
  SendMail,
  BackUp,
  PlanTrip
)

// =============================================================================
// Handlers
// =============================================================================

const files = 6

/** `step` is how long the slow tool takes for one of its files. */
export const layer = (step: Duration.Duration) =>
  toolkit.toLayer(Effect.map(Folder, (folder) => ({
    DeleteFile: (params) =>
      Effect.andThen(
        folder.remove(params.path),
        Effect.as(folder.note("DeleteFile", params), `${params.path} is deleted.`)
      ),
    ChangeFile: (params) =>
      Effect.andThen(
        folder.write(params.path, params.content),
        Effect.as(folder.note("ChangeFile", params), `${params.path} is changed.`)
      ),
    WriteFile: (params) =>
      Effect.andThen(
        folder.write(params.path, params.content),
        Effect.as(folder.note("WriteFile", params), `${params.path} is written.`)
      ),
    ImportRows: (params) => Effect.as(folder.note("ImportRows", params), `${params.rows.length} rows are imported.`),
    Pay: (params) => Effect.as(folder.note("Pay", params), `${params.amount} ${params.currency} are paid.`),
    SendMail: (params) =>
      Effect.andThen(
        folder.note("SendMail", params),
        Effect.fail(`The mail server refused it: there is no mailbox ${params.to}.`)
      ),
    BackUp: (params, { preliminary }) =>
      Effect.gen(function*() {
        yield* folder.note("BackUp", params)
        for (let copied = 0; copied < files; copied++) {
          yield* preliminary({ copied, of: files })
          yield* Effect.sleep(step)
        }
        return { copied: files, of: files }
      }),
    PlanTrip: DeferredTool.handler(PlanTrip, {
      start: ({ ask }) => {
        switch (ask) {
          case "form":
            return PlanTrip.suspend.form({ prompt: "Where shall we go, and for how long?" })
          case "choice":
            return PlanTrip.suspend.choice({ prompt: "How do you want to travel?", options })
          case "choices":
            return PlanTrip.suspend.choices({ prompt: "Which ways of travelling are all right?", options })
          case "text":
            return PlanTrip.suspend.text({ prompt: "What would you like to see there?" })
          case "consent":
            return PlanTrip.suspend.consent({ prompt: "The hotel wants a deposit. Is that all right?" })
        }
      },
      resume: {
        form: (trip) => Effect.succeed(`${trip.nights} nights in ${trip.city}${trip.quiet ? ", quiet" : ""}.`),
        choice: (way) => Effect.succeed(`You go by ${way}.`),
        choices: (ways) => Effect.succeed(ways.length === 0 ? "You stay at home." : `By ${ways.join(" or ")}.`),
        text: (wish) => Effect.succeed(`You want to see: ${wish}`),
        consent: ({ approved, note }) => Effect.succeed(`${approved ? "A" : "No"} deposit. ${note ?? ""}`)
      }
    })
  })))

export const layerOf = (data: string, step: Duration.Duration) => Layer.provideMerge(layer(step), Folder.layer(data))
