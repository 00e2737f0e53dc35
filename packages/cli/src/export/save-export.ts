import { open } from 'node:fs/promises';
import type { ServerApi } from '../connection/server-api.ts';
import { createExportCheck } from './check-export.ts';
import { readLines } from './read-lines.ts';

/** Writes the export of a session to a new file, readable only by its owner. Returns the number of lines. */
export async function saveExport(api: ServerApi, sessionId: string, path: string): Promise<number> {
  const response = await api.open(`/v1/sessions/${encodeURIComponent(sessionId)}/export`);
  // An existing file is never overwritten.
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
  if (problem !== undefined) throw new Error(`The export is incomplete: ${problem}.`);
  return count;
}
