import type { InternalCommand } from './command.ts';
import { expect, it } from 'vitest';
import { sessionLimits } from './limits.ts';
import { storeLimits } from '../../store/limits.ts';
import type { AssistantBlock, Message } from '../../base/content.ts';
import type { EngineEvent } from '../../engines/model/engine.ts';
import { encodeFrame } from '../../store/frame.ts';
import { rejectOversized, rejectOversizedResult, SESSION_BYTES_MAX } from './content-size.ts';
import type { ThreadState } from './state/state.ts';
import { codeOf } from '../../store/suite/samples.suite.ts';
import { message, openFleet, result, solo } from '../suite/fleet.suite.ts';
import { createPlainEngine, someUsage } from '../suite/plain-engine.suite.ts';

const longTest = 60_000;

/** A session without content. */
const empty = { threads: new Map<string, never>() };

/** Text that has so many bytes too many, with what stands around it. */
function textOver(around: unknown, over: number): string {
  return 'x'.repeat(sessionLimits.contentBytesMax - Buffer.byteLength(JSON.stringify(around)) + over);
}

const stop = { reason: 'end_turn' as const, category: null, explanation: null };

/** A model response that is not streamed. */
async function* atOnce(text: string): AsyncGenerator<EngineEvent> {
  yield { type: 'finished', content: [{ type: 'text', text }], stop, usage: someUsage, model: 'plain' };
}

function toAnswered(content: readonly AssistantBlock[]): InternalCommand {
  const event = { type: 'finished' as const, content, stop, usage: someUsage, model: 'plain' };
  const offer = { tools: new Map(), problems: [] };
  const answered = { startId: 'sevt_1', event, costNanoUsd: 7, offer, eventIds: new Map() };
  return { type: 'answered', threadId: 'sthr_1', answered };
}

it(
  '[R222] an answer that is too large to be kept loses its turn and nothing else, and its tokens count',
  async () => {
    const fits: AssistantBlock[] = [{ type: 'text', text: '' }];
    const short = { content: [{ type: 'text' as const, text: 'Short.' }] };
    const answers = [atOnce(textOver(fits, 1)), short];
    const fleet = await openFleet({ engine: createPlainEngine(() => answers.shift()!) });
    const id = await fleet.begin(solo, 'List everything');
    const { seq } = await fleet.rest(id);
    expect(await fleet.payloads(id, 'session.error')).toMatchObject([
      { error: { type: 'model_request_failed_error' }, retry: 'exhausted' },
    ]);
    expect(await fleet.payloads(id, 'span.model_request_end')).toMatchObject([
      { is_error: true, model_usage: { input_tokens: someUsage.inputTokens, output_tokens: someUsage.outputTokens } },
    ]);
    expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: false, stop_reason: 'error' }]);
    await fleet.send(id, message('Only the end'));
    await fleet.rest(id, seq);
    expect(await fleet.payloads(id, 'agent.message')).toMatchObject([{ content: [{ text: 'Short.' }] }]);
    expect(fleet.problems).toEqual([]);
  },
  longTest,
);

it(
  '[R222] content at the size limit is stored, and a frame has room for it',
  () => {
    const content = [{ type: 'text' as const, text: textOver([{ type: 'text', text: '' }], 0) }];
    const answer = { content, isError: false };
    expect(rejectOversizedResult(answer, empty) === answer).toBe(true);
    const answered = toAnswered(content);
    expect(rejectOversized(answered, empty) === answered).toBe(true);
    const ids = 'x'.repeat(100);
    const result = { id: ids, tool_use_id: ids, content, is_error: false, duration_ms: Number.MAX_SAFE_INTEGER };
    const turn = { streamId: Number.MAX_SAFE_INTEGER, depth: 2, run: ids };
    expect(() =>
      encodeFrame({ threadId: ids, turn, time: 0, type: 'agent.tool_result', payload: result }),
    ).not.toThrow();
  },
  longTest,
);

it(
  '[R222] a result that is too large becomes an error that states it, and the agent continues',
  async () => {
    const text = textOver([{ type: 'text', text: '' }], 1);
    const fleet = await openFleet({ tools: { bash: { kind: 'builtin', run: () => result(text) } } });
    const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }], [{ say: 'I see.' }]] });
    await fleet.rest(id);
    expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([
      { is_error: true, content: [{ text: expect.stringContaining(`${sessionLimits.contentBytesMax} are allowed`) }] },
    ]);
    expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
  },
  longTest,
);

it(
  '[R222] a summary that leaves too much to be kept fails as one that did not help',
  () => {
    const around: Message[] = [{ role: 'user', content: [{ type: 'text', text: '' }] }];
    const summarise = (text: string) =>
      rejectOversized(
        {
          type: 'summarised',
          threadId: 'sthr_1',
          summarised: {
            startId: 'sevt_1',
            history: [{ role: 'user', content: [{ type: 'text', text }] }],
            usage: someUsage,
            costNanoUsd: 7,
            model: 'plain',
          },
        },
        empty,
      );
    expect(summarise(textOver(around, 0)).type).toBe('summarised');
    expect(summarise(textOver(around, 1))).toMatchObject({
      type: 'failed',
      failed: { startId: 'sevt_1', usage: someUsage, costNanoUsd: 7, failure: { reason: 'context_exceeded' } },
    });
  },
  longTest,
);

it(
  '[R222] an event that is too large is refused with its index, and nothing of the request is kept',
  async () => {
    const fleet = await openFleet();
    const { id } = await fleet.sessions.create({
      workspaceId: 'wrkspc_1',
      agent: solo,
      environment: { id: 'env_1', type: 'cloud' },
    });
    const large = message(textOver(message(''), 1));
    expect(await codeOf(fleet.send(id, message('Hello'), large))).toBe('event_too_large');
    expect(await fleet.store.inputs.peek(id, 10)).toEqual([]);
    await expect(fleet.send(id, large)).rejects.toThrow('events[0] has');
    await expect(fleet.begin(solo, 'Hello', { events: [large] })).rejects.toThrow('events[0] has');
  },
  longTest,
);

it(
  '[R224] a session whose next frame no log can store ends with its reason, instead of failing again and again',
  async () => {
    let requests = 0;
    const problem = {
      type: 'mcp_connection_failed' as const,
      serverName: 'server',
      message: 'x'.repeat(storeLimits.frameBytesMax),
    };
    const engine = createPlainEngine(() => (requests++, {}));
    const fleet = await openFleet({ engine, problems: [problem] });
    const id = await fleet.begin(solo, 'Go');
    await fleet.rest(id);
    expect(await fleet.types(id)).toContain('session.status_terminated');
    expect(await fleet.payloads(id, 'session.error')).toMatchObject([
      { retry: 'terminal', error: { message: expect.stringContaining(`${storeLimits.frameBytesMax} are allowed`) } },
    ]);
    expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: false, stop_reason: 'error' }]);
    expect(requests).toBeLessThanOrEqual(1);
    expect(fleet.problems).toMatchObject([{ code: 'frame_too_large' }]);
  },
  longTest,
);

it('[X41] a model response that does not fit into its session is a failed request, and a short one always fits', () => {
  const text = 'x'.repeat(SESSION_BYTES_MAX - sessionLimits.unmeasuredBytes);
  const history: Message[] = [{ role: 'user', content: [{ type: 'text', text }] }];
  // Only what is counted.
  const thread = { history, inbox: [], blocks: [], calls: new Map() } as unknown as ThreadState;
  const state = { threads: new Map([['sthr_1', thread]]) };
  const toText = (chars: number) => [{ type: 'text' as const, text: 'y'.repeat(chars) }];
  const long = rejectOversized(toAnswered(toText(sessionLimits.unmeasuredBytes)), state);
  expect(long).toMatchObject({
    type: 'failed',
    failed: {
      failure: { reason: 'request_failed', consequence: 'turn', message: expect.stringContaining('are allowed') },
    },
  });
  const short = toAnswered(toText(100));
  expect(rejectOversized(short, state)).toBe(short);
});
