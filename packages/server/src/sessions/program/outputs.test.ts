import { expect, it, vi } from 'vitest';
import { programLimits } from '../../engines/program/limits.ts';
import type { ProgramEvent } from '../../engines/program/program.ts';
import { agent, interruption, openFleet } from '../suite/fleet.suite.ts';
import {
  begins,
  calls,
  createTestPrograms,
  ends,
  gives,
  turnBegins,
  turnEnds,
} from '../runtime/program/test-program.suite.ts';

const model = { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } as const;
const writes = (text: string, callId = 't1'): ProgramEvent => ({ type: 'output_delta', key: 'main', callId, text });

it('[MX202] output of a running call is logged between the call and its result, at most 262,144 characters', async () => {
  const { fleet, id, program } = await open();
  program.emit(
    turnBegins,
    begins(),
    writes('of no call', 't0'),
    calls('t1', 'allow'),
    ends(),
    writes('one '),
    writes('two'),
  );
  program.emit(gives('t1'), writes('late'), begins(), calls('t2', 'allow'), ends());
  const max = programLimits.programOutputCharsMax;
  program.emit(writes('x'.repeat(max - 1), 't2'), writes('yz', 't2'), writes('z', 't2'), gives('t2'), turnEnds);
  await fleet.rest(id);
  const frames = await fleet.frames(id);
  const uses = frames.flatMap(({ type, payload }) => (type === 'agent.tool_use' ? [payload.id] : []));
  const shown = uses.map((use) =>
    frames
      .flatMap(({ type, payload }) => (type === 'delta.output' && payload.id === use ? [payload.text] : []))
      .join(''),
  );
  expect(shown).toEqual(['one two', `${'x'.repeat(max - 1)}y`]);
  expect(max).toBe(262_144);
});

it('[MX202] nothing is logged of a call that was interrupted, or that waits for an approval', async () => {
  const { fleet, id, program } = await open();
  program.emit(turnBegins, begins(), calls('t1', 'ask'), ends(), writes('not yet'));
  await fleet.until(id, ({ type }) => type === 'approval.requested');
  await fleet.send(id, interruption());
  await vi.waitFor(() => expect(program.heard).toContain('interrupt'), 20_000);
  program.emit(writes('no more'), { ...turnEnds, outcome: { type: 'stopped' } } as ProgramEvent, writes('late'));
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'delta.output')).toEqual([]);
});

it('[MX201] a plan is logged on the thread of its agent', async () => {
  const { fleet, id, program } = await open();
  const items = [{ text: 'Look', status: 'in_progress' as const }];
  program.emit(turnBegins, { type: 'plan', key: 'main', items }, turnEnds);
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'agent.plan')).toEqual([{ items }]);
});

async function open() {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs });
  const id = await fleet.begin({ ...agent('main', []), model }, 'Go.');
  return { fleet, id, program: await programs.wait() };
}
