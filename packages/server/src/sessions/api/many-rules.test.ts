import { expect, it } from 'vitest';
import { WorkBudget } from '../../base/bounded-pattern.ts';
import { systemClock } from '../../base/clock.ts';
import { createIds } from '../../base/ids.ts';
import { compileCommand, compilePath } from '../../rules/compile-pattern.ts';
import { ruleLimits } from '../../rules/limits.ts';
import { createRules } from '../../rules/rules.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import type { PendingCall } from '../runtime/pending-calls.ts';
import { createRuleDecisions } from './decide-by-rules.ts';

it('[R503] a hundred rules are compared with many calls while other work continues; a pattern is compiled once', async () => {
  const store = createMemoryStore();
  const ids = createIds({ now: Date.now, random: Math.random });
  const rules = createRules({ store, clock: systemClock, ids });
  const scope = { type: 'session', session_id: 'sesn_1' } as const;
  for (let n = 0; n < ruleLimits.approvalRulesMax; n++) {
    await rules.create('w', { scope, tool: 'write', match: { type: 'path', pattern: toPattern(n) } }, 'ann');
  }
  expect([compilePath(toPattern(1)), compileCommand('npm test*')]).toEqual([
    compilePath(toPattern(1)),
    compileCommand('npm test*'),
  ]);
  expect(compilePath(toPattern(1))).toBe(compilePath(toPattern(1)));
  const call = {
    sessionId: 'sesn_1',
    threadId: 'sthr_1',
    agentId: 'agent_1',
    agentName: 'a',
    tool: 'write',
    isForeign: false,
    input: { file_path: `z/${'aaaa/'.repeat(20)}x`, content: 'x' },
    toInside: async (path: string) => [path],
  };
  const calls = Array.from({ length: 100 }, (_, n): PendingCall => ({ ...call, toolUseId: `call_${n}` }));
  const decide = createRuleDecisions({
    store: { ...store, sessions: { ...store.sessions, findWorkspace: async () => 'w' } },
    clock: systemClock,
    ids,
  });
  let turns = 0;
  const ticking = setInterval(() => turns++, 1);
  const state = { id: 'sesn_1', created: { environment: { type: 'cloud' } } };
  // The cast: the parts of a state that are read.
  expect(await decide(state as never, calls)).toBe(0);
  clearInterval(ticking);
  expect(turns).toBeGreaterThan(3);
  expect(() => compilePath('x').test('x', new WorkBudget())).not.toThrow();
});

function toPattern(n: number): string {
  return `z${n}/${Array(12).fill('*a*').join('/')}`;
}
