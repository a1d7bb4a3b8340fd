/** What of Preact and htm is used here, for the checker of types. */
export type Node = unknown
export const html: (strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>) => Node
export const render: (node: Node, parent: Element) => void
export const useState: <A>(initial: A | (() => A)) => [A, (next: A | ((before: A) => A)) => void]
export const useRef: <A>(initial: A) => { current: A }
export const useEffect: (run: () => unknown, inputs?: ReadonlyArray<unknown>) => void
export const useLayoutEffect: typeof useEffect
