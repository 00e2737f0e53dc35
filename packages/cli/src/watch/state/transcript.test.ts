import { describe, expect, it } from 'vitest';
import { FleetEvents } from '../../../test-support/fleet-events.ts';
import { draw, modelOf, press } from '../../../test-support/watch-models.ts';
import { limits } from '../../base/limits.ts';
import { Seen } from './seen.ts';

const begin = () => new FleetEvents().start().open(0, 'lead', null, 'L');

function page(events: FleetEvents, keys = '', columns = 80, rows = 40): string {
  const model = modelOf(events);
  press(model, `\r${keys}`);
  return draw(model, events.nowMs, columns, rows).slice(1, -1).join('\n').trimEnd();
}

describe('the page of a thread', () => {
  it('[Y37] all entries are in order, thinking and calls on one line each, until they are unfolded', () => {
    const events = begin()
      .on(0, { type: 'thinking', delta: 'Where is it? ' })
      .on(0, { type: 'thinking', delta: 'Perhaps there.' })
      .text(0, 'I look.')
      .on(0, { type: 'tool_start', tool: 'bash', tool_use_id: 't1', input: { command: 'ls\npwd' } })
      .on(0, { type: 'tool_call', tool: 'bash', tool_use_id: 't1', ok: true, duration_ms: 12 })
      .text(0, 'There it is.');
    expect(page(events).split('\n').slice(1)).toEqual([
      '› do lead',
      '',
      expect.stringMatching(/^∴ Where is it\? Perhaps there\. +thought, 27 characters$/),
      'I look.',
      '',
      expect.stringMatching(/^✓ bash {2}ls pwd +12 ms$/),
      'There it is.',
    ]);
    expect(page(events, '\u001b[C')).toMatch(
      / {2}Where is it\? Perhaps there\.\n\nI look\.\n\n✓ bash .*\n {4}ls\n {4}pwd\n/,
    );
    expect(page(events, '\u001b[C\u001b[D')).toContain('thought, 27 characters');
  });

  it('[Y37] pending, denied, failed and lost calls are distinguished', () => {
    const use = { tool: 'bash', input: { command: 'x' } };
    const events = begin().ask(0, 'x', 'a').ask(0, 'y', 'b').ask(0, 'z', 'c');
    events.on(0, { ...use, type: 'approval_resolved', tool_use_id: 'a', result: 'deny' });
    events.on(0, { type: 'tool_call', tool: 'bash', tool_use_id: 'a', ok: false, duration_ms: 1, error: 'denied' });
    events.on(0, { ...use, type: 'approval_resolved', tool_use_id: 'b', result: 'allow' });
    events.on(0, { ...use, type: 'tool_start', tool_use_id: 'b' });
    expect(page(events)).toMatch(/■ bash {2}x +denied\n⚙ bash {2}y +0 ms\n! bash {2}z\n/);
  });

  it('[Y37] retracted text is removed, and only that', () => {
    const events = begin().text(0, 'stays ').close(0).done();
    events.start().open(0, 'lead', null, 'L').text(0, 'one ').on(0, { type: 'thinking', delta: 't' }).text(0, 'two');
    events.on(0, { type: 'text_retract', from: 2 }).text(0, '!');
    const shown = page(events);
    expect(shown).toContain('stays');
    expect(shown).toContain('on');
    expect(shown).not.toContain('one');
    expect(shown).not.toContain('two');
    events.on(0, { type: 'text_retract', from: 0 });
    expect(page(events)).toMatch(/stays\n\n› do lead\n\n∴ t/);
  });

  it('[V163] thinking that was retracted is gone, and lost work is a note with the coordinator', () => {
    const events = begin()
      .on(0, { type: 'thinking', delta: 'A whole thought.' })
      .text(0, 'Said.')
      .on(0, { type: 'thinking', delta: 'Half' })
      .on(0, { type: 'thinking_retract', from: 16 });
    expect(page(events)).not.toContain('Half');
    expect(page(events)).toContain('A whole thought.');
    events.session({ type: 'session_error', message: 'the command "x" is lost', code: 'unknown_error' });
    expect(page(events)).toContain('the command "x" is lost');
  });

  it('[V167] a rewind of files is a note with the coordinator', () => {
    const events = begin().close(0).done(true);
    const counts = { files_count: 1, lines_added: 3, lines_removed: 1 };
    events.session({ type: 'files_rewound', message_id: 'sevt_1', by: 'admin', files: ['a.ts'], ...counts });
    expect(page(events)).toContain('↻ files rewound by admin (1): a.ts');
  });

  it('[Y37] retries, summaries and failures are notes, and a body that came whole is shown', () => {
    const events = begin();
    events.on(0, { type: 'request_retrying', code: 'c', message: '529 overloaded', attempt: 2, retry_at: 0 });
    events.on(0, { type: 'context_compacted' });
    events.on(0, { type: 'sub_agent_response', content: 'all of it' });
    events.on(0, { type: 'error', message: 'it broke', code: 'x' }).close(0, 'limit');
    expect(page(events)).toMatch(
      /↻ attempt 2 follows: 529 overloaded\n↻ the earlier conversation was summarised\nall of it\n\n✗ it broke\n✗ limit/,
    );
  });

  it('[Y37] 400 pieces and 65536 characters of a thread are kept, the newest', () => {
    const calls = (count: number) => {
      const events = begin();
      for (let index = 0; index < count; index += 1)
        events.on(0, { type: 'tool_start', tool: 'bash', tool_use_id: `t${index}`, input: { command: `c${index}` } });
      return modelOf(events).seen.transcriptOf('L')?.entries ?? [];
    };
    expect(limits.transcriptEntriesMax).toBe(400);
    expect(calls(399)).toHaveLength(400);
    expect(calls(399)[0]?.type).toBe('task');
    expect(calls(400)).toHaveLength(400);
    expect(calls(400)[0]?.type).toBe('call');
    const half = limits.watchTextCharsMax / 2;
    const events = begin()
      .text(0, 'a'.repeat(half))
      .on(0, { type: 'thinking', delta: 'b'.repeat(half) });
    const transcript = modelOf(events.text(0, 'cc')).seen.transcriptOf('L');
    expect(transcript?.dropped).toBe(2);
    const lengths = transcript?.entries.map((entry) => ('text' in entry ? entry.text.length : 0));
    expect(lengths).toEqual(['do lead'.length, half - 2, half, 2]);
  });

  it('[Y37] the text of 500 threads is kept; the thread that was silent longest is dropped first', () => {
    const seen = new Seen();
    const events = new FleetEvents().start();
    for (let id = 0; id <= limits.transcriptsMax; id += 1) events.open(id, `a${id}`, null, `T${id}`);
    expect(limits.transcriptsMax).toBe(500);
    for (const event of events.list.slice(0, -1)) seen.take(event);
    expect(seen.transcriptOf('T0')).toBeDefined();
    seen.take(events.list.at(-1)!);
    expect(seen.transcriptOf('T0')).toBe(undefined);
    expect(seen.transcriptOf('T1')).toBeDefined();
  });
});
