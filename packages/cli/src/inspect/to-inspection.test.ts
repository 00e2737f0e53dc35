import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createTree, foldEvent, StreamTranslator } from '@fleetloom/protocol/stream-json';
import { describe, expect, it } from 'vitest';
import { toInspection } from './to-inspection.ts';

const FIXTURES = new URL('../../../../fixtures/stream-json/', import.meta.url).pathname;

describe('toInspection', () => {
  const recordings = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.expected.json'))
    .map((name) => name.slice(0, -'.expected.json'.length))
    .sort();

  it('[C10] there are recordings to compare with', () => {
    expect(recordings.length).toBeGreaterThan(250);
  });

  it.each(recordings)('[C10] %s comes out as its expected file, byte by byte', (name) => {
    const expected = readFileSync(join(FIXTURES, `${name}.expected.json`), 'utf8');
    const tree = createTree();
    const stream = new StreamTranslator();
    for (const event of [...stream.push(readRecording(name)), ...stream.end()]) foldEvent(tree, event);
    expect(`${JSON.stringify(toInspection(tree), null, 1)}\n`).toBe(expected);
  });
});

function readRecording(name: string): Uint8Array {
  try {
    return readFileSync(join(FIXTURES, `${name}.ndjson`));
  } catch {
    return gunzipSync(readFileSync(join(FIXTURES, `${name}.ndjson.gz`)));
  }
}
