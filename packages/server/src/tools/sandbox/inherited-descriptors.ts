import { readdir, readFile } from 'node:fs/promises';
import type { Command } from './launch-script.ts';

/**
 * Descriptors that every child of this process inherits because they are not close-on-exec. Node sets the flag on the
 * descriptors that it opens and on the lowest that it was started with, but not on those above a gap in the numbers.
 */
export async function findInheritedDescriptors(pid: number = process.pid): Promise<readonly number[]> {
  const inherited: number[] = [];
  for (const descriptor of (await readdir(`/proc/${pid}/fd`)).map(Number)) {
    if (descriptor > REPLACED_MAX && (await isInherited(pid, descriptor))) inherited.push(descriptor);
  }
  return inherited;
}

/** Starts a program without these descriptors. dash cannot close a descriptor above 9, bash can. */
export function closeInherited(command: Command, bash: string, descriptors: readonly number[]): Command {
  const steps = descriptors.map((descriptor) => `exec ${descriptor}>&-`);
  // Without start-up files: the program's HOME belongs to an agent, and bash reads ~/.bashrc when its input is a socket.
  return [bash, '--noprofile', '--norc', '-p', '-c', [...steps, 'exec "$@"'].join('\n'), 'fleetloom', ...command];
}

/** Descriptors up to 9 are replaced by those of the launch, or closed by Node. */
const REPLACED_MAX = 9;
const CLOSES_ON_EXEC = 0o2_000_000;

async function isInherited(pid: number, descriptor: number): Promise<boolean> {
  try {
    const text = await readFile(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8');
    const flags = /^flags:\s*([0-7]+)$/m.exec(text)?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSES_ON_EXEC) === 0;
  } catch {
    // Closed in the meantime.
    return false;
  }
}
