#!/usr/bin/env node
import module from 'node:module';
import { explainLoadFailure } from './base/explain-load-failure.ts';

// Node 22 and later cache compiled code between runs: a start is about 30 ms faster.
(module as { enableCompileCache?: () => void }).enableCompileCache?.();

// EPIPE: the reader has closed the pipe (`| head`), which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`fleetloom: cannot write to standard output: ${error.message}\n`);
  process.exit(1);
});
process.stderr.on('error', () => process.exit(1));

try {
  const [{ createProcessIo }, { runProgram }] = [await import('./base/process-io.ts'), await import('./program.ts')];
  const code = await runProgram(createProcessIo(), process.argv.slice(2));
  process.exitCode = code;
  // An input that is still open, as after Ctrl-C, would keep the process alive. Pending output is flushed first.
  if (code > 128) process.stdout.write('', () => process.exit(code));
} catch (error) {
  const message = explainLoadFailure(error);
  if (message === undefined) throw error;
  process.stderr.write(message);
  process.exitCode = 1;
}
