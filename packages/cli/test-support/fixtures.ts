import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/** Folder of the recorded streams. */
export const FIXTURES = fileURLToPath(new URL('../../../fixtures/stream-json/', import.meta.url));

/** Names of all recordings that have an expected file beside them, such as `2.1.325/agents-parallel`. */
export function listRecordings(): string[] {
  return readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.expected.json'))
    .map((name) => name.slice(0, -'.expected.json'.length).replaceAll('\\', '/'))
    .sort();
}

/** Path of a recording's stream; a few are gzipped. */
export function recordingPath(name: string): string {
  const path = `${FIXTURES}${name}.ndjson`;
  return readdirSync(path.slice(0, path.lastIndexOf('/'))).includes(`${name.split('/').at(-1)}.ndjson`)
    ? path
    : `${path}.gz`;
}

export function readRecording(name: string): string {
  const path = recordingPath(name);
  const bytes = readFileSync(path);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}
