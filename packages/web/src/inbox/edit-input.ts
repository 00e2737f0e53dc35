import type { InputFields } from '../stores/decisions.ts';

/** The result of editing: a changed input, a problem with the text, or no change. */
export type Edited =
  | { readonly type: 'input'; readonly input: InputFields }
  | { readonly type: 'problem'; readonly problem: string }
  | { readonly type: 'unchanged' };

/** The text of an input in the editor. */
export function toDraft(input: unknown): string {
  return commandOf(input) ?? JSON.stringify(input, null, 2) ?? '';
}

/** Reads the text of the editor back into an input. */
export function toEdited(input: unknown, text: string): Edited {
  if (text === toDraft(input)) return { type: 'unchanged' };
  if (commandOf(input) !== undefined) {
    if (text.trim() === '') return { type: 'problem', problem: 'The command is empty.' };
    return { type: 'input', input: { ...(input as InputFields), command: text } };
  }
  return parse(text);
}

function parse(text: string): Edited {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { type: 'problem', problem: `Not valid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { type: 'problem', problem: 'The input of a tool must be a JSON object.' };
  }
  // The check above makes the cast safe.
  return { type: 'input', input: value as InputFields };
}

/** The command of an input that has one: editing it as plain text is easier than as JSON. */
function commandOf(input: unknown): string | undefined {
  const command = typeof input === 'object' && input !== null && 'command' in input ? input.command : undefined;
  return typeof command === 'string' ? command : undefined;
}
