import { differential } from "./random.ts"

differential("generateObject")
