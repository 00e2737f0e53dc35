import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from '../../../../test/support/http-server.ts';
import { eventually, FakeIo } from '../../test-support/fake-io.ts';
import { limits } from '../limits.ts';
import { runProgram } from '../program.ts';

it('[J146] an agent that has nothing more to say counts as done after so long', async () => {
  const { bodies, pass, end } = await follow([said('Hi'), answered('Hello')]);
  expect(bodies.map(typesOf)).toEqual([['said', 'request_started', 'block']]);
  await pass(limits.attachQuietMs - limits.attachLookMs);
  expect(bodies).toHaveLength(1);
  await pass(limits.attachLookMs);
  expect(bodies.map(typesOf).at(-1)).toEqual(['request_ended', 'turn_ended']);
  await end();
});

it('[J146] the server is told now and then that somebody follows, and of what comes at the next look', async () => {
  const { bodies, pass, file, end } = await follow([said('Hi')]);
  await pass(limits.attachAliveMs - limits.attachLookMs);
  expect(bodies).toHaveLength(1);
  await pass(limits.attachLookMs);
  expect(bodies.map(typesOf)).toEqual([['said'], []]);
  await appendFile(file, `${JSON.stringify(answered('Hello'))}\n`);
  await pass(limits.attachLookMs);
  expect(bodies.map(typesOf).at(-1)).toEqual(['request_started', 'block']);
  await end();
});

it('[J147] a server that does not come back is tried now and then, and waited for so long', async () => {
  const { io, state, pass, file, ended } = await follow([said('Hi')]);
  state.isDown = true;
  await appendFile(file, `${JSON.stringify(answered('Hello'))}\n`);
  // The first attempt that fails is at the next look.
  await pass(limits.attachLookMs);
  await pass(limits.attachPatienceMs, limits.attachRetryMs);
  expect(io.stderr.text).toBe('');
  await pass(limits.attachRetryMs, limits.attachRetryMs, () => io.stderr.text !== '');
  expect(await ended).toBe(5);
  expect(io.stderr.text).toContain('fleetloom: ');
  expect(state.refused).toBeLessThanOrEqual(limits.attachPatienceMs / limits.attachRetryMs + 2);
}, 120_000);

/** Follows a file with a clock that the test moves, and a server that only takes down what it is sent. */
async function follow(lines: readonly object[]) {
  const bodies: Body[] = [];
  const state = { isDown: false, refused: 0 };
  const server = await serve((request, response) => {
    let text = '';
    request.on('data', (piece: Buffer) => {
      text += piece.toString();
    });
    request.on('end', () => {
      if (state.isDown) {
        state.refused++;
        return response.writeHead(503).end('{}');
      }
      const body = JSON.parse(text) as Body;
      bodies.push(body);
      const taken = Object.fromEntries(body.steps.map(({ key, line }) => [key, line]));
      response.end(JSON.stringify({ session_id: 'sesn_1', lines: taken, taken: body.steps.length }));
    });
  });
  onTestFinished(() => server.close());
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-attach-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, '00000000-0000-4000-8000-000000000009.jsonl');
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const io = new FakeIo({ input: '', env: { FLEETLOOM_URL: server.origin, FLEETLOOM_KEY: 'k' } });
  const ended = runProgram(io, ['attach', file]);
  const isWaiting = () => io.timers.pending > 0;
  await eventually(isWaiting);

  /** Lets time pass look by look: each has to be over before the next begins. */
  const pass = async (ms: number, byMs: number = limits.attachLookMs, isOver: () => boolean = () => false) => {
    for (let passed = 0; passed < ms; passed += byMs) {
      await io.timers.advance(byMs);
      await eventually(() => isWaiting() || isOver());
    }
  };
  const end = async () => {
    io.send('SIGINT');
    expect(await ended).toBe(0);
  };
  return { io, bodies, state, file, pass, ended, end };
}

interface Body {
  readonly steps: readonly { readonly key: string; readonly line: number; readonly event: { readonly type: string } }[];
}

function typesOf({ steps }: Body): string[] {
  return steps.map(({ event }) => event.type);
}

function said(text: string) {
  return { type: 'user', timestamp: '2026-01-01T00:00:00Z', message: { role: 'user', content: text } };
}

function answered(text: string) {
  const message = { id: 'm1', model: 'x', content: [{ type: 'text', text }], stop_reason: 'end_turn', usage: {} };
  return { type: 'assistant', timestamp: '2026-01-01T00:00:01Z', message };
}
