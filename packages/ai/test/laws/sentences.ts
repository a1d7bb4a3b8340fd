/** What no model is to read: a path, the name of a key or a setting, a line of a program, what a store says of itself. */
export const forDevelopers = new RegExp([
  "(?:^|[\\s\"'(])[~.]{0,2}/[\\w.-]+",
  "[A-Z]+_[A-Z_]+",
  "[`{}]",
  "\\b[lL]ayer",
  "\\b[pP]rovide\\b",
  "@assent",
  "\\b[pP]ass the\\b",
  "\\bversion \\d",
  "\\bschema of its state\\b",
  "\\bconfigur",
  "\\b(?:store|database|journal)\\b",
  "\\bthe key\\b"
].join("|"))
