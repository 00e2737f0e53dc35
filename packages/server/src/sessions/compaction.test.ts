import { expect, it } from 'vitest';
import { sessionLimits } from './core/limits.ts';
import type { EngineEvent, ModelRequest } from '../engines/model/engine.ts';
import { message, openFleet, solo } from './suite/fleet.suite.ts';
import { createPlainEngine, someUsage } from './suite/plain-engine.suite.ts';

const bash = { bash: { kind: 'builtin' as const } };

/** A model that calls a tool a few times and sums up when it is asked to. */
function createBusyEngine(rounds: number, seen: ModelRequest[] = [], inputTokens = 0) {
  let calls = 0;
  return createPlainEngine((request) => {
    seen.push(request);
    const isSummary = JSON.stringify(request.messages.at(-1)).includes('replaced by a summary');
    if (isSummary) return finish([{ type: 'text', text: 'THE SUMMARY' }], 'end_turn', 1);
    if (++calls > rounds) return finish([{ type: 'text', text: 'Done.' }], 'end_turn', inputTokens);
    return finish([{ type: 'tool_use', id: `toolu_${calls}`, name: 'bash', input: {} }], 'tool_use', inputTokens);
  });
}

async function* finish(
  content: Extract<EngineEvent, { type: 'finished' }>['content'],
  reason: 'end_turn' | 'tool_use',
  inputTokens: number,
): AsyncGenerator<EngineEvent> {
  const usage = {
    ...someUsage,
    inputTokens,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWrite5mTokens: 0,
    cacheWrite1hTokens: 0,
  };
  yield { type: 'finished', content, stop: { reason, category: null, explanation: null }, usage, model: 'plain' };
}

it('[R140] the history is summarised before the context window is full, and the turn continues with the summary', async () => {
  const seen: ModelRequest[] = [];
  const fleet = await openFleet({ engine: createBusyEngine(2, seen, 850), tools: bash, windowTokens: 1_000 });
  const id = await fleet.begin(solo, 'Count the files.');
  await fleet.rest(id);
  const story = await fleet.story(id);
  expect(story.filter((line) => /model_request|compacted|tool_result/.test(line))).toEqual([
    'solo model_request_start',
    'solo model_request_end',
    'solo tool_result',
    'solo model_request_start',
    'solo model_request_end',
    'solo tool_result',
    'solo model_request_start compaction',
    'solo model_request_end',
    'solo thread_context_compacted',
    'solo model_request_start',
    'solo model_request_end',
  ]);
  const last = JSON.stringify(seen.at(-1)!.messages);
  expect(last).toContain('THE SUMMARY');
  expect(last).toContain('Count the files.');
  expect(story).not.toContain('solo delta.started');
  const said = await fleet.payloads(id, 'agent.message');
  expect(said.map(({ content }) => content)).toEqual([[{ type: 'text', text: 'Done.' }]]);
  expect(await fleet.payloads(id, 'delta.started')).toEqual([]);
});

it('[R141] a window that is not nearly full is left alone', async () => {
  const fleet = await openFleet({ engine: createBusyEngine(2, [], 700), tools: bash, windowTokens: 1_000 });
  const id = await fleet.begin(solo, 'Count the files.');
  await fleet.rest(id);
  expect(await fleet.types(id)).not.toContain('agent.thread_context_compacted');
});

it('[R142] a request that the model refuses as too long is compacted at once; if that does not help, the turn fails', async () => {
  let turns = 0;
  const engine = createPlainEngine((request) => {
    const isSummary = JSON.stringify(request.messages.at(-1)).includes('replaced by a summary');
    if (isSummary) return finish([{ type: 'text', text: 'THE SUMMARY' }], 'end_turn', 1);
    return ++turns <= 2
      ? finish([{ type: 'tool_use', id: `toolu_${turns}`, name: 'bash', input: {} }], 'tool_use', 1)
      : overflow();
  });
  const fleet = await openFleet({ engine, tools: bash });
  const id = await fleet.begin(solo, 'Go');
  const { seq } = await fleet.rest(id);
  const asked = (await fleet.payloads(id, 'span.model_request_start')).map(({ purpose }) => purpose);
  expect(asked).toEqual(['turn', 'turn', 'turn', 'compaction', 'turn', 'compaction', 'turn']);
  expect(asked.filter((purpose) => purpose === 'compaction')).toHaveLength(sessionLimits.turnCompactionsMax);
  expect(await fleet.payloads(id, 'session.error')).toMatchObject([
    { retry: 'exhausted', error: { type: 'compaction_limit_reached_error' } },
  ]);
  await fleet.send(id, message('Again'));
  await fleet.rest(id, seq);
  expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: false }, { ok: false }]);
});

const tooLong = {
  reason: 'context_exceeded',
  message: 'prompt is too long',
  consequence: 'turn',
  retryAfterMs: null,
} as const;

async function* overflow(): AsyncGenerator<EngineEvent> {
  yield { type: 'failed', failure: tooLong, usage: null };
}

it('[R143] a summary that does not fit either is the end of the turn', async () => {
  let requests = 0;
  const engine = createPlainEngine(() =>
    ++requests <= 2
      ? finish([{ type: 'tool_use', id: `toolu_${requests}`, name: 'bash', input: {} }], 'tool_use', 1)
      : overflow(),
  );
  const fleet = await openFleet({ engine, tools: bash });
  const id = await fleet.begin(solo, 'Go');
  await fleet.rest(id);
  expect((await fleet.payloads(id, 'span.model_request_start')).map(({ purpose }) => purpose)).toEqual([
    'turn',
    'turn',
    'turn',
    'compaction',
  ]);
  expect(await fleet.payloads(id, 'session.error')).toMatchObject([
    { error: { type: 'compaction_limit_reached_error' } },
  ]);
});

it('[R245] no summary is asked for, and paid, where nothing is older than the newest exchange', async () => {
  const seen: ModelRequest[] = [];
  const full = await openFleet({ engine: createBusyEngine(1, seen, 950), tools: bash, windowTokens: 1_000 });
  const id = await full.begin(solo, 'x'.repeat(4_000));
  await full.rest(id);
  expect((await full.payloads(id, 'span.model_request_start')).map(({ purpose }) => purpose)).toEqual(['turn', 'turn']);
  const over = await openFleet({ engine: createPlainEngine(() => overflow()) });
  const other = await over.begin(solo, 'Go');
  await over.rest(other);
  expect(await over.payloads(other, 'span.model_request_start')).toHaveLength(1);
  expect(await over.payloads(other, 'session.error')).toMatchObject([
    { error: { type: 'compaction_limit_reached_error' }, retry: 'exhausted' },
  ]);
});
