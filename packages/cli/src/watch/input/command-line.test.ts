import { fleetLimits } from '@fleetloom/protocol/fleet';
import { describe, expect, it } from 'vitest';
import { FleetEvents } from '../../../test-support/fleet-events.ts';
import { draw, modelOf, press } from '../../../test-support/watch-models.ts';
import { limits } from '../../base/limits.ts';
import { completeCommand } from './command-line.ts';

const fleet = () =>
  new FleetEvents()
    .start('t')
    .open(0, 'lead', null, 'L')
    .open(1, 'fine', 0, 'A')
    .usage(1, 1, 0.5)
    .later(1_000)
    .open(2, 'stuck', 0, 'B')
    .usage(2, 1, 0.7)
    .open(3, 'broken', 0, 'C')
    .close(3, 'error')
    .open(4, 'asking', 0, 'D')
    .ask(4, 'ls')
    .later(fleetLimits.stalledMs)
    .text(1, 'x')
    .on(0, { type: 'thinking', delta: '' });

const run = (line: string) => {
  const events = fleet();
  const model = modelOf(events);
  const action = press(model, `:${line}\r`, events.nowMs).at(-1);
  return { model, action, said: draw(model, events.nowMs).slice(-3).join('') };
};

function namesOf(lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.match(/lead|fine|stuck|broken|asking/)?.[0] ?? []);
}

describe('commands behind a colon', () => {
  it('[Y39] supported commands are run', () => {
    expect(run('budget 20').action).toMatchObject({
      type: 'update',
      body: { budget: { type: 'limit', max_list_cost: { amount: '2000', currency: 'USD' } } },
    });
    expect(run('budget off').action).toMatchObject({ type: 'update', body: { budget: null } });
    expect(run('title Release 2').action).toMatchObject({ type: 'update', body: { title: 'Release 2' } });
    expect(run('title').action).toMatchObject({ type: 'update', body: { title: null } });
    expect(run('export').action).toEqual({ type: 'export', file: 'sesn_0123456789abcdef.ndjson' });
    expect(run('export a b.ndjson').action).toEqual({ type: 'export', file: 'a b.ndjson' });
    expect(run('stop all').action).toMatchObject({ type: 'stop', threadIds: [null] });
    expect(run('replay').action).toEqual({ type: 'replay' });
    expect(run('quit').action).toEqual({ type: 'quit', isInterrupt: false });
    expect(run('help').model.page).toBe('help');
    expect(run('filter fine').model.filter).toBe('fine');
  });

  it('[Y39] an unsupported or unknown command is reported with the reason and the alternatives', () => {
    expect(run('model x').said).toContain('The model is fixed when a session is created');
    expect(run('budget much').said).toContain('takes an amount of US dollars');
    expect(run('budget').said).toContain('takes an amount');
    expect(run('sort by name').said).toContain(':sort takes tree, attention, cost, age.');
    expect(run('stop').said).toContain('x interrupts one thread');
    expect(run('nonsense').said).toMatch(/Unknown command :nonsense\. Commands: :sort :filter/);
    expect(run('r').said).toContain(':r is ambiguous: :replay :rules');
    expect(run('').action).toBe(undefined);
  });

  it('[Y39] Tab completes as far as it is clear, and what may follow is shown', () => {
    const done = ['b', 'r', 'rep', 'zz', 'sort a', 'sort at', 'budget o', 'sort z', ''].map(completeCommand);
    expect(done).toEqual(['budget ', 'r', 'replay ', 'zz', 'sort a', 'sort attention', 'budget off', 'sort z', '']);
    const model = modelOf(fleet());
    press(model, ':so\t');
    expect(draw(model, 0).at(-1)).toContain(':sort _  tree|attention|cost|age');
    press(model, 'at\t\r');
    expect(model.order).toBe('attention');
    press(model, ':\u007f');
    expect(model.prompt).toBe(undefined);
  });

  it('[Y40] attention: threads that need the user, failed, stalled, then the others', () => {
    const events = fleet();
    const model = modelOf(events);
    press(model, ':sort attention\r', events.nowMs);
    expect(namesOf(draw(model, events.nowMs).slice(2, 7))).toEqual(['asking', 'broken', 'stuck', 'lead', 'fine']);
    press(model, ':sort cost\r', events.nowMs);
    expect(namesOf(draw(model, events.nowMs).slice(2, 7)).slice(0, 2)).toEqual(['stuck', 'fine']);
    press(model, ':sort age\r', events.nowMs);
    expect(namesOf(draw(model, events.nowMs).slice(2, 7))[0]).toBe('stuck');
    press(model, ':sort tree\r', events.nowMs);
    expect(namesOf(draw(model, events.nowMs).slice(2, 7))).toEqual(['lead', 'fine', 'stuck', 'broken', 'asking']);
  });

  it('[Y40] rows stay where they are for three seconds, whatever happens', () => {
    const events = fleet();
    const model = modelOf(events);
    const order = (laterMs: number) => namesOf(draw(model, events.nowMs + laterMs).slice(2, 7));
    press(model, ':sort attention\r', events.nowMs);
    expect(order(0)[0]).toBe('asking');
    events.on(4, { type: 'approval_resolved', tool: 'bash', tool_use_id: 'sevt_4', input: {}, result: 'allow' });
    model.take(events.list.at(-1)!);
    expect(order(0)[0]).toBe('asking');
    expect(limits.orderMsMin).toBe(3_000);
    expect(order(2_999)[0]).toBe('asking');
    expect(order(3_000)[0]).toBe('broken');
  });

  it('[Y40] left folds the delegated threads, right unfolds them', () => {
    const events = fleet();
    const model = modelOf(events);
    press(model, '\u001b[D', events.nowMs);
    expect(draw(model, events.nowMs)[2]).toContain('lead ▸4');
    expect(namesOf(draw(model, events.nowMs).slice(2, 7))).toEqual(['lead']);
    press(model, '\u001b[C', events.nowMs);
    expect(namesOf(draw(model, events.nowMs).slice(2, 7))).toHaveLength(5);
    press(model, '\u001b[C', events.nowMs);
    expect(model.page).toBe('thread');
  });

  it('[Y36] X asks for confirmation, and interrupts a thread with all below it, the deepest first; on the coordinator, the whole session', () => {
    // One request takes a hundred threads, so ended ones are left out.
    const events = fleet().open(5, 'below', 1, 'E').open(6, 'over', 1, 'O').close(6);
    const model = modelOf(events);
    expect(press(model, 'jX', events.nowMs).at(-1)).toBe(undefined);
    expect(draw(model, events.nowMs).at(-1)).toContain('Stop fine and 2 threads below?');
    expect(press(model, 'y', events.nowMs)).toEqual([
      { type: 'stop', threadIds: ['E', 'A'], target: 'fine with all below it' },
    ]);
    expect(press(model, 'kXy', events.nowMs).at(-1)).toMatchObject({ threadIds: [null] });
    expect(press(model, 'xy', events.nowMs).at(-1)).toMatchObject({ threadIds: ['L'] });
    expect(press(model, 'Xn', events.nowMs).at(-1)).toBe(undefined);
  });

  it('[Y36] s sends a message to the coordinator, which names the thread that it is for', () => {
    const events = fleet();
    const model = modelOf(events);
    expect(press(model, 'shello\r', events.nowMs).at(-1)).toEqual({ type: 'send', text: 'hello' });
    press(model, 'js', events.nowMs);
    expect(draw(model, events.nowMs).at(-1)).toContain('Message to the coordinator: For fine (A): _');
    expect(press(model, 'faster\r', events.nowMs).at(-1)).toEqual({ type: 'send', text: 'For fine (A): faster' });
  });
});
