import type { Session } from '@fleetloom/protocol/managed-agents';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { fleet } from '../stores/stores.ts';
import { limits } from '../model/limits.ts';
import { sampleLog } from '../model/sample-log.suite.ts';
import { SessionModel } from '../model/session-model.ts';
import { toPlain } from '../ui/text/to-plain.ts';
import { markText } from './replay/mark-text.ts';
import { ThreadCard } from './transcript/ThreadCard.tsx';
import { toolNames } from './transcript/tool-names.ts';
import { exitCodeOf } from './transcript/blocks.ts';

it('[Z309] a command shows its exit code: 0 for success, otherwise the code that the shell reports at the end', () => {
  const result = (text: string, isError: boolean) => ({ text, isError, ms: 1, images: [] });
  expect(exitCodeOf({ tool: 'bash', result: result('Exit code 9 is what I print', false) })).toBe(0);
  expect(exitCodeOf({ tool: 'bash', result: result('no such file\n\nExit code 127', true) })).toBe(127);
  expect(exitCodeOf({ tool: 'bash', result: result('Exit code 1', true) })).toBe(1);
  // The command's own output precedes the shell's report.
  expect(exitCodeOf({ tool: 'bash', result: result('Exit code 3\n\nExit code 2', true) })).toBe(2);
  expect(exitCodeOf({ tool: 'bash', result: result('Timed out after 10 ms: …', true) })).toBeUndefined();
  expect(exitCodeOf({ tool: 'read', result: result('Exit code 1', true) })).toBeUndefined();
  expect(exitCodeOf({ tool: 'bash', result: null })).toBeUndefined();
});

it('[Z309] marks on the scrubber near the pointer are explained: approvals, errors and starts', () => {
  const session = new SessionModel('sesn_1');
  const log = sampleLog();
  for (const event of log) session.fold(event);
  const asked = log.find(({ type }) => type === 'approval_required')!;
  expect(markText(session, asked.ts!, 0)).toMatch(/^\d\d:\d\d:\d\d approval: asks for bash$/);
  expect(markText(session, asked.ts!, 1e9)).toMatch(/\n\d\d:\d\d:\d\d spawn: 5 started$/);
  expect(markText(session, log[0]!.ts! - 1e6, 10)).toBe('');
});

it('[Z309] a thread without text shows the tools of its agent', () => {
  const policy = { permission_policy: { type: 'always_allow' } };
  const tools = [
    {
      type: 'agent_toolset_20260401',
      default_config: { enabled: false, ...policy },
      configs: [{ name: 'grep', enabled: true, ...policy }],
    },
    { type: 'custom', name: 'ask\u202eme' },
    { type: 'mcp_toolset', mcp_server_name: 'tickets' },
  ];
  // A literal of the wire; the code under test does not read the missing fields.
  const record = { agent: { name: 'lead', tools, multiagent: null } } as unknown as Session;
  expect(toolNames(record, 'lead')).toEqual(['grep', 'ask⟦RLO⟧me', 'tickets']);
  expect(toolNames(record, 'another agent')).toEqual([]);
  expect(toolNames(undefined, 'lead')).toEqual([]);
});

it('[Z309] the first line of a message has no Markdown markup', () => {
  expect(toPlain('**src/a.ts** reads `well`:\n\n- one\n2. two\n```js\ncode * 2\n```')).toBe(
    'src/a.ts reads well: one two code * 2',
  );
});

it('[Z304] the whole input of a custom tool call is kept for the user who answers, for the newest calls up to the limit', () => {
  const session = new SessionModel('sesn_1');
  const [received, start] = sampleLog();
  session.fold(received!);
  session.fold(start!);
  const [call] = sampleLog().flatMap((event) => (event.type === 'tool_start' ? [event] : []));
  for (let id = 0; id <= limits.customInputsMax; id++) {
    const cursor = String(1_000 + id);
    const fields = { cursor, seq: 1_000 + id, tool: 'lookup', tool_use_id: `t${id}`, input: { ticket: id } };
    session.fold({ ...call!, ...fields });
  }
  session.fold({ ...call!, cursor: '9999', seq: 9_999, tool: 'bash', tool_use_id: 'b' });
  expect(session.customInputs.size).toBe(limits.customInputsMax);
  expect(session.customInputs.get(`t${limits.customInputsMax}`)).toEqual({ ticket: limits.customInputsMax });
  expect(session.customInputs.has('t0')).toBe(false);
  expect(session.customInputs.has('b')).toBe(false);
});

it('[Z309] a message to or from a thread has its name and number, and links to it', () => {
  const known = fleet.model.know('sesn_1');
  known.load = 'loaded';
  for (const event of sampleLog()) known.model.fold(event);
  fleet.notify();
  try {
    const row = fleet.rows()[0]!;
    const base = { id: 'e1', at: 1, events: [], type: 'thread', text: '**Do** it', direction: 'to' } as const;
    const draw = (threadId: string, agent: string) =>
      renderToStaticMarkup(createElement(ThreadCard, { block: { ...base, threadId, agent }, row }));
    const card = draw('sthr_sesn_1_3', 'worker1');
    expect(card).toContain('<b>worker1 2</b>');
    expect(card).toContain(' Do it');
    expect(card).toContain('href="#/session/sesn_1/sthr_sesn_1_0?beside=sesn_1%2Fsthr_sesn_1_3"');
    expect(card).toContain('href="#/session/sesn_1/sthr_sesn_1_3"');
    // An unknown thread has the name in the message.
    expect(draw('sthr_elsewhere', 'stranger')).toContain('<b>stranger</b>');
  } finally {
    fleet.model.sessions.clear();
    fleet.notify();
  }
});
