/** All edges. */
import type { Edge } from "./edge.ts"
import { responses } from "./responses.ts"
import { streams } from "./streams.ts"

export const edges: ReadonlyArray<Edge> = [
  ...responses.map((edge) => ({ ...edge, name: `${edge.name} [whole]` })),
  ...streams.map((edge) => ({ ...edge, name: `${edge.name} [streamed]` }))
]
