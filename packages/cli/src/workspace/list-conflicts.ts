import { cleanLine } from '@fleetloom/protocol/text';
import { CommandError } from '../base/command-error.ts';
import type { Io } from '../base/io.ts';
import { writeText } from '../base/write-text.ts';

/** One line for each file that an error lists as a conflict, with the reason in words. Empty for other errors. */
export function listConflicts({ details }: CommandError): readonly string[] {
  // The cast relies on the contract of the Fleetloom server. Earlier versions of the server do not send `text`.
  const { files = [], files_count: count = files.length } = details as {
    readonly files?: readonly { readonly path: string; readonly text?: string }[];
    readonly files_count?: number;
  };
  const named = files.filter(({ text }) => text !== undefined);
  const width = Math.max(0, ...named.map(({ path }) => cleanLine(path).length));
  const lines = named.map(({ path, text }) => `  ${cleanLine(path).padEnd(width)}  ${cleanLine(text!)}`);
  return count > named.length && named.length > 0 ? [...lines, `  … and ${count - named.length} more`] : lines;
}

/** Prints the files in conflict on standard error, if the error lists any. */
export async function printConflicts(io: Pick<Io, 'stderr'>, error: unknown): Promise<void> {
  const conflicts = error instanceof CommandError ? listConflicts(error) : [];
  if (conflicts.length > 0) await writeText(io.stderr, `${conflicts.join('\n')}\n`);
}
