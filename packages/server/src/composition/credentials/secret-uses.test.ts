import { expect, it } from 'vitest';
import type { NewAuditEntry } from '../../store/audit.ts';
import type { Store } from '../../store/store.ts';
import { vaultLimits } from '../../vaults/limits.ts';
import { createSecretUses } from './secret-uses.ts';

const path = { workspaceId: 'wrkspc_1', vaultId: 'vlt_1', id: 'vcrd_1' };

function openUses() {
  const entries: NewAuditEntry[] = [];
  const state = { now: 0, isBroken: false };
  const append = async (more: readonly NewAuditEntry[]) => {
    if (state.isBroken) throw new Error('the store is away');
    entries.push(...more);
  };
  const usesOf = createSecretUses({ audit: { append } as Store['audit'] }, { steady: () => state.now });
  return { entries, state, usesOf };
}

it('[EG108] the use of a secret is one entry of the audit log an hour for each session, credential, kind and host', async () => {
  const { entries, state, usesOf } = openUses();
  const record = usesOf('sesn_1', 'variable');
  await Promise.all(Array.from({ length: 1_000 }, () => record(path, 'a.example')));
  expect(entries).toEqual([
    {
      workspaceId: 'wrkspc_1',
      data: {
        action: 'vault_credential.used',
        by: { type: 'system' },
        target: 'vcrd_1',
        details: { vault_id: 'vlt_1', session_id: 'sesn_1', host: 'a.example', as: 'variable' },
      },
    },
  ]);
  state.now = vaultLimits.useEveryMs - 1;
  await record(path, 'a.example');
  expect(entries).toHaveLength(1);
  await record(path, 'b.example');
  await usesOf('sesn_2', 'variable')(path, 'a.example');
  await usesOf('sesn_1', 'mcp')(path, 'a.example');
  await record({ ...path, id: 'vcrd_2' }, 'a.example');
  expect(entries).toHaveLength(5);
  state.now = vaultLimits.useEveryMs;
  await record(path, 'a.example');
  expect(entries).toHaveLength(6);
});

it('[EG108] a use that cannot be recorded is an error, and the next one is recorded', async () => {
  const { entries, state, usesOf } = openUses();
  state.isBroken = true;
  await expect(usesOf('sesn_1', 'mcp')(path, 'a.example')).rejects.toThrow('the store is away');
  state.isBroken = false;
  await usesOf('sesn_1', 'mcp')(path, 'a.example');
  expect(entries).toHaveLength(1);
});
