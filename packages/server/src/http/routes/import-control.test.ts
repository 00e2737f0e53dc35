import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { type TestServer, withServer } from '../../../../../test/server/server.suite.ts';
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
    const sent = send(first, id, decided);
    const denied = { ...ask('c1'), result: 'deny', deny_message: 'Not now.', updated_input: null, interrupt: false };
    await expect.poll(async () => (await client.send({ asks: [ask('c1')] })).answers).toEqual([denied]);
    await sent;
    await expect(send(first, id, decided)).rejects.toMatchObject({ status: 400 });

    const second = await first.restart();
    const again = follow(second, [], client.conversation);
    expect((await again.send({ asks: [ask('c1'), ask('c2')] })).answers).toEqual([denied]);
    expect((await again.send({ asks: [ask('c2')], delivered: [ask('c1')] })).answers).toEqual([]);
    const [other] = await pending(second, id);
    expect(other).not.toBe(use);
    const input = { command: 'pwd' };
    const changed = { type: 'user.tool_confirmation', tool_use_id: other, result: 'allow', updated_input: input };
    const sentAgain = send(second, id, changed);
    const allowed = {
      ...ask('c2'),
      result: 'allow',
      deny_message: null,
      updated_input: input,
      interrupt: false,
    };
    await expect.poll(async () => (await again.send({ asks: [ask('c2')] })).answers).toEqual([allowed]);
    await sentAgain;
    await again.send({ delivered: [ask('c2')] }, [result('c1', 3), result('c2', 4), ended(4)], true);
    const types = (await framesOf(second, id)).map(({ type }) => type);
    const count = (wanted: string) => types.filter((type) => type === wanted).length;
    expect(
      ['approval.requested', 'user.tool_confirmation', 'answer.delivered', 'agent.tool_result'].map(count),
    ).toEqual([2, 2, 2, 2]);
    expect((await second.client.beta.sessions.retrieve(id)).status).toBe('idle');
  });
});

it('[MX101] a call that ended where it runs closes its approval, and a later decision is refused', async () => {
  await withServer(async (test) => {
    const client = follow(test, [call('c1')]);
    const { session_id: id } = await client.send({ asks: [ask('c1')] });
    const [use] = await pending(test, id);
    await client.send({}, [result('c1', 3), ended(3)]);
    expect(await pending(test, id)).toEqual([]);
    const late = { type: 'user.tool_confirmation', tool_use_id: use, result: 'allow' };
    await expect(send(test, id, late)).rejects.toMatchObject({ status: 400 });
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
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('was withdrawn') });
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

/** The calls that were asked for and have neither a decision nor a result. */
async function pending(test: TestServer, id: string): Promise<readonly string[]> {
  const frames = await framesOf(test, id);
  const idsOf = (...types: string[]) =>
    frames.flatMap(({ type, payload }) => (types.includes(type) ? [String(payload['tool_use_id'])] : []));
  const closed = idsOf('user.tool_confirmation', 'agent.tool_result');
  return idsOf('approval.requested').filter((each) => !closed.includes(each));
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
