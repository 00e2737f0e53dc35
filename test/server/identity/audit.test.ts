import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import { openKeys } from '../../../packages/server/src/composition/credentials/open-keys.ts';
import { pruneAudit } from '../../../packages/server/src/composition/audit/open-audit.ts';
import { systemClock } from '../../../packages/server/src/base/clock.ts';
import { toKeyId } from '../../../packages/server/src/keys/sealer.ts';
import { startServer } from '../../../packages/server/src/server.ts';
import { createTestKey, send, signInAs } from './scopes.suite.ts';
import { connect, type TestServer, toScript, withServer } from '../server.suite.ts';
import { CHAIN_START, type ChainEnd } from '../../../packages/server/src/store/audit.ts';
import { ChainCheck } from '../../../packages/server/src/store/chain-check.ts';
import { createMemoryStore } from '../../../packages/server/src/store/memory/memory-store.ts';

interface Page {
  readonly data: readonly FleetAuditEntry[];
  readonly start: ChainEnd;
  readonly head: ChainEnd;
  readonly next_after: number | null;
}

async function readLog({ server, key }: TestServer): Promise<readonly FleetAuditEntry[]> {
  const all: FleetAuditEntry[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const { text } = await send(server, 'GET', `/v1/fleet/audit?after=${after}&limit=3`, { 'x-api-key': key });
    const page = JSON.parse(text) as Page;
    all.push(...page.data);
    after = page.next_after;
  }
  return all;
}

function problemsOf(entries: readonly FleetAuditEntry[], start: ChainEnd | undefined = CHAIN_START): string[] {
  const check = new ChainCheck(start);
  return entries.flatMap((entry) => check.add(entry) ?? []);
}

it('[ID121] a change of the tools of a session and a rewind are in the log, and a new title is not', () =>
  withServer(async (test) => {
    const { client, server, key } = test;
    const tools = [
      {
        type: 'agent_toolset_20260401' as const,
        default_config: { permission_policy: { type: 'always_ask' as const } },
      },
    ];
    const agent = await client.beta.agents.create({ name: 'asks', model: 'scripted/x', tools });
    const environment = await client.beta.environments.create({ name: 'here' });
    const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    const before = (await readLog(test)).length;
    await client.beta.sessions.update(id, { title: 'other' });
    const allowed = { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_allow' } } };
    const admin = { 'x-api-key': key };
    const change = await send(server, 'POST', `/v1/sessions/${id}`, admin, { agent: { tools: [allowed] } });
    expect([change.status, change.text]).toEqual([200, expect.stringContaining('always_allow')]);
    const rewind = `/v1/sessions/${id}/program/rewind`;
    await send(server, 'POST', rewind, admin, { message_id: 'msg_1', dry_run: true });
    // Its model is not a program.
    expect((await send(server, 'POST', rewind, admin, { message_id: 'msg_1' })).status).toBe(409);
    const entries = (await readLog(test)).slice(before).map(({ entry }) => [entry.action, entry.target, entry.details]);
    expect(entries).toEqual([
      ['session.update_started', id, { changed: ['tools'] }],
      ['session.update_done', id, { changed: ['tools'] }],
      ['program.rewind_started', id, { message_id: 'msg_1' }],
      ['program.rewind_failed', id, { message_id: 'msg_1' }],
    ]);
  }));

it('[ID23, ID24] administration, logins, approvals and exports are in the log with who, from where and what, and no secret', () =>
  withServer(async (test) => {
    const { client, server, key } = test;
    const admin = { 'x-api-key': key };
    const cookie = await signInAs(test, 'approver');
    const agent = await client.beta.agents.create({
      name: 'asks',
      model: 'scripted/x',
      system: toScript([[{ call: 'bash', input: { command: 'echo secret-command' } }], [{ say: 'done' }]]),
      tools: [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }],
    });
    const environment = await client.beta.environments.create({ name: 'here' });
    const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    const content = [{ type: 'text' as const, text: 'Go.' }];
    await client.beta.sessions.events.send(session.id, { events: [{ type: 'user.message', content }] });
    const call = await vi.waitFor(async () => {
      const { data } = await client.beta.sessions.events.list(session.id);
      const found = data.find(({ type }) => type === 'agent.tool_use') as { id: string } | undefined;
      expect(found).toBeDefined();
      return found!.id;
    }, 10_000);
    const origin = `http://127.0.0.1:${server.port}`;
    const decision = {
      type: 'user.tool_confirmation',
      tool_use_id: call,
      result: 'deny',
      deny_message: 'secret-reason',
    };
    const events = `/v1/sessions/${session.id}/events`;
    expect((await send(server, 'POST', events, { cookie, origin }, { events: [decision] })).status).toBe(200);
    expect((await send(server, 'POST', events, { cookie, origin }, { events: [decision] })).status).toBe(400);
    await send(server, 'GET', `/v1/sessions/${session.id}/export`, admin);
    const scope = { type: 'session', session_id: session.id };
    const rule = { scope, tool: 'bash', match: { type: 'command', pattern: 'echo secret-pattern' } };
    const made = await send(server, 'POST', '/v1/fleet/approval_rules', admin, rule);
    const { id: ruleId } = JSON.parse(made.text) as { id: string };
    await send(server, 'DELETE', `/v1/fleet/approval_rules/${ruleId}`, admin);
    const worker = await send(server, 'POST', `/v1/environments/${environment.id}/keys`, admin, { name: 'w' });
    const { id: workerId, secret: workerSecret } = JSON.parse(worker.text) as { id: string; secret: string };
    await send(server, 'POST', '/logout', { cookie, origin });
    await client.beta.environments.delete(environment.id);
    await client.beta.sessions.delete(session.id);
    await client.beta.agents.archive(agent.id);

    const log = await readLog(test);
    expect(problemsOf(log)).toEqual([]);
    expect(log.map(({ entry }) => [entry.action, entry.target])).toEqual([
      ['key.created', expect.stringMatching(/^key_/)],
      ['login_link.created', null],
      ['login.started', expect.any(String)],
      ['agent.created', agent.id],
      ['environment.created', environment.id],
      ['approval.decided', call],
      ['session.exported', session.id],
      ['approval_rule.created', ruleId],
      ['approval_rule.revoked', ruleId],
      ['key.created', workerId],
      ['login.ended', expect.any(String)],
      ['key.revoked', workerId],
      ['environment.deleted', environment.id],
      ['session.delete_started', session.id],
      ['session.delete_done', session.id],
      ['agent.archived', agent.id],
    ]);
    const decided = log[5]!.entry;
    expect(decided).toMatchObject({
      by: { type: 'login', role: 'approver', key_name: 'first key', login_id: log[2]!.entry.target },
      address: '127.0.0.1',
      request_id: expect.stringMatching(/^req_/),
      details: { session_id: session.id, tool: 'bash', result: 'deny' },
    });
    expect(log[3]!.entry.by).toMatchObject({ type: 'key', key_name: 'first key' });
    const text = JSON.stringify(log);
    for (const secret of [key, workerSecret, cookie, 'secret-command', 'secret-reason', 'secret-pattern']) {
      expect(text).not.toContain(secret);
    }
  }));

it('[ID46] environments that a first run or import creates on its own are in the log with its caller', () =>
  withServer(async (test) => {
    const { server, key } = test;
    const admin = { 'x-api-key': key };
    const run = { message: 'Go.', agent_def: { name: 'a', model: 'scripted/echo' } };
    for (let count = 0; count < 2; count++)
      expect((await send(server, 'POST', '/v1/orchestrate', admin, run)).status).toBe(200);
    const imported = { program: 'codex', conversation: 'c', title: null, directory: null, version: null };
    expect((await send(server, 'POST', '/v1/imports', admin, { ...imported, ...NO_STEPS })).status).toBe(200);
    const entries = (await readLog(test)).map(({ entry }) => entry);
    expect(entries.filter(({ action }) => action === 'environment.created')).toMatchObject([
      { by: { type: 'key', key_name: 'first key' }, details: { name: 'orchestrate' } },
      { by: { type: 'key', key_name: 'first key' }, details: { name: 'imports' } },
    ]);
  }));

const NO_STEPS = { steps: [], is_end: false };

it('[ID25] a change, a removal and a reordering of entries are found, and the removal of the end with an anchor', () =>
  withServer(async (test) => {
    for (let index = 0; index < 6; index++)
      await test.client.beta.agents.create({ name: `a${index}`, model: 'scripted/echo' });
    const log = await readLog(test);
    expect([problemsOf(log), log.length]).toEqual([[], 7]);
    for (const [index, { entry, ...rest }] of log.entries()) {
      const replace = (by: FleetAuditEntry) => log.map((each, at) => (at === index ? by : each));
      expect(problemsOf(replace({ ...rest, entry: { ...entry, target: 'agent_other' } }))).not.toEqual([]);
      expect(problemsOf(replace({ ...rest, entry, recorded_at: '2020-01-01T00:00:00.000Z' }))).not.toEqual([]);
      expect(problemsOf(replace({ ...rest, entry, workspace_id: 'wrkspc_other' }))).not.toEqual([]);
      expect(problemsOf(replace({ ...rest, entry, hash: 'f'.repeat(64) }))).not.toEqual([]);
      if (index === log.length - 1) continue;
      expect(problemsOf(log.filter((_, at) => at !== index))).not.toEqual([]);
      expect(problemsOf(log.toSpliced(index, 2, log[index + 1]!, log[index]!))).not.toEqual([]);
    }
    const cut = log.slice(0, -1);
    expect(problemsOf(cut)).toEqual([]);
    const anchor = log.at(-1)!;
    expect(
      ChainCheck.compare(
        anchor,
        cut.find(({ seq }) => seq === anchor.seq),
      ),
    ).toContain('its end was removed');
    expect(ChainCheck.compare(anchor, { seq: anchor.seq, hash: 'f'.repeat(64) })).toContain('was rewritten');
    expect(ChainCheck.compare(anchor, anchor)).toBeUndefined();
  }));

it('[ID26] changes of keys by commands are recorded by the server, each once, also when it was not running', () =>
  withServer(async (test) => {
    const { id } = await createTestKey(test, { scopes: ['read'] });
    await test.server.close();
    const { keys, close } = await openKeys({ dataDirectory: test.directory });
    await keys.rotate(id);
    await keys.revoke(id);
    await close();
    const again = await test.restart();
    const actions = (await readLog(again)).map(({ entry }) => [entry.action, entry.target, entry.by.type]);
    expect(actions.filter(([, target]) => target === id)).toEqual([
      ['key.created', id, 'command'],
      ['key.rotated', id, 'command'],
      ['key.revoked', id, 'command'],
    ]);
  }));

it('[ID27] the log is read only with the scope admin, and each workspace reads its own', () =>
  withServer(async (test) => {
    const { secret } = await createTestKey(test, { workspaceId: 'wrkspc_other' });
    await connect(test.url, secret).beta.agents.create({ name: 'theirs', model: 'scripted/echo' });
    const mine = await readLog(test);
    const theirs = await readLog({ ...test, key: secret });
    expect(new Set(mine.map((each) => each.workspace_id))).toEqual(new Set(['wrkspc_default']));
    await vi.waitFor(async () => {
      const log = await readLog({ ...test, key: secret });
      expect(log.map(({ entry }) => entry.action)).toEqual(expect.arrayContaining(['key.created', 'agent.created']));
    }, 5_000);
    expect(theirs[0]).toMatchObject({ seq: 1, workspace_id: 'wrkspc_other' });
    for (const query of ['?limit=1001', '?after=x', '?after=-1']) {
      const { status } = await send(test.server, 'GET', `/v1/fleet/audit${query}`, { 'x-api-key': test.key });
      expect([query, status]).toEqual([query, 400]);
    }
  }));

it('[ID28] every entry is written out in the order of its chain, also those from before a restart', async () => {
  const written: FleetAuditEntry[] = [];
  await withServer(
    async (test) => {
      await test.client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
      const again = await test.restart();
      await again.client.beta.agents.create({ name: 'b', model: 'scripted/echo' });
      await vi.waitFor(() => expect(written.map(({ entry }) => entry.details?.['name'])).toContain('b'), 5_000);
      const last = (await readLog(again)).slice(-written.length);
      expect(written).toEqual(last);
      expect(written.map(({ entry }) => entry.details?.['name'])).toContain('a');
    },
    { onAuditEntry: (entry) => void written.push(entry) },
  );
});

it('[ID22] entries older than the days that are kept are removed in slices, and none that is younger', async () => {
  const now = Date.now();
  let time = now - 3 * 86_400_000;
  const clock = { ...systemClock, now: () => time };
  const store = createMemoryStore({ clock });
  for (let index = 0; index < 450; index++) await store.audit.append([{ workspaceId: 'w', data: { index } }]);
  time = now;
  await store.audit.append([{ workspaceId: 'w', data: { index: 450 } }]);
  await pruneAudit({ store, clock }, 2);
  expect((await store.audit.list({ workspaceId: 'w', after: 0, limit: 1_000 })).map(({ seq }) => seq)).toEqual([451]);
});

it('[VT60] changes of vaults and credentials, validations and rotations are in the log, each with its change, and no secret', () =>
  withServer(
    async (test) => {
      const { client, server, key } = test;
      const { vaults } = client.beta;
      const before = (await readLog(test)).length;
      const vault = await vaults.create({ display_name: 'Team' });
      await vaults.update(vault.id, { display_name: 'Other' });
      await vaults.update(vault.id, { display_name: 'Other' });
      const mcp_server_url = 'http://127.0.0.1:1/mcp?key=canary-in-url';
      const auth = { type: 'mcp_oauth', mcp_server_url, access_token: 'canary-1' } as const;
      const { id } = await vaults.credentials.create(vault.id, { auth });
      await expect(vaults.credentials.create(vault.id, { auth })).rejects.toMatchObject({ status: 409 });
      await vaults.credentials.update(id, {
        vault_id: vault.id,
        auth: { type: 'mcp_oauth', access_token: 'canary-2' },
      });
      await vaults.credentials.mcpOAuthValidate(id, { vault_id: vault.id });
      await server.close();
      const older = readFileSync(join(test.directory, 'master-key'), 'utf8').trim();
      const masterKey = randomBytes(32);
      const options = { masterKey: masterKey.toString('base64'), olderMasterKeys: older };
      const next = await startServer({ dataDirectory: test.directory, ...options, allowedPrivateHosts: ['127.0.0.1'] });
      const again = { ...test, server: next };
      try {
        const admin = { 'x-api-key': key };
        const send2 = (method: string, path: string) => send(next, method, path, admin);
        // The second one has nothing to do.
        for (let step = 0; step < 2; step++) await send2('POST', '/v1/fleet/secrets/rotate');
        const path = `/v1/vaults/${vault.id}`;
        for (let step = 0; step < 2; step++) await send2('POST', `${path}/credentials/${id}/archive`);
        await send2('DELETE', `${path}/credentials/${id}`);
        await send2('POST', `${path}/archive`);
        await send2('DELETE', path);
        const log = (await readLog(again)).slice(before);
        const of = { vault_id: vault.id, type: 'mcp_oauth' };
        expect(log.map(({ entry: { action, target, details } }) => [action, target, details])).toEqual([
          ['vault.created', vault.id, { name: 'Team' }],
          ['vault.updated', vault.id, { name: 'Other' }],
          ['vault_credential.created', id, of],
          ['vault_credential.updated', id, { ...of, secrets: ['access_token'] }],
          ['vault_credential.validated', id, of],
          ['secrets.rotated', null, { key_id: toKeyId(masterKey) }],
          ['vault_credential.archived', id, of],
          ['vault_credential.deleted', id, of],
          ['vault.archived', vault.id, { credentials: [] }],
          ['vault.deleted', vault.id, { credentials: [] }],
        ]);
        expect(log[3]!.entry).toMatchObject({ by: { type: 'key', key_name: 'first key' }, address: '127.0.0.1' });
        expect(JSON.stringify(log)).not.toContain('canary');
      } finally {
        await next.close();
      }
    },
    { allowedPrivateHosts: ['127.0.0.1'] },
  ));
