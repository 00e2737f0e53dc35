import type { InputFields } from './decisions.ts';

/** An edited input, why the text is not one, or that nothing was changed. */
export type Edited =
  | { readonly type: 'input'; readonly input: InputFields }
  | { readonly type: 'problem'; readonly problem: string }
  | { readonly type: 'unchanged' };

/** What is shown to be edited. */
export function toDraft(input: unknown): string {
  return commandOf(input) ?? JSON.stringify(input, null, 2) ?? '';
}

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
    return { type: 'problem', problem: 'The input of a tool is a JSON object.' };
  }
  // The cast is what the check says.
  return { type: 'input', input: value as InputFields };
}

/** Where the command is all that one would want to change. */
function commandOf(input: unknown): string | undefined {
  const command = typeof input === 'object' && input !== null && 'command' in input ? input.command : undefined;
  return typeof command === 'string' ? command : undefined;
}
