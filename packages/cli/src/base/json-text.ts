import type { Output } from './io.ts';

/**
 * The value as JSON for this output. JSON does not escape some control and bidi characters that a terminal obeys; on a
 * terminal they are written as escapes, which is the same JSON (SPEC C5).
 */
export function toJsonText(output: Pick<Output, 'isTTY'>, value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return output.isTTY ? text.replace(DANGEROUS, escape) : text;
}

const DANGEROUS = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
