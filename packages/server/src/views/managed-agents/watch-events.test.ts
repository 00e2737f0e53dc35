import type { DeltaType, StreamEvent } from '@fleetloom/protocol/managed-agents';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../log/log.ts';
import {
  CHILD,
  childPlace,
  type NewSample,
  PRIMARY,
  primaryPlace,
  sample,
  SESSION,
  storeWith,
} from './sample-frames.suite.ts';
import { watchEvents } from './watch-events.ts';

const start = (id: string, purpose: 'turn' | 'compaction' = 'turn', threadId = PRIMARY) =>
  sample('span.model_request_start', { id, model: 'm', iteration: 1, purpose }, threadId);
const end = (id: string, threadId = PRIMARY) =>
  sample(
    'span.model_request_end',
    {
      id,
      model_request_start_id: 'x',
      is_error: false,
      model: 'm',
      model_usage: noUsage,
      stop_reason: null,
      stop_details: null,
    },
    threadId,
  );
const noUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_5m_input_tokens: 0,
  cache_creation_1h_input_tokens: 0,
  cost_nano_usd: null,
};
const begun = (id: string, block: 'text' | 'thinking' = 'text', threadId = PRIMARY) =>
  sample('delta.started', { id, block }, threadId);
const grown = (id: string, text: string, threadId = PRIMARY) => sample('delta.text', { id, text }, threadId);
const said = (id: string, text: string, threadId = PRIMARY) =>
  sample('agent.message', { id, content: [{ type: 'text', text }] }, threadId);
const over = sample('session.status_terminated', { id: 'sevt_over', is_archived: true }, null);
const idle = sample(
  'session.status_idle',
  { id: 'sevt_idle', stop_reason: { type: 'end_turn' }, stop_details: null },
  null,
);

/** Everything that a reader is shown of a log that is over. */
async function watch(
  samples: readonly NewSample[],
  {
    previews = [],
    after = 0,
    place = primaryPlace,
  }: { previews?: DeltaType[]; after?: number; place?: typeof primaryPlace } = {},
) {
  const store = await storeWith([...samples, over]);
  const log = createLog({ store });
  const { signal } = new AbortController();
  const shown: StreamEvent[] = [];
  const rests: (number | null)[] = [];
  for await (const { events, restSeq } of watchEvents({
    log,
    sessionId: SESSION,
    place,
    after,
    previews: new Set(previews),
    signal,
  })) {
    shown.push(...events);
    rests.push(restSeq);
  }
  await log.close();
  await store.close();
  return { shown: shown.filter(({ type }) => type !== 'session.status_terminated'), rests };
}

/** `start sevt_1`, `delta sevt_1 text`, or the type and id of an event. */
function toLine(event: StreamEvent): string {
  if (event.type === 'event_start') return `start ${event.event.type} ${event.event.id}`;
  if (event.type === 'event_delta') return `delta ${event.event_id} ${event.delta.index} ${event.delta.content.text}`;
  return `${event.type} ${event.id}`;
}

const answer = [
  start('sevt_1'),
  begun('sevt_2'),
  grown('sevt_2', 'one '),
  grown('sevt_2', 'two'),
  said('sevt_2', 'one two'),
  end('sevt_3'),
];

describe('previews', () => {
  it('[Q16] a client that requests previews receives one start, the deltas in order, and then the event with the same id', async () => {
    const { shown } = await watch(answer, { previews: ['agent.message'] });
    expect(shown.map(toLine)).toEqual([
      'span.model_request_start sevt_1',
      'start agent.message sevt_2',
      'delta sevt_2 0 one ',
      'delta sevt_2 0 two',
      'agent.message sevt_2',
      'span.model_request_end sevt_3',
    ]);
  });

  it('[Q16] a client that requests no previews receives none, and one that requests one kind receives only that', async () => {
    const both = [start('sevt_1'), begun('sevt_4', 'thinking'), ...answer.slice(1)];
    expect((await watch(both)).shown.map(toLine).some((line) => /^(start|delta)/.test(line))).toBe(false);
    const thoughts = (await watch(both, { previews: ['agent.thinking'] })).shown.map(toLine);
    expect(thoughts.filter((line) => /^(start|delta)/.test(line))).toEqual(['start agent.thinking sevt_4']);
  });

  it('[Q16] of a thought there is only the start', async () => {
    const samples = [
      start('sevt_1'),
      begun('sevt_2', 'thinking'),
      sample('delta.thinking', { id: 'sevt_2', text: 'hm' }),
      end('sevt_3'),
    ];
    const { shown } = await watch(samples, { previews: ['agent.thinking', 'agent.message'] });
    expect(shown.map(toLine)).toEqual([
      'span.model_request_start sevt_1',
      'start agent.thinking sevt_2',
      'span.model_request_end sevt_3',
    ]);
  });

  it('[Q16] a client that joins in the middle of a request receives no previews of it, but those of the next', async () => {
    const next = [start('sevt_5'), begun('sevt_6'), grown('sevt_6', 'x'), said('sevt_6', 'x'), end('sevt_7')];
    for (const after of [1, 2, 3]) {
      const { shown } = await watch([...answer, ...next], { previews: ['agent.message'], after });
      expect(shown.map(toLine)).toEqual([
        'agent.message sevt_2',
        'span.model_request_end sevt_3',
        'span.model_request_start sevt_5',
        'start agent.message sevt_6',
        'delta sevt_6 0 x',
        'agent.message sevt_6',
        'span.model_request_end sevt_7',
      ]);
    }
  });

  it('[Q16] a request that came to nothing leaves no pieces behind its end', async () => {
    const samples = [start('sevt_1'), begun('sevt_2'), grown('sevt_2', 'one'), end('sevt_3'), grown('sevt_2', 'late')];
    const { shown } = await watch(samples, { previews: ['agent.message'] });
    expect(shown.map(toLine).at(-1)).toBe('span.model_request_end sevt_3');
  });

  it('[Q16] a model request for a summary is not a response of the agent, so it has no previews', async () => {
    const samples = [start('sevt_1', 'compaction'), begun('sevt_2'), grown('sevt_2', 'one'), end('sevt_3')];
    const { shown } = await watch(samples, { previews: ['agent.message'] });
    expect(shown.map(toLine)).toEqual(['span.model_request_start sevt_1', 'span.model_request_end sevt_3']);
  });

  it('[Q16] the previews of a child are on its own stream, and on no other', async () => {
    const samples = [
      start('sevt_1', 'turn', CHILD),
      begun('sevt_2', 'text', CHILD),
      grown('sevt_2', 'x', CHILD),
      said('sevt_2', 'x', CHILD),
      end('sevt_3', CHILD),
    ];
    const own = sample(
      'session.thread_status_terminated',
      { id: 'sevt_4', session_thread_id: CHILD, agent_name: 'a', is_archived: true },
      CHILD,
    );
    const ofSession = await watch([...samples, own], { previews: ['agent.message'] });
    expect(ofSession.shown.map(toLine)).toEqual(['session.thread_status_terminated sevt_4']);
    const ofThread = await watch([...samples, own], { previews: ['agent.message'], place: childPlace });
    expect(ofThread.shown.map(toLine)).toContain('delta sevt_2 0 x');
  });
});

describe('the end', () => {
  it('[Q17] nothing is shown behind the end of the session, or of the thread that is watched', async () => {
    const ended = sample(
      'session.thread_status_terminated',
      { id: 'sevt_1', session_thread_id: CHILD, agent_name: 'a', is_archived: true },
      CHILD,
    );
    const samples = [said('sevt_0', 'x', CHILD), ended, said('sevt_2', 'late', CHILD)];
    const { shown } = await watch(samples, { place: childPlace });
    expect(shown.map(toLine)).toEqual(['agent.message sevt_0', 'session.thread_status_terminated sevt_1']);
    // For the session it is one of its threads, and goes on.
    expect((await watch([ended, said('sevt_2', 'x')])).shown.map(toLine).at(-1)).toBe('agent.message sevt_2');
  });

  it('[H106] the tail of the log is closed behind the last event', async () => {
    const store = await storeWith([said('sevt_1', 'x'), over]);
    const log = createLog({ store });
    let left = 0;
    const tail: typeof log.tail = (request) => {
      const inner = log.tail(request);
      const outer = {
        next: () => inner.next(),
        return: () => {
          left += 1;
          return inner.return();
        },
        [Symbol.asyncIterator]: () => outer,
      };
      return outer;
    };
    const { signal } = new AbortController();
    const request = {
      log: { tail },
      sessionId: SESSION,
      place: primaryPlace,
      after: 0,
      previews: new Set<DeltaType>(),
      signal,
    };
    for await (const _ of watchEvents(request)) expect(left).toBe(0);
    expect(left).toBe(1);
    await log.close();
    await store.close();
  });

  it('[Q17] it reports the last event that was shown of an idle session', async () => {
    const { rests } = await watch([said('sevt_1', 'x'), idle, said('sevt_2', 'y')]);
    expect(rests).toEqual([2]);
    expect((await watch([said('sevt_1', 'x')])).rests).toEqual([null]);
  });
});
