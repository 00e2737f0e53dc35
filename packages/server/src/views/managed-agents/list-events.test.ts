import { array, assert, asyncProperty, constantFrom, integer } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { storeLimits } from '../../store/limits.ts';
import { viewLimits } from '../limits.ts';
import { encodeFrame, StoredFrame } from '../../store/frame.ts';
import { readBackward } from '../read-frames.ts';
import { listEvents } from './list-events.ts';
import { toQueuedMessage } from './queued-message.ts';
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

const content = [{ type: 'text' as const, text: 'x' }];
const said = (id: string, threadId = PRIMARY) => sample('agent.message', { id, content }, threadId);
const queued = (id: string) => sample('user.message', { id, content, is_processed: false });
const taken = (id: string) => sample('user.message', { id, content, is_processed: true });
const delta = sample('delta.text', { id: 'sevt_0', text: 'x' });

/** To read the first frame of a log. */
const FIRST = { after: 0, entriesMax: 1, bytesMax: 1 };

interface Walk {
  readonly samples: readonly NewSample[];
  readonly waitingIds?: readonly string[];
  readonly order?: 'asc' | 'desc';
  readonly limit?: number;
  readonly place?: typeof primaryPlace;
}

/** Page after page, as clients do. */
async function walk({ samples, waitingIds = [], order = 'asc', limit = 100, place = primaryPlace }: Walk) {
  const store = await storeWith(samples);
  const pages: string[][] = [];
  let cursor: number | null = null;
  do {
    const request = { store, sessionId: SESSION, place, waitingIds, order, limit, cursor, isWanted: () => true };
    const { events, next } = await listEvents(request);
    pages.push(events.map(({ id }) => id));
    cursor = next;
  } while (cursor !== null);
  return pages;
}

describe('lists of events', () => {
  it('[Q13] a message that had to wait is listed where it was taken up, and once', async () => {
    const samples = [taken('sevt_1'), queued('sevt_2'), said('sevt_3'), taken('sevt_2'), said('sevt_4')];
    expect(await walk({ samples })).toEqual([['sevt_1', 'sevt_3', 'sevt_2', 'sevt_4']]);
    expect(await walk({ samples, order: 'desc' })).toEqual([['sevt_4', 'sevt_2', 'sevt_3', 'sevt_1']]);
  });

  it('[Q13] pending messages come last, in the order in which they were sent, without processed_at', async () => {
    const samples = [said('sevt_1'), queued('sevt_2'), said('sevt_3'), queued('sevt_4'), said('sevt_5')];
    const waitingIds = ['sevt_2', 'sevt_4'];
    expect(await walk({ samples, waitingIds })).toEqual([['sevt_1', 'sevt_3', 'sevt_5', 'sevt_2', 'sevt_4']]);
    expect(await walk({ samples, waitingIds, order: 'desc' })).toEqual([
      ['sevt_4', 'sevt_2', 'sevt_5', 'sevt_3', 'sevt_1'],
    ]);
    const store = await storeWith(samples);
    const base = {
      store,
      sessionId: SESSION,
      place: primaryPlace,
      order: 'asc',
      limit: 9,
      cursor: null,
      isWanted: () => true,
    } as const;
    const { events } = await listEvents({ ...base, waitingIds });
    expect(events.map(({ processed_at }) => processed_at === null)).toEqual([false, false, false, true, true]);
    // Dropped ones are not listed at all.
    expect((await listEvents({ ...base, waitingIds: ['sevt_4'] })).events.map(({ id }) => id)).not.toContain('sevt_2');
  });

  it('[Q14] pages of any size, in either order, give everything once, and no page is left for nothing', async () => {
    const kinds = constantFrom('said', 'child', 'delta', 'waits', 'taken');
    await assert(
      asyncProperty(array(kinds, { maxLength: 30 }), integer({ min: 1, max: 12 }), async (given, limit) => {
        const waitingIds: string[] = [];
        const samples = given.map((kind, index) => {
          const id = `sevt_${index}`;
          if (kind === 'waits') waitingIds.push(id);
          if (kind === 'delta') return delta;
          if (kind === 'taken') return taken(id);
          return kind === 'waits' ? queued(id) : said(id, kind === 'child' ? CHILD : PRIMARY);
        });
        const [all = []] = await walk({ samples, waitingIds });
        const pages = await walk({ samples, waitingIds, limit });
        expect(pages.flat()).toEqual(all);
        expect((await walk({ samples, waitingIds, limit, order: 'desc' })).flat()).toEqual(all.toReversed());
        for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
        if (all.length > 0) expect(pages.at(-1)).not.toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('[Q14] filtered events take no room on a page, and a full last page has no next one', async () => {
    const samples = Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? said(`sevt_${at}`) : taken(`sevt_${at}`)));
    const store = await storeWith(samples);
    const base = { store, sessionId: SESSION, place: primaryPlace, waitingIds: [], order: 'asc' } as const;
    const isWanted = ({ type }: { type: string }) => type === 'agent.message';
    const first = await listEvents({ ...base, limit: 3, cursor: null, isWanted });
    expect(first.events.map(({ id }) => id)).toEqual(['sevt_0', 'sevt_2', 'sevt_4']);
    const second = await listEvents({ ...base, limit: 2, cursor: first.next, isWanted });
    expect(second.events.map(({ id }) => id)).toEqual(['sevt_6', 'sevt_8']);
    expect(second.next).toBeNull();
  });

  it('[Q14] frames that are written while a client pages do not change the next page', async () => {
    const store = await storeWith([said('sevt_1'), said('sevt_2'), said('sevt_3')]);
    const base = {
      store,
      sessionId: SESSION,
      place: primaryPlace,
      waitingIds: [],
      order: 'desc',
      isWanted: () => true,
    } as const;
    const { next } = await listEvents({ ...base, limit: 2, cursor: null });
    const longer = await storeWith([said('sevt_1'), said('sevt_2'), said('sevt_3'), said('sevt_4')]);
    const { events } = await listEvents({ ...base, store: longer, limit: 2, cursor: next });
    expect(events.map(({ id }) => id)).toEqual(['sevt_1']);
  });

  it('[R350] a page ends before the event that would make it larger than 4 MiB, both ways; a larger one is alone', async () => {
    const text = (length: number) => [{ type: 'text' as const, text: 'x'.repeat(length) }];
    const sized = (id: string, length: number) => sample('agent.message', { id, content: text(length) });
    const waits = (id: string, length: number) =>
      sample('user.message', { id, content: text(length), is_processed: false });
    const [stored] = await (await storeWith([sized('sevt_0', 0)])).read({ ...FIRST, sessionId: SESSION });
    const frame = (stored as StoredFrame).bytes.length;
    const half = storeLimits.pageBytesMax / 2 - frame;
    const samples = [
      sized('sevt_1', half),
      waits('sevt_a', storeLimits.pageBytesMax * 2),
      sized('sevt_2', half),
      sized('sevt_3', half),
      waits('sevt_b', half),
      sized('sevt_4', half + 1),
      sized('sevt_5', storeLimits.pageBytesMax * 3),
      sized('sevt_6', 0),
      waits('sevt_c', 0),
    ];
    const waitingIds = ['sevt_a', 'sevt_b', 'sevt_c'];
    const pages = await walk({ samples, waitingIds, limit: 1_000 });
    expect(pages).toEqual([
      ['sevt_1', 'sevt_2'],
      ['sevt_3'],
      ['sevt_4'],
      ['sevt_5'],
      ['sevt_6'],
      ['sevt_a'],
      ['sevt_b', 'sevt_c'],
    ]);
    const back = await walk({ samples, waitingIds, limit: 1_000, order: 'desc' });
    expect(back.flat()).toEqual(pages.flat().toReversed());
    expect(back).toEqual([
      ['sevt_c', 'sevt_b'],
      ['sevt_a'],
      ['sevt_6'],
      ['sevt_5'],
      ['sevt_4'],
      ['sevt_3', 'sevt_2'],
      ['sevt_1'],
    ]);
  });

  it('[R351] reading backward holds at most 4 MiB of frames, or one larger frame', async () => {
    const large = [{ type: 'text' as const, text: 'x'.repeat(viewLimits.backwardBytesMax / 4) }];
    const samples = Array.from({ length: 40 }, (_, at) =>
      sample('agent.message', {
        id: `sevt_${at}`,
        content: at % 7 === 0 ? [...large, ...large, ...large, ...large] : large,
      }),
    );
    const store = await storeWith(samples);
    let [held, most, cursor, expected] = [0, 0, 0, samples.length];
    const counted: typeof store.read = async (request) => {
      const entries = await store.read(request);
      // A read that does not go on where the one before it ended begins another span.
      if (request.after !== cursor) held = 0;
      for (const entry of entries) held += entry.kind === 'frame' ? entry.bytes.length : 0;
      cursor = entries.at(-1)?.lastSeq ?? cursor;
      most = Math.max(most, held);
      return entries;
    };
    for await (const { seq } of readBackward({ ...store, read: counted }, SESSION, null)) expect(seq).toBe(expected--);
    expect(expected).toBe(0);
    // With the frame that turned out to be too much.
    expect(most).toBeLessThan(viewLimits.backwardBytesMax * 2 + 1_000);
  });

  it('[R352] a queued message is recognised by the ends of its frame as by all of it', async () => {
    const run = { streamId: 1, depth: 0, run: 'run "quoted"' };
    const odd = [{ type: 'text' as const, text: '"is_processed":false}]' }];
    const payloads = [
      { id: 'sevt_1', content, is_processed: false },
      { id: 'sevt_1', content, is_processed: true },
      { is_processed: false, content, id: 'sevt_1' },
      { is_processed: true, content: odd, id: 'sevt_1' },
      { id: 'sevt_1', is_processed: true, content: odd },
      { id: 'sevt_"1', content, is_processed: false },
    ];
    for (const type of ['user.message', 'system.message', 'agent.message']) {
      for (const turn of [null, run, { ...run, run: 'run_1' }]) {
        for (const threadId of [null, 'sthr_1']) {
          for (const isLast of [false, true]) {
            for (const payload of payloads) {
              const { bytes } = encodeFrame({ threadId, turn, time: 1, type, payload, isLast });
              const isQueued = type !== 'agent.message' && !payload.is_processed;
              const expected = isQueued ? { id: payload.id, threadId } : undefined;
              expect(toQueuedMessage(new StoredFrame(SESSION, 1, bytes))).toEqual(expected);
            }
          }
        }
      }
    }
  });

  it("[Q13] a thread's list holds what is its own", async () => {
    const samples = [said('sevt_1'), said('sevt_2', CHILD), said('sevt_3')];
    expect(await walk({ samples, place: childPlace })).toEqual([['sevt_2']]);
    expect(await walk({ samples })).toEqual([['sevt_1', 'sevt_3']]);
  });

  it('[Q15] a log is read backward in blocks, across their edges without a gap or a repeat', async () => {
    for (const count of [
      viewLimits.backwardFramesMax - 1,
      viewLimits.backwardFramesMax,
      viewLimits.backwardFramesMax + 1,
    ]) {
      const store = await storeWith(Array.from({ length: count }, (_, at) => said(`sevt_${at + 1}`)));
      const seqs: number[] = [];
      for await (const { seq } of readBackward(store, SESSION, null)) seqs.push(seq);
      expect(seqs).toEqual(Array.from({ length: count }, (_, at) => count - at));
    }
  });
});
