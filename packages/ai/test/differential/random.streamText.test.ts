import { differential } from "./random.ts"

differential("streamText")
