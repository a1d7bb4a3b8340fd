/** zod, which the client brings, tries whether it may make functions of text; a strict policy would report that. */
import { config } from "zod"

config({ jitless: true })
