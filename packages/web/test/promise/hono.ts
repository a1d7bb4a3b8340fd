import { serve } from "@hono/node-server"
import { Hono } from "hono"
import { handler } from "./chat.ts"

const app = new Hono()
app.all("/api/chat/*", (context) => handler(context.req.raw))
app.get("/health", (context) => context.json({ ok: true }))

export const server = serve({ fetch: app.fetch, port: Number(process.env["PORT"] ?? 3000) })
