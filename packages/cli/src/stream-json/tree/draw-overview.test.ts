import { StreamTranslator } from '@fleetloom/protocol/stream-json';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { FakeIo } from '../../../test-support/fake-io.ts';
import { FakeTerminal } from '../../../test-support/fake-terminal.ts';
import { listRecordings, readRecording } from '../../../test-support/fixtures.ts';
import { wire } from '../../../test-support/lines.ts';
import { liveOverviewOf, overviewOf } from '../../../test-support/overviews.ts';
import { limits } from '../../base/limits.ts';
import { foldOverview } from '../overview/fold-overview.ts';
import { createOverview, type Overview } from '../overview/overview.ts';
import { detectLook } from '../../terminal/look.ts';
import { paintRow } from '../../terminal/row.ts';
import { loadTextWidth, textWidth } from '../../terminal/text-width.ts';
import { DETAILS, FINAL_DETAILS } from './detail.ts';
import { fitOverview } from './fit-overview.ts';

beforeAll(loadTextWidth);

const T0 = 1_800_000_000_000;
const look = detectLook(new FakeIo());

interface Size {
  width?: number;
  rows?: number;
  nowMs?: number;
  details?: typeof DETAILS;
}

function draw(overview: Overview, { width = 79, rows = 100, nowMs, details = DETAILS }: Size = {}): string[] {
  const drawing = { width, glyphs: look.glyphs, ...(nowMs === undefined ? {} : { nowMs, animationMs: 0 }) };
  return fitOverview(overview, drawing, details, rows).rows.map((row) => paintRow(row, width, look));
}

const stamp = (ms: number) => ({ timestamp: new Date(T0 + ms).toISOString() });

describe('the tree', () => {
  it('[C7] one branch per agent where it was spawned, one line per call, the cost at the end of the turn', () => {
    const parent = { parent_tool_use_id: 't1' };
    const stream = [
      wire.init({ model: 'claude-x', claude_code_version: '9.9.9' }),
      wire.thinking('How?'),
      wire.text('I delegate this.'),
      wire.call('t1', 'Agent', { description: 'Look around', prompt: 'Look.' }, stamp(0)),
      wire.task('a1', 't1', 'Look around'),
      wire.call('t2', 'Read', { file_path: '/w/src/a.ts' }, { ...parent, ...stamp(10) }),
      wire.result('t2', 'text', { ...parent, ...stamp(52) }),
      wire.call('t3', 'Bash', { command: 'exit 7' }, { ...parent, ...stamp(60) }),
      wire.result('t3', 'Exit code 7', { ...parent, ...stamp(1_460) }, true),
      wire.text('There is one file.', parent),
      wire.taskEnd('a1', 't1', 'completed', { usage: { total_tokens: 2_900, tool_uses: 2, duration_ms: 1_500 } }),
      wire.result('t1', 'report', stamp(1_500)),
      wire.text('One file, then.'),
      wire.end({ total_cost_usd: 0.25, duration_ms: 2_000 }),
    ].join('');
    expect(draw(overviewOf(stream))).toEqual([
      'fleetloom  claude-x · Claude Code 9.9.9 · /w',
      '',
      '✓ main                                                         done       2.0 s',
      '│ ∴ How?',
      '│ I delegate this.',
      '├─✓ Look around  worker                              done  2.9k tok       1.5 s',
      '│ ├ ✓ Read  src/a.ts                                                      42 ms',
      '│ ├ ✗ Bash  exit 7  Exit code 7                                           1.4 s',
      '│ ╰ There is one file.',
      '│ One file, then.',
      '╰ ✓ turn done                                                 $0.25       2.0 s',
      '',
      '2 agents ✓2 · 3 calls, 1 failed                               $0.25       2.0 s',
    ]);
  });

  it('[C7] the activity of an agent is shown with a sign and a word', () => {
    const begin = [[T0, wire.init()] as const, [T0, wire.call('t1', 'Agent', { description: 'A' })] as const];
    const task = [T0 + 100, wire.task('a1', 't1', 'A')] as const;
    const parent = { parent_tool_use_id: 't1' };
    const state = (...lines: string[]) => {
      const overview = liveOverviewOf([...begin, task, ...lines.map((line) => [T0 + 200, line] as const)]);
      return draw(overview, { nowMs: T0 + 1_300 })
        .filter((line) => /─. A /.test(line))
        .map((line) => line.replace(/\s+/g, ' '));
    };
    expect(state()).toEqual(['╰─◐ A worker working 1.2 s']);
    expect(state(wire.thinking('hm', parent))).toEqual(['╰─◐ A worker thinking 1.2 s']);
    expect(state(wire.text('so', parent))).toEqual(['╰─▸ A worker writing 1.2 s']);
    expect(state(wire.call('t2', 'Grep', {}, parent))).toEqual(['╰─⚙ A worker Grep 1.2 s']);
    const asks = [wire.call('t2', 'Bash', {}, parent), wire.ask('r', 't2', 'Bash', {}, { agent_id: 'a1' })];
    expect(state(...asks)).toEqual(['╰─! A worker needs you 1.2 s']);
    expect(state(wire.taskEnd('a1', 't1', 'stopped'))).toEqual(['╰─■ A worker stopped 100 ms']);
    expect(state(wire.taskEnd('a1', 't1', 'failed'))).toEqual(['╰─✗ A worker failed 100 ms']);
  });

  it('[C7] main waits for its agents, and open work at the end of the stream is unfinished', () => {
    const lines = [wire.init(), wire.call('t1', 'Agent', { description: 'A' }), wire.task('a1', 't1', 'A')];
    const live = draw(liveOverviewOf(lines.map((line) => [T0, line])), { nowMs: T0 });
    expect(live[2]).toMatch(/^⧗ main +waits for 1 agent +0.0 s$/);
    const cut = draw(overviewOf(lines.join('')));
    expect(cut.slice(2, 4)).toEqual([
      expect.stringMatching(/^… main +unfinished/),
      expect.stringMatching(/─… A .*unfinished/),
    ]);
  });

  it('[C7] a call shows its most informative field', () => {
    const calls: [string, object, string][] = [
      ['Bash', { description: 'List', command: 'ls -la\n  /tmp' }, 'Bash  ls -la /tmp'],
      ['Grep', { pattern: 'TODO', path: '/w/src' }, 'Grep  TODO in src'],
      ['Edit', { file_path: '/w/a.ts', old_string: 'x' }, 'Edit  a.ts'],
      ['WebFetch', { url: 'https://x.y', prompt: 'read' }, 'WebFetch  https://x.y'],
      ['TodoWrite', { todos: [1, 2] }, 'TodoWrite  2 items'],
      ['mcp__git__log', { limit: 3 }, 'git: log  {"limit":3}'],
      ['Custom', { zeta: 1, text: 'hello' }, 'Custom  hello'],
      ['Nothing', {}, 'Nothing'],
    ];
    const stream = calls.map(([name, input], index) => wire.call(`t${index}`, name, input)).join('');
    const lines = draw(overviewOf(wire.init() + stream)).slice(3, 3 + calls.length);
    expect(lines.map((line) => line.slice(4).trimEnd())).toEqual(calls.map(([, , shown]) => shown));
  });

  it('[C7] a text that is being written shows its end, a finished one its beginning', () => {
    const words = Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ');
    const writing = draw(
      liveOverviewOf([
        [T0, wire.init()],
        [T0, wire.text(words)],
      ]),
      { nowMs: T0, rows: 10 },
    );
    expect(writing.join('\n')).toContain('word199');
    const after = [
      [T0, wire.init()],
      [T0, wire.text(words)],
      [T0, wire.call('t', 'Bash', {})],
    ] as const;
    const done = draw(liveOverviewOf(after), { nowMs: T0, rows: 10 });
    expect(done.join('\n')).toContain('word0 ');
    expect(done.join('\n')).not.toContain('word199');
    expect(done.some((line) => line.endsWith('…'))).toBe(true);
  });

  it('[C7] the report of an agent that prints only calls is shown once', () => {
    const lines = draw(overviewOf(readRecording('2.1.325/agents-parallel')));
    expect(lines.filter((line) => line.includes('Alpha report: alpha area of kestrel is fine.'))).toHaveLength(1);
    const forwarded = draw(overviewOf(readRecording('2.1.325/agents-forward')));
    expect(forwarded.filter((line) => line.includes('Alpha report: alpha area of kestrel is fine.'))).toHaveLength(1);
  });
});

describe('a small screen', () => {
  const many = (count: number, end: (index: number) => string = () => '') => {
    let stream = wire.init() + wire.text('Go.');
    for (let index = 0; index < count; index += 1) {
      const id = `t${index}`;
      stream +=
        wire.call(id, 'Agent', { description: `worker ${index}` }) + wire.task(`a${index}`, id, `worker ${index}`);
      for (let call = 0; call < 5; call += 1) {
        const parent = { parent_tool_use_id: id };
        stream += wire.call(`${id}-${call}`, 'Bash', { command: `step ${call}` }, parent);
        if (call < 4) stream += wire.result(`${id}-${call}`, 'ok', parent);
      }
      stream += end(index);
    }
    return liveOverviewOf([[T0, stream]]);
  };

  it('[C7] shows less of each agent before it leaves one out', () => {
    const overview = many(6);
    for (const rows of [80, 40, 30, 23, 20, 14, 12]) {
      const lines = draw(overview, { rows, nowMs: T0 });
      expect(lines.length).toBeLessThanOrEqual(rows);
      expect(lines.filter((line) => /worker \d/.test(line))).toHaveLength(6);
    }
    expect(draw(overview, { rows: 40, nowMs: T0 }).join('\n')).toContain('2 earlier calls');
    expect(draw(overview, { rows: 23, nowMs: T0 }).filter((line) => /Bash  step 4/.test(line))).toHaveLength(6);
  });

  it('[C7] keeps agents that need the user visible and counts the rest', () => {
    const asks = (index: number) => (index === 37 ? wire.ask('r', 't37-4', 'Bash', {}, { agent_id: 'a37' }) : '');
    const fails = (index: number) => (index === 31 ? wire.taskEnd('a31', 't31', 'failed') : '');
    const lines = draw(
      many(40, (index) => asks(index) + fails(index)),
      { rows: 15, nowMs: T0 },
    );
    expect(lines.length).toBeLessThanOrEqual(15);
    const text = lines.join('\n');
    expect(text).toMatch(/! worker 37 .*needs you/);
    expect(text).toMatch(/✗ worker 31 .*failed/);
    expect(text).toMatch(/\d+ more agents: \d+ running/);
    expect(lines.at(-1)).toContain('41 agents');
  });

  it('[C7] hides agents that ended well before running ones, and counts them', () => {
    const ended = (index: number) => (index < 30 ? wire.taskEnd(`a${index}`, `t${index}`) : '');
    const text = draw(many(36, ended), { rows: 18, nowMs: T0 }).join('\n');
    expect(text).toContain('30 more agents: 30 done');
    expect(text.match(/worker 3\d/g)).toHaveLength(6);
  });

  it('[C16] every recording fits every screen at every moment', () => {
    const names = listRecordings().filter((name) => /agents|permission|partial-agents|compact-long/.test(name));
    for (const name of names) {
      const overview = createOverview('arrival');
      const translator = new StreamTranslator();
      for (const [index, line] of readRecording(name).split('\n').entries()) {
        for (const event of translator.push(Buffer.from(`${line}\n`))) foldOverview(overview, event, T0 + index);
        if (index % 17 !== 0) continue;
        for (const [width, rows] of [
          [79, 23],
          [119, 39],
          [39, 9],
          [20, 3],
          [10, 1],
        ] as const) {
          const lines = draw(overview, { width, rows, nowMs: T0 + index });
          expect(lines.length).toBeLessThanOrEqual(rows);
          for (const each of lines) expect(textWidth(each)).toBeLessThanOrEqual(width);
        }
      }
    }
  });

  it('[C15] the tree that is left at the end is bounded, but for the answer', () => {
    const overview = many(120);
    overview.ended = true;
    const lines = draw(overview, { rows: limits.finalRowsMax, details: FINAL_DETAILS });
    expect(lines.length).toBeLessThanOrEqual(limits.finalRowsMax);
    expect(lines.filter((line) => /worker \d/.test(line))).toHaveLength(120);
  });

  it('[C15] agents nested deeper than the limit do not exhaust the stack', () => {
    let stream = wire.init();
    for (let depth = 0; depth < 20_000; depth += 1) {
      const parent = depth === 0 ? {} : { parent_tool_use_id: `t${depth - 1}` };
      stream +=
        wire.call(`t${depth}`, 'Agent', { description: `d${depth}` }, parent) +
        wire.task(`a${depth}`, `t${depth}`, `d${depth}`);
    }
    const lines = draw(overviewOf(stream), { rows: 10_000 });
    expect(lines.filter((line) => /─. d\d+|…$/.test(line)).length).toBeLessThanOrEqual(limits.depthDrawnMax + 2);
  });
});

describe('hostile streams', () => {
  it('[C5] no text of any field of a stream reaches the terminal with a control character', () => {
    const evil = fc.array(
      fc.constantFrom('\u001b[2J', '\u001b]0;x\u0007', '\r', '\u009b1A', '\u0000', '\u202e', 'x', '世', '\n', '\t'),
      {
        minLength: 1,
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(evil, (pieces) => {
        const text = pieces.join('');
        const parent = { parent_tool_use_id: `t${text}` };
        const stream = [
          wire.init({ model: text, cwd: text, claude_code_version: text }),
          wire.text(text) +
            wire.thinking(text) +
            wire.call('c', text, { [text]: text }) +
            wire.result('c', text, {}, true),
          wire.call(`t${text}`, 'Agent', { description: text }) +
            wire.task(`a${text}`, `t${text}`, text, { subagent_type: text }),
          wire.call('d', 'Bash', { command: text }, parent) +
            wire.ask('r', 'e', text, { command: text }, { agent_id: `a${text}` }),
          wire.taskEnd(`a${text}`, `t${text}`, 'failed', { summary: text, error: text }),
          wire.end({ subtype: text, is_error: true, result: text, errors: [text], origin: { kind: text } }),
        ].join('');
        const terminal = new FakeTerminal();
        for (const details of [DETAILS, FINAL_DETAILS]) {
          for (const rows of [4, 10, 100]) {
            for (const line of draw(overviewOf(stream), { rows, details })) {
              // oxlint-disable-next-line no-control-regex -- they are what is looked for
              expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
              terminal.write(line);
            }
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('[C5] two agents that name each other as parent are drawn once each', () => {
    const stream =
      wire.init() +
      wire.task('a1', 't1', 'one', { parent_task_id: 'a2', spawn_depth: 2 }) +
      wire.task('a2', 't2', 'two', { parent_task_id: 'a1', spawn_depth: 2 });
    const text = draw(overviewOf(stream)).join('\n');
    expect(text.match(/ one /g)).toHaveLength(1);
    expect(text.match(/ two /g)).toHaveLength(1);
  });
});
