import { differential } from "./random.ts"

differential("generateText")
