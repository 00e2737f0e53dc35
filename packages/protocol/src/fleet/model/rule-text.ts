import { cutText } from '../../text/cut-text.ts';
import { limits } from './limits.ts';

/** What was allowed for good: a tool, and what its input has to be like. */
export interface ApprovalRule {
  readonly tool: string;
  /** The field that is looked at; null: the whole input as JSON. */
  readonly field: string | null;
  readonly pattern: string;
}

/**
 * A rule as it is shown to the person who makes it, and as its decisions are logged. One that is too long for
 * that is cut and says so: which input it was, the hash beside it says.
 */
export function toRuleText({ tool, field, pattern }: ApprovalRule, charsMax: number = limits.ruleCharsMax): string {
  const text = `${tool}(${field ?? 'input'}: ${pattern})`;
  if (text.length <= charsMax) return text;
  const end = `… (${text.length} characters)`;
  return cutText(text, charsMax - end.length) + end;
}
