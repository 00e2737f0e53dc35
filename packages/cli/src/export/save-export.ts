import { open } from 'node:fs/promises';
import type { ServerApi } from '../connection/server-api.ts';
import { createExportCheck } from './check-export.ts';
import { readLines } from './read-lines.ts';

/** Writes everything that happened in a session to a new file, for its owner alone. Gives how many lines there are. */
export async function saveExport(api: ServerApi, sessionId: string, path: string): Promise<number> {
  const response = await api.open(`/v1/sessions/${encodeURIComponent(sessionId)}/export`);
  // One that is there already is somebody's: it is not written over.
  const file = await open(path, 'wx', 0o600);
  const check = createExportCheck();
  let count = 0;
  try {
    for await (const lines of readLines(response.body)) {
      for (const line of lines) check.line(line);
      count += lines.length;
      await file.write(lines.map((line) => `${line}\n`).join(''));
    }
  } finally {
    await file.close();
  }
  const problem = check.end();
  if (problem !== undefined) throw new Error(`The export is not whole: ${problem}.`);
  return count;
}
