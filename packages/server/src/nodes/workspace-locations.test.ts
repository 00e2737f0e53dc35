import type { SessionAgent } from '@fleetloom/protocol/managed-agents';
import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { sessionLimits } from '../sessions/core/limits.ts';
import { primaryOf } from '../sessions/core/state/state.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import type { ToolContext } from '../tools/tool.ts';
import {
  begins,
  createTestPrograms,
  says,
  turnBegins,
  turnEnds,
} from '../sessions/runtime/program/test-program.suite.ts';
import {
  agent,
  customResult,
  delegates,
  lead,
  message,
  openFleet,
  result,
  solo,
} from '../sessions/suite/fleet.suite.ts';
import { openMemory } from '../sessions/suite/stores.suite.ts';
import type { WorkspaceLocations } from './workspace-locations.ts';

const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
const main: SessionAgent = { ...agent('main'), model };

it('[P80] only what works with files binds a session: no tool of the web, no MCP server, no tool of the client, no delegation', async () => {
  const settled: string[] = [];
  const locations: WorkspaceLocations = {
    find: async () => 'none',
    settle: async (sessionId, use) => void settled.push(`${sessionId} ${use}`),
    leave: async () => {},
    isHere: async () => false,
  };
  const long = async (_: unknown, __: AbortSignal, { openWorkspace }: ToolContext) => (
    await openWorkspace(), await openWorkspace(), result('too long, so it is in a file')
  );
  const fleet = await openFleet({
    owner: 'one',
    shared: { locations },
    tools: {
      web_fetch: { kind: 'builtin', isSandboxed: false },
      docs: { kind: 'mcp' },
      ask: { kind: 'custom' },
      long: { kind: 'mcp', run: long },
      bash: { kind: 'builtin' },
    },
  });
  const call = (name: string) => ({ call: name, input: {} });
  const free = await fleet.begin(lead, {
    turns: [
      [call('web_fetch'), call('docs'), call('ask')],
      [delegates({ turns: [[call('docs')], [{ say: 'x' }]] })],
      [{ say: 'y' }],
    ],
  });
  await fleet.rest(free);
  const [ask] = await fleet.asks(free);
  const head = await fleet.head(free);
  await fleet.send(free, customResult(ask!, 'answer'));
  await fleet.rest(free, head);
  const results = ['agent.tool_result', 'agent.mcp_tool_result'] as const;
  const counts = await Promise.all(results.map(async (type) => (await fleet.payloads(free, type)).length));
  expect(counts).toEqual([2, 2]);
  expect(settled).toEqual([]);

  for (const name of ['bash', 'long']) {
    const bound = await fleet.begin(solo, { turns: [[call(name)], [{ say: 'z' }]] });
    await fleet.rest(bound);
    expect(settled.splice(0)).toEqual([`${bound} workspace`]);
  }
});

it('[P45] a tool that needs no files is not begun either by a process that was frozen for longer than its lease', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  let ran = 0;
  let offers = 0;
  const one = await openFleet({
    store: await openMemory(clock),
    clock,
    schedule: time.schedule,
    owner: 'one',
    shared: {},
    tools: { docs: { kind: 'mcp', run: () => ((ran += 1), result('done')) } },
    // The first is for the request, the second for the call: there its servers may be slow.
    onOffer: () => void ((offers += 1) === 2 && clock.advance(sessionLimits.sharedLeaseMs)),
    isChecked: false,
  });
  await one.begin(solo, { turns: [[{ call: 'docs', input: {} }], [{ say: 'end' }]] });
  await expect.poll(() => one.problems).toMatchObject([{ code: 'stale_owner' }]);
  expect([ran, offers]).toEqual([0, 2]);
});

it('[P84] the loss of its node ends the turn of a program, and the next one begins a new conversation', async () => {
  const store = await openMemory();
  let at: Awaited<ReturnType<WorkspaceLocations['find']>> = 'none';
  const settled: string[] = [];
  const locations: WorkspaceLocations = {
    find: async () => at,
    settle: async (_, use) => void settled.push(use),
    leave: async () => {
      at = 'none';
    },
    isHere: async () => false,
  };
  const programs = createTestPrograms();
  const one = await openFleet({ store, programs, owner: 'one', shared: { locations } });
  const id = await one.begin(main, 'Hello');
  const first = await programs.wait();
  first.emit({ type: 'opened', key: 'main', conversation: 'c1', version: '1' }, turnBegins, begins(), says('Hello.'));
  await one.until(id, ({ type }) => type === 'agent.message');
  expect([first.options.resume, settled]).toEqual([null, ['program']]);
  at = 'elsewhere';
  await one.sessions.close();
  at = 'lost';
  const two = await openFleet({ store, programs, owner: 'two', shared: { locations, tickMs: 20 } });
  await two.rest(id);
  const head = await two.head(id);
  await two.send(id, message('Go on'));
  const second = await programs.wait(1);
  expect(second.options.resume).toBe(null);
  second.emit({ type: 'opened', key: 'main', conversation: 'c2', version: '1' }, turnBegins, turnEnds);
  await two.rest(id, head);
  expect(await two.payloads(id, 'session.error')).toMatchObject([
    { error: { reason: 'workspace_lost', message: expect.stringContaining('start again') }, retry: 'exhausted' },
  ]);
  expect([at, settled, primaryOf(await two.state(id)).program.conversation]).toEqual([
    'none',
    ['program', 'program'],
    'c2',
  ]);
});
