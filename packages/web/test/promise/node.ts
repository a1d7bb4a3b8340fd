import { createServer } from "node:http"
import { respond } from "./respond.ts"

export const server = createServer(respond).listen(process.env["PORT"] ?? 3000)
