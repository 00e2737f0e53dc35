import { check, defineChecks } from '../harness/check.ts';
import {
  expectEqual,
  expectFound,
  expectOk,
  expectRefusal,
  expectRefused,
  expectThat,
  NotApplicable,
} from '../harness/expect.ts';
import { toMessage } from '../harness/talk.ts';

const AGENT = { name: 'conformance', model: 'scripted/echo' };
const UNKNOWN_AGENT = 'agent_01AAAAAAAAAAAAAAAAAAAAAA';

export const transportChecks = defineChecks('Transport', [
  check(1, 'C', 'A key in Authorization: Bearer works', [], async (t) => {
    expectOk(await t.raw({ path: '/v1/agents?limit=1', key: 'bearer' }), 'a list of agents');
  }),

  check(2, 'C', 'A key in x-api-key works', [], async (t) => {
    expectOk(await t.raw({ path: '/v1/agents?limit=1', key: 'x-api-key' }), 'a list of agents');
  }),

  check(3, 'C', 'A wrong key is refused with 401, and the SDK does not repeat the request', ['keys'], async (t) => {
    const stranger = t.clientWith({ apiKey: 'sk-ant-unknown' });
    const { name } = await expectRefusal(stranger.beta.agents.list(), 401, 'a wrong key');
    expectEqual(name, 'AuthenticationError', 'the class of the error');
    expectEqual(t.requests.length, 1, 'requests');
    expectRefused(await t.raw({ path: '/v1/agents', key: 'none' }), 401, 'no key');
  }),

  check(4, 'C', '?beta=true changes nothing on any path', [], async (t) => {
    const created = await t.raw({ method: 'POST', path: '/v1/agents?beta=true', body: AGENT });
    expectOk(created, 'create');
    t.agentIds.push(created.json.id);
    const plain = await t.raw({ path: `/v1/agents/${created.json.id}` });
    expectEqual((await t.raw({ path: `/v1/agents/${created.json.id}?beta=true` })).json, plain.json, 'the agent');
    expectOk(await t.raw({ path: '/v1/sessions?beta=true&limit=1' }), 'a list');
    expectRefused(await t.raw({ path: `/v1/agents/${UNKNOWN_AGENT}?beta=true` }), 404, 'an unknown agent');
  }),

  check(5, 'C', 'anthropic-version 2023-06-01, 2026-10-21 and none all work', [], async (t) => {
    for (const version of ['2023-06-01', '2026-10-21', undefined]) {
      const headers = version === undefined ? {} : { 'anthropic-version': version };
      expectOk(await t.raw({ path: '/v1/agents?limit=1', headers }), `version ${version}`);
    }
  }),

  check(6, 'C', 'Unknown names in anthropic-beta are ignored', [], async (t) => {
    const headers = { 'anthropic-beta': 'message-batches-2024-09-24, no-such-beta-2031-01-01' };
    expectOk(await t.raw({ path: '/v1/agents?limit=1', headers }), 'a list of agents');
  }),

  check(7, 'C', 'Every answer has a request-id, and errors repeat it in their body', [], async (t) => {
    const ok = await t.raw({ path: '/v1/agents?limit=1' });
    const bad = await t.raw({ path: `/v1/agents/${UNKNOWN_AGENT}` });
    const [first, second] = [ok.headers.get('request-id'), bad.headers.get('request-id')];
    expectThat(first !== null && second !== null && first !== second, 'an id of its own for each', [first, second]);
    expectEqual(bad.json.request_id, second, 'request_id of the body');
  }),

  check(8, 'C', 'An unknown path is 404 not_found_error, NotFoundError in the SDK', [], async (t) => {
    expectRefused(await t.raw({ path: '/_stainless_unknown_path' }), 404, 'an unknown path');
    const { name } = await expectRefusal(t.client.get('/v1/_stainless_unknown_path'), 404, 'an unknown path');
    expectEqual(name, 'NotFoundError', 'the class of the error');
  }),

  check(9, 'C', 'Malformed JSON is 400', [], async (t) => {
    const headers = { 'content-type': 'application/json' };
    for (const body of ['{"name": ', '{]', 'nonsense', '[]', '"text"', '\u0000']) {
      expectRefused(await t.raw({ method: 'POST', path: '/v1/agents', headers, body }), 400, JSON.stringify(body));
    }
  }),

  check(10, 'C', 'A POST without a body and a content type archives', [], async (t) => {
    const { id } = await t.agent();
    const archived = await t.raw({ method: 'POST', path: `/v1/agents/${id}/archive` });
    expectOk(archived, 'archive');
    expectThat(typeof archived.json.archived_at === 'string', 'archived_at', archived.json);
  }),

  check(11, 'C', 'An unknown field in the body of an agent is 400 and named', [], async (t) => {
    const body = { ...AGENT, frobnicate: 1 };
    expectRefused(await t.raw({ method: 'POST', path: '/v1/agents', body }), 400, 'an unknown field', /frobnicate/);
  }),

  check(12, 'E', 'A body over the limit is 413', ['alone'], async (t) => {
    const body = JSON.stringify({ ...AGENT, system: 'x'.repeat(33 * 1024 * 1024) });
    const headers = { 'content-type': 'application/json' };
    expectRefused(await t.raw({ method: 'POST', path: '/v1/agents', headers, body }), 413, '33 MiB');
  }),

  check(13, 'C', 'A 409 says x-should-retry: false, and the SDK does not repeat the request', [], async (t) => {
    const { id } = await t.agent();
    const before = t.requests.length;
    const { name } = await expectRefusal(
      t.client.beta.agents.update(id, { version: 7, name: 'new' }),
      409,
      'a stale version',
    );
    expectEqual(name, 'ConflictError', 'the class of the error');
    expectEqual(t.requests.length - before, 1, 'requests');
    const answer = await t.raw({ method: 'POST', path: `/v1/agents/${id}`, body: { version: 7 } });
    expectEqual(answer.headers.get('x-should-retry'), 'false', 'x-should-retry');
  }),

  check(14, 'E', 'A 429 carries retry-after', ['alone'], async (t) => {
    for (let round = 0; round < 5; round += 1) {
      const burst = Array.from({ length: 20 }, () => t.raw({ path: '/v1/agents?limit=1' }));
      const limited = (await Promise.all(burst)).find(({ status }) => status === 429);
      if (limited === undefined) continue;
      return expectThat(limited.headers.has('retry-after'), 'retry-after', [...limited.headers]);
    }
    throw new NotApplicable('100 requests were not too many');
  }),

  check(15, 'E', 'A POST that the SDK repeats is applied once', [], async (t) => {
    const name = `repeated ${crypto.randomUUID()}`;
    const body = { ...AGENT, name };
    const first = await t.raw({
      method: 'POST',
      path: '/v1/agents',
      body,
      headers: { 'x-stainless-retry-count': '0' },
    });
    const second = await t.raw({
      method: 'POST',
      path: '/v1/agents',
      body,
      headers: { 'x-stainless-retry-count': '1' },
    });
    expectEqual(second.json, first.json, 'the answer to the repetition');
    const other = await t.raw({
      method: 'POST',
      path: '/v1/agents',
      body,
      headers: { 'x-stainless-retry-count': '0' },
    });
    expectThat(other.json.id !== first.json.id, 'a request that is not a repetition to be applied', other.json.id);
    const repeated = await t.raw({
      method: 'POST',
      path: '/v1/agents',
      body,
      headers: { 'x-stainless-retry-count': '1' },
    });
    expectEqual(repeated.json, other.json, 'the answer to a repetition of the newest');
    t.agentIds.push(first.json.id, other.json.id);

    const { id } = await t.session();
    const events = { events: [toMessage('once')] };
    const path = `/v1/sessions/${id}/events`;
    const sent = await t.raw({ method: 'POST', path, body: events });
    const again = await t.raw({ method: 'POST', path, body: events, headers: { 'x-stainless-retry-count': '1' } });
    expectEqual(again.json, sent.json, 'the answer to a repeated send');
    const meant = await t.raw({ method: 'POST', path, body: events });
    expectOk(meant, 'the same said twice');
    expectThat(meant.json.data[0].id !== sent.json.data[0].id, 'the same said twice to be two messages', meant.json);
  }),

  check(16, 'C', 'Query arrays work as x[]=a&x[]=b, encoded or not', [], async (t) => {
    const talk = await t.session();
    const ids = async (query: string) => {
      const answer = await t.raw({ path: `/v1/sessions?agent_id=${talk.created.agent.id}&${query}` });
      expectOk(answer, query);
      return answer.json.data.map(({ id }: { id: string }) => id);
    };
    expectEqual(await ids('statuses[]=idle&statuses[]=running'), [talk.id], 'x[]');
    expectEqual(await ids('statuses%5B%5D=idle&statuses%5B%5D=running'), [talk.id], 'x%5B%5D');
    expectEqual(await ids('statuses[]=running'), [], 'a filter that does not fit');
  }),

  check(17, 'E', 'Plain repeated x=a&x=b works too', [], async (t) => {
    const talk = await t.session();
    const path = `/v1/sessions?agent_id=${talk.created.agent.id}&statuses=running&statuses=idle`;
    const answer = await t.raw({ path });
    expectOk(answer, 'the list');
    expectEqual(
      answer.json.data.map(({ id }: { id: string }) => id),
      [talk.id],
      'sessions',
    );
  }),

  check(18, 'C', 'Answers are application/json, and an id of the wrong kind is 404', [], async (t) => {
    const talk = await t.session();
    const answer = await t.raw({ path: `/v1/sessions/${talk.id}` });
    expectThat((answer.headers.get('content-type') ?? '').startsWith('application/json'), 'JSON', [...answer.headers]);
    const { id } = talk.created.agent;
    for (const path of [`/v1/sessions/${id}`, `/v1/agents/${talk.id}`, `/v1/environments/${id}`]) {
      expectRefused(await t.raw({ path }), 404, path);
    }
    expectFound(answer.json.id, 'an id', answer.json);
  }),
]);
