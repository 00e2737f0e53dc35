import { expect, it } from 'vitest';
import { compositionLimits } from './limits.ts';
import { createPreparationTurns } from './preparation-turns.ts';

it('[U604] one workspace has half of what is prepared at the same time, others have the rest, and an interrupt ends the wait', async () => {
  const { preparationsMax: max, preparationsOfWorkspaceMax: ofWorkspaceMax } = compositionLimits;
  expect([max, ofWorkspaceMax]).toEqual([32, 16]);
  const inTurn = createPreparationTurns({ sessions: { findWorkspace: async (id) => id.split('-')[0] } });
  const begun: string[] = [];
  const stop = new AbortController();
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const run = (id: string) => inTurn(id, stop.signal, async () => (begun.push(id), await ended));
  const all = ['a', 'b', 'c'].flatMap((name) => Array.from({ length: max }, (_, at) => run(`${name}-${at}`)));
  await expect.poll(() => begun.length).toBe(max);
  const countOf = (name: string) => begun.filter((id) => id.startsWith(name)).length;
  expect(['a', 'b', 'c'].map(countOf)).toEqual([ofWorkspaceMax, ofWorkspaceMax, 0]);
  stop.abort();
  end();
  const results = await Promise.all(all);
  expect(results.filter((result) => result !== undefined)).toHaveLength(max);
});
