import type { Io } from '../base/io.ts';
import { UsageError } from '../base/usage-error.ts';

/** Asks a question on the terminal; any answer except `y` means no. Without a terminal, throws an error that names --yes. */
export async function confirm(io: Io, question: string): Promise<boolean> {
  io.stderr.write(`${question} [y/N] `);
  const answer = await new Promise<string | undefined>((resolve) => {
    const close = io.openKeyboard((keys) => {
      close?.();
      resolve(keys);
    });
    if (close === undefined) resolve(undefined);
  });
  io.stderr.write('\n');
  if (answer !== undefined) return answer.trim().toLowerCase() === 'y';
  throw new UsageError('Standard input is not a terminal, so the question cannot be answered.', 'Pass --yes.');
}
