import { describe, expect, it } from 'vitest';
import { wire } from '../../../test-support/lines.ts';
import { liveOverviewOf, overviewOf } from '../../../test-support/overviews.ts';
import { listRecordings, readRecording } from '../../../test-support/fixtures.ts';
import { limits } from '../../base/limits.ts';
import { agentDurationMs, callDurationMs } from './agent-facts.ts';
import { type CallEntry, MAIN, type Overview } from './overview.ts';

const T0 = 1_800_000_000_000;
const iso = (ms: number) => new Date(T0 + ms).toISOString();

function callsOf(overview: Overview, agent = MAIN): CallEntry[] {
  return (overview.agents.get(agent)?.entries ?? []).filter((entry) => entry.type === 'call');
}

describe('times', () => {
  it('[C4] a live call takes from the arrival of its line to the arrival of its result', () => {
    const overview = liveOverviewOf([
      [T0, wire.init()],
      [T0 + 100, wire.call('t1', 'Bash', { command: 'ls' })],
      [T0 + 350, wire.result('t1', 'x')],
    ]);
    expect(callsOf(overview).map((call) => callDurationMs(overview, call))).toEqual([250]);
  });

  it('[C4] the duration of a recorded call comes from the times of its lines, and is unknown without them', () => {
    const overview = overviewOf(
      wire.init() +
        wire.call('t1', 'Bash', {}, { timestamp: iso(0) }) +
        wire.result('t1', 'x', { timestamp: iso(420) }) +
        wire.call('t2', 'Bash', {}, { timestamp: iso(500) }) +
        wire.result('t2', 'x') +
        wire.call('t3', 'Bash', {}, { timestamp: 'yesterday' }) +
        wire.result('t3', 'x', { timestamp: iso(600) }),
    );
    expect(callsOf(overview).map((call) => callDurationMs(overview, call))).toEqual([420, undefined, undefined]);
  });

  it('[C4] a recording that is piped in is known by times of another day', () => {
    const yesterday = -86_400_000;
    const overview = liveOverviewOf([
      [T0, wire.init()],
      [T0, wire.call('t1', 'Bash', {}, { timestamp: iso(yesterday) })],
      [T0 + 1, wire.result('t1', 'x', { timestamp: iso(yesterday + 5_000) })],
    ]);
    expect(overview.timeSource).toBe('line');
    expect(callsOf(overview).map((call) => callDurationMs(overview, call))).toEqual([5_000]);
  });

  it('[C4] a recording without times is recognised by a turn that reports a longer duration than it took to arrive', () => {
    const stream = (tookMs: number) =>
      liveOverviewOf([
        [T0, wire.init()],
        [T0 + 10, wire.call('t1', 'Bash', {})],
        [T0 + 20, wire.result('t1', 'x')],
        [T0 + 1_000, wire.end({ duration_ms: tookMs })],
      ]);
    const [piped, live] = [stream(30_000), stream(1_100)];
    expect(callsOf(piped).map((call) => callDurationMs(piped, call))).toEqual([undefined]);
    expect(callsOf(live).map((call) => callDurationMs(live, call))).toEqual([10]);
  });

  it('[C4] the duration of an agent is the one that the program reports, summed over its runs', () => {
    const usage = (ms: number) => ({ usage: { total_tokens: 10, tool_uses: 1, duration_ms: ms } });
    const overview = overviewOf(
      wire.init() +
        wire.call('t1', 'Agent', { description: 'A' }) +
        wire.task('a1', 't1', 'A', { run_id: 'r1' }) +
        wire.taskEnd('a1', 't1', 'completed', { run_id: 'r1', ...usage(700) }) +
        wire.task('a1', 't2', 'A', { run_id: 'r2' }) +
        wire.taskEnd('a1', 't2', 'completed', { run_id: 'r2', ...usage(300) }),
    );
    const agent = overview.agents.get('a1');
    expect(agent && agentDurationMs(overview, agent)).toBe(1_000);
  });
});

describe('the overview', () => {
  it('[C15] an agent keeps its newest entries and counts the others', () => {
    const max = limits.entriesPerAgentMax;
    let stream = wire.init() + wire.call('t-agent', 'Agent', { description: 'A' }) + wire.task('a1', 't-agent', 'A');
    for (let index = 0; index < max * 2; index += 1) {
      stream += wire.call(`t${index}`, 'Bash', {}) + wire.result(`t${index}`, 'x', {}, index === 0);
    }
    const overview = overviewOf(stream);
    const main = overview.agents.get(MAIN);
    expect(main?.entries.length).toBeLessThan(max * 2);
    expect(main?.entries.length).toBeGreaterThanOrEqual(max);
    expect(main?.byPlace.size).toBeLessThanOrEqual(main?.entries.length ?? 0);
    const kept = callsOf(overview);
    expect([main?.calls, main?.failedCalls, main?.blocks]).toEqual([max * 2 + 1, 1, max * 2 + 1]);
    // The agent's branch stays, however long ago it was spawned.
    expect(kept[0]).toMatchObject({ id: 't-agent', agent: 'a1' });
    expect(kept.at(-1)?.id).toBe(`t${max * 2 - 1}`);
  });

  it('[C15] a text is kept up to its limit, and the rest is counted', () => {
    const texts = ['x'.repeat(limits.textCharsMax), 'x'.repeat(limits.textCharsMax + 7)];
    const overview = overviewOf(wire.init() + texts.map((text) => wire.text(text)).join(''));
    const entries = overview.agents.get(MAIN)?.entries.filter((entry) => entry.type === 'text');
    expect(entries?.map((entry) => entry.type === 'text' && [entry.text.length, entry.omittedChars])).toEqual([
      [limits.textCharsMax, 0],
      [limits.textCharsMax, 7],
    ]);
  });

  it('[C15] calls that are never answered are remembered up to a limit', () => {
    let stream = wire.init();
    for (let index = 0; index <= limits.openCallsMax; index += 1) stream += wire.call(`t${index}`, 'Bash', {});
    const overview = overviewOf(stream);
    expect(overview.openCalls.size).toBe(limits.openCallsMax);
    expect(overview.agents.get(MAIN)?.calls).toBe(limits.openCallsMax + 1);
  });

  it('[C15] questions that are never answered are remembered up to a limit', () => {
    let stream = wire.init();
    for (let index = 0; index <= limits.openRequestsMax; index += 1)
      stream += wire.ask(`r${index}`, `t${index}`, 'Bash', {});
    expect(overviewOf(stream).agents.get(MAIN)?.openRequests.size).toBe(limits.openRequestsMax);
  });

  it('[C15] a message or an error is kept up to the length of one line', () => {
    const long = (extra: number) => 'x'.repeat(limits.lineCharsMax + extra);
    const call = (id: string, extra: number) => wire.call(id, 'Bash', {}) + wire.result(id, long(extra), {}, true);
    const overview = overviewOf(wire.init() + call('t0', 0) + call('t1', 1));
    expect(callsOf(overview).map(({ result }) => result?.message.length)).toEqual([
      limits.lineCharsMax,
      limits.lineCharsMax,
    ]);
  });

  it('[C7] a call that the wire takes back is neither counted nor waited for', () => {
    const overview = overviewOf(
      wire.init() + wire.call('t1', 'Bash', {}, { uuid: 'gone' }) + wire.text('Instead.', { supersedes: ['gone'] }),
    );
    const main = overview.agents.get(MAIN);
    expect([main?.calls, main?.blocks, main?.openCalls.size, overview.openCalls.size]).toEqual([0, 1, 0, 0]);
  });

  it('[C7] an agent hangs on the call that spawned it, whichever of the two is seen first', () => {
    const call = wire.call('t1', 'Agent', { description: 'A' });
    const task = wire.task('a1', 't1', 'A');
    for (const stream of [wire.init() + call + task, wire.init() + task + call]) {
      const overview = overviewOf(stream);
      const places = overview.agents.get(MAIN)?.entries.filter((entry) => 'agent' in entry && entry.agent === 'a1');
      expect(places).toMatchObject([{ type: 'call', id: 't1', agent: 'a1' }]);
    }
  });

  it('[C7] a question to the user is open until its call is answered or it is withdrawn', () => {
    const asked = wire.init() + wire.call('t1', 'Bash', {}) + wire.ask('r1', 't1', 'Bash', {});
    const requests = (stream: string) => [...(overviewOf(stream).agents.get(MAIN)?.openRequests.keys() ?? [])];
    expect(requests(asked)).toEqual(['r1']);
    expect(requests(asked + wire.result('t1', 'ok'))).toEqual([]);
    expect(requests(`${asked}${JSON.stringify({ type: 'control_cancel_request', request_id: 'r1' })}\n`)).toEqual([]);
  });

  it('[S34] an agent that was taken for two is drawn once, with all its calls and requests', () => {
    const line = (fields: object) => wire.call('t9', 'Bash', {}, { parent_tool_use_id: 't1', ...fields });
    const asked = wire.ask('r1', 't8', 'Bash', {}, { agent_id: 'a1' });
    const below = wire.task('a2', 't2', 'B', { parent_task_id: 'a1' });
    const overview = overviewOf(wire.init() + line({}) + asked + below + line({ agent_id: 'a1' }));
    expect([...overview.agents.keys()]).toEqual([MAIN, 't1', 'a2']);
    expect(overview.agents.get('t1')).toMatchObject({ parent: MAIN, calls: 2, status: 'running', hasAgents: true });
    expect([...overview.agents.get('t1')!.openRequests.keys()]).toEqual(['r1']);
    expect(overview.agents.get('a2')?.parent).toBe('t1');
    const hung = [...overview.agents.values()].flatMap(({ entries }) => entries).filter(({ type }) => type === 'agent');
    expect(hung).toEqual([expect.objectContaining({ agent: 't1' }), expect.objectContaining({ agent: 'a2' })]);
  });

  it('[C7] in every recording each agent hangs in exactly one place below main', () => {
    for (const name of listRecordings()) {
      const overview = overviewOf(readRecording(name));
      const reached: string[] = [MAIN];
      for (const key of reached) {
        for (const entry of overview.agents.get(key)?.entries ?? []) {
          if ((entry.type === 'agent' || entry.type === 'call') && entry.agent !== undefined) reached.push(entry.agent);
        }
      }
      expect([name, reached.toSorted()]).toEqual([name, [...overview.agents.keys()].sort()]);
    }
  });
});
