/** A page of the site, and where pages stand. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { repository } from "../../../packages/packed/src/links.ts"

export { repository }

export const root = Path.join(import.meta.dirname, "../../..")

/** What is written before Astro begins: the pages, what stands beside them, and the sidebar. */
export const generated = Path.join(import.meta.dirname, "../generated")

/** The site as it is published. */
export const dist = Path.join(import.meta.dirname, "../dist")

const [owner = "", name = ""] = new URL(repository).pathname.split("/").slice(1)

/** GitHub's pages of a repository. */
export const origin = `https://${owner}.github.io`

/** What the address of every page begins with. */
export const base = `/${name}`

export interface Page {
  /** Where it stands, without slashes around: `guides/the-laws`. The first page's is empty. */
  readonly slug: string
  readonly title: string
  /** One sentence for search engines and for `llms.txt`. */
  readonly description: string
  /** The file of the repository that it is made of, where a reader may edit it. */
  readonly source: string
  /** Markdown without the title; every link into the repository begins with the repository's address. */
  readonly text: string
}

export interface Group {
  readonly label: string
  readonly items: ReadonlyArray<Group | { readonly label: string; readonly slug: string }>
  readonly collapsed?: boolean
}

export const read = (path: string): string => Fs.readFileSync(Path.join(root, path), "utf8")

/** Where a page stands on the site. */
export const addressOf = (slug: string): string => slug === "" ? `${base}/` : `${base}/${slug}/`

/** Where its Markdown stands, beside it. */
export const markdownOf = (slug: string): string => slug === "" ? "index.md" : `${slug}.md`
