import { createSlots, foldSlots } from '@fleetloom/protocol/fleet';
import { describe, expect, it } from 'vitest';
import { FleetEvents } from '../../../test-support/fleet-events.ts';
import { draw, modelOf, press } from '../../../test-support/watch-models.ts';
import { limits } from '../../base/limits.ts';
import { Replay } from './replay.ts';

function run(texts: number): FleetEvents {
  const events = new FleetEvents().start('t').open(0, 'lead', null, 'L').open(1, 'alpha', 0, 'A');
  for (let index = 0; index < texts; index += 1) events.later(1_000).text(index % 2, `${index} `);
  return events.ask(1, 'ls').later(60_000).close(1).close(0).done();
}

function replayOf(events: FleetEvents): Replay {
  const replay = new Replay();
  for (const event of events.list) replay.load(event);
  replay.isLoaded = true;
  return replay;
}

describe('the replay', () => {
  it('[Y38] at every event it is what the events up to there add up to, forwards and backwards', () => {
    const events = run(700);
    const replay = replayOf(events);
    const states = [createSlots({ textCharsMax: limits.lineCharsMax })];
    for (const event of events.list) states.push(foldSlots(states.at(-1)!, event));
    for (let at = replay.length; at >= 1; at -= 1) {
      expect(replay.at).toBe(at);
      if (at % 37 === 0 || at > 690 || at < 5) expect(replay.slots).toEqual(states[at]);
      replay.step(-1);
    }
    expect(replay.at).toBe(1);
    replay.step(400);
    expect(replay.slots).toEqual(states[401]);
    replay.step(1e9);
    expect(replay.at).toBe(replay.length);
    replay.load(events.list[0]!);
    expect(replay.at).toBe(replay.length);
    replay.step(-2);
    replay.load(events.list[0]!);
    expect(replay.at).toBe(replay.length - 3);
  });

  it('[Y38] one step goes to the next event, or to where a turn begins or ends', () => {
    const replay = replayOf(run(10));
    const types: unknown[] = [];
    for (let index = 0; index < 5; index += 1) {
      replay.stepTurn(-1);
      types.push(replay.event?.type);
    }
    expect(types).toEqual(['stream_end', 'stream_end', 'stream_start', 'stream_start', 'request_received']);
    replay.stepTurn(1);
    expect(replay.event?.type).toBe('stream_start');
  });

  it('[Y38] the whole screen is as it was, with its time and a mark', () => {
    const events = run(4);
    const model = modelOf(events);
    model.replay = replayOf(events);
    press(model, '[[[[');
    const lines = draw(model, events.nowMs + 1e9, 120);
    const clock = new Date(model.replay.nowMs).toTimeString().slice(0, 8);
    expect(lines[0]).toMatch(new RegExp(`REPLAY ${clock} · 7/11$`));
    expect(lines.join('\n')).toMatch(/▸ {2}╰─alpha +writing +1 3 /);
    press(model, ']');
    expect(draw(model, 0, 120).join('\n')).toMatch(/! {2}╰─alpha +needs you +bash: ls/);
    press(model, 'j');
    // What was asked for then cannot be answered now, and no key is offered for it.
    expect(draw(model, 0, 120).join('\n')).toMatch(/! alpha requests approval for bash\n/);
    press(model, '\r');
    expect(draw(model, 0, 120).join('\n')).toMatch(/› do alpha\n\n1 3/);
    press(model, '[[[[');
    expect(draw(model, 0, 120).join('\n')).toMatch(/› do alpha\n+ /);
  });

  it('[Y38] nothing can be done in the past, and R, . and Esc lead back to the present', () => {
    const events = run(4);
    for (const back of ['R', '.', '\u001b']) {
      const model = modelOf(events);
      expect(press(model, 'R')).toEqual([{ type: 'replay' }]);
      model.replay = replayOf(events);
      for (const key of ['a', 'd', 'A', 'r', 's', 'x', 'X']) {
        expect(press(model, key)).toEqual([undefined]);
        expect(model.prompt).toBe(undefined);
      }
      expect(draw(model, 0).at(-1)).toContain('Not possible in a replay');
      press(model, back);
      expect(model.replay).toBe(undefined);
      expect(draw(model, events.nowMs)[0]).toContain('● live');
    }
  });

  it('[Y38] of more than 100000 events the first ones are kept, and the others counted', () => {
    const replay = new Replay();
    const [event] = run(0).list;
    expect(limits.replayEventsMax).toBe(100_000);
    for (let index = 0; index <= limits.replayEventsMax; index += 1) {
      if (index === limits.replayEventsMax) expect([replay.length, replay.left]).toEqual([100_000, 0]);
      replay.load({ ...event!, cursor: '' });
    }
    expect([replay.length, replay.left]).toEqual([100_000, 1]);
  });
});
