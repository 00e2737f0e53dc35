import { startProcess } from '../../../base/process/start-process.ts';

/** Runs a command with the inputs and outputs of this process to its end. Resolves with its exit code. */
export async function runCommand([program = '', ...args]: readonly string[]): Promise<number> {
  return await new Promise((resolve, reject) => {
    startProcess(program, args, { stdio: 'inherit' }, reject)?.on('close', (code) => resolve(code ?? 1));
  });
}
