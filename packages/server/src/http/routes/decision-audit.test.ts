import { createHash } from 'node:crypto';
import { fleetLimits } from '@fleetloom/protocol/fleet';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { httpLimits } from '../limits.ts';
import { type FleetServer, ofType, openFleetServer } from './fleet.suite.ts';

// The key and the rule of a decision are recorded in the log and on fleet streams, and absent from the Managed Agents API.

const tools = [
  { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } },
  { type: 'custom', name: 'form', description: 'a form', input_schema: { type: 'object', properties: {} } },
];
const input = { file_path: 'x', content: 'ä' };
const hash = createHash('sha256').update('{"content":"ä","file_path":"x"}').digest('hex');

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

/** Starts a run of an agent that makes these calls, and waits until it needs approval. */
async function begin(name: string, calls: readonly object[]) {
  const script = JSON.stringify({ turns: [calls, [{ say: 'Done.' }]] });
  const body = { name, model: 'scripted/echo', tools, system: `<script>${script}</script>` };
  const made = await fleet.call('POST', '/v1/agents', body, headers);
  const reader = await fleet.orchestrate({ agent: made.json.id, message: 'Go' }, { headers });
  const { session_id: sessionId } = await reader.untilType('request_received');
  const path = `/v1/sessions/${sessionId}`;
  const send = (...events: object[]) => fleet.call('POST', `${path}/events`, { events }, headers);
  const get = async (rest: string) => (await fleet.call('GET', `${path}${rest}`, undefined, headers)).json;
  const lines = async () => {
    const response = await fetch(`http://127.0.0.1:${fleet.server.port}${path}/export`, { headers });
    return (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  return { reader, send, get, lines };
}

it('[V110, R276] the rule of a decision is in the log and on fleet streams with the hash of the input; official clients do not receive it', async () => {
  const { reader, send, get, lines } = await begin('writer', [{ call: 'write', input }, { call: 'form' }]);
  const { tool_use_id: id } = await reader.untilType('approval_required');
  const { tool_use_id: form } = await reader.untilType('tool_start');
  const rule = 'write(file_path: *)';
  const echo = await send(
    { type: 'user.tool_confirmation', tool_use_id: id, result: 'allow', rule },
    { type: 'user.custom_tool_result', custom_tool_use_id: form, content: [{ type: 'text', text: 'filled' }] },
  );
  const events = await reader.all();
  expect(ofType(events, 'approval_resolved')).toMatchObject([
    { tool_use_id: id, result: 'allow', by: 'first key', rule, input_sha256: hash },
  ]);

  const decisions = (await lines()).filter(({ type }) => /^user\.(tool_confirmation|custom_tool_result)$/.test(type));
  expect(decisions.map(({ payload }) => payload)).toMatchObject([
    { tool_use_id: id, by: 'first key', rule, input_sha256: hash },
    { custom_tool_use_id: form, by: 'first key', input_sha256: createHash('sha256').update('{}').digest('hex') },
  ]);

  const confirmed = ['id', 'processed_at', 'result', 'tool_use_id', 'type'];
  const answered = ['content', 'custom_tool_use_id', 'id', 'is_error', 'processed_at', 'type'];
  const threads = await get('/threads');
  for (const { data } of [echo.json, await get('/events'), await get(`/threads/${threads.data[0].id}/events`)]) {
    const fieldsOf = (wanted: string) =>
      data
        .filter(({ type }: { type: string }) => type === wanted)
        .map((event: object) => Object.keys(event).toSorted());
    expect(fieldsOf('user.tool_confirmation')).toEqual([confirmed]);
    expect(fieldsOf('user.custom_tool_result')).toEqual([answered]);
  }
});

it('[V111] a decision without a rule has none on fleet streams, and a withdrawn approval has neither rule nor hash', async () => {
  const { reader, send } = await begin('twice', [
    { call: 'write', input },
    { call: 'write', input },
  ]);
  await reader.met(() => ofType(reader.events, 'approval_required').length === 2);
  const [one] = ofType(reader.events, 'approval_required');
  await send({ type: 'user.tool_confirmation', tool_use_id: one!.tool_use_id, result: 'deny', rule: null });
  await reader.untilType('approval_resolved');
  await send({ type: 'user.interrupt' });
  const resolved = ofType(await reader.all(), 'approval_resolved');
  expect(resolved).toMatchObject([
    { result: 'deny', input_sha256: hash },
    { result: 'withdrawn', by: 'cancel' },
  ]);
  expect(resolved.map((event) => ['rule' in event, 'input_sha256' in event])).toEqual([
    [false, true],
    [false, false],
  ]);
});

it('[R275] a rule has 1 to 4,096 characters and belongs to a confirmation; rules sent by our own views always fit', async () => {
  const calls = Array.from({ length: 2 }, () => ({ call: 'write', input }));
  const { reader, send } = await begin('limits', calls);
  await reader.met(() => ofType(reader.events, 'approval_required').length === 2);
  const [one, two] = ofType(reader.events, 'approval_required').map(({ tool_use_id: id }) => id);
  const allow = (id: string, rule: unknown) => ({
    type: 'user.tool_confirmation',
    tool_use_id: id,
    result: 'allow',
    rule,
  });
  expect([httpLimits.ruleCharsMax, fleetLimits.ruleCharsMax]).toEqual([4_096, 4_096]);
  for (const rule of ['', 'x'.repeat(4_097), 7, {}]) {
    const { status, json } = await send(allow(one!, rule));
    expect([status, json.error.type]).toEqual([400, 'invalid_request_error']);
    expect(json.error.message).toContain('rule');
  }
  expect((await send({ type: 'user.interrupt', rule: 'x' })).status).toBe(400);
  expect((await send(allow(one!, 'x'.repeat(4_096)), allow(two!, null))).status).toBe(200);
  const resolved = ofType(await reader.all(), 'approval_resolved');
  expect(resolved.map(({ rule }) => rule?.length)).toEqual([4_096, undefined]);
});
