import { CommandError } from '../base/command-error.ts';
import { exitCode } from '../base/exit-code.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { UsageError } from '../base/usage-error.ts';

/**
 * Reads a secret from a prompt without echo, or from standard input without the trailing line break. Never from an
 * argument, which would be visible in the shell history and to other users of the machine.
 */
export async function readSecret(io: Io, prompt: string): Promise<string> {
  const secret = io.stdin.isTTY === true ? await readKeys(io, prompt) : await readAll(io);
  if (secret !== '') return secret;
  throw new UsageError('The secret is empty.', 'Pipe it in, or type it at the prompt.');
}

async function readAll({ stdin }: Io): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stdin) {
    bytes += part.length;
    if (bytes > limits.secretBytesMax) {
      throw tooLong('Check what is piped in.');
    }
    parts.push(part);
  }
  return Buffer.concat(parts)
    .toString()
    .replace(/\r?\n$/, '');
}

/** Reads a typed or pasted secret. Control characters end or edit it, or are ignored. */
async function readKeys(io: Io, prompt: string): Promise<string> {
  io.stderr.write(`${prompt}: `);
  let close: (() => void) | undefined;
  try {
    return await new Promise<string>((resolve, reject) => {
      let typed = '';
      close = io.openKeyboard((keys) => {
        for (const key of keys) {
          if (key === '\r' || key === '\n') return resolve(typed);
          if (key === CTRL_C || key === CTRL_D) {
            return reject(new CommandError(exitCode.SIGINT, 'Nothing was stored.', 'Run the command again.'));
          }
          if (key === BACKSPACE || key === DELETE) typed = typed.slice(0, -1);
          else if (key >= ' ') typed += key;
          if (typed.length > limits.secretBytesMax) return reject(tooLong('Check what you have pasted.'));
        }
      });
      if (close === undefined) reject(new UsageError('There is no keyboard.', 'Pipe the secret in.'));
    });
  } finally {
    close?.();
    io.stderr.write('\n');
  }
}

function tooLong(advice: string): UsageError {
  return new UsageError(`The secret has more than ${limits.secretBytesMax} bytes.`, advice);
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const BACKSPACE = '\b';
const DELETE = '\u007f';
