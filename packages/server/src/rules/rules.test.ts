import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { createIds } from '../base/ids.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { ruleLimits } from './limits.ts';
import { createRules } from './rules.ts';

it('[H188] a workspace has up to 100 rules, newest first; expired ones do not count, and of concurrent changes none is lost', async () => {
  const clock = createManualClock(1_000_000);
  const store = createMemoryStore({ clock });
  const rules = createRules({ store, clock, ids: createIds({ now: clock.now, random: () => 0 }) });
  const create = (pattern: string, expiresAt: number | null = null) => {
    const expires = expiresAt === null ? null : new Date(expiresAt).toISOString();
    const scope = { type: 'agent' as const, agent_id: 'agent_1' };
    return rules.create('w', { scope, tool: 'bash', match: { type: 'command', pattern }, expires_at: expires }, 'ann');
  };
  await expect(create('ls', clock.now())).rejects.toMatchObject({ code: 'invalid_request' });
  await create('ls', clock.now() + 1);
  await Promise.all(Array.from({ length: 10 }, (_, n) => create(`run ${n}`)));
  for (let n = 10; n < ruleLimits.approvalRulesMax - 1; n++) await create(`run ${n}`);
  expect(ruleLimits.approvalRulesMax).toBe(100);
  await expect(create('one more')).rejects.toThrow('100 are allowed');
  clock.advance(1);
  const last = await create('one more');
  const all = await rules.list('w');
  expect([all.length, all[0]]).toEqual([100, last]);
  await Promise.all(all.slice(0, 10).map(({ id }) => rules.revoke('w', id)));
  expect(await rules.list('w')).toEqual(all.slice(10));
});
