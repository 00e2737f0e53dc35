import { createHash } from 'node:crypto';
import type { RuleMatch, RuleScope } from '@fleetloom/protocol/fleet';
import { expect, it, vi } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { createIds } from '../base/ids.ts';
import type { Rule } from '../rules/rule.ts';
import { createRules } from '../rules/rules.ts';
import type { Store } from '../store/store.ts';
import {
  asks as requests,
  begins,
  createTestPrograms,
  ends,
  gives,
  proposes,
  turnBegins,
  turnEnds,
} from './runtime/program/test-program.suite.ts';
import {
  agent,
  confirm,
  delegates,
  type Fleet,
  lead,
  openFleet,
  solo,
  workerResult,
  workspaceId,
} from './suite/fleet.suite.ts';
import { onEachStore, openMemory } from './suite/stores.suite.ts';

// The server decides approvals by stored rules.

const tools = { bash: { kind: 'builtin', permission: 'ask' }, write: { kind: 'builtin', permission: 'ask' } } as const;
const ids = createIds({ now: Date.now, random: Math.random });
const runs = (command: string) => ({ call: 'bash', input: { command } });
const npmTest: RuleMatch = { type: 'command', pattern: 'npm test*' };

/** Creates a rule as the route does, without applying it. */
async function addRule(store: Store, scope: RuleScope, more: { tool?: string; match?: RuleMatch } = {}): Promise<Rule> {
  const rules = createRules({ store, clock: systemClock, ids });
  return await rules.create(workspaceId, { scope, tool: 'bash', match: npmTest, ...more }, 'ann');
}

const revoke = (store: Store, { id }: Rule) => createRules({ store, clock: systemClock, ids }).revoke(workspaceId, id);
const ofSession = (id: string): RuleScope => ({ type: 'session', session_id: id });
const ofAgent = (name: string): RuleScope => ({ type: 'agent', agent_id: `agent_${name}` });
/** Waits until the session is idle because of these calls and no others. */
const waitsFor = (fleet: Fleet, id: string, ...calls: string[]) =>
  vi.waitFor(async () => {
    expect((await fleet.state(id)).status).toBe('idle');
    expect(await fleet.asks(id)).toEqual(calls);
  }, 20_000);
const decisions = async (fleet: Fleet, id: string) => await fleet.payloads(id, 'user.tool_confirmation');

onEachStore((openStore) => {
  it('[R420, R421] a rule decides matching approvals with its id and creator, also those that are pending, and nothing once it is revoked', async () => {
    const fleet = await openFleet({ store: await openStore(), tools });
    const turns = [
      [runs('npm test -- a'), runs('npm test; rm -rf x')],
      [runs('npm test')],
      [runs('npm test')],
      [{ say: 'Done.' }],
    ];
    const id = await fleet.begin(solo, { turns });
    await fleet.rest(id);
    const [one, two] = await fleet.asks(id);
    const rule = await addRule(fleet.store, ofAgent('solo'));
    expect(await fleet.sessions.countMatches(workspaceId, rule)).toBe(1);
    expect(await fleet.sessions.applyRule(workspaceId, rule)).toBe(1);
    await waitsFor(fleet, id, two!);
    const decided = { result: 'allow', by: 'ann', rule: 'bash(command: npm test*)', rule_id: rule.id };
    const hash = createHash('sha256').update('{"command":"npm test -- a"}').digest('hex');
    expect(await decisions(fleet, id)).toMatchObject([{ tool_use_id: one, ...decided, input_sha256: hash }]);
    const { resolution } = (await fleet.store.approvals.get(id, one!))!;
    expect(resolution?.data).toMatchObject({ result: 'allow', rule_id: rule.id });
    // The next model responses call it again: no client decides.
    await fleet.send(id, confirm(two!, 'deny'));
    await fleet.until(id, ({ type }) => type === 'run.ended');
    expect(await decisions(fleet, id)).toMatchObject([{}, { result: 'deny', rule: null }, decided, decided]);
    await revoke(fleet.store, rule);
    const next = await fleet.begin(solo, { turns: [[runs('npm test')], [{ say: 'Done.' }]] });
    const { seq } = await fleet.rest(next);
    const [last] = await fleet.asks(next);
    expect(await fleet.sessions.applyRule(workspaceId, rule)).toBe(0);
    await waitsFor(fleet, next, last!);
    await fleet.send(next, confirm(last!, 'deny'));
    await fleet.rest(next, seq);
  });

  it('[R422] a rule that is revoked at the moment of a decision decides nothing, and of two decisions one is logged', async () => {
    const fleet = await openFleet({ store: await openStore(), tools });
    const id = await fleet.begin(solo, { turns: [[runs('npm test')], [{ say: 'Done.' }]] });
    const { seq } = await fleet.rest(id);
    const rule = await addRule(fleet.store, ofSession(id));
    const commit = fleet.store.commit.bind(fleet.store);
    const before = vi.spyOn(fleet.store, 'commit').mockImplementationOnce(async (writes) => {
      await revoke(fleet.store, rule);
      return await commit(writes);
    });
    expect(await fleet.sessions.applyRule(workspaceId, rule)).toBe(0);
    expect(before).toHaveBeenCalled();
    before.mockRestore();
    expect(await decisions(fleet, id)).toEqual([]);
    const [ask] = await fleet.asks(id);
    const again = await addRule(fleet.store, ofSession(id));
    const [sent, count] = await Promise.all([
      fleet.send(id, confirm(ask!)).then(
        () => 1,
        ({ code }: { code: string }) => (code === 'already_answered' ? 0 : code),
      ),
      fleet.sessions.applyRule(workspaceId, again),
    ]);
    expect([sent, count]).toEqual([1 - count, count]);
    await fleet.rest(id, seq);
    expect(await decisions(fleet, id)).toHaveLength(1);
  });
});

it('[R423] approvals that were pending when the server ended are decided by the rules when it starts', async () => {
  const store = await openMemory();
  const first = await openFleet({ store, tools, isChecked: false });
  const id = await first.begin(solo, { turns: [[runs('npm test')], [{ say: 'Done.' }]] });
  await first.rest(id);
  await first.sessions.close();
  await addRule(store, ofAgent('solo'));
  const fleet = await openFleet({ store, tools, owner: 'restarted' });
  await fleet.until(id, ({ type }) => type === 'run.ended');
  expect(await decisions(fleet, id)).toMatchObject([{ result: 'allow', by: 'ann', rule_id: expect.any(String) }]);
});

it('[R424] a rule decides for a program when the program requests approval, about the input that the program shows', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
  const id = await fleet.begin({ ...agent('main'), model }, 'Go.');
  const program = await programs.wait();
  const rule = await addRule(fleet.store, ofSession(id), { tool: 'Bash' });
  program.emit(turnBegins, begins(), proposes('t1'), proposes('t2'), proposes('t3'), ends());
  await fleet.until(id, ({ type }) => type === 'span.model_request_end');
  expect(await fleet.sessions.applyRule(workspaceId, rule)).toBe(0);
  program.emit(requests('t1', 'main', { input: { command: 'npm test' } }));
  await vi.waitFor(() => expect(program.heard.slice(1)).toEqual(['allow t1']), 20_000);
  program.emit(gives('t1'), requests('t2', 'main', { input: { command: 'npm test && x' } }));
  program.emit(requests('t3', 'main', { kind: 'plan', input: { plan: 'npm test' } }));
  const [, two, three] = await fleet.payloads(id, 'agent.tool_use');
  await waitsFor(fleet, id, two!.id, three!.id);
  expect(await decisions(fleet, id)).toMatchObject([{ rule_id: rule.id }]);
  program.emit(gives('t2'), gives('t3'), turnEnds);
  await fleet.until(id, ({ type }) => type === 'run.ended');
});

it('[R425] a rule that one node creates decides approvals of sessions of another node; a path rule looks at the files of the owner', async () => {
  const store = await openMemory();
  const one = await openFleet({ store, tools, owner: 'one', shared: {} });
  const two = await openFleet({ store, tools, owner: 'two', shared: {} });
  const write = (path: string) => ({ call: 'write', input: { file_path: path, content: 'x' } });
  const id = await one.begin(lead, {
    turns: [
      [
        delegates({
          turns: [[write('src/a.ts'), write('src/../b.ts'), write('/workspace/src/c.ts')], [{ say: 'Done.' }]],
        }),
      ],
      [{ say: 'Done.' }],
    ],
  });
  await one.rest(id);
  const [, odd] = await one.asks(id);
  const match: RuleMatch = { type: 'path', pattern: 'src/*' };
  const elsewhere = await addRule(store, ofAgent('lead'), { tool: 'write', match });
  expect(await two.sessions.applyRule(workspaceId, elsewhere)).toBe(0);
  const rule = await addRule(store, ofAgent('worker'), { tool: 'write', match });
  expect(await two.sessions.applyRule(workspaceId, rule)).toBe(2);
  expect(await store.leases.findOwner(id)).toBe('one');
  await waitsFor(two, id, odd!);
  await two.send(id, confirm(odd!, 'deny'));
  await one.until(id, ({ type }) => type === 'run.ended');
});

it('[R425] where a worker has the files, a command rule decides and the worker is asked for the result, and a path rule does not match', async () => {
  const fleet = await openFleet({ tools });
  const turns = [
    [runs('npm test'), { call: 'write', input: { file_path: 'src/a.ts', content: 'x' } }],
    [{ say: 'Done.' }],
  ];
  const id = await fleet.begin(solo, { turns }, { environment: { id: 'env_1', type: 'self_hosted' } });
  await fleet.rest(id);
  const [bash, write] = await fleet.asks(id);
  const paths = await addRule(fleet.store, ofSession(id), { tool: 'write', match: { type: 'path', pattern: 'src/*' } });
  expect(await fleet.sessions.applyRule(workspaceId, paths)).toBe(0);
  expect(await fleet.sessions.applyRule(workspaceId, await addRule(fleet.store, ofSession(id)))).toBe(1);
  expect((await fleet.store.works.list({ workspaceId, environmentId: 'env_1', limit: 5 })).items).toHaveLength(1);
  await fleet.send(id, workerResult(bash!, 'ok'), confirm(write!, 'deny'));
  await fleet.until(id, ({ type }) => type === 'run.ended');
});

it('[R426, H189] the rules of a session are deleted with it, and a rule of another workspace neither decides nor can be read or revoked', async () => {
  const fleet = await openFleet({ tools });
  const rules = createRules({ store: fleet.store, clock: systemClock, ids });
  const params = { scope: ofAgent('solo'), tool: 'bash', match: npmTest };
  const foreign = await rules.create('wrkspc_2', params, 'bob');
  const id = await fleet.begin(solo, { turns: [[runs('npm test')], [{ say: 'Done.' }]] });
  const { seq } = await fleet.rest(id);
  const [ask] = await fleet.asks(id);
  expect(await fleet.sessions.applyRule('wrkspc_2', foreign)).toBe(0);
  await expect(rules.revoke(workspaceId, foreign.id)).rejects.toMatchObject({ code: 'unknown_id' });
  await fleet.send(id, confirm(ask!, 'deny'));
  await fleet.rest(id, seq);
  await addRule(fleet.store, ofSession(id));
  const kept = await addRule(fleet.store, ofAgent('solo'));
  await fleet.sessions.delete(workspaceId, id);
  expect(await rules.list(workspaceId)).toEqual([kept]);
  expect(await rules.list('wrkspc_2')).toEqual([foreign]);
});
