/**
 * The settings, parameters and results of OpenAI's own tools, as the API has them: the schemas in the types of what
 * `OpenAiTool` makes.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

// =============================================================================
// Searching the web
// =============================================================================

const Location = {
  country: Schema.optionalKey(Schema.NullOr(Schema.String)),
  region: Schema.optionalKey(Schema.NullOr(Schema.String)),
  city: Schema.optionalKey(Schema.NullOr(Schema.String)),
  timezone: Schema.optionalKey(Schema.NullOr(Schema.String))
}

/**
 * How the web is searched: filters, the place of the user, and how much of what is found the model reads.
 *
 * @category models
 * @since 0.1.0
 */
export const WebSearchArgs = Schema.Struct({
  filters: Schema.optionalKey(Schema.NullOr(Schema.Struct({
    allowed_domains: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String)))
  }))),
  user_location: Schema.optionalKey(Schema.NullOr(Schema.Struct({
    type: Schema.optionalKey(Schema.Literal("approximate")),
    ...Location
  }))),
  search_context_size: Schema.optionalKey(Schema.Literals(["low", "medium", "high"])),
  external_web_access: Schema.optionalKey(Schema.Boolean)
})

/**
 * How the web is searched by OpenAI's older models.
 *
 * @category models
 * @since 0.1.0
 */
export const WebSearchPreviewArgs = Schema.Struct({
  user_location: Schema.optionalKey(Schema.NullOr(Schema.Struct({
    type: Schema.Literal("approximate"),
    ...Location
  }))),
  search_context_size: Schema.optionalKey(Schema.Literals(["low", "medium", "high"])),
  search_content_types: Schema.optionalKey(Schema.Array(Schema.Literals(["text", "image"])))
})

/**
 * A search, a page that is opened, or a text that is looked for on one.
 *
 * @category models
 * @since 0.1.0
 */
export const WebSearchAction = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("search"),
    query: Schema.optionalKey(Schema.String),
    queries: Schema.optionalKey(Schema.Array(Schema.String)),
    /** Pages, and sources of other kinds, such as `api`, which have a name and no address. */
    sources: Schema.optionalKey(Schema.Array(Schema.Struct({
      type: Schema.String,
      url: Schema.optionalKey(Schema.String),
      name: Schema.optionalKey(Schema.String)
    })))
  }),
  Schema.Struct({ type: Schema.Literal("open_page"), url: Schema.optionalKey(Schema.NullOr(Schema.String)) }),
  Schema.Struct({ type: Schema.Literal("find_in_page"), url: Schema.String, pattern: Schema.String })
])

/**
 * The call of a web search. Some servers do not say what was done.
 *
 * @category models
 * @since 0.1.0
 */
export const WebSearchParameters = Schema.Struct({ action: Schema.optionalKey(WebSearchAction) })

/**
 * The result of a web search.
 *
 * @category models
 * @since 0.1.0
 */
export const WebSearchSuccess = Schema.Struct({
  action: Schema.optionalKey(WebSearchAction),
  /** `completed` or `failed`; others are of a search that was cut short. */
  status: Schema.String
})

// =============================================================================
// Searching files
// =============================================================================

const Comparison = Schema.Struct({
  type: Schema.Literals(["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"]),
  key: Schema.String,
  value: Schema.Union([
    Schema.String,
    Schema.Number,
    Schema.Boolean,
    Schema.Array(Schema.Union([Schema.String, Schema.Number]))
  ])
})

const Compound = Schema.Struct({
  type: Schema.Literals(["and", "or"]),
  filters: Schema.Array(Schema.Union([Comparison, Schema.Unknown]))
})

/**
 * Where files are searched, and how what is found is chosen and ranked.
 *
 * @category models
 * @since 0.1.0
 */
export const FileSearchArgs = Schema.Struct({
  vector_store_ids: Schema.Array(Schema.String),
  filters: Schema.optionalKey(Schema.NullOr(Schema.Union([Comparison, Compound]))),
  max_num_results: Schema.optionalKey(Schema.Number),
  ranking_options: Schema.optionalKey(Schema.Struct({
    ranker: Schema.optionalKey(Schema.Literals(["auto", "default-2024-11-15"])),
    score_threshold: Schema.optionalKey(Schema.Number),
    hybrid_search: Schema.optionalKey(Schema.Struct({
      embedding_weight: Schema.Number,
      text_weight: Schema.Number
    }))
  }))
})

/**
 * The call of a file search.
 *
 * @category models
 * @since 0.1.0
 */
export const FileSearchParameters = Schema.Struct({ queries: Schema.Array(Schema.String) })

/**
 * The queries of a file search, and what they found.
 *
 * @category models
 * @since 0.1.0
 */
export const FileSearchSuccess = Schema.Struct({
  /** `completed` or `failed`; others are of a search that was cut short. */
  status: Schema.String,
  queries: Schema.Array(Schema.String),
  results: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Struct({
    file_id: Schema.optionalKey(Schema.String),
    text: Schema.optionalKey(Schema.String),
    filename: Schema.optionalKey(Schema.String),
    attributes: Schema.optionalKey(
      Schema.NullOr(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Number, Schema.Boolean])))
    ),
    score: Schema.optionalKey(Schema.Number)
  }))))
})

// =============================================================================
// Running code
// =============================================================================

/**
 * The container that code runs in.
 *
 * @category models
 * @since 0.1.0
 */
export const CodeInterpreterArgs = Schema.Struct({
  container: Schema.Union([
    Schema.String,
    Schema.Struct({
      type: Schema.Literal("auto"),
      file_ids: Schema.optionalKey(Schema.Array(Schema.String)),
      memory_limit: Schema.optionalKey(Schema.NullOr(Schema.Literals(["1g", "4g", "16g", "64g"]))),
      network_policy: Schema.optionalKey(Schema.Union([
        Schema.Struct({ type: Schema.Literal("disabled") }),
        Schema.Struct({
          type: Schema.Literal("allowlist"),
          allowed_domains: Schema.Array(Schema.String),
          domain_secrets: Schema.optionalKey(Schema.Array(Schema.Struct({
            domain: Schema.String,
            name: Schema.String,
            value: Schema.Redacted(Schema.String)
          })))
        })
      ]))
    })
  ])
})

/**
 * The code that is run, and in which container.
 *
 * @category models
 * @since 0.1.0
 */
export const CodeInterpreterParameters = Schema.Struct({
  code: Schema.NullOr(Schema.String),
  container_id: Schema.String
})

/**
 * What the code printed, and the images that it made.
 *
 * @category models
 * @since 0.1.0
 */
export const CodeInterpreterSuccess = Schema.Struct({
  outputs: Schema.NullOr(Schema.Array(Schema.Union([
    Schema.Struct({ type: Schema.Literal("logs"), logs: Schema.String }),
    Schema.Struct({ type: Schema.Literal("image"), url: Schema.String })
  ])))
})

// =============================================================================
// Making images
// =============================================================================

/**
 * How images are made and changed.
 *
 * @category models
 * @since 0.1.0
 */
export const ImageGenerationArgs = Schema.Struct({
  action: Schema.optionalKey(Schema.Literals(["generate", "edit", "auto"])),
  background: Schema.optionalKey(Schema.Literals(["transparent", "opaque", "auto"])),
  input_fidelity: Schema.optionalKey(Schema.NullOr(Schema.Literals(["high", "low"]))),
  input_image_mask: Schema.optionalKey(Schema.Struct({
    image_url: Schema.optionalKey(Schema.String),
    file_id: Schema.optionalKey(Schema.String)
  })),
  model: Schema.optionalKey(Schema.String),
  moderation: Schema.optionalKey(Schema.Literals(["auto", "low"])),
  output_compression: Schema.optionalKey(Schema.Number),
  output_format: Schema.optionalKey(Schema.Literals(["png", "webp", "jpeg", "gif", "svg"])),
  partial_images: Schema.optionalKey(Schema.Number),
  quality: Schema.optionalKey(Schema.Literals(["low", "medium", "high", "xhigh", "max", "auto"])),
  size: Schema.optionalKey(Schema.String)
})

/**
 * An image.
 *
 * @category models
 * @since 0.1.0
 */
export const ImageGenerationSuccess = Schema.Struct({
  /** The image, in base64. */
  result: Schema.NullOr(Schema.String)
})

// =============================================================================
// MCP
// =============================================================================

const ToolFilter = Schema.Struct({
  tool_names: Schema.optionalKey(Schema.Array(Schema.String)),
  read_only: Schema.optionalKey(Schema.Boolean)
})

/**
 * A hosted MCP server: where it is, what OpenAI sends it, and which of its tools need approval.
 *
 * @category models
 * @since 0.1.0
 */
export const McpArgs = Schema.Struct({
  server_label: Schema.String,
  server_url: Schema.optionalKey(Schema.String),
  connector_id: Schema.optionalKey(Schema.Literals([
    "connector_dropbox",
    "connector_gmail",
    "connector_googlecalendar",
    "connector_googledrive",
    "connector_microsoftteams",
    "connector_outlookcalendar",
    "connector_outlookemail",
    "connector_sharepoint"
  ])),
  tunnel_id: Schema.optionalKey(Schema.String),
  authorization: Schema.optionalKey(Schema.Redacted(Schema.String)),
  headers: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Redacted(Schema.String)))),
  server_description: Schema.optionalKey(Schema.String),
  allowed_tools: Schema.optionalKey(Schema.NullOr(Schema.Union([Schema.Array(Schema.String), ToolFilter]))),
  require_approval: Schema.Union([
    Schema.Literals(["always", "never"]),
    Schema.Struct({ always: Schema.optionalKey(ToolFilter), never: Schema.optionalKey(ToolFilter) })
  ]),
  defer_loading: Schema.optionalKey(Schema.Boolean)
})

/**
 * A call of a tool of a hosted MCP server.
 *
 * @category models
 * @since 0.1.0
 */
export const McpParameters = Schema.Struct({
  server_label: Schema.String,
  name: Schema.String,
  /** Parsed; what could not be parsed is the text. */
  arguments: Schema.Unknown
})

const McpError = Schema.Union([
  Schema.String,
  Schema.Struct({ type: Schema.Literal("mcp_protocol_error"), code: Schema.Number, message: Schema.String }),
  Schema.Struct({ type: Schema.Literal("http_error"), code: Schema.Number, message: Schema.String }),
  Schema.Struct({ type: Schema.Literal("mcp_tool_execution_error"), content: Schema.Unknown })
])

/**
 * What became of a call of a tool of a hosted MCP server.
 *
 * @category models
 * @since 0.1.0
 */
export const McpSuccess = Schema.Struct({
  type: Schema.Literal("mcp_call"),
  server_label: Schema.String,
  name: Schema.String,
  arguments: Schema.String,
  output: Schema.optionalKey(Schema.NullOr(Schema.String)),
  error: Schema.optionalKey(Schema.NullOr(McpError))
})

/**
 * What went wrong with a call of a tool of a hosted MCP server; of type `mcp_list_tools`, and without a name, where OpenAI
 * could not learn which tools the server has.
 *
 * @category models
 * @since 0.1.0
 */
export const McpFailure = Schema.Struct({
  type: Schema.Literals(["mcp_call", "mcp_list_tools"]),
  server_label: Schema.String,
  name: Schema.String,
  arguments: Schema.String,
  output: Schema.optionalKey(Schema.NullOr(Schema.String)),
  error: Schema.optionalKey(Schema.NullOr(McpError))
})

// =============================================================================
// The user's own machine
// =============================================================================

/**
 * A command for the machine of the user.
 *
 * @category models
 * @since 0.1.0
 */
export const LocalShellParameters = Schema.Struct({
  action: Schema.Struct({
    type: Schema.Literal("exec"),
    command: Schema.Array(Schema.String),
    timeout_ms: Schema.optionalKey(Schema.NullOr(Schema.Number)),
    working_directory: Schema.optionalKey(Schema.NullOr(Schema.String)),
    env: Schema.Record(Schema.String, Schema.String),
    user: Schema.optionalKey(Schema.NullOr(Schema.String))
  })
})

/**
 * What a command printed.
 *
 * @category models
 * @since 0.1.0
 */
export const LocalShellSuccess = Schema.Struct({ output: Schema.String })

/**
 * Commands for the machine of the user.
 *
 * @category models
 * @since 0.1.0
 */
export const ShellParameters = Schema.Struct({
  action: Schema.Struct({
    commands: Schema.Array(Schema.String),
    timeout_ms: Schema.NullOr(Schema.Number),
    max_output_length: Schema.NullOr(Schema.Number)
  })
})

/**
 * What each command printed, and how it ended.
 *
 * @category models
 * @since 0.1.0
 */
export const ShellSuccess = Schema.Struct({
  output: Schema.Array(Schema.Struct({
    stdout: Schema.String,
    stderr: Schema.String,
    outcome: Schema.Union([
      Schema.Struct({ type: Schema.Literal("timeout") }),
      Schema.Struct({ type: Schema.Literal("exit"), exit_code: Schema.Number })
    ]),
    created_by: Schema.optionalKey(Schema.String)
  }))
})

/**
 * A change of one file.
 *
 * @category models
 * @since 0.1.0
 */
export const ApplyPatchParameters = Schema.Struct({
  call_id: Schema.String,
  operation: Schema.Union([
    Schema.Struct({ type: Schema.Literal("create_file"), path: Schema.String, diff: Schema.String }),
    Schema.Struct({ type: Schema.Literal("delete_file"), path: Schema.String }),
    Schema.Struct({ type: Schema.Literal("update_file"), path: Schema.String, diff: Schema.String })
  ])
})

/**
 * Whether a change was made.
 *
 * @category models
 * @since 0.1.0
 */
export const ApplyPatchSuccess = Schema.Struct({
  status: Schema.Literals(["completed", "failed"]),
  output: Schema.optionalKey(Schema.NullOr(Schema.String))
})

// =============================================================================
// Tools of the program whose input is a text
// =============================================================================

/**
 * A tool whose input is a text of any form, or of one that a grammar says.
 *
 * @category models
 * @since 0.1.0
 */
export const CustomArgs = Schema.Struct({
  description: Schema.optionalKey(Schema.String),
  format: Schema.optionalKey(Schema.Union([
    Schema.Struct({ type: Schema.Literal("text") }),
    Schema.Struct({
      type: Schema.Literal("grammar"),
      syntax: Schema.Literals(["lark", "regex"]),
      definition: Schema.String
    })
  ]))
})

/**
 * What the model wrote for such a tool.
 *
 * @category models
 * @since 0.1.0
 */
export const CustomParameters = Schema.Struct({ input: Schema.String })
