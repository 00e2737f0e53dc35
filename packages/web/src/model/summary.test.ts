import { readFileSync } from 'node:fs';
import { states } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { sampleLog } from './sample-log.suite.ts';
import { SessionModel } from './session-model.ts';
import { toShownRows } from './summary.ts';

it('[Z11] every state has a colour for areas and one for text', () => {
  const css = readFileSync(new URL('../ui/colours.css', import.meta.url), 'utf8');
  for (const kind of ['state', 'ink']) {
    const colours = Object.keys(states).map((id) => new RegExp(`--${kind}-${id}: (.*);`).exec(css)?.[1]);
    expect(colours).not.toContain(undefined);
  }
});

it('[Z11] a row has the glyph and the word of its state, and a retry shows its attempt', () => {
  const session = new SessionModel('sesn_1');
  for (const event of sampleLog({ sessionId: 'sesn_1', isOpen: true })) {
    session.fold(event);
    if (event.type === 'agent_start') break;
  }
  const now = session.slots.lastAt!;
  expect(toShownRows(session, session.slots, now)[0]).toMatchObject({ state: 'thinking', glyph: '◐', word: 'working' });
  session.fold({
    type: 'request_retrying',
    cursor: '9999',
    seq: null,
    ts: now,
    stream_id: 0,
    depth: 0,
    agent: 'coordinator',
    thread_id: null,
    code: 'model_overloaded_error',
    message: '529 overloaded',
    attempt: 3,
    retry_at: now + 1_000,
  });
  expect(toShownRows(session, session.slots, now)[0]).toMatchObject({ state: 'retry', glyph: '↻3', word: 'retry' });
});
