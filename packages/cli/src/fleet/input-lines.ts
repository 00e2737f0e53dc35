import type { Question } from '@fleetloom/protocol/fleet';
import { cleanText } from '../terminal/clean-text.ts';
import { wrapText } from '../terminal/text-width.ts';

/** The whole subject of a decision: the text of a plan, then its other fields; questions with their options; else the input. */
export function toApprovalLines(
  {
    plan,
    questions,
    input,
  }: { readonly plan: string | null; readonly questions: readonly Question[]; readonly input: unknown },
  width: number,
  linesMax: number,
): string[] {
  if (questions.length > 0) return toTextLines(questions.map(toQuestionText).join('\n\n'), width, linesMax);
  if (plan === null || typeof input !== 'object' || input === null) return toInputLines(input, width, linesMax);
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => name !== 'plan'));
  const lines = toTextLines(plan, width, linesMax);
  return Object.keys(rest).length === 0 ? lines : [...lines, '', ...toInputLines(rest, width, linesMax)];
}

/** The lines of an input: a single text unchanged, several texts with their names, any other input as JSON. */
export function toInputLines(input: unknown, width: number, linesMax: number): string[] {
  const values = typeof input === 'object' && input !== null ? Object.entries(input) : [];
  const isText = values.length > 0 && values.every(([, value]) => typeof value === 'string');
  const text = isText
    ? values.map(([name, value]) => (values.length === 1 ? String(value) : `${name}: ${String(value)}`)).join('\n')
    : (JSON.stringify(input, null, 2) ?? '');
  return toTextLines(text, width, linesMax);
}

function toTextLines(text: string, width: number, linesMax: number): string[] {
  const lines = wrapText(cleanText(text), width, linesMax + 1);
  if (lines.length <= linesMax) return lines;
  return [...lines.slice(0, linesMax), `(only the beginning is shown: ${text.length} characters in all)`];
}

/** The question, and below it one line for each option. */
export function toQuestionText({ text, options, isMultiple }: Question): string {
  const lines = options.map(
    ({ label, description }) => `  - ${label}${description === null ? '' : `: ${description}`}`,
  );
  return [`${text}${isMultiple ? ' (more than one answer is possible)' : ''}`, ...lines].join('\n');
}
