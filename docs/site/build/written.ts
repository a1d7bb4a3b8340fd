/** The pages that people have written: the READMEs, the guides, and what else stands at the root. */
import { readableAnywhere } from "../../../packages/packed/src/links.ts"
import { addressOf, type Group, type Page, read } from "./page.ts"
import * as Prose from "./prose.ts"

/** The published packages, in the order in which a reader meets them. */
export const packages = ["ai", "ai-sdk", "openai", "shell", "sql", "terminal", "web"] as const

const pageOf = (slug: string, source: string): Page => {
  const text = readableAnywhere(source)
  const [heading = "", title = ""] = /^# (.+)\n/.exec(text) ?? []
  if (title === "") throw new Error(`${source} does not begin with a title`)
  const body = text.slice(heading.length).trim()
  return { slug, source, title: title.replaceAll("`", ""), description: Prose.summary(body), text: body }
}

const guide = (file: string): Page => pageOf(`guides/${file.replace(/\.md$/, "")}`, `docs/${file}`)

/** The guides in the order of their index, in its groups, with the words by which it calls them. */
const index = [...read("docs/README.md").matchAll(/^\*\*(.+)\*\*\n([^]*?)(?=^\*\*|$(?![^]))/gm)].map((
  [, label = "", list = ""]
) => ({ label, files: [...list.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, file = ""]) => file) }))

const security = pageOf("guides/security", "SECURITY.md")
const contributing = pageOf("contributing", "CONTRIBUTING.md")
const guides = index.map(({ files, label }) => ({ label, pages: files.map(guide) }))

export const pages: ReadonlyArray<Page> = [
  pageOf("", "README.md"),
  pageOf("guides", "docs/README.md"),
  ...guides.flatMap(({ pages }) => pages),
  security,
  ...packages.map((name) => pageOf(`packages/${name}`, `packages/${name}/README.md`)),
  contributing
]

const item = ({ slug, title }: Page) => ({ label: title, slug })

export const sidebar: ReadonlyArray<Group> = [
  {
    label: "Guides",
    items: [
      { label: "All guides", slug: "guides" },
      ...guides.map(({ label, pages }) => ({
        label,
        items: [...pages, ...label === "Trust" ? [security] : []].map(item)
      }))
    ]
  },
  { label: "Packages", items: packages.map((name) => ({ label: `@assent/${name}`, slug: `packages/${name}` })) }
]

/** What stands above and below all groups. */
export const start = { label: "Start", slug: "index" }
export const last = item(contributing)

export const notFound = {
  title: "There is no such page",
  text: `Search for it, or begin with [what Assent is](${addressOf("")}) or [the guides](${addressOf("guides")}).`
}
