#!/usr/bin/env node
import module from 'node:module';
import { createProcessIo } from './process-io.ts';

// Node 22 and later keep the compiled code between runs: a start is then some 30 ms quicker.
(module as { enableCompileCache?: () => void }).enableCompileCache?.();

// The reader has gone (`| head`): nobody is left to write for, and that is no mistake of anybody's.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`fleetloom: the output cannot be written: ${error.message}\n`);
  process.exit(1);
});
process.stderr.on('error', () => process.exit(1));

const { runProgram } = await import('./program.ts');
const code = await runProgram(createProcessIo(), process.argv.slice(2));
process.exitCode = code;
// An input that is still open, as after Ctrl-C, would keep us alive. What was written goes out first.
if (code > 128) process.stdout.write('', () => process.exit(code));
