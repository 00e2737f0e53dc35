import { fleetLimits, type SessionHealth, type ThreadHealth } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { toRowCells } from '../ui/row-cells.ts';
import { toInboxItems } from './inbox-items.ts';
import { sampleLog } from './sample-log.suite.ts';
import { SessionModel } from './session-model.ts';
import { toShownRows } from './summary.ts';

const at = (ms: number) => new Date(ms).toISOString();

/** A session whose coordinator fell silent in the middle of its first request, a minute and a half ago. */
function stalled() {
  const session = new SessionModel('sesn_1');
  for (const event of sampleLog({ sessionId: 'sesn_1', isOpen: true })) {
    session.fold(event);
    if (event.type === 'agent_start') break;
  }
  const lastAt = session.slots.lastAt!;
  const now = lastAt + fleetLimits.stalledMs + 30_000;
  const threadId = session.slots.runs[0]!.slots[0]!.threadId!;
  const known = (thread: object | undefined, more: Partial<SessionHealth> = {}): SessionHealth => ({
    type: 'session_health',
    session_id: 'sesn_1',
    is_known: true,
    owner: { node_id: null },
    // Each of them is one of the kinds; the test names only what differs.
    threads: thread === undefined ? [] : [{ id: threadId, since: at(lastAt), ...thread } as ThreadHealth],
    ...more,
  });
  /** What the row and the card say, which is the same. */
  const why = (health: SessionHealth | undefined, isLive = true) => {
    const rows = toShownRows(session, session.slots, now, health);
    const cells = toRowCells(rows[0]!, now, isLive);
    const [item] = toInboxItems([{ session, slots: session.slots, rows }], now, isLive);
    expect([cells.state, item?.kind, item?.why]).toEqual(['stalled', 'stall', cells.doing]);
    return cells.doing.replace(/^no event for 1 min 30 s · | · no event for 1 min 30 s$/, '');
  };
  return { why, known, lastAt };
}

it('[Z332] the row and the card of a stalled thread show what the server reports: process, connection, last byte, tool', () => {
  const { why, known, lastAt } = stalled();
  const bytes = { last_byte_at: at(lastAt + 60_000) };
  const program = { doing: 'program', pid: 4711, is_alive: true, tool: null, ...bytes };
  const request = { doing: 'request', connection: 'open', ...bytes };
  const none = { last_byte_at: null };
  const cases: [object, string][] = [
    [program, 'pid 4711 alive, last byte 30 s ago'],
    [{ ...program, is_alive: false, tool: 'Bash' }, 'pid 4711 dead, last byte 30 s ago, runs Bash'],
    [{ ...program, ...none }, 'pid 4711 alive, no byte yet'],
    [{ ...program, pid: null, is_alive: false }, 'program not started yet'],
    [request, 'connection open, last byte 30 s ago'],
    [{ ...request, connection: 'sent', ...none }, 'no response, sent 1 min 30 s ago'],
    [{ ...request, connection: 'queued', ...none }, 'model request queued for 1 min 30 s'],
    [{ ...request, connection: null, ...none }, 'model request running for 1 min 30 s'],
    [{ doing: 'tool', tool: 'bash' }, 'runs bash for 1 min 30 s'],
    [{ doing: 'elsewhere', tool: 'Bash' }, 'Bash is running or waits for permission in its terminal'],
    [{ doing: 'elsewhere', tool: null }, 'runs in its terminal'],
    [{ doing: 'wait', waits_for: 'retry' }, 'waits for its next try'],
  ];
  for (const [thread, words] of cases) expect(why(known(thread))).toBe(words);
  expect(why(known(program, { owner: { node_id: 'node_2' } }))).toContain('last byte 30 s ago · on node_2');
});

it('[Z332] nothing is made up: an owner node that does not respond is named, and before the response only the log is used', () => {
  const { why, known } = stalled();
  expect(why(undefined)).toBe('the model has not responded');
  expect(why(known(undefined), false)).toBe('the model has not responded · not connected');
  expect(why(known(undefined))).toBe('no work in progress');
  expect(why(known(undefined, { owner: null }))).toBe('no node runs the session');
  expect(why(known(undefined, { is_known: false, owner: { node_id: 'node_2' } }))).toBe('node_2 does not respond');
  expect(why(known(undefined, { is_known: false }))).toBe('the owner node does not respond');
});
