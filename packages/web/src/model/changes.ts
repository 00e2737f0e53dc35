/** A text before and after a tool call. */
export interface Change {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** The file changes in a tool call's input: one edit, several of one file, or a whole file. */
export function changesOf(input: unknown): readonly Change[] {
  const fields = toFields(input);
  const path = textOf(fields['file_path'] ?? fields['path']) ?? '';
  const edits = Array.isArray(fields['edits']) ? fields['edits'].map(toFields) : [fields];
  const changes = edits.flatMap((edit) => {
    const [before, after] = [textOf(edit['old_string']), textOf(edit['new_string'])];
    return before === undefined || after === undefined ? [] : [{ path, before, after }];
  });
  const content = textOf(fields['content']);
  return path !== '' && changes.length === 0 && content !== undefined
    ? [{ path, before: '', after: content }]
    : changes;
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
