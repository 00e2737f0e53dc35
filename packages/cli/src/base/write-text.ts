import type { Output } from './io.ts';

/** Writes and waits until the output has drained: a slow reader slows the command down and costs no memory (SPEC C3). */
export async function writeText(output: Output, text: string | Uint8Array): Promise<void> {
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
