import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The facts that a server on this machine writes to its data directory for other commands. */
export interface LocalServer {
  /** The current or last URL of the server. Null for the temporary server of a run. */
  readonly url: string | null;
  readonly key: string | null;
  /** Workspaces whose agents may run Claude Code, now or when the server last ran. */
  readonly programs: readonly string[];
}

/**
 * Stores URL and first key in the data directory, readable only by its owner, so that `fleetloom watch` and other commands
 * need no key on the machine of the server.
 */
export async function rememberServer(
  directory: string,
  { url, firstKey, programs }: StartedServer,
): Promise<LocalServer> {
  const known = recallServer(directory);
  const server = { url: url ?? known.url, key: firstKey ?? known.key, programs: programs ?? known.programs };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, FILE);
  // Renamed into place, so that readers never see a partial file. Removed first, because a file left by a crash could have another mode.
  await rm(`${file}.new`, { force: true });
  await writeFile(`${file}.new`, `${JSON.stringify(server)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return server;
}

/** Reads the file of `rememberServer`. All fields are null or empty if the file is missing or unreadable. */
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
