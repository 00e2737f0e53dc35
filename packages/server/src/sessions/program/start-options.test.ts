import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it, vi } from 'vitest';
import { agent, message, openFleet, workspaceId } from '../suite/fleet.suite.ts';
import { createTestPrograms, turnBegins, turnEnds } from '../runtime/program/test-program.suite.ts';

const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
const main: SessionAgent = { ...agent('main'), model };

it('[J307] depth and settings are changed while the session is idle, and hold from the next message on, in the same conversation', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin(main, 'Go.');
  const program = await programs.wait();
  expect(program.options).toMatchObject({ depthMax: 1, settings: 'none' });
  const change = (metadata: Record<string, string>) => fleet.sessions.update({ workspaceId, sessionId: id, metadata });
  program.emit({ type: 'opened', key: 'main', conversation: 'c1', version: null }, turnBegins);
  await fleet.until(id, ({ type }) => type === 'program.opened');
  await expect(change({ 'claude_code.depth': '2' })).rejects.toMatchObject({ code: 'session_running' });
  await expect(change({ 'claude_code.settings': 'project' })).rejects.toMatchObject({ code: 'session_running' });
  program.emit(turnEnds);
  const { seq } = await fleet.rest(id);
  await change({ other: 'x' });
  expect(program.heard).toEqual(['say Go.']);
  await change({ 'claude_code.depth': '2', 'claude_code.settings': 'project' });
  await vi.waitFor(() => expect(program.heard.at(-1)).toBe('close'), 20_000);
  await fleet.send(id, message('And now?'));
  const next = await programs.wait(1);
  expect(next.options).toMatchObject({ resume: 'c1', depthMax: 2, settings: 'project' });
  next.emit(turnBegins, turnEnds);
  await fleet.rest(id, seq + 1);
});
