import type { ProgramAsk } from '../../program.ts';
import { PLAN_TOOLS, QUESTION_TOOL } from './tool-policy.ts';

/** The kind of a request to a person: whether a tool may run, the answer to a question, or whether a plan is approved. */
export function toAskKind(toolName: string): ProgramAsk['kind'] {
  if (toolName === QUESTION_TOOL) return 'question';
  return PLAN_TOOLS.has(toolName) ? 'plan' : 'tool';
}
