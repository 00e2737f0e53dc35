import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSlots, currentRun, type FleetEvent, foldSlots, openApprovals } from '@fleetloom/protocol/fleet';
import { describe, expect, it } from 'vitest';
import { baseLimits } from '../../base/limits.ts';
import type { Engine, EngineEvent } from '../../engines/model/engine.ts';
import { createGovernor } from '../../engines/model/messages/governor.ts';
import { createMessagesEngine } from '../../engines/model/messages/messages-engine.ts';
import { serveScriptedModel } from '../../engines/model/scripted/http.ts';
import { type FleetServer, ofStream, ofType, openFleetServer, parallel } from './fleet.suite.ts';

// Events about waiting turns, about decisions, and about the size of the context window.

const ask = [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }];
const writer = { turns: [[{ call: 'write', input: { file_path: 'x', content: 'x' } }], [{ say: 'ok' }]] };

async function withFleet(options: Parameters<typeof openFleetServer>[0], work: (fleet: FleetServer) => Promise<void>) {
  const fleet = await openFleetServer(options);
  try {
    await work(fleet);
    expect(fleet.problems).toEqual([]);
  } finally {
    await fleet.close();
  }
}

function slotOf(events: readonly FleetEvent[], streamId: number) {
  const slots = events.reduce(foldSlots, createSlots());
  return (currentRun(slots) ?? slots.runs.at(-1))!.slots.find((slot) => slot.streamId === streamId)!;
}

const typesOf = (events: readonly FleetEvent[]) => events.map(({ type }) => type);

describe('model requests that wait', () => {
  it('[V95] a retried model request is emitted with its reason, the number of the attempt and its start time', async () => {
    await withEndpoint([tooMany(3), answer('So.')], async (fleet) => {
      const reader = await fleet.orchestrate({ message: 'Go', agent_def: master }, { query: { gate: 'off' } });
      const retrying = await reader.untilType('request_retrying');
      expect(retrying).toMatchObject({
        stream_id: 0,
        code: 'model_rate_limited_error',
        reason: 'rate_limited',
        attempt: 2,
      });
      expect(retrying.message).toMatch(/^429 /);
      expect(retrying.attempts_max).toBe(baseLimits.requestRetriesMax + 1);
      expect(retrying.retry_at - retrying.ts!).toBe(3_000);
      expect(slotOf(reader.events, 0)).toMatchObject({
        state: 'running',
        phase: 'retrying',
        waits: { type: 'retrying', attempt: 2, until: retrying.retry_at },
      });
      // Other requests to the same endpoint wait too, and their event has the end of the wait.
      const other = await fleet.orchestrate({ message: 'Go', agent_def: master });
      const queued = await other.untilType('request_queued');
      expect(queued).toMatchObject({ reason: 'paused', ahead: 0 });
      expect(queued.until! - retrying.retry_at).toBeLessThanOrEqual(100);
      for (const each of [reader, other]) expect((await each.all()).at(-1)).toMatchObject({ type: 'done', ok: true });
      const starts = ofType(reader.events, 'agent_start').map(({ iteration }) => iteration);
      expect(starts).toEqual([1, 2]);
      expect(slotOf(reader.events, 0)).toMatchObject({ state: 'ok', waits: null });
      expect(typesOf(other.events)).toContain('request_admitted');
    });
  });

  it('[V96] a model request above the concurrency limit is emitted as queued, and later as started', async () => {
    const model = await serveScriptedModel();
    const governor = createGovernor({ concurrencyMax: 1 });
    const engine = createMessagesEngine({ credential: { apiKey: 'any' }, baseURL: model.url, governor });
    await withFleet({ engine }, async (fleet) => {
      await fleet.agent('slow', { turns: [[{ say: 'one two three ', chunks: 3, every_ms: 60 }]] });
      const script = { turns: [[{ say: parallel(['slow', 'a'], ['slow', 'b'], ['slow', 'c']) }], [{ say: 'Done.' }]] };
      await fleet.agent('index', script);
      const reader = await fleet.orchestrate({ agent: 'index', message: 'Go' });
      await reader.untilType('request_queued');
      const waiting = ofType(reader.events, 'request_queued')[0]!;
      expect(waiting).toMatchObject({ reason: 'concurrency', depth: 1 });
      expect(waiting.until).toBeUndefined();
      const events = await reader.all();
      expect(events.at(-1)).toMatchObject({ type: 'done', ok: true });
      const queued = ofType(events, 'request_queued');
      expect(new Set(queued.map(({ ahead }) => ahead))).toEqual(new Set([0, 1]));
      for (const { stream_id: id } of queued) {
        const types = typesOf(ofStream(events, id)).filter((type) => /^(agent_start|request_|text)/.test(type));
        expect(types.slice(0, 4)).toEqual(['agent_start', 'request_queued', 'request_admitted', 'text']);
        const before = ofStream(events, id).slice(0, typesOf(ofStream(events, id)).indexOf('request_admitted'));
        expect(slotOf([...events.slice(0, 1), ...before], id)).toMatchObject({ phase: 'queued' });
      }
      // The request that waited longest started only after another one was answered.
      const last = queued.at(-1)!;
      const admitted = events.findIndex(
        (event) => event.type === 'request_admitted' && event.stream_id === last.stream_id,
      );
      expect(events.slice(0, admitted).some((event) => event.type === 'token_usage' && event.depth === 1)).toBe(true);
    });
    await engine.close();
    await model.close();
  });
});

describe('decisions', () => {
  it('[V97] the event of a decided approval names who decided, and that of a withdrawn one what withdrew it', async () => {
    await withFleet({ isOpen: false }, async (fleet) => {
      const headers = { 'x-api-key': fleet.server.firstKey! };
      const made = await fleet.call(
        'POST',
        '/v1/agents',
        { name: 'writer', model: 'scripted/echo', ...toAgent() },
        headers,
      );
      const open = async () => {
        const reader = await fleet.orchestrate({ agent: made.json.id, message: 'Go' }, { headers });
        return { reader, asked: await reader.untilType('approval_required') };
      };
      const first = await open();
      const { tool_use_id, session_id } = first.asked;
      const events = [{ type: 'user.tool_confirmation', tool_use_id, result: 'allow' }];
      await fleet.call('POST', `/v1/sessions/${session_id}/events`, { events }, headers);
      expect(ofType(await first.reader.all(), 'approval_resolved')).toMatchObject([
        { result: 'allow', by: 'first key' },
      ]);

      const second = await open();
      const { request_id: id } = ofType(second.reader.events, 'request_received')[0]!;
      await fleet.call('POST', `/v1/requests/${id}/cancel`, undefined, headers);
      const cancelled = await second.reader.all();
      expect(ofType(cancelled, 'approval_resolved')).toMatchObject([{ result: 'withdrawn', by: 'cancel' }]);
      const slots = cancelled.reduce(foldSlots, createSlots());
      expect(openApprovals(slots)).toEqual([]);
      expect(slots.runs[0]!.approvals).toMatchObject([{ state: 'withdrawn', by: 'cancel' }]);

      const third = await open();
      await fleet.call('POST', `/v1/sessions/${third.asked.session_id}/archive`, {}, headers);
      expect(ofType(await third.reader.all(), 'approval_resolved')).toMatchObject([
        { result: 'withdrawn', by: 'archive' },
      ]);
    });
  });

  it('[V97] without keys the decision was made by `client`', async () => {
    await withFleet({}, async (fleet) => {
      await fleet.agent('writer', writer, { tools: ask });
      const reader = await fleet.orchestrate({ agent: 'writer', message: 'Go' });
      const { tool_use_id, session_id } = await reader.untilType('approval_required');
      const events = [{ type: 'user.tool_confirmation', tool_use_id, result: 'deny' }];
      await fleet.call('POST', `/v1/sessions/${session_id}/events`, { events });
      expect(ofType(await reader.all(), 'approval_resolved')).toMatchObject([{ result: 'deny', by: 'client' }]);
    });
  });
});

describe('context window', () => {
  it('[V98] each model response reports how many tokens of the context window are used, and a summary clears it', async () => {
    await withFleet({ engine: createFillingEngine() }, async (fleet) => {
      const agent_def = { name: 'master', model: 'claude-sonnet-5', tools: [{ type: 'agent_toolset_20260401' }] };
      const events = await (await fleet.orchestrate({ message: 'Go', agent_def })).all();
      expect(events.at(-1)).toMatchObject({ type: 'done', ok: true });
      const usages = ofType(events, 'token_usage').map(({ context_tokens: tokens, context_window: of }) => [
        tokens,
        of,
      ]);
      // A summary is not a response to the user.
      const none = [undefined, undefined];
      const full = [WINDOW - 10 + 1 + 2 + 3, WINDOW];
      expect(usages).toEqual([full, full, none, [100 + 1 + 2 + 3, WINDOW]]);
      expect(ofType(events, 'context_compacted')).toHaveLength(1);
      const compacted = events.findIndex(({ type }) => type === 'context_compacted');
      expect(slotOf(events.slice(0, compacted), 0).context).toEqual({ tokens: WINDOW - 4, window: WINDOW });
      expect(slotOf(events.slice(0, compacted + 1), 0).context).toBeNull();
      expect(slotOf(events, 0).context).toEqual({ tokens: 106, window: WINDOW });
    });
  });
});

describe('a stream that was just opened', () => {
  it('[V99] begins with a comment at once, however long nothing happens', async () => {
    await withFleet({}, async (fleet) => {
      const created = await fleet.agent('echo');
      const environment = await fleet.call('POST', '/v1/environments', { name: 'here', config: { type: 'cloud' } });
      const session = await fleet.call('POST', '/v1/sessions', { agent: created, environment_id: environment.json.id });
      for (const path of [`/v1/sessions/${session.json.id}/fleet`, '/v1/fleet']) {
        const reader = await fleet.watch(path);
        await reader.met(() => reader.comments.length > 0);
        expect([reader.comments, reader.events]).toEqual([['open'], []]);
        reader.kill();
      }
    });
  });
});

const master = { name: 'master', model: 'claude-sonnet-5' };
/** The context window of claude-sonnet-5. */
const WINDOW = 1_000_000;

function toAgent() {
  return { tools: ask, system: `<script>${JSON.stringify(writer)}</script>` };
}

type Reply = (response: ServerResponse) => void;

function tooMany(seconds: number): Reply {
  const body = { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } };
  return (response) =>
    response
      .writeHead(429, { 'content-type': 'application/json', 'retry-after': `${seconds}` })
      .end(JSON.stringify(body));
}

function answer(text: string): Reply {
  const usage = { input_tokens: 5, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage };
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body);
}

/** A server whose endpoint sends these replies, and then repeats the last one. */
async function withEndpoint(replies: readonly Reply[], work: (fleet: FleetServer) => Promise<void>): Promise<void> {
  let count = 0;
  const endpoint = createServer((_, response) => replies[Math.min(count++, replies.length - 1)]!(response));
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  const baseURL = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
  try {
    await withFleet({ models: { credential: { apiKey: 'any' }, baseURL } }, work);
  } finally {
    endpoint.closeAllConnections();
    endpoint.close();
  }
}

/** Its first two responses call a tool and fill the window, so that a summary is requested before the next one. */
function createFillingEngine(): Engine {
  let answers = 0;
  return {
    request: async function* ({ messages }): AsyncGenerator<EngineEvent> {
      const isSummary = JSON.stringify(messages.at(-1)).includes('replaced by a summary');
      const isCall = !isSummary && ++answers < 3;
      const call = { type: 'tool_use', id: `toolu_${answers}`, name: 'glob', input: { pattern: '*' } } as const;
      yield {
        type: 'finished',
        content: isCall ? [call] : [{ type: 'text', text: isSummary ? 'Short.' : 'Done.' }],
        stop: { reason: isCall ? 'tool_use' : 'end_turn', category: null, explanation: null },
        usage: {
          inputTokens: isCall ? WINDOW - 10 : 100,
          outputTokens: 1,
          cacheReadTokens: 2,
          cacheWrite5mTokens: 3,
          cacheWrite1hTokens: 0,
        },
        model: 'claude-sonnet-5',
      };
    },
    close: async () => {},
  };
}
