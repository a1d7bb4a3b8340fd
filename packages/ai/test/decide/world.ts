/**
 * A world in which nothing is settled before somebody looks: a fact gets its value when it is first read, and the next
 * world is the same up to the last fact that can still have another. What is never read makes one class of standings.
 */

/** A fact of the world, and the values it can have. */
export class Fact<A> {
  readonly name: string
  readonly values: ReadonlyArray<A>
  readonly #world: World
  readonly #slot: number

  constructor(world: World, name: string, slot: number, values: ReadonlyArray<A>) {
    this.#world = world
    this.name = name
    this.#slot = slot
    this.values = values
  }

  get value(): A {
    return this.values.length === 1 ? this.values[0]! : this.values[this.#world.choose(this.#slot)]!
  }

  /** The same fact in other words, one for each of its values. */
  map<B>(f: (value: A) => B): Fact<B> {
    return new Fact(this.#world, this.name, this.#slot, this.values.map(f))
  }
}

// How many facts of one size a world may have at most, for the shape of a class to be one exact number.
const perSize = 64

const largestStep = perSize ** 7

export class World {
  readonly #facts: Array<Fact<unknown>> = []
  readonly #sizes: Array<number> = []
  readonly #steps: Array<number> = []
  readonly #stepOfSize = new Map<number, number>()
  #chosen = new Int8Array(0)
  #path = new Int8Array(0)
  #order = new Int16Array(0)
  #depth = 0
  #given = 0
  #shape = 0
  #glanced: Array<number> | undefined
  #random = 1

  fact<A>(name: string, values: ReadonlyArray<A>): Fact<A> {
    const size = values.length
    const slot = this.#sizes.length
    const step = size === 1 ? 0 : this.#stepOfSize.get(size) ?? perSize ** this.#stepOfSize.size
    if (size > 1) this.#stepOfSize.set(size, step)
    if (size < 1 || step > largestStep || this.#sizes.filter((one) => one === size).length >= perSize - 1) {
      throw new Error("This world has facts that cannot be counted.")
    }
    const fact = new Fact(this, name, slot, values)
    this.#facts.push(fact)
    this.#sizes.push(size)
    this.#steps.push(step)
    this.#chosen = new Int8Array(slot + 1).fill(-1)
    this.#path = new Int8Array(slot + 1)
    this.#order = new Int16Array(slot + 1)
    return fact
  }

  choose(slot: number): number {
    const chosen = this.#chosen[slot]!
    return chosen >= 0 ? chosen : this.#look(slot)
  }

  #look(slot: number): number {
    if (this.#glanced !== undefined) return this.#glance(slot, this.#glanced)
    const depth = this.#depth++
    const index = depth < this.#given ? Math.min(this.#path[depth]!, this.#sizes[slot]! - 1) : 0
    this.#path[depth] = index
    this.#order[depth] = slot
    this.#chosen[slot] = index
    this.#shape += this.#steps[slot]!
    return index
  }

  // Of the values of one fact every one comes about as often.
  #glance(slot: number, glanced: Array<number>): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0
    const index = Math.floor(this.#random / 2 ** 32 * this.#sizes[slot]!)
    this.#chosen[slot] = index
    glanced.push(slot)
    return index
  }

  /** What is first read in it has any of its values, the same in each walk, and is forgotten: it makes no further class. */
  glance<A>(f: () => A): A {
    const glanced: Array<number> = []
    this.#glanced = glanced
    try {
      return f()
    } finally {
      this.#glanced = undefined
      for (const slot of glanced) this.#chosen[slot] = -1
    }
  }

  /** Goes back to the last fact that can still have another value; false if there is none. */
  next(): boolean {
    let last = this.#depth - 1
    while (last >= 0 && this.#path[last]! + 1 >= this.#sizes[this.#order[last]!]!) last--
    this.#forget()
    if (last < 0) return false
    this.#path[last]!++
    this.#given = last + 1
    return true
  }

  /** Begins with the first world again, or with the one of this place. */
  restart(place?: Int8Array): void {
    this.#forget()
    this.#given = place?.length ?? 0
    if (place !== undefined) this.#path.set(place)
  }

  /** Where this world stands among all, for {@link restart}. */
  get place(): Int8Array {
    return this.#path.slice(0, this.#depth)
  }

  #forget(): void {
    for (let depth = 0; depth < this.#depth; depth++) this.#chosen[this.#order[depth]!] = -1
    this.#depth = 0
    this.#shape = 0
  }

  /** Worlds of one shape, in which as many facts of each size were read, stand for equally many standings. */
  get shape(): number {
    return this.#shape
  }

  /** How many standings there are. */
  get size(): bigint {
    return this.#sizes.reduce((product, size) => product * BigInt(size), 1n)
  }

  /** How many standings a world of this shape stands for. */
  weight(shape: number): bigint {
    let rest = this.size
    for (const [size, step] of this.#stepOfSize) rest /= BigInt(size) ** BigInt(Math.floor(shape / step) % perSize)
    return rest
  }

  /** What was read so far, in that order. */
  seen(): ReadonlyArray<readonly [name: string, value: unknown]> {
    return Array.from(this.#order.subarray(0, this.#depth), (slot) => {
      const fact = this.#facts[slot]!
      return [fact.name, fact.value] as const
    })
  }
}
