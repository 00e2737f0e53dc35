import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../fixtures/stream-json');

/** A recorded (or, for seed-failures and synthetic-cumulative, written) stream with what must come of it. */
export interface Recording {
  /** Path below fixtures/stream-json without ending, e.g. `2.1.325/agents-forward`. */
  name: string;
  bytes(): Uint8Array;
  /** Undefined where there is no expectation file. */
  expected(): unknown;
}

export function recordings(): Recording[] {
  return files(root)
    .filter((file) => /\.ndjson(\.gz)?$/.test(file))
    .map((file) => {
      const base = file.replace(/\.ndjson(\.gz)?$/, '');
      return {
        name: relative(root, base).replaceAll('\\', '/'),
        bytes: () => (file.endsWith('.gz') ? gunzipSync(readFileSync(file)) : readFileSync(file)),
        expected: () => readJson(`${base}.expected.json`),
      };
    });
}

export function recording(name: string): Recording {
  const found = recordings().find((candidate) => candidate.name === name);
  if (!found) throw new Error(`There is no recording ${name} in ${root}`);
  return found;
}

function files(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? files(path) : [path];
    })
    .sort();
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
