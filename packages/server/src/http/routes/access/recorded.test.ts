import { expect, it, vi } from 'vitest';
import type { NewAuditEntry } from '../../../store/audit.ts';
import { recorded } from './recorded.ts';

/** A log that cannot store the entries of one action. */
async function run(refused: string, work: () => Promise<string>) {
  const stored: string[] = [];
  const append = async (entries: readonly NewAuditEntry[]) => {
    for (const { data } of entries) {
      const { action } = data as { action: string };
      if (action === refused) throw new Error('the database is gone');
      stored.push(action);
    }
  };
  const audit = (action: string, target: string | null) => ({ workspaceId: 'w', data: { action, target } });
  const done = recorded({ append }, audit, { action: 'changes.apply', target: 'sesn_1' }, work);
  return { stored, outcome: await done.catch((error: unknown) => String(error)) };
}

it('[ID45] an action that was done is never recorded as failed, also where its last entry cannot be stored', async () => {
  expect(await run('changes.apply_done', async () => 'applied')).toEqual({
    stored: ['changes.apply_started'],
    outcome: 'Error: the database is gone',
  });
});

it('[ID45] a failure is recorded, and the caller gets it also where its entry cannot be stored', async () => {
  const fail = async (): Promise<string> => {
    throw new Error('conflict');
  };
  const entries = ['changes.apply_started', 'changes.apply_failed'];
  expect(await run('none', fail)).toEqual({ stored: entries, outcome: 'Error: conflict' });
  expect(await run('changes.apply_failed', fail)).toEqual({ stored: entries.slice(0, 1), outcome: 'Error: conflict' });
  const apply = vi.fn(async () => 'applied');
  expect((await run('changes.apply_started', apply)).outcome).toBe('Error: the database is gone');
  expect(apply).not.toHaveBeenCalled();
});
