import { describe, expect, it } from 'vitest';
import { FakeIo } from '../../../test-support/fake-io.ts';
import { listRecordings, readRecording, recordingPath } from '../../../test-support/fixtures.ts';
import { wire } from '../../../test-support/lines.ts';
import type { Stats } from './to-stats.ts';
import { inspect } from '../inspect/inspect.ts';
import { stats } from './stats.ts';

async function figures(file: string | undefined, input?: string): Promise<Stats> {
  const io = new FakeIo(input === undefined ? {} : { input });
  await stats(io, file, { json: true });
  return JSON.parse(io.stdout.text) as Stats;
}

describe('fleetloom stats', () => {
  it('[C12] the table has one line per agent and a total; figures that are not in the stream are a dash', async () => {
    const io = new FakeIo();
    expect(await stats(io, recordingPath('2.1.325/agents-tool-errors'), {})).toBe(0);
    expect(io.stdout.text.split('\n').slice(0, 6)).toEqual([
      'agent           status     blocks  calls  failed  tokens   cost    time',
      'main            completed       5      2       0    6.1k      –  918 ms',
      '  Search alpha  completed       4      2       2    2.9k      –  616 ms',
      '  Search beta   completed       4      2       1    2.9k      –  537 ms',
      '───────────────────────────────────────────────────────────────────────',
      'total of 3      1 turn         13      6       3     22k  $0.09  918 ms',
    ]);
  });

  it('[C12] --json is one object with the version of its shape', async () => {
    expect(await figures(recordingPath('2.1.325/agents-resume-sendmessage'))).toEqual({
      schema_version: 1,
      session_id: '6d8d484f-f0d3-4250-a66b-756cba75aeeb',
      model: 'claude-opus-5-5',
      turns: 2,
      open_turns: 0,
      unreadable_lines: 0,
      agents: [
        {
          thread: 'main',
          parent: null,
          depth: 0,
          type: null,
          description: null,
          status: 'completed',
          runs: 2,
          blocks: 6,
          tool_calls: 2,
          tool_calls_failed: 0,
          tokens: 12328,
          duration_ms: 504,
        },
        {
          thread: 'af782040549749a3c',
          parent: 'main',
          depth: 1,
          type: 'general-purpose',
          description: 'Search alpha',
          status: 'completed',
          runs: 2,
          blocks: 6,
          tool_calls: 2,
          tool_calls_failed: 0,
          tokens: 5664,
          duration_ms: 316,
        },
      ],
      total: {
        agents: 2,
        blocks: 12,
        tool_calls: 4,
        tool_calls_failed: 0,
        input_tokens: 22761,
        output_tokens: 254,
        cost_usd: 0.09612399999999999,
        duration_ms: 504,
      },
    });
  });

  it('[C12] blocks, calls and failures are the same as in the tree, in every recording', async () => {
    for (const name of listRecordings()) {
      const printed = await figures(recordingPath(name));
      const io = new FakeIo();
      await inspect(io, recordingPath(name), { json: true });
      const tree = JSON.parse(io.stdout.text) as {
        threads: { key: string; items: { kind: string; id?: string }[] }[];
        toolResults: { toolUseId: string; isError: boolean }[];
      };
      const failed = new Set(tree.toolResults.filter(({ isError }) => isError).map(({ toolUseId }) => toolUseId));
      const expected = tree.threads.map(({ key, items }) => {
        const blocks = items.filter(({ kind }) => !kind.startsWith('user_'));
        const calls = blocks.filter(({ kind }) => kind === 'tool_use');
        return [key, blocks.length, calls.length, calls.filter(({ id }) => failed.has(id ?? '')).length];
      });
      const counted = printed.agents.map((agent) => [
        agent.thread,
        agent.blocks,
        agent.tool_calls,
        agent.tool_calls_failed,
      ]);
      expect([name, counted]).toEqual([name, expected]);
    }
  });

  it('[C12] a stream without figures gives nulls and dashes, not zeros', async () => {
    const stream = wire.init() + wire.text('x') + wire.end();
    const { agents, total } = await figures(undefined, stream);
    expect(agents[0]?.tokens).toBeNull();
    expect([total.cost_usd, total.input_tokens, total.duration_ms]).toEqual([null, null, null]);
    const io = new FakeIo({ input: stream, env: { LANG: 'C' } });
    io.stdin.isFile = true;
    await stats(io, undefined, {});
    expect(io.stdout.text).toMatch(/^main +completed +1 +0 +0 +- +- +-$/m);
    // oxlint-disable-next-line no-control-regex -- the range is what ASCII is
    expect(io.stdout.text).toMatch(/^[\x00-\x7f]*$/);
  });

  it('[C12] long and hostile names do not break the table', async () => {
    const name = `\u001b[31m世界 ${'very '.repeat(60)}long\n`;
    const io = new FakeIo({
      input: wire.init() + wire.call('t', 'Agent', {}) + wire.task('a', 't', name) + wire.end(),
    });
    await stats(io, undefined, {});
    const [heading, , agent] = io.stdout.text.split('\n');
    expect(agent).not.toContain('\u001b');
    expect(agent).toMatch(/^ {2}⟦ESC⟧\[31m世界 very .*… {2}running/);
    expect(heading?.length).toBeLessThanOrEqual(100);
  });

  it('[C8] it returns 1 for a run that did not end well', async () => {
    const io = new FakeIo({ input: readRecording('2.1.325/api-401') });
    expect(await stats(io, undefined, {})).toBe(1);
  });
});
