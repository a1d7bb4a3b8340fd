/** The built site over HTTP, at the address that it is built for. */
import * as Fs from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Path from "node:path"
import { base, dist } from "../build/page.ts"

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".md": "text/markdown; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".xml": "application/xml"
}

const fileOf = (url: string): string | undefined => {
  const path = decodeURIComponent(new URL(url, "http://localhost").pathname)
  if (!path.startsWith(`${base}/`)) return undefined
  const file = Path.join(dist, path.slice(base.length), path.endsWith("/") ? "index.html" : "")
  return file.startsWith(dist) && Fs.existsSync(file) && Fs.statSync(file).isFile() ? file : undefined
}

/** `address` is the one of the first page; on port 0 a free one is taken. */
export const serve = (port: number): Promise<{ readonly address: string; readonly close: () => void }> =>
  new Promise((resolve, reject) => {
    const server = createServer((request, response) => {
      const file = fileOf(request.url ?? "/")
      if (file === undefined) {
        response.writeHead(404, { "content-type": types[".html"] })
        response.end(Fs.readFileSync(Path.join(dist, "404.html")))
        return
      }
      response.writeHead(200, { "content-type": types[Path.extname(file)] ?? "application/octet-stream" })
      response.end(Fs.readFileSync(file))
    }).once("error", reject).listen(port, "localhost", () => {
      server.off("error", reject)
      resolve({
        address: `http://localhost:${(server.address() as AddressInfo).port}${base}/`,
        close: () => server.close()
      })
    })
  })
