/** What `npm run coverage` prints: a row for each folder, and one for all of them. The files are in `coverage/index.html`. */
interface Counted {
  readonly total: number
  readonly covered: number
}

interface Folder {
  readonly isRoot: () => boolean
  readonly getQualifiedName: () => string
  readonly getCoverageSummary: (filesOnly: boolean) => { readonly lines: Counted; readonly branches: Counted }
}

interface Context {
  readonly getTree: (summarizer: "pkg") => {
    readonly visit: (visitor: { readonly onSummary: (folder: Folder) => void }) => void
  }
}

const percent = ({ covered, total }: Counted): string =>
  (total === 0 ? "" : `${(100 * covered / total).toFixed(1)} %`).padStart(9)

/** A report of istanbul's, by the one method that it calls. */
export default class Folders {
  execute(context: Context): void {
    const rows: Array<string> = []
    context.getTree("pkg").visit({
      onSummary: (folder) => {
        const { branches, lines } = folder.getCoverageSummary(false)
        const name = folder.isRoot() ? "all" : folder.getQualifiedName()
        rows.push(
          `${name.padEnd(44)}${percent(lines)}${percent(branches)}${String(lines.total - lines.covered).padStart(10)}`
        )
      }
    })
    const [all = "", ...folders] = rows
    console.log([`${"".padEnd(44)}    lines branches not run`, ...folders.toSorted(), all].join("\n"))
    console.log("Each line is in coverage/index.html. What tests run in processes of their own is not counted.")
  }
}
