import { describe, expect, it } from 'vitest';
import { interleavedAgents } from '../../../../../bench/streams.ts';
import { generatedStreams } from '../../../../../test/support/generated.ts';
import {
  assistant,
  call,
  inputDelta,
  messageStart,
  result,
  streamed,
  taskEnded,
  taskStarted,
  text,
  textDelta,
} from '../../../../../test/support/lines.ts';
import { recordings } from '../../../../../test/support/recordings.ts';
import type { StreamJsonMessage } from '../wire/messages.ts';
import { parseLine } from '../lines/parse-line.ts';
import { SNAPSHOT_VERSION } from './snapshot.ts';
import { Translator } from './translator.ts';

describe('a snapshot', () => {
  it('[S55] at any line of any generated stream continues as if nothing had happened', () => {
    for (const [name, { lines }] of generatedStreams())
      expectSameAfterCuts(
        name,
        lines.map((line) => parseLine(line)!),
      );
  }, 120_000);

  it.each(['2.1.197', '2.1.325', 'historic', 'synthetic-cumulative', 'seed-failures'])(
    '[S55] at any line of any recording of %s continues as if nothing had happened',
    (folder) => {
      for (const recording of recordings().filter(({ name }) => name.startsWith(`${folder}/`))) {
        const lines = new TextDecoder().decode(recording.bytes()).split('\n');
        expectSameAfterCuts(
          recording.name,
          lines.map(parseLine).filter((message) => message !== null),
        );
      }
    },
  );

  it('[S55] holds a call whose input still streams, and a text whose whole line is to come', () => {
    const json = '{"command":"ls","deep":[1,2]}';
    const lines = [
      messageStart('m1'),
      ...streamed(0, text(''), [textDelta('Hel'), textDelta('lo')], { stop: false }),
      assistant('m1', [text('Hello')], { uuid: 'u1' }),
      ...streamed(1, call('toolu_1'), [inputDelta(json.slice(0, 9)), inputDelta(json.slice(9))]),
      ...streamed(2, { type: 'server_tool_use', id: 'srv_1', name: 'web_search' }, [inputDelta('{"q":1}')]),
    ];
    expectSameAfterCuts('streaming', lines);
  });

  it('[S55] holds drift, turns, requests and runs', () => {
    const ask = { type: 'control_request', request_id: 'r1', request: { subtype: 'can_use_tool', agent_id: 'task_A' } };
    const lines: StreamJsonMessage[] = [
      { type: 'brand_new' },
      { type: 'system', subtype: 'init', model: 'm', session_id: 's1' },
      taskStarted('task_A', 'toolu_A', { run_id: 'r0', prompt: 'a'.repeat(2_000) }),
      ask,
      taskEnded('task_A', { run_id: 'r0' }),
      taskStarted('task_A', 'toolu_B', { run_id: 'r1', prompt: 'again' }),
      { type: 'control_cancel_request', request_id: 'r1' },
      taskEnded('task_A', { run_id: 'r0', status: 'failed' }),
      result({ result_index: 0, total_cost_usd: 1, modelUsage: { m: { inputTokens: 5 } } }),
      result({ result_index: 3, total_cost_usd: 1.5, modelUsage: { m: { inputTokens: 7 } } }),
    ];
    expectSameAfterCuts('life', lines);
    const translator = new Translator();
    lines.forEach((line) => translator.translate(line));
    const restored = Translator.restore(copy(translator.snapshot()));
    expect(restored.drift()).toEqual(translator.drift());
    expect([restored.sessionId, restored.model]).toEqual(['s1', 'm']);
  });

  it('[S55] is a plain value: it does not change with the translator, nor by restoring it', () => {
    const translator = new Translator();
    translator.translate(taskStarted('task_A', 'toolu_A'));
    const snapshot = translator.snapshot();
    const before = JSON.stringify(snapshot);
    const restored = Translator.restore(snapshot);
    for (const each of [translator, restored]) each.translate(taskEnded('task_A'));
    for (const each of [translator, restored]) each.translate(result({ total_cost_usd: 5 }));
    expect(JSON.stringify(snapshot)).toBe(before);
  });

  it('[S56] of 25 live agents is below 64 KB', () => {
    for (const mode of ['growing', 'one-block'] as const) {
      const { lines } = interleavedAgents({ agents: 25, messages: 4, mode });
      const translator = new Translator();
      let largest = 0;
      for (const [index, line] of lines.entries()) {
        translator.translate(parseLine(line)!);
        if (index % 7 !== 0) continue;
        largest = Math.max(largest, JSON.stringify(translator.snapshot()).length);
      }
      expect(largest).toBeGreaterThan(10_000);
      expect(largest).toBeLessThan(64_000);
    }
  });

  it('[S56] has a version, and one of a later version is refused with what to do', () => {
    const snapshot = new Translator().snapshot();
    expect(snapshot.version).toBe(SNAPSHOT_VERSION);
    const later = { ...snapshot, version: SNAPSHOT_VERSION + 1 };
    expect(() => Translator.restore(later)).toThrow(RangeError);
    expect(() => Translator.restore(later)).toThrow(/version 4.*reads 3.*(update|again)/is);
  });
});

/** Cuts before every line, restores from JSON, and compares all that is said from there on. */
function expectSameAfterCuts(name: string, lines: StreamJsonMessage[]): void {
  const whole = new Translator();
  const cuts: { snapshot: string; said: string }[] = [];
  for (const line of lines) {
    const snapshot = JSON.stringify(whole.snapshot());
    cuts.push({ snapshot, said: JSON.stringify(whole.translate(line)) });
  }
  for (const [cut, { snapshot }] of cuts.entries()) {
    const restored = Translator.restore(JSON.parse(snapshot));
    // Every tenth to the end, the others a few lines on: what a cut can break shows at once or much later.
    const end = cut % 10 === 0 ? lines.length : Math.min(cut + 8, lines.length);
    const said = lines.slice(cut, end).map((line) => JSON.stringify(restored.translate(line)));
    const differs = said.findIndex((each, index) => each !== cuts[cut + index]?.said);
    if (differs === -1) continue;
    expect(said[differs], `${name}, cut at ${cut}, line ${cut + differs}`).toBe(cuts[cut + differs]?.said);
  }
}

function copy<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
