/** When which key expires: a binary heap that knows where each key stands, so that an expiry can be moved or dropped. */
export interface Expiries {
  readonly set: (key: string, at: number) => void
  readonly delete: (key: string) => void
  /** Takes out a key that has expired at `now`, if there is one. */
  readonly takeUntil: (now: number) => string | undefined
}

interface Node {
  readonly key: string
  at: number
  index: number
}

export const make = (): Expiries => {
  const heap: Array<Node> = []
  const nodes = new Map<string, Node>()

  const place = (node: Node, index: number) => {
    heap[index] = node
    node.index = index
  }

  const settle = (node: Node) => {
    let index = node.index
    for (let parent = heap[(index - 1) >> 1]; index > 0 && parent!.at > node.at; parent = heap[(index - 1) >> 1]) {
      place(parent!, index)
      index = (index - 1) >> 1
    }
    while (true) {
      const left = heap[2 * index + 1]
      const right = heap[2 * index + 2]
      const child = right !== undefined && right.at < left!.at ? right : left
      if (child === undefined || child.at >= node.at) break
      const childIndex = child.index
      place(child, index)
      index = childIndex
    }
    place(node, index)
  }

  const remove = (node: Node) => {
    nodes.delete(node.key)
    const last = heap.pop()!
    if (last === node) return
    place(last, node.index)
    settle(last)
  }

  return {
    set: (key, at) => {
      let node = nodes.get(key)
      if (node === undefined) {
        node = { key, at, index: heap.length }
        nodes.set(key, node)
        heap.push(node)
      }
      node.at = at
      settle(node)
    },
    delete: (key) => {
      const node = nodes.get(key)
      if (node !== undefined) remove(node)
    },
    takeUntil: (now) => {
      const first = heap[0]
      if (first === undefined || first.at > now) return undefined
      remove(first)
      return first.key
    }
  }
}
