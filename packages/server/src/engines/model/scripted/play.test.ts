import { describe, expect, it } from 'vitest';
import { ScriptedModelError } from './failure.ts';
import { limits } from './limits.ts';
import { createScriptedModel } from './model.ts';
import type { Sleep } from './play.ts';

describe('playing a plan', () => {
  it('[K9] waits pass through the clock that was handed in, in their order', async () => {
    const waits: number[] = [];
    const model = createScriptedModel({ sleep: async (ms) => void waits.push(ms) });
    await model.create(asking([{ say: 'a b', every_ms: 20 }, { sleep_ms: 300 }]));
    expect(waits).toEqual([20, 300]);
  });

  it('[K9] without a clock of its own, time passes for real', async () => {
    const startedAt = performance.now();
    await createScriptedModel().create(asking([{ sleep_ms: 30 }]));
    // Timers may fire a millisecond early.
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(28);
  });

  it('[K20] events that are due at the same time are emitted together, up to a limit', async () => {
    const model = createScriptedModel({ sleep: async () => {} });
    const turn = [{ say: 'x'.repeat(200), chunks: 200 }, { sleep_ms: 1 }, { say: 'y' }];
    const sizes: number[] = [];
    for await (const due of model.play(await model.plan(asking(turn)))) sizes.push(due.length);
    expect(sizes).toEqual([64, 64, 64, 12, 5]);
    expect(Math.max(...sizes)).toBe(limits.batchEventsMax);
  });

  it('[K16] in process there are no pings, and the whole answer is the fold of the events', async () => {
    const turn = [{ think: 'Hm so' }, { say: 'Yes, I do.' }, { call: 'bash', input: { a: ['ä', '👩'] } }];
    const model = createScriptedModel();
    const types = new Set<string>();
    let text = '';
    for await (const event of model.stream(asking(turn))) {
      types.add(event.type);
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') text += event.delta.text;
    }
    const message = await model.create(asking(turn));
    expect(types.has('ping')).toBe(false);
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'Hm so', signature: expect.stringMatching(/^[\w+/]{43}=$/) },
      { type: 'text', text },
      { type: 'tool_use', name: 'bash', input: { a: ['ä', '👩'] } },
    ]);
    expect(message).toMatchObject({ stop_reason: 'tool_use', usage: { output_tokens: 9 } });
  });
});

it('[K43] other events are handled while an answer of 90,000 events is read', async () => {
  const model = createScriptedModel();
  const turn = Array.from({ length: 9 }, () => ({ say: 'y'.repeat(10_000), chunks: 10_000 }));
  const stream = model.stream(asking(turn));
  // Planned before the turns are counted.
  await stream.next();
  let [turns, events, isRead] = [0, 0, false];
  const count = () => void (isRead || (turns++, setImmediate(count)));
  setImmediate(count);
  const startedAt = performance.now();
  for await (const _event of stream) {
    events++;
    // A reader that takes 90 ms in all, and never waits.
    while (performance.now() - startedAt < events / 1_000) continue;
  }
  isRead = true;
  expect(events).toBeGreaterThan(90_000);
  expect(turns).toBeGreaterThan(5);
});

describe('an early end', () => {
  it('[K11] in process a cut is thrown after the events before it', async () => {
    const seen: string[] = [];
    const play = async () => {
      for await (const event of createScriptedModel().stream(asking([{ say: 'a' }, { cut: true }])))
        seen.push(event.type);
    };
    await expect(play()).rejects.toThrow(new ScriptedModelError({ type: 'cut' }));
    expect(seen).toEqual(['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop']);
  });

  it('[K18] in process a refusal is thrown before any event, with everything a retry needs to know', async () => {
    const turn = [{ fail: { status: 429, message: 'Slow down', retry_after_s: 2 } }];
    const stream = createScriptedModel().stream(asking(turn));
    await expect(stream.next()).rejects.toMatchObject({
      name: 'ScriptedModelError',
      message: '429 Slow down',
      failure: { type: 'refused', status: 429, errorType: 'rate_limit_error', retryAfterS: 2 },
    });
  });

  it('[K18] counting tokens refuses what answering refuses', async () => {
    const counting = createScriptedModel().countTokens({ model: 'scripted/echo', messages: [] });
    await expect(counting).rejects.toMatchObject({
      failure: { status: 400, message: 'messages: must have at least 1 entry' },
    });
  });

  it('[K20] an abort ends a wait at once, with the reason that was given', async () => {
    const aborter = new AbortController();
    const stream = createScriptedModel().stream(asking([{ say: 'a' }, { sleep_ms: 60_000 }]), {
      signal: aborter.signal,
    });
    const seen: string[] = [];
    const play = async () => {
      for await (const event of stream) {
        seen.push(event.type);
        if (event.type === 'content_block_stop') setImmediate(() => aborter.abort(new Error('enough')));
      }
    };
    await expect(play()).rejects.toThrow('enough');
    expect(seen.at(-1)).toBe('content_block_stop');
  });

  it('[K20] an abort between two events lets no further one through', async () => {
    const aborter = new AbortController();
    const stream = createScriptedModel().stream(asking([{ say: 'a b c d e f' }]), { signal: aborter.signal });
    await stream.next();
    await stream.next();
    aborter.abort(new Error('enough'));
    await expect(stream.next()).rejects.toThrow('enough');
    await expect(createScriptedModel().create(asking([]), { signal: aborter.signal })).rejects.toThrow('enough');
  });

  it('[K41] an abort ends the planning of a long answer, with the reason that was given', async () => {
    const aborter = new AbortController();
    const messages = [{ role: 'user', content: 'x'.repeat(20_000_000) }];
    const planning = createScriptedModel().plan(
      { model: 'scripted/echo', max_tokens: 1, messages },
      { signal: aborter.signal },
    );
    setImmediate(() => aborter.abort(new Error('enough')));
    await expect(planning).rejects.toThrow('enough');
  });

  it('[K20] a reader that leaves stops the player', async () => {
    let slept = 0;
    const sleep: Sleep = async () => void slept++;
    const turn = [{ say: 'a b c d e f', every_ms: 1 }];
    for await (const event of createScriptedModel({ sleep }).stream(asking(turn))) {
      if (event.type === 'content_block_delta') break;
    }
    expect(slept).toBe(0);
  });
});

function asking(turn: object[]) {
  const content = `<script>${JSON.stringify({ turns: [turn] })}</script>`;
  return { model: 'claude-sonnet-5', max_tokens: 100, messages: [{ role: 'user', content }] };
}
