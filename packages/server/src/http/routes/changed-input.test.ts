import { afterAll, beforeAll, expect, it } from 'vitest';
import { baseLimits } from '../../base/limits.ts';
import { type FleetServer, ofType, openFleetServer } from './fleet.suite.ts';

// Optional fields of a decision in the HTTP API.

let fleet: FleetServer;
beforeAll(async () => {
  fleet = await openFleetServer();
});
afterAll(async () => {
  await fleet.close();
  expect(fleet.problems).toEqual([]);
});

/** A run that waits for the approval of one call. */
async function begin(name: string) {
  const turns = [[{ call: 'write', input: { file_path: 'a.txt', content: 'one' } }], [{ say: 'Done.' }]];
  const toolset = { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } };
  const system = `<script>${JSON.stringify({ turns })}</script>`;
  const made = await fleet.call('POST', '/v1/agents', { name, model: 'scripted/echo', tools: [toolset], system });
  const reader = await fleet.orchestrate({ agent: made.json.id, message: 'Go' });
  const { session_id: sessionId } = await reader.untilType('request_received');
  const { tool_use_id: id } = await reader.untilType('approval_required');
  const confirmation = { type: 'user.tool_confirmation', tool_use_id: id };
  const send = (more: object) =>
    fleet.call('POST', `/v1/sessions/${sessionId}/events`, { events: [{ ...confirmation, ...more }] });
  return { reader, send };
}

it('[H120] `updated_input` is an object, only for `allow` and no deeper than other content; anything else is 400', async () => {
  const { reader, send } = await begin('changed');
  const updated_input = { file_path: 'b.txt', content: 'two' };
  const refused: readonly (readonly [object, RegExp])[] = [
    [{ result: 'deny', updated_input }, /updated_input.*is only for result allow/],
    [{ result: 'allow', updated_input: [] }, /updated_input/],
    [{ result: 'allow', updated_input: 'x' }, /updated_input/],
    [{ result: 'allow', updated_input: nested(baseLimits.contentDepthMax) }, /nested too deep/],
  ];
  for (const [more, problem] of refused) {
    const { status, json } = await send(more);
    expect([status, json.error.type]).toEqual([400, 'invalid_request_error']);
    expect(json.error.message).toMatch(problem);
  }
  expect((await send({ result: 'allow', updated_input })).status).toBe(200);
  expect(ofType(await reader.all(), 'approval_resolved')).toMatchObject([{ result: 'allow', updated_input }]);
});

it('[H121] `interrupt` is only for `deny`, anything else is 400; null is the same as leaving a field out', async () => {
  const { reader, send } = await begin('interrupted');
  for (const more of [
    { result: 'allow', interrupt: true },
    { result: 'deny', interrupt: 'yes' },
  ]) {
    const { status, json } = await send(more);
    expect([status, json.error.type]).toEqual([400, 'invalid_request_error']);
    expect(json.error.message).toContain('interrupt');
  }
  const plain = await begin('plain');
  expect((await plain.send({ result: 'allow', interrupt: null, updated_input: null })).status).toBe(200);
  expect(ofType(await plain.reader.all(), 'done')).toMatchObject([{ ok: true }]);
  expect((await send({ result: 'deny', interrupt: true })).status).toBe(200);
  expect(ofType(await reader.all(), 'stream_end')).toMatchObject([{ ok: false, stop_reason: 'cancelled' }]);
});

function nested(levels: number): object {
  let value: object = {};
  for (let level = 0; level < levels; level++) value = { value };
  return value;
}
