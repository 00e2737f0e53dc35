import { afterAll, beforeAll, expect, it } from 'vitest';
import { ruleLimits } from '../../../rules/limits.ts';
import { type FleetServer, ofType, openFleetServer, toScript } from '../fleet.suite.ts';

// Approval rules over HTTP: created, listed, counted and revoked, each within its workspace.

const path = '/v1/fleet/approval_rules';
const tools = [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }];
const runs = (command: string) => ({ call: 'bash', input: { command } });

let fleet: FleetServer;
let headers: Record<string, string>;
beforeAll(async () => {
  fleet = await openFleetServer({ isOpen: false });
  headers = { 'x-api-key': fleet.server.firstKey! };
});
afterAll(async () => {
  await fleet.close();
  expect(fleet.problems).toEqual([]);
});

const call = (method: string, at: string, body?: object) => fleet.call(method, at, body, headers);

/** An agent whose responses have these calls. */
async function createAgent(name: string, ...calls: (readonly object[])[]): Promise<string> {
  const system = toScript({ turns: [...calls, [{ say: 'Done.' }]] });
  const { json } = await call('POST', '/v1/agents', { name, model: 'scripted/echo', tools, system });
  return json.id;
}

it('[H185, H186] a rule is created, counted, listed and revoked; its decisions are on fleet streams with its id and on the Managed Agents API without', async () => {
  const agent = await createAgent('tester', [runs('echo a'), runs('echo b'), runs('echo a; echo b')], [runs('echo c')]);
  const reader = await fleet.orchestrate({ agent, message: 'Go' }, { headers });
  const { session_id: sessionId } = await reader.untilType('request_received');
  await reader.met(() => ofType(reader.events, 'approval_required').length === 3);
  const body = {
    scope: { type: 'agent', agent_id: agent },
    agent_name: 'tester',
    tool: 'bash',
    match: { type: 'command', pattern: 'echo *' },
  };
  expect((await call('POST', `${path}/preview`, body)).json).toEqual({
    type: 'approval_rule_preview',
    text: 'bash(command: echo *)',
    matches: 2,
  });
  const { status, json: created } = await call('POST', path, body);
  const { answered, ...rule } = created;
  expect([status, answered]).toEqual([200, 2]);
  expect(rule).toMatchObject({ type: 'approval_rule', ...body, created_by: 'first key', expires_at: null });
  expect((await call('GET', path)).json).toEqual({ data: [rule] });
  await reader.met(() => ofType(reader.events, 'approval_resolved').length === 2);
  const [, , odd] = ofType(reader.events, 'approval_required');
  const deny = { type: 'user.tool_confirmation', tool_use_id: odd!.tool_use_id, result: 'deny', rule_id: rule.id };
  // Only the server decides in the name of a stored rule.
  expect((await call('POST', `/v1/sessions/${sessionId}/events`, { events: [deny] })).status).toBe(400);
  const { rule_id: _, ...plain } = deny;
  await call('POST', `/v1/sessions/${sessionId}/events`, { events: [plain] });
  const resolved = ofType(await reader.all(), 'approval_resolved');
  const decided = { result: 'allow', by: 'first key', rule: 'bash(command: echo *)', rule_id: rule.id };
  expect(resolved).toMatchObject([decided, decided, { result: 'deny' }, decided]);
  expect(resolved[2]).not.toHaveProperty('rule_id');
  const events = (await call('GET', `/v1/sessions/${sessionId}/events?types[]=user.tool_confirmation`)).json.data;
  const fields = ['id', 'processed_at', 'result', 'tool_use_id', 'type'];
  expect(events.map((event: object) => Object.keys(event).toSorted())).toEqual(Array.from({ length: 4 }, () => fields));

  expect((await call('DELETE', `${path}/${rule.id}`)).json).toEqual({ type: 'approval_rule_deleted', id: rule.id });
  expect((await call('DELETE', `${path}/${rule.id}`)).status).toBe(404);
  expect((await call('GET', path)).json).toEqual({ data: [] });
  const again = await fleet.orchestrate({ agent, message: 'Again' }, { headers });
  await again.met(() => ofType(again.events, 'approval_required').length === 3);
  const { session_id: second } = await again.untilType('request_received');
  await call('POST', `/v1/sessions/${second}/events`, { events: [{ type: 'user.interrupt' }] });
  const ended = ofType(await again.all(), 'approval_resolved');
  expect(ended.map(({ result }) => result)).toEqual(['withdrawn', 'withdrawn', 'withdrawn']);
});

it('[H187] a rule that could not match, has expired, or is about an unknown session or agent is refused', async () => {
  const agent = await createAgent('checked', [runs('ls')]);
  const good = {
    scope: { type: 'agent', agent_id: agent },
    tool: 'bash',
    match: { type: 'command', pattern: 'npm test*' },
  };
  const bad: [object, number, string][] = [
    [{ match: { type: 'command', pattern: 'npm test; x' } }, 400, 'match.pattern'],
    [{ match: { type: 'command', pattern: '*' } }, 400, 'match.pattern'],
    [{ match: { type: 'any' } }, 400, 'match.type'],
    [{ match: { type: 'path', pattern: 'x' } }, 400, 'match.type'],
    [{ tool: 'write', match: { type: 'path', pattern: '../x' } }, 400, 'match.pattern'],
    [{ tool: 'ExitPlanMode', match: { type: 'any' } }, 400, 'person'],
    [{ tool: '' }, 400, 'tool'],
    [{ extra: 1 }, 400, 'extra'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 400, 'past'],
    [{ scope: { type: 'agent', agent_id: 'agent_none' } }, 404, 'agent_none'],
    [{ scope: { type: 'session', session_id: 'sesn_none' } }, 404, 'sesn_none'],
  ];
  for (const [change, status, words] of bad) {
    for (const at of [path, `${path}/preview`]) {
      const answer = await call('POST', at, { ...good, ...change });
      expect([change, answer.status, answer.json.error.message]).toEqual([
        change,
        status,
        expect.stringContaining(words),
      ]);
    }
  }
  expect((await fleet.call('GET', path)).status).toBe(401);
});

it('[H188] a pattern has up to 500 characters, and the names of a tool or agent have up to 256', async () => {
  const agent = await createAgent('limited', [runs('ls')]);
  const { rulePatternCharsMax, ruleNameCharsMax } = ruleLimits;
  expect([rulePatternCharsMax, ruleNameCharsMax]).toEqual([500, 256]);
  const create = async (chars: number, name: number) => {
    const match = { type: 'command', pattern: `a${'b'.repeat(chars - 1)}` };
    const scope = { type: 'agent', agent_id: agent };
    return (await call('POST', path, { scope, agent_name: 'x'.repeat(name), tool: 'bash', match })).status;
  };
  expect(await create(rulePatternCharsMax, ruleNameCharsMax)).toBe(200);
  expect(await create(rulePatternCharsMax + 1, ruleNameCharsMax)).toBe(400);
  expect(await create(rulePatternCharsMax, ruleNameCharsMax + 1)).toBe(400);
});
