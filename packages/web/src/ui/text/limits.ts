/** Numbers that bound shown texts. Each has a test at its edge. */
export const textLimits = {
  /** Characters of a text or input that are shown before "show all". */
  shownCharsMax: 8_000,
  /** Characters of one piece of a long text. */
  pieceCharsMax: 16_000,
  /** The longest text that is rendered as Markdown; a longer one is shown as plain text. */
  markdownCharsMax: 200_000,
} as const;
