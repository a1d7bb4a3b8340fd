import starlight from "@astrojs/starlight"
import { defineConfig } from "astro/config"
import * as Fs from "node:fs"
import { base, dist, origin, repository } from "./build/page.ts"

const script = Fs.readFileSync(new URL("src/page.js", import.meta.url), "utf8")
const sidebar = JSON.parse(Fs.readFileSync(new URL("generated/sidebar.json", import.meta.url), "utf8"))

export default defineConfig({
  site: origin,
  base,
  outDir: dist,
  publicDir: "./generated/public",
  cacheDir: "./node_modules/.astro",
  trailingSlash: "always",
  integrations: [
    starlight({
      title: "Assent",
      description: "Tool approval that can be trusted, for programs on Effect's AI modules",
      social: [{ icon: "github", label: "GitHub", href: repository }],
      customCss: ["./src/site.css"],
      // The copy button without windows around programs, which say nothing. A line that is too long goes on below.
      expressiveCode: {
        defaultProps: { frame: "none", wrap: true, hangingIndent: 4 },
        styleOverrides: { codeFontSize: "0.8rem" }
      },
      head: [{ tag: "script", content: script }],
      sidebar
    })
  ]
})
