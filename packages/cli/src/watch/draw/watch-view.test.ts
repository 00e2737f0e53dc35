import { describe, expect, it } from 'vitest';
import { FleetEvents } from '../../../test-support/fleet-events.ts';
import { draw, modelOf, press, toLook } from '../../../test-support/watch-models.ts';
import { limits } from '../../base/limits.ts';
import { loadTextWidth, textWidth } from '../../terminal/text-width.ts';
import { toSpark } from '../state/activity.ts';
import { watchCommands } from '../input/command-line.ts';
import { drawWatch } from './draw-watch.ts';

const fleet = () =>
  new FleetEvents()
    .start('t')
    .open(0, 'lead', null, 'L')
    .open(1, 'alpha', 0, 'A')
    .text(1, 'writing words')
    .open(2, 'beta', 0, 'B')
    .ask(2, 'rm -rf build');

describe('the terminal view', () => {
  it('[Y21] at 80 by 24 it shows every thread with sign, word, doing, times and cost', () => {
    const events = fleet().usage(1, 100, 0.25).later(3_000);
    const lines = draw(modelOf(events), events.nowMs);
    expect(lines).toHaveLength(24);
    expect(lines[1]).toMatch(/^ S {2}AGENT +NOW +IN LAST 60s +CTX +\$Σ +AGE$/);
    expect(lines[2]).toMatch(/^›⧗ {2}lead +waits for 2 +3s .* 0\.25 +3s$/);
    expect(lines[3]).toMatch(/^ ▸ {2}├─alpha +writing writing words +3s .* 0\.25 +3s$/);
    expect(lines[4]).toMatch(/^ ! {2}╰─beta +needs you bash: rm -rf build +3s .* 0\.00 +3s$/);
    expect(lines[23]).toBe(' Enter open  i inbox  n next  s send  x interrupt  / filter  ? help  q quit');
  });

  it('[Y31] the first line has counts, cost, cost of the last minute, budget, place and delay, as far as they fit', () => {
    const events = fleet().later(30_000).usage(0, 10, 0.25).later(30_000).usage(0, 10, 0.5);
    const model = modelOf(events);
    model.facts = { ...model.facts, budgetUsd: 20 };
    model.lagMs = 40;
    expect(draw(model, events.nowMs, 120)[0]).toMatch(
      /^ fleetloom · sesn_0123456789abcdef · ! 1 needs you · 3 threads !1 …1 ⧗1 · \$0\.75 \(\+0\.75\/min\) of \$20 +seq 8 ● 40ms$/,
    );
    expect(draw(model, events.nowMs, 80)[0]).toMatch(
      /^ fleetloom …abcdef 3 thr !1 …1 ⧗1 \$0\.75 of \$20 +seq 8 ● 40ms$/,
    );
    expect(draw(model, events.nowMs, 60)[0]).toMatch(/3 thr !1 …1 ⧗1 \$0\.75 of \$20 +seq 8 ● 40ms$/);
    // A minute later it is what the last minute has cost, and what is unknown is not nothing.
    expect(draw(model, events.nowMs + 45_000, 120)[0]).toContain('(+0.50/min)');
    expect(draw(modelOf(fleet().usage(1, 5)), 0)[0]).toContain('$–');
  });

  it('[Y430] the cost of a demo is shown as an example', () => {
    const events = fleet().usage(0, 10, 0.25);
    expect(draw(modelOf(events), events.nowMs, 120)[0]).toContain(' · $0.25');
    events.on(0, { type: 'agent_start', model: 'scripted/demo-lead-8', iteration: 1 });
    expect(draw(modelOf(events), events.nowMs, 120)[0]).toContain(' · e.g. $0.25');
  });

  it('[Y433] the first line names the session once its name is known, and threads of one name have numbers', () => {
    const events = fleet().usage(0, 10, 0.25);
    const model = modelOf(events);
    model.facts = {
      ...model.facts,
      name: 'Review the retries\u001b[2J of ferry, all of them, before the release of 0.4.0',
    };
    expect(draw(model, events.nowMs, 140)[0]).toMatch(
      /^ fleetloom · Review the retries.* of ferry, .*… · ! 1 needs you/,
    );
    expect(draw(model, events.nowMs, 140)[0]).not.toContain('sesn_');
    expect(draw(model, events.nowMs, 80)[0]).toMatch(/^ fleetloom Review the r/);
  });

  it('[Y32] columns are aligned with their titles, whatever their content', async () => {
    await loadTextWidth();
    const events = fleet().text(1, '漢字 '.repeat(40)).usage(1, 10, 1234.5).usage(2, 1, 0.0042);
    events.on(1, {
      type: 'token_usage',
      model: 'm',
      input_tokens: 1,
      output_tokens: 1,
      cache_read_tokens: 0,
      cache_create_tokens: 0,
      context_tokens: 62,
      context_window: 200,
    });
    for (const columns of [80, 100, 120, 160]) {
      for (const unicode of [true, false]) {
        const lines = drawWatch(modelOf(events), toLook(unicode), columns, 24, events.nowMs + 120_000).slice(1, 5);
        const ends = lines.map((line) => textWidth(line));
        expect(new Set(ends).size).toBe(1);
        expect(lines[2]).toContain('31%');
      }
    }
  });

  it('[Y32] retries and queued requests show what they wait for, and count down', () => {
    const wait = { code: 'x', message: '429 slow down', attempt: 2, retry_at: 0 };
    const events = new FleetEvents().start().open(0, 'lead', null, 'L');
    events.on(0, { ...wait, type: 'request_retrying', retry_at: events.nowMs + 12_000 });
    const row = (given: FleetEvents, nowMs: number) => draw(modelOf(given), nowMs, 120)[2];
    expect(row(events, events.nowMs)).toMatch(/^›↻2 lead +retry +429, next try in 12 s /);
    expect(row(events, events.nowMs + 9_500)).toContain('next try in 3 s');
    const queued = new FleetEvents().start().open(0, 'lead', null, 'L');
    queued.on(0, { type: 'request_queued', reason: 'concurrency', ahead: 3 });
    expect(row(queued, queued.nowMs)).toMatch(/^›· {2}lead +queued +3 ahead in the queue/);
    queued.on(0, { type: 'request_queued', reason: 'paused', ahead: 0, until: queued.nowMs + 5_000 });
    expect(row(queued, queued.nowMs)).toContain('the endpoint asked for a pause, 5 s left');
  });

  it('[Y21] it fits any window, with any text, with and without Unicode', async () => {
    await loadTextWidth();
    const events = fleet().text(1, '漢字👩‍👩‍👧 '.repeat(50)).text(0, 'long '.repeat(100));
    const model = modelOf(events);
    for (const page of ['threads', 'thread', 'inbox', 'help'] as const) {
      for (const [columns, rows] of [
        [80, 24],
        [20, 5],
        [1, 1],
        [200, 60],
        [40, 3],
      ] as const) {
        model.page = page;
        for (const unicode of [true, false]) {
          const lines = drawWatch(model, toLook(unicode), columns, rows, events.nowMs);
          expect(lines.length).toBeLessThanOrEqual(Math.max(3, rows));
          for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(Math.max(1, columns - 1));
        }
      }
    }
  });

  it('[Y21] with more threads than rows the selected one is always visible', () => {
    const events = new FleetEvents().start().open(0, 'lead', null, 'L');
    for (let id = 1; id <= 60; id += 1) events.open(id, `agent-${id}`, 0, `T${id}`, id);
    const model = modelOf(events);
    for (const [keys, name] of [
      ['', 'lead'],
      ['j'.repeat(30), 'agent-30'],
      ['\u001b[F', 'agent-60'],
      ['\u001b[5~', 'agent-50'],
      ['\u001b[H', 'lead'],
    ] as const) {
      press(model, keys);
      const lines = draw(model, events.nowMs);
      expect(lines.filter((line) => line.startsWith('›'))).toHaveLength(1);
      expect(lines.find((line) => line.startsWith('›'))).toContain(name);
    }
  });

  it('[Y21] the selected thread stays selected while others come and go', () => {
    const events = fleet();
    const model = modelOf(events);
    press(model, 'j');
    events.open(3, 'first', 0, 'C', -1 + 1);
    model.take(events.list.at(-1)!);
    expect(draw(model, events.nowMs).find((line) => line.startsWith('›'))).toContain('alpha');
  });

  it('[Y23] a pending call is shown before it is approved, and a decides it once', () => {
    const events = fleet();
    const model = modelOf(events);
    expect(press(model, 'a')).toEqual([undefined]);
    expect(draw(model, 0).at(-1)).toContain('Nothing is pending in this thread; n goes to the next one.');
    model.say('Something long went wrong. '.repeat(6), 0);
    expect(draw(model, 0)).toHaveLength(24);
    expect(
      draw(model, 0)
        .join(' ')
        .match(/Something\s+long\s+went\s+wrong/g),
    ).toHaveLength(6);
    model.say('x'.repeat(400), 0);
    expect(draw(model, 0).at(-1)).toMatch(/x…$/);
    press(model, 'n');
    const shown = draw(model, events.nowMs).join('\n');
    expect(shown).toMatch(/! beta requests approval for bash +a approve {2}d deny {2}A pattern\n {4}rm -rf build\n/);
    expect(press(model, 'a')).toMatchObject([
      { type: 'answer', result: 'allow', pendingCalls: [{ toolUseId: 'sevt_2' }] },
    ]);
    model.answered('sevt_2');
    expect(press(model, 'a')).toEqual([undefined]);
    model.unanswered('sevt_2');
    expect(press(model, 'a')).toHaveLength(1);
  });

  it('[Y23] an input that does not fit is marked, and thread and inbox show all of it', () => {
    const command = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n');
    const events = new FleetEvents().start().open(0, 'lead', null, 'L').ask(0, command);
    const model = modelOf(events);
    expect(draw(model, 0).join('\n')).toMatch(/… \d+ more lines, press i/);
    for (const key of ['\r', 'i']) {
      press(model, key);
      const page = draw(model, 0, 80, 60).join('\n');
      expect(page).toContain('line 0');
      expect(page).toContain('line 39');
    }
  });

  it('[Y23] of a long input 200 lines are shown, with a note about the rest', () => {
    const linesOf = (count: number) => {
      const command = Array.from({ length: count }, () => 'x').join('\n');
      const model = modelOf(new FleetEvents().start().open(0, 'lead', null, 'L').ask(0, command));
      press(model, '\r');
      return drawWatch(model, toLook(), 80, 400, 0).join('\n');
    };
    expect(limits.inputRowsMax).toBe(200);
    expect(linesOf(200)).not.toContain('characters in all');
    expect(linesOf(201)).toContain('401 characters in all');
  });

  it('[Y23] d prompts for a message, and Enter sends it; Esc does not', () => {
    const model = modelOf(fleet());
    press(model, 'nd');
    expect(press(model, 'nöt\u007f\u007fo thanks\r').at(-1)).toMatchObject({
      type: 'answer',
      result: 'deny',
      message: 'no thanks',
    });
    press(model, 'd');
    expect(press(model, 'never mind\u001b').every((action) => action === undefined)).toBe(true);
    expect(model.prompt).toBe(undefined);
    expect(press(model, 'd\r').at(-1)).toEqual(expect.not.objectContaining({ message: expect.anything() }));
  });

  it('[Y23] typed text is kept up to 4000 characters, and its end is shown', () => {
    const model = modelOf(fleet());
    press(model, `s${'x'.repeat(limits.typedCharsMax - 1)}`);
    press(model, 'ab');
    expect(model.prompt).toMatchObject({ text: `${'x'.repeat(3_999)}a` });
    expect(draw(model, 0).at(-1)).toMatch(/xxa_$/);
    press(model, '\u0015hello');
    expect(press(model, '\r')).toEqual([{ type: 'send', text: 'hello' }]);
    expect(press(model, 's\r').at(-1)).toBe(undefined);
  });

  it('[Y23] x stops a thread only after y', () => {
    const model = modelOf(fleet());
    press(model, 'jx');
    expect(draw(model, 0).at(-1)).toContain('Stop alpha?');
    expect(press(model, 'n')).toEqual([undefined]);
    expect(press(model, 'xy').at(-1)).toEqual({ type: 'stop', threadIds: ['A'], target: 'alpha' });
  });

  it('[Y23] / shows only some threads while it is typed, and Esc shows all again', () => {
    const events = fleet();
    const model = modelOf(events);
    press(model, '/need');
    expect(draw(model, events.nowMs).join('\n')).not.toContain('alpha');
    press(model, '\r');
    expect(draw(model, events.nowMs).join('\n')).toContain('beta');
    press(model, '/zzz\r');
    expect(draw(model, events.nowMs).join('\n')).toContain('No thread matches "needzzz".');
    press(model, '\u001b');
    expect(draw(model, events.nowMs).join('\n')).toContain('alpha');
  });

  it('[Y23] ? shows all keys, q leaves and Ctrl-C too, whatever is open', () => {
    const model = modelOf(fleet());
    press(model, '?');
    expect(draw(model, 0).join('\n')).toContain('Agents keep working after you quit');
    for (const command of watchCommands) expect(draw(model, 0, 80, 60).join('\n')).toContain(`:${command.name}`);
    expect(draw(model, 0).join('\n')).toContain('9 more lines below');
    press(model, '\u001b[F');
    expect(draw(model, 0).join('\n')).toContain(':quit');
    press(model, '?');
    expect(draw(model, 0).join('\n')).toContain('AGENT');
    expect(press(model, 'q')).toEqual([{ type: 'quit', isInterrupt: false }]);
    expect(press(model, 's\u0003').at(-1)).toEqual({ type: 'quit', isInterrupt: true });
    expect(press(model, '\u001a')).toEqual([{ type: 'suspend' }]);
  });

  it('[Y21] a thread’s page has its task, calls and text, follows the end, and can be scrolled', () => {
    const events = new FleetEvents()
      .start()
      .open(0, 'lead', null, 'L')
      .on(0, { type: 'tool_start', tool: 'grep', tool_use_id: 't', input: { pattern: 'x' } });
    events.on(0, { type: 'tool_call', tool: 'grep', tool_use_id: 't', ok: false, duration_ms: 7, error: 'no match' });
    for (let index = 0; index < 60; index += 1) events.text(0, `row ${index}\n`);
    const model = modelOf(events);
    press(model, '\r');
    expect(draw(model, 0).join('\n')).toContain('row 59');
    press(model, '\u001b[H');
    const top = draw(model, 0).join('\n');
    expect(top).toMatch(/› do lead\n\n✗ grep {2}x {2}no match +7 ms/);
    expect(top).toMatch(/\d+ lines below/);
    press(model, '\u001b[F');
    expect(draw(model, 0).join('\n')).toContain('row 59');
    press(model, '\u001b');
    expect(model.page).toBe('threads');
  });

  it('[Y21] of a turn’s text the last 65536 characters are kept, and the number of dropped characters is shown', () => {
    const textOf = (length: number) => {
      const model = modelOf(new FleetEvents().start().open(0, 'lead', null, 'L').text(0, 'x'.repeat(length)));
      press(model, '\r\u001b[H');
      return draw(model, 0).join('\n');
    };
    expect(limits.watchTextCharsMax).toBe(65_536);
    expect(textOf(limits.watchTextCharsMax)).not.toContain('earlier characters');
    expect(textOf(limits.watchTextCharsMax + 1)).toContain('… 1 earlier characters');
  });

  it('[Y32] the activity of each thread in the last minute is drawn, with the times in which it waited', () => {
    const events = fleet();
    const model = modelOf(events);
    const { activity } = model.seen;
    const silent = Array.from({ length: 11 }, () => 'silent');
    expect(activity.of('A', events.nowMs, 12)).toEqual([...silent, 2]);
    expect(activity.of('A', events.nowMs + 55_000, 12)).toEqual([2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(activity.of('A', events.nowMs + 65_000, 12).some((cell) => cell !== 0)).toBe(false);
    expect(activity.of('B', events.nowMs + 9_000, 12).slice(-3)).toEqual(['silent', 'needsYou', 'needsYou']);
    events
      .later(20_000)
      .on(2, { type: 'approval_resolved', tool: 'bash', tool_use_id: 'sevt_2', input: {}, result: 'allow' });
    events.later(20_000).close(2);
    for (const event of events.list.slice(-2)) model.take(event);
    expect(toSpark(activity.of('B', events.nowMs + 10_000, 12), true)).toBe(' !!!!▂▁▁▁▂  ');
    expect(toSpark([0, 1, 2, 4, 1_000_000, 'retry', 'needsYou', 'silent'], true)).toBe('▁▂▃▄█↻! ');
    expect(toSpark([0, 1, 2, 4, 1_000_000, 'retry', 'needsYou', 'silent'], false)).toBe('_.:-#@! ');
  });

  it('[Y20] while history loads, no thread is shown as stalled', () => {
    const events = new FleetEvents().start().open(0, 'lead', null, 'L');
    const model = modelOf(events);
    model.link = 'loading';
    expect(draw(model, events.nowMs + 1e6)[2]).toMatch(/lead +working/);
    model.link = 'live';
    expect(draw(model, events.nowMs + 1e6)[2]).toMatch(/lead +stalled/);
  });

  it('[Y26] whether it is live, reconnecting or over is in the first line, and why in the last', () => {
    const model = modelOf(fleet());
    expect(draw(model, 0, 120)[0]).toMatch(/seq 6 ● live$/);
    model.link = 'waiting';
    model.linkReason = 'There is no server at x.';
    expect(draw(model, 0, 120)[0]).toMatch(/↻ reconnecting .$/);
    expect(draw(model, 0).at(-1)).toContain('There is no server at x.');
    model.take({ type: 'over', cursor: '', seq: null, ts: null, reason: 'the session was deleted' });
    expect(draw(model, 0, 120)[0]).toMatch(/■ over$/);
    expect(draw(model, 0).at(-1)).toContain('the session was deleted');
  });
});
