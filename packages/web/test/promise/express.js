import express from "express"
import { respond } from "./respond.ts"

const app = express()
// Before anything that reads bodies: these routes read theirs.
app.use("/api/chat", respond)
app.use(express.json())
app.get("/health", (_, response) => response.json({ ok: true }))

export const server = app.listen(process.env["PORT"] ?? 3000)
