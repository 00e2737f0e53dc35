import { expect, it } from 'vitest';
import type { Json } from '../base/json/json.ts';
import { baseLimits } from '../base/limits.ts';
import { findSizeProblem } from './core/content-size.ts';
import { message, openFleet, result, solo } from './suite/fleet.suite.ts';
import { createPlainEngine, type PlainAnswer } from './suite/plain-engine.suite.ts';

/** What a few kilobytes of an answer can say. Reading it takes no stack, writing it again does. */
function nest(levels: number): Json {
  return JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as Json;
}

it('[R256] a call that is nested too deep to be written loses its turn and nothing else', async () => {
  const deep: PlainAnswer = {
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'bash', input: { a: nest(100_000) } }],
    reason: 'tool_use',
  };
  let requests = 0;
  const engine = createPlainEngine(() => (++requests === 1 ? deep : {}));
  const fleet = await openFleet({ engine, tools: { bash: { kind: 'builtin' } } });
  const id = await fleet.begin(solo, 'Go');
  const { seq } = await fleet.rest(id);
  expect(await fleet.payloads(id, 'session.error')).toMatchObject([
    { error: { message: expect.stringContaining('nested') }, retry: 'exhausted' },
  ]);
  await fleet.send(id, message('And now?'));
  await fleet.rest(id, seq);
  expect((await fleet.payloads(id, 'turn.ended')).map(({ ok }) => ok)).toEqual([false, true]);
  expect([requests, fleet.problems]).toEqual([2, []]);
});

it('[R256] a result that is nested too deep is an error result', async () => {
  const block = { type: 'document', source: { type: 'text', data: nest(100_000) } };
  // A toolbox that does not keep to its types.
  const bash = { kind: 'builtin' as const, run: () => ({ ...result(''), content: [block as never] }) };
  const fleet = await openFleet({ tools: { bash } });
  const turns = [[{ call: 'bash' }], [{ expect: { tool_result: 'nested', is_error: true } }, { say: 'I see.' }]];
  const id = await fleet.begin(solo, { turns });
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
});

it('[R256] content at the depth limit is stored', () => {
  expect(findSizeProblem('it', nest(baseLimits.contentDepthMax))).toBeNull();
  expect(findSizeProblem('it', nest(baseLimits.contentDepthMax + 1))).toContain('500 levels are allowed');
  expect(findSizeProblem('it', 'a text')).toBeNull();
});
