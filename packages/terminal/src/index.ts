/**
 * Answers at a terminal.
 *
 * @since 0.1.0
 */
export {}
