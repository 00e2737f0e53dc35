import type { Output } from './io.ts';

/**
 * The value as JSON for this output. JSON leaves some characters as they are that a terminal obeys or that reorder the
 * line; on a terminal they are written as escapes, which every reader of JSON takes for the same (SPEC C5).
 */
export function toJsonText(output: Pick<Output, 'isTTY'>, value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return output.isTTY ? text.replace(DANGEROUS, escape) : text;
}

const DANGEROUS = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
