/**
 * Amazon's event streams: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html has the form of a
 * message. Each is its length, the length of its headers, a checksum of both, the headers, the payload and a checksum.
 */
import { Buffer } from "node:buffer"
import * as Zlib from "node:zlib"

/** The media type of such a body. */
export const mediaType = "application/vnd.amazon.eventstream"

const header = (name: string, value: string): Buffer => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(value))
  // 7 says that the value is a string.
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)])
}

const checked = (bytes: Buffer): Buffer => {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(Zlib.crc32(bytes))
  return Buffer.concat([bytes, sum])
}

/** Writes events as messages. An event is an object with one key, its type. */
export const encode = (lines: ReadonlyArray<string>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat(lines.map((line) => {
    const event = JSON.parse(line) as Record<string, unknown>
    const [type = "", inner] = Object.entries(event)[0] ?? []
    const headers = Buffer.concat([
      header(":event-type", type),
      header(":content-type", "application/json"),
      header(":message-type", "event")
    ])
    const payload = Buffer.from(JSON.stringify(inner))
    const prelude = Buffer.alloc(8)
    prelude.writeUInt32BE(headers.length + payload.length + 16)
    prelude.writeUInt32BE(headers.length, 4)
    return checked(Buffer.concat([checked(prelude), headers, payload]))
  })))

/** Reads messages as events: objects with one key, their type. */
export const decode = (body: Uint8Array): ReadonlyArray<unknown> => {
  const bytes = Buffer.from(body)
  const events: Array<unknown> = []
  for (let offset = 0; offset < bytes.length; offset += bytes.readUInt32BE(offset)) {
    const payload = offset + 12 + bytes.readUInt32BE(offset + 4)
    const end = offset + bytes.readUInt32BE(offset) - 4
    let type = ""
    for (let here = offset + 12; here < payload;) {
      const name = bytes.subarray(here + 1, here + 1 + bytes.readUInt8(here)).toString()
      const value = here + 2 + name.length
      const length = bytes.readUInt16BE(value)
      const text = bytes.subarray(value + 2, value + 2 + length).toString()
      if (name === ":event-type" || name === ":exception-type") type = text
      here = value + 2 + length
    }
    events.push({ [type]: JSON.parse(bytes.subarray(payload, end).toString()) as unknown })
  }
  return events
}
