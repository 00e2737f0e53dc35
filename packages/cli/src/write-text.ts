import type { Output } from './io.ts';

/** Writes and waits until the reader has room for more: a slow reader slows us down, and costs no memory (SPEC C3). */
export async function writeText(output: Output, text: string): Promise<void> {
  if (output.write(text)) return;
  await new Promise<void>((resolve, reject) => {
    const settle = (error?: Error) => {
      output.off('drain', settle);
      output.off('close', settle);
      output.off('error', settle);
      if (error) reject(error);
      else resolve();
    };
    output.once('drain', settle);
    output.once('close', settle);
    output.once('error', settle);
  });
}
