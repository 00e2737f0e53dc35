import { expect, it } from 'vitest';
import { CommandError } from '../base/command-error.ts';
import type { ServerApi } from '../connection/server-api.ts';
import { limits } from '../base/limits.ts';
import type { Step } from './step.ts';
import { StepSender } from './step-sender.ts';

const facts = { title: 'T', directory: '/home/user/shop', version: '2.1.325' };

interface Body {
  readonly steps: readonly Step[];
  readonly is_end: boolean;
}

/** Stands in for a server: keeps what it is sent, and answers with the lines that it has then. */
function createApi(known: Record<string, number> = {}) {
  const bodies: Body[] = [];
  const state = { isDown: false, lines: known };
  const post = async <Answer>(_: string, body: object): Promise<Answer> => {
    if (state.isDown) throw new CommandError(6, 'down', 'wait');
    const { steps } = body as Body;
    bodies.push({ ...(body as Body), steps: [...steps] });
    for (const { key, line } of steps) state.lines[key] = Math.max(line, state.lines[key] ?? 0);
    return { session_id: 'sesn_1', lines: { ...state.lines }, taken: steps.length } as Answer;
  };
  // The sender calls nothing else.
  return { api: { post } as unknown as ServerApi, bodies, state };
}

it('[J156] steps are sent in batches of limited number, those of a line together', async () => {
  const { api, bodies } = createApi();
  const sender = new StepSender(api, { program: 'claude-code', conversation: 'c' }, facts);
  for (let line = 1; line < limits.importStepsMax; line++) await sender.add([step(line)]);
  expect(bodies).toHaveLength(0);
  await sender.add([step(limits.importStepsMax), step(limits.importStepsMax)]);
  expect(bodies.map(({ steps }) => steps.length)).toEqual([limits.importStepsMax + 1]);
  expect(sender.isWaiting).toBe(false);
  await sender.flush(true);
  expect(bodies.at(-1)).toMatchObject({ steps: [], is_end: true, conversation: 'c', ...facts });
  expect([sender.sessionId, sender.taken]).toEqual(['sesn_1', limits.importStepsMax + 1]);
});

it('[J156] batches have a limited size', async () => {
  const { api, bodies } = createApi();
  const sender = new StepSender(api, { program: 'claude-code', conversation: 'c' }, facts);
  const long = 'x'.repeat(limits.importCharsMax / 2);
  await sender.add([step(1, long)]);
  expect(bodies).toHaveLength(0);
  await sender.add([step(2, long)]);
  expect(bodies).toHaveLength(1);
});

it('[J156] steps that the server has are not sent again, except those that end something', async () => {
  const { api, bodies } = createApi({ main: 7 });
  const sender = new StepSender(api, { program: 'claude-code', conversation: 'c' }, facts);
  await sender.add([step(1)]);
  await sender.flush();
  await sender.add([
    step(6),
    step(7),
    { ...step(7), event: { type: 'turn_ended', outcome: { type: 'done' } } },
    step(8),
  ]);
  await sender.flush();
  expect(bodies[1]?.steps.map(({ line, event }) => [line, event.type])).toEqual([
    [7, 'turn_ended'],
    [8, 'said'],
  ]);
});

it('[J156] steps that could not be sent are part of the next attempt', async () => {
  const { api, bodies, state } = createApi();
  const sender = new StepSender(api, { program: 'claude-code', conversation: 'c' }, facts);
  state.isDown = true;
  await sender.add([step(1)]);
  await expect(sender.flush()).rejects.toThrow('down');
  await sender.add([step(2)]);
  expect(sender.isWaiting).toBe(true);
  state.isDown = false;
  await sender.flush();
  expect(bodies.map(({ steps }) => steps.map(({ line }) => line))).toEqual([[1, 2]]);
});

function step(line: number, text = 'x'): Step {
  return {
    key: 'main',
    line,
    time: '2026-01-01T00:00:00.000Z',
    event: { type: 'said', content: [{ type: 'text', text }] },
  };
}
