import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../base/content.ts';
import { modelLimits } from './limits.ts';
import { isNearlyFull, readSummary, toCompacted, toSummaryRequest } from './compaction.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { toParams } from './messages/to-params.ts';
import { createScriptedEngine } from './scripted/engine.ts';
import { ask, asking, finishedOf, said } from './suite/send-request.suite.ts';
import { noUsage } from './usage.ts';

const tokens = (count: number) => 'x'.repeat(count * 4);
const answered = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] });
const called = (id: string): Message => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'bash', input: {} }],
});
const resulted = (id: string, text: string): Message => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text }], is_error: false }],
});

describe('when', () => {
  it('[N38] a history is nearly full beyond a share of the window, by what the endpoint counted', () => {
    const messages = [said('Hi'), answered('Hello')];
    const usage = {
      inputTokens: 100,
      outputTokens: 200,
      cacheReadTokens: 300,
      cacheWrite5mTokens: 150,
      cacheWrite1hTokens: 50,
    };
    expect(modelLimits.compactionFillPercent).toBe(80);
    expect(isNearlyFull({ messages, window: 1_000, usage })).toBe(false);
    expect(isNearlyFull({ messages, window: 1_000, usage: { ...usage, inputTokens: 101 } })).toBe(true);
  });

  it('[N38] content after the newest response is estimated, and all of it if nothing was counted', () => {
    const usage = { ...noUsage, inputTokens: 700 };
    const messages = [said(tokens(9_000)), answered('Hello'), said(tokens(100))];
    expect(isNearlyFull({ messages, window: 1_000, usage })).toBe(false);
    expect(isNearlyFull({ messages: [...messages, said('x')], window: 1_000, usage })).toBe(true);
    expect(isNearlyFull({ messages: [said(tokens(800))], window: 1_000, usage: null })).toBe(false);
    expect(isNearlyFull({ messages: [said(tokens(801))], window: 1_000, usage: null })).toBe(true);
  });

  it('[N38] every kind of block counts', () => {
    const image = { type: 'image', source: { type: 'base64', data: 'x' } } as const;
    const source = { type: 'text', data: tokens(50) };
    const blocks: Message[] = [
      { role: 'user', content: [image] },
      { role: 'user', content: [{ type: 'document', source }] },
      { role: 'user', content: [{ type: 'document', source: { type: 'base64', data: 'x'.repeat(3_000) } }] },
      { role: 'user', content: [{ type: 'document', source: { type: 'url', url: 'x' } }] },
      resulted('t1', tokens(9)),
      { role: 'assistant', content: [{ type: 'thinking', thinking: tokens(7), signature: 's' }] },
      { role: 'assistant', content: [{ type: 'redacted_thinking', data: tokens(6) }] },
      { role: 'assistant', content: [{ type: 'opaque', raw: { type: 'y', z: 'x'.repeat(100) } }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'bash', input: { command: tokens(20) } }] },
    ];
    expect(blocks.map((message) => estimateTokens([message]))).toEqual([1_600, 50, 100, 3_000, 10, 7, 6, 30, 25]);
    const search = {
      type: 'search_result',
      source: 'x',
      title: tokens(2),
      content: [{ type: 'text', text: tokens(3) }],
    } as const;
    const result: Message = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'a', content: [search], is_error: false }],
    };
    expect(estimateTokens([result])).toBe(6);
  });
});

describe('the request', () => {
  const history = [said('Task'), called('t1'), resulted('t1', 'r1'), called('t2'), resulted('t2', 'r2')];

  it('[N39] the request for a summary comes after the known history', () => {
    const request = asking([], { messages: history, system: 'S' });
    const { messages, ...rest } = toSummaryRequest(request, 10_000);
    expect({ ...rest, messages: messages.slice(0, -1) }).toEqual(request);
    expect(JSON.stringify(messages.at(-1))).toContain('summary');
    // What is cached stays cached.
    const before = JSON.stringify(toParams(request, { caching: false }));
    const after = JSON.stringify(toParams({ ...request, messages }, { caching: false }));
    expect(after.startsWith(before.slice(0, -']}]}'.length))).toBe(true);
  });

  it('[N39] a history that does not fit is shortened: results first, then the oldest exchanges', () => {
    const long = [
      said('Task'),
      called('t1'),
      resulted('t1', tokens(5_000)),
      called('t2'),
      resulted('t2', tokens(5_000)),
    ];
    const fits = toSummaryRequest(asking([], { messages: long }), 11_500).messages;
    expect(fits.slice(0, -1)).toEqual(long);
    const shortened = toSummaryRequest(asking([], { messages: long }), 5_000).messages.slice(0, -1);
    expect(shortened).toHaveLength(5);
    expect(JSON.stringify(shortened[2])).toContain(
      `[${20_000 - modelLimits.compactionResultCharsMax} more characters left out]`,
    );
    const older = toSummaryRequest(asking([], { messages: long }), 900).messages.slice(0, -1);
    expect(older.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(older[1]).toEqual(called('t2'));
  });

  it('[N39] a result of exactly the length that stays is not touched, and pictures are named', () => {
    const { compactionResultCharsMax: max } = modelLimits;
    const exact = resulted('t1', 'y'.repeat(max));
    const picture: Message = {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 't2',
          is_error: false,
          content: [{ type: 'image', source: { type: 'url', url: 'x' } }],
        },
      ],
    };
    const messages = [said('Task'), called('t1'), exact, called('t2'), picture];
    const sent = toSummaryRequest(asking([], { messages }), 1_200).messages;
    expect(sent[2]).toEqual(exact);
    expect(JSON.stringify(sent[4])).toContain('[image left out]');
  });

  it('[N39] the summary is the text of the answer, if there is any', () => {
    const thought = { type: 'thinking', thinking: 'Hm', signature: 's' } as const;
    expect(readSummary([thought, { type: 'text', text: ' a ' }, { type: 'text', text: 'b\n' }])).toBe('a \nb');
    expect(readSummary([thought, { type: 'text', text: '  ' }])).toBeNull();
    expect(readSummary([])).toBeNull();
  });
});

describe('the history afterwards', () => {
  it('[N40] the task, the summary and the newest exchange stay', () => {
    const messages = [
      said('Task'),
      called('t1'),
      resulted('t1', 'r1'),
      said('And?'),
      called('t2'),
      resulted('t2', 'r2'),
      said('Go'),
    ];
    const compacted = toCompacted(messages, 'All was well.', 10_000);
    expect(compacted).toHaveLength(5);
    expect(compacted?.[0]).toEqual(said('Task'));
    expect(JSON.stringify(compacted?.[1])).toContain('All was well.');
    expect(compacted?.slice(2)).toEqual(messages.slice(4));
  });

  it('[N40] a task that takes too much of the window goes into the summary', () => {
    const rest = [answered('a'), said('b'), answered('c'), said('d')];
    expect(toCompacted([said(tokens(100)), ...rest], 'S', 1_000)?.[0]).toEqual(said(tokens(100)));
    expect(JSON.stringify(toCompacted([said(tokens(101)), ...rest], 'S', 1_000)?.[0])).toContain('summary');
  });

  it('[N40] answers that belong together stay together, without their thoughts', () => {
    const thought = { type: 'thinking', thinking: 'Hm', signature: 's' } as const;
    const paused: Message = { role: 'assistant', content: [thought, { type: 'text', text: 'First' }] };
    const compacted = toCompacted(
      [said('T'), answered('x'), said('y'), paused, called('t1'), resulted('t1', 'r')],
      'S',
      10_000,
    );
    expect(compacted?.slice(2)).toEqual([answered('First'), called('t1'), resulted('t1', 'r')]);
  });

  it('[N40] where nothing is older than the newest exchange there is nothing to sum up', () => {
    expect(toCompacted([], 'S', 100)).toBeNull();
    expect(toCompacted([said('T')], 'S', 100)).toBeNull();
    expect(toCompacted([said('T'), said('U')], 'S', 100)).toBeNull();
    expect(toCompacted([said('T'), called('t1'), resulted('t1', 'r')], 'S', 100)).toBeNull();
  });

  it('[N41] for any history, no call loses its result, and the model accepts the rest', async () => {
    const engine = createScriptedEngine();
    const round = fc.record({ calls: fc.integer({ min: 0, max: 3 }), size: fc.nat(600), isSteered: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(round, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 50, max: 2_000 }),
        async (rounds, window) => {
          const messages = [said('Task'), ...rounds.flatMap(toRound)];
          for (const history of [
            toSummaryRequest(asking([], { messages }), window).messages,
            toCompacted(messages, 'S', window),
          ]) {
            if (history === null) continue;
            // The scripted model refuses histories as the real API does.
            const request = asking([], { system: inSystem([[{ say: 'Fine.' }]]), messages: history });
            expect(finishedOf(await ask(engine, request)).stop.reason).toBe('end_turn');
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('[N41] a conversation continues after its summary', async () => {
    const engine = createScriptedEngine();
    // Which turn plays is decided by the number of answers in the history: two before, one after.
    const turns = [[], [{ say: 'Next.' }], [{ say: 'We counted to two.' }]];
    const request = asking([], { system: inSystem(turns), messages: [] });
    const messages = [said('Count.'), answered('One.'), said('More.'), answered('Two.'), said('More!')];
    const answer = finishedOf(await ask(engine, toSummaryRequest({ ...request, messages }, 10_000)));
    const compacted = toCompacted(messages, readSummary(answer.content) ?? '', 10_000);
    expect(JSON.stringify(compacted)).toContain('We counted to two.');
    const next = finishedOf(await ask(engine, { ...request, messages: compacted ?? [] }));
    expect(next.content).toEqual([{ type: 'text', text: 'Next.' }]);
  });
});

function inSystem(turns: readonly object[]): string {
  return `<script>${JSON.stringify({ turns })}</script>`;
}

function toRound(
  { calls, size, isSteered }: { calls: number; size: number; isSteered: boolean },
  at: number,
): Message[] {
  const ids = Array.from({ length: calls }, (_, call) => `t${at}_${call}`);
  const steer = isSteered || calls === 0 ? [said(`steer ${'z'.repeat(size)}`)] : [];
  if (calls === 0) return [answered('Well.'), ...steer];
  const content = ids.map((id) => ({ type: 'tool_use', id, name: 'bash', input: {} }) as const);
  return [{ role: 'assistant', content }, ...ids.map((id) => resulted(id, 'r'.repeat(size))), ...steer];
}
