import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { type TestServer, withServer } from '../../server.suite.ts';
import { httpLimits } from '../limits.ts';

interface Answer {
  readonly session_id: string;
  readonly answers: readonly object[];
}

it('[MX100, MX101] a call that waits elsewhere is one approval; the decision is returned until it was delivered, also after a restart of the server', async () => {
  await withServer(async (first) => {
    const client = follow(first, [call('c1'), call('c2')]);
    const { session_id: id } = await client.send({ asks: [ask('c1')] });
    expect((await client.send({ asks: [ask('c1'), ask('unknown')] })).answers).toEqual([]);
    const [use] = await pending(first, id);
    expect(await pending(first, id)).toHaveLength(1);

    const message = { type: 'user.message' as const, content: [{ type: 'text' as const, text: 'Hello' }] };
    await expect(send(first, id, message)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('can only be read'),
    });
    const decided = { type: 'user.tool_confirmation', tool_use_id: use, result: 'deny', deny_message: 'Not now.' };
    await send(first, id, decided);
    await expect(send(first, id, decided)).rejects.toMatchObject({ status: 409 });
    const denied = { ...ask('c1'), result: 'deny', deny_message: 'Not now.', updated_input: null, interrupt: false };
    expect((await client.send({ asks: [ask('c1')] })).answers).toEqual([denied]);

    const second = await first.restart();
    const again = follow(second, [], client.conversation);
    expect((await again.send({ asks: [ask('c1'), ask('c2')] })).answers).toEqual([denied]);
    expect((await again.send({ asks: [ask('c2')], delivered: [ask('c1')] })).answers).toEqual([]);
    const [other] = await pending(second, id);
    expect(other).not.toBe(use);
    await send(second, id, {
      type: 'user.tool_confirmation',
      tool_use_id: other,
      result: 'allow',
      updated_input: { command: 'pwd' },
    });
    const allowed = {
      ...ask('c2'),
      result: 'allow',
      deny_message: null,
      updated_input: { command: 'pwd' },
      interrupt: false,
    };
    expect((await again.send({ asks: [ask('c2')] })).answers).toEqual([allowed]);
    await again.send({ delivered: [ask('c2')] }, [result('c1', 3), result('c2', 4), ended(4)], true);
    const types = (await framesOf(second, id)).map(({ type }) => type);
    const count = (wanted: string) => types.filter((type) => type === wanted).length;
    expect(['approval.requested', 'user.tool_confirmation', 'answer.delivered', 'agent.tool_result'].map(count)).toEqual(
      [2, 2, 2, 2],
    );
    expect((await second.client.beta.sessions.retrieve(id)).status).toBe('idle');
  });
});

it('[MX101] a call that ended where it runs closes its approval, and a decision that arrives too late is logged as not applied', async () => {
  await withServer(async (test) => {
    const client = follow(test, [call('c1'), call('c2')]);
    const { session_id: id } = await client.send({ asks: [ask('c1'), ask('c2')] });
    const [one, two] = await pending(test, id);
    await send(test, id, { type: 'user.tool_confirmation', tool_use_id: two, result: 'allow' });
    // Both were decided in the terminal before the decision was handed over.
    await client.send({}, [result('c1', 3), result('c2', 4), ended(4)], true);
    expect(await pending(test, id)).toEqual([]);
    const late = { type: 'user.tool_confirmation', tool_use_id: one, result: 'allow' };
    await expect(send(test, id, late)).rejects.toMatchObject({ status: 409 });
    const frames = await framesOf(test, id);
    expect(frames.find(({ type }) => type === 'user.tool_confirmation')?.payload).toMatchObject({
      not_applied: 'call_ended',
    });
  });
});

it('[MX102] approvals of a session that is not followed any more are withdrawn, and late decisions are refused', async () => {
  await withServer(async (test) => {
    const client = follow(test, [call('c1')]);
    const { session_id: id } = await client.send({ asks: [ask('c1')] });
    const [use] = await pending(test, id);
    await client.send({}, [], true);
    expect(await pending(test, id)).toEqual([]);
    await expect(
      send(test, id, { type: 'user.tool_confirmation', tool_use_id: use, result: 'allow' }),
    ).rejects.toMatchObject({ status: 409, message: expect.stringContaining('was withdrawn') });
  });
});

it('[MX103] one request asks for at most 100 calls', async () => {
  await withServer(async (test) => {
    const asks = Array.from({ length: httpLimits.importAsksMax }, (_, at) => ask(`c${at}`));
    expect(await follow(test, []).status({ asks })).toBe(200);
    expect(await follow(test, []).status({ asks: [...asks, ask('more')] })).toBe(400);
  });
});

/** A client that follows a session whose agent has said and called this. */
function follow(test: TestServer, calls: readonly object[], conversation: string = randomUUID()) {
  const first = [at(1, { type: 'said', content: [{ type: 'text', text: 'Go.' }] }), ...calls];
  const post = async (control: object, steps: readonly object[], isEnd: boolean) => {
    const body = { program: 'claude-code', conversation, title: null, directory: null, version: null };
    const whole = { ...body, steps: [...first.splice(0), ...steps], is_end: isEnd };
    return await fetch(`${test.url}/v1/imports`, {
      method: 'POST',
      headers: { 'x-api-key': test.key, 'content-type': 'application/json' },
      body: JSON.stringify({ ...whole, control: { asks: [], delivered: [], ...control } }),
    });
  };
  return {
    conversation,
    status: async (control: object) => (await post(control, [], false)).status,
    send: async (control: object, steps: readonly object[] = [], isEnd = false): Promise<Answer> => {
      const response = await post(control, steps, isEnd);
      expect(response.status).toBe(200);
      return (await response.json()) as Answer;
    },
  };
}

/** The calls that wait for a decision. */
async function pending(test: TestServer, id: string): Promise<readonly string[]> {
  const last = (await framesOf(test, id)).findLast(({ type }) => type.startsWith('session.status_'));
  const stop = last?.payload['stop_reason'] as { type: string; event_ids: string[] } | undefined;
  return stop?.type === 'requires_action' ? stop.event_ids : [];
}

interface Frame {
  readonly type: string;
  readonly payload: Record<string, unknown>;
}

async function framesOf(test: TestServer, id: string): Promise<readonly Frame[]> {
  const headers = { authorization: `Bearer ${test.key}` };
  const answer = await fetch(`${test.url}/v1/sessions/${id}/export`, { headers });
  const lines = (await answer.text()).trim().split('\n').slice(1, -1);
  return lines.map((line) => JSON.parse(line) as Frame);
}

async function send(test: TestServer, id: string, event: object): Promise<void> {
  await test.client.beta.sessions.events.send(id, { events: [event as never] });
}

const ask = (callId: string) => ({ key: 'main', call_id: callId });

function call(callId: string) {
  return at(2, { type: 'call', call_id: callId, name: 'Bash', input: { command: 'ls' } });
}

function result(callId: string, line: number) {
  return at(line, { type: 'result', call_id: callId, content: [], is_error: false });
}

function ended(line: number) {
  return at(line, { type: 'turn_ended', outcome: { type: 'done' } });
}

function at(line: number, event: object) {
  return { key: 'main', line, time: new Date(Date.UTC(2026, 0, 1) + line * 1000).toISOString(), event };
}
