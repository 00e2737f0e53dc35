import { afterAll, beforeAll, expect, it } from 'vitest';
import { delegate, script, startTestServer, type TestServer } from '../../test-support/fleet-server.ts';
import { call } from '../../test-support/live-io.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  const ask = { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } };
  await server.post('/v1/agents', { name: 'asker', model: 'scripted/echo', tools: [ask] });
});
afterAll(() => server.close());

const fleet = (...args: string[]) => call(args, { env: server.env });

it('[Y220, Y221] rules add answers pending approvals and prints the id, rules lists it, and after rules remove the server asks again', async () => {
  const asking = (command: string) => script([{ call: 'bash', input: { command } }], [{ say: 'went on' }]);
  const begin = () => server.begin(delegate('asker', [asking('echo one'), asking('echo two; ls')]));
  const { sessionId } = await begin();
  const pending = async (id: string) => (await fleet('approve', id)).stderr.match(/^sevt_\w+/gm)?.length ?? 0;
  await expect.poll(() => pending(sessionId)).toBe(2);
  const dry = await fleet('rules', 'add', 'echo *', sessionId, '--dry-run');
  expect([dry.code, dry.stdout, dry.stderr]).toEqual([
    0,
    '',
    'bash(command: echo *) matches 1 pending approval. Nothing was added.\n',
  ]);
  const added = await fleet('rules', 'add', 'echo *', '--agent', 'asker', '--by', 'asker');
  expect([added.code, added.stderr]).toEqual([
    0,
    'The server now allows bash(command: echo *). 1 pending approval answered.\n',
  ]);
  const id = added.stdout.trim();
  expect(id).toMatch(/^rule_/);
  await expect.poll(() => pending(sessionId)).toBe(1);
  const listed = await fleet('rules');
  expect([listed.code, listed.stderr]).toEqual([0, '1 rule.\n']);
  expect(listed.stdout).toMatch(new RegExp(`^RULE .*\n${id} +bash\\(command: echo \\*\\) +asker +every session `));
  expect(JSON.parse((await fleet('rules', 'list', '--json')).stdout)).toMatchObject({ id, agent_name: 'asker' });
  expect((await fleet('rules', 'remove', id)).stdout).toBe(`${id}\n`);
  const next = await begin();
  await expect.poll(() => pending(next.sessionId)).toBe(2);
});

it('[Y222] a rule needs one scope and a pattern of the form that its tool compares; an unknown agent or rule is reported', async () => {
  const codeOf = async (...args: string[]) => {
    const { code, stderr } = await fleet('rules', ...args);
    return [code, stderr.split('\n')[0]];
  };
  expect(await codeOf('add', 'x')).toEqual([2, 'fleetloom: A rule holds for one session or one agent.']);
  expect(await codeOf('add', 'x', 'sesn_1', '--agent', 'asker')).toEqual([2, expect.any(String)]);
  expect(await codeOf('add', 'x', '--agent', 'missing')).toEqual([4, 'fleetloom: There is no agent missing.']);
  expect(await codeOf('add', 'x', '--agent', 'asker', '--tool', 'web_fetch')).toEqual([
    2,
    expect.stringContaining('JSON'),
  ]);
  expect(await codeOf('add', 'x', '--agent', 'asker', '--until', 'soon')).toEqual([2, expect.stringContaining('soon')]);
  const [code, problem] = await codeOf('add', 'npm test; rm x', '--agent', 'asker');
  expect([code, problem]).toEqual([expect.any(Number), expect.stringContaining('not one simple command')]);
  expect(code).not.toBe(0);
  expect(await codeOf('remove', 'rule_none')).toEqual([4, expect.stringContaining('rule_none')]);
  const any = await fleet('rules', 'add', '*', '--agent', 'asker', '--tool', 'web_fetch', '--until', '2999-01-01');
  expect([any.code, any.stderr]).toEqual([0, expect.stringContaining('web_fetch(input: *)')]);
});
