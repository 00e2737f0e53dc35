/** Numbers that bound approval rules. Each has a test at its edge. */
export const ruleLimits = {
  /** Rules of one workspace. */
  approvalRulesMax: 100,
  /** Characters of a pattern. */
  rulePatternCharsMax: 500,
  /** Characters of the name of a tool or an agent in a rule. */
  ruleNameCharsMax: 256,
  /** The exact input of a rule, as JSON. */
  ruleInputBytesMax: 4_096,
  /** Characters of a command or path that a pattern is compared with: longer ones never match. */
  ruleSubjectCharsMax: 1_000,
  /** Compiled patterns that are kept. */
  compiledPatternsMax: 200,
  /** How often decisions are made again because the rules changed at the same moment. */
  ruleAttemptsMax: 5,
} as const;
