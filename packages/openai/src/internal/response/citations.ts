/** Annotations of a text become sources; the text keeps them as they came. */
import type * as Response from "effect/ai/Response"
import type * as Responses from "openai/resources/responses/responses"

type Annotation = Responses.ResponseOutputText["annotations"][number]
type Source = Response.UrlSourcePartEncoded | Response.DocumentSourcePartEncoded

/** `undefined` for an annotation that names nothing a program could open, or one we do not know. */
export const source = (annotation: Annotation, id: string): Source | undefined => {
  switch (annotation?.type) {
    case "url_citation":
      // A URL that does not parse would fail the whole response.
      return !URL.canParse(annotation.url) ? undefined : {
        type: "source",
        sourceType: "url",
        id,
        url: annotation.url,
        title: annotation.title ?? annotation.url,
        metadata: {
          openai: {
            type: "url_citation",
            startIndex: annotation.start_index ?? 0,
            endIndex: annotation.end_index ?? 0
          }
        }
      }
    case "file_citation":
      return document(id, annotation.filename ?? annotation.file_id, {
        type: "file_citation",
        index: annotation.index ?? 0,
        fileId: annotation.file_id ?? ""
      })
    case "file_path":
      return document(id, annotation.file_id, {
        type: "file_path",
        index: annotation.index ?? 0,
        fileId: annotation.file_id
      })
    case "container_file_citation":
      return document(id, annotation.filename ?? annotation.file_id, {
        type: "container_file_citation",
        fileId: annotation.file_id,
        containerId: annotation.container_id
      })
  }
  return undefined
}

const document = (
  id: string,
  name: string | undefined,
  openai: Exclude<NonNullable<Response.DocumentSourcePartMetadata["openai"]>, null>
): Response.DocumentSourcePartEncoded | undefined =>
  typeof name !== "string" ? undefined : {
    type: "source",
    sourceType: "document",
    id,
    mediaType: "text/plain",
    title: name,
    fileName: name,
    metadata: { openai }
  }

/** The same source has the same id in every reading of its response. */
export const sourceId = (itemId: string, contentIndex: number, index: number): string =>
  `${itemId}:${contentIndex}:${index}`
