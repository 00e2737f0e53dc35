import { parseFleetEvent } from '@fleetloom/protocol/fleet';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { SessionModel } from '../model/session-model.ts';
import { toShownRows } from '../model/summary.ts';
import { SessionBrief } from './SessionBrief.tsx';
import { LiveBlock, liveText } from './transcript/LiveBlock.tsx';

const stream = { stream_id: 0, depth: 0, agent: 'main', thread_id: 'sthr_1' };
const call = { ...stream, tool: 'bash', tool_use_id: 'sevt_1' };

it('[MX205] the transcript ends with what the running call writes, as text, until the call has ended', () => {
  const { emit, row } = openSession();
  emit('tool_start', { ...call, input: { command: 'make' } });
  expect(liveText(row(), [])).toBeUndefined();
  emit('tool_output', { ...call, delta: 'one\n<b>two</b>' });
  const live = liveText(row(), []);
  expect(live).toEqual({ kind: 'output', text: 'one\n<b>two</b>' });
  expect(renderToStaticMarkup(createElement(LiveBlock, { live: live! }))).toContain('one\n&lt;b&gt;two&lt;/b&gt;');
  emit('tool_call', { ...call, ok: true, duration_ms: 1 });
  expect(liveText(row(), [])).toBeUndefined();
});

it('[MX205] the brief has the plan: how many tasks are done, the current one, and all of them', () => {
  const { emit, row, shown } = openSession();
  const brief = () => renderToStaticMarkup(createElement(SessionBrief, { shown: shown(), row: row(), blocks: [] }));
  expect(brief()).not.toContain('Plan');
  const items = [
    { text: 'Look', status: 'completed' },
    { text: 'Fix <it>', status: 'in_progress' },
    { text: 'Test', status: 'pending' },
  ];
  emit('plan', { ...stream, items });
  expect(brief().replaceAll(/<[^>]*>/g, ' ')).toMatch(
    /Plan\s+1\s+of\s+3\s+Fix &lt;it&gt;\s+Look\s+completed\s+Fix &lt;it&gt;\s+in progress\s+Test\s+pending/,
  );
});

/** A session whose only thread has begun its turn. */
function openSession() {
  const session = new SessionModel('sesn_1');
  let seq = 0;
  const emit = (event: string, fields: object) => {
    const data = JSON.stringify({ session_id: 'sesn_1', seq: ++seq, ts: 1_000 + seq, ...fields });
    session.fold(parseFleetEvent({ event, id: String(seq), data }));
  };
  emit('request_received', { request_id: 'req_1', agent: 'main', message: 'go' });
  emit('stream_start', { ...stream, parent_stream_id: null, child_index: null, task: 'go', model: 'm' });
  const rows = () => toShownRows(session, session.slots, 2_000);
  const row = () => rows()[0]!;
  const shown = () => ({ session, slots: session.slots, rows: rows(), isLoading: false });
  return { emit, row, shown };
}
