import { Layer } from "effect"
import { run } from "./agent.ts"

run(Layer.empty)
