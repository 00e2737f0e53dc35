import { StreamTranslator } from '@fleetloom/protocol/stream-json';
import { createTree, foldEvent } from '@fleetloom/protocol/stream-json/tree';
import { describe, expect, it } from 'vitest';
import { toInspection } from '../../packages/cli/src/stream-json/inspect/to-inspection.ts';
import { recordings } from '../support/recordings.ts';

describe('every recording gives its expected result', () => {
  const withExpectation = recordings().filter((recording) => recording.expected() !== undefined);

  it('[S16] there are recordings of both versions, of older releases and of snapshots', () => {
    const count = (prefix: string) => withExpectation.filter(({ name }) => name.startsWith(prefix)).length;
    expect(count('2.1.197/')).toBeGreaterThanOrEqual(115);
    expect(count('2.1.325/')).toBeGreaterThanOrEqual(115);
    expect(count('historic/')).toBeGreaterThanOrEqual(30);
    expect(count('synthetic-cumulative/')).toBeGreaterThanOrEqual(25);
  });

  it.each(withExpectation.map((recording) => [recording.name, recording] as const))('[S16] %s', (_, recording) => {
    const stream = new StreamTranslator();
    const tree = createTree();
    for (const event of [...stream.push(recording.bytes()), ...stream.end()]) foldEvent(tree, event);
    expect(toInspection(tree)).toEqual(recording.expected());
  });
});
