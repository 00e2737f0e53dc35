import { cutText } from '../../text/cut-text.ts';
import { limits } from './limits.ts';

/** A standing approval: a tool, and a condition for its input. */
export interface ApprovalRule {
  readonly tool: string;
  /** The field that is compared; null: the whole input as JSON. */
  readonly field: string | null;
  readonly pattern: string;
}

/**
 * A rule as it is shown to the person who creates it, and as its decisions are logged. A rule that is too long for
 * this is cut and marked as cut: the hash next to it identifies the input.
 */
export function toRuleText({ tool, field, pattern }: ApprovalRule, charsMax: number = limits.ruleCharsMax): string {
  const text = `${tool}(${field ?? 'input'}: ${pattern})`;
  if (text.length <= charsMax) return text;
  const end = `… (${text.length} characters)`;
  return cutText(text, charsMax - end.length) + end;
}
