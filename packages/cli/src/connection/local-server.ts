import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a server of this machine tells the other commands, in its own data directory. */
export interface LocalServer {
  /** Where it listens, or last did. Null: it was there for one run only. */
  readonly url: string | null;
  readonly key: string | null;
  /** Workspaces for which it runs programs, or last did. */
  readonly programs: readonly string[];
}

/**
 * A key is told once, when it is made, so it is kept beside what it opens: who can read the one can read the other. With
 * it `fleetloom watch` and the like need no key on the machine on which the server runs.
 */
export async function rememberServer(
  directory: string,
  { url, firstKey, programs }: StartedServer,
): Promise<LocalServer> {
  const known = recallServer(directory);
  const server = { url: url ?? known.url, key: firstKey ?? known.key, programs: programs ?? known.programs };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, FILE);
  // Renamed into its place, so that nobody reads half of it.
  // One that a crash has left could have another mode.
  await rm(`${file}.new`, { force: true });
  await writeFile(`${file}.new`, `${JSON.stringify(server)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return server;
}

/** Nothing is known where there is no such file, or one that cannot be read. */
export function recallServer(directory: string): LocalServer {
  try {
    const { url, key, programs }: Record<string, unknown> = JSON.parse(readFileSync(join(directory, FILE), 'utf8'));
    return {
      url: typeof url === 'string' ? url : null,
      key: typeof key === 'string' ? key : null,
      programs: Array.isArray(programs) ? programs.filter((name) => typeof name === 'string') : [],
    };
  } catch {
    return { url: null, key: null, programs: [] };
  }
}

interface StartedServer {
  readonly url: string | null;
  readonly firstKey: string | undefined;
  readonly programs?: readonly string[] | undefined;
}

const FILE = 'local.json';
