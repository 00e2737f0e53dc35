/** Numbers that bound shared components. Each has a test at its edge. */
export const uiLimits = {
  /** How often the header renders. */
  headerMs: 500,
} as const;
