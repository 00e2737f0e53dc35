import { appendFile, mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from '../../../../test/support/http-server.ts';
import { eventually, FakeIo } from '../../test-support/fake-io.ts';
import { limits } from '../base/limits.ts';
import { runProgram } from '../program.ts';

it('[J146] an agent that adds nothing counts as done after a time limit', async () => {
  const { bodies, pass, end } = await follow([said('Hi'), answered('Hello')]);
  expect(bodies.map(typesOf)).toEqual([['said', 'request_started', 'block']]);
  await pass(limits.attachQuietMs - limits.attachLookMs);
  expect(bodies).toHaveLength(1);
  await pass(limits.attachLookMs);
  expect(bodies.map(typesOf).at(-1)).toEqual(['request_ended', 'turn_ended']);
  await end();
});

it('[J146] the server regularly learns that the session is followed, and new lines are sent at the next poll', async () => {
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

it('[J147] an unreachable server is retried up to a time limit', async () => {
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

it('[Y130] a file that was replaced or truncated is followed from its beginning as another session', async () => {
  const { io, bodies, pass, file, end } = await follow([said('Hi'), answered('Hello')]);
  // A copy with the same beginning goes on where it was.
  const copy = `${file}.copy`;
  await writeFile(copy, toText([said('Hi'), answered('Hello'), said('More')]));
  await rename(copy, file);
  await pass(limits.attachLookMs);
  expect(bodies.at(-1)).toMatchObject({ conversation: ID, is_end: false });
  expect(typesOf(bodies.at(-1)!)).toEqual(['request_ended', 'turn_ended', 'said']);
  await writeFile(file, toText([said('Other')]));
  await pass(limits.attachLookMs);
  expect(bodies.slice(-2)).toMatchObject([
    { conversation: ID, is_end: true },
    { conversation: `${ID}.2`, is_end: false },
  ]);
  expect(typesOf(bodies.at(-1)!)).toEqual(['said']);
  expect(io.stderr.text).toContain('was replaced or truncated');
  expect(io.stdout.text).toBe(`sesn_${ID}\nsesn_${ID}.2\n`);
  await end();
});

it('[Y131] a tool call without a result for 10 s is reported once as running or waiting for permission', async () => {
  const calls = [called('c1', 'Agent'), called('c2', 'Bash')];
  const { io, pass, end } = await follow([said('Hi'), ...calls]);
  await pass(limits.attachCallMs - limits.attachLookMs);
  expect([io.stderr.text, limits.attachCallMs]).toEqual(['', 10_000]);
  await pass(2 * limits.attachLookMs);
  expect(io.stderr.text).toBe(
    `sesn_${ID}: Bash has had no result for 10 s: it is running, or waiting for permission in its terminal.\n`,
  );
  await end();
});

it('[Y132] a new session after /clear, and a fork, is followed too; sessions of other terminals are not', async () => {
  const { bodies, pass, file, end } = await follow([{ ...said('Hi'), uuid: 'u1' }]);
  const write = (n: number, ...lines: readonly object[]) =>
    writeFile(join(dirname(file), `00000000-0000-4000-8000-00000000001${n}.jsonl`), toText(lines));
  const caveat = { ...said('<local-command-caveat>x'), isMeta: true, uuid: 'u2' };
  await write(1, { type: 'mode' }, caveat);
  await write(2, { ...said('Something else'), uuid: 'u3' });
  await write(3, { type: 'mode' }, { ...said('Hi'), uuid: 'u1' }, said('Forked'));
  await pass(limits.attachFindMs);
  expect(conversationsOf(bodies)).toEqual([ID, `${ID.slice(0, -2)}13`]);
  // Its first records are written one after the other.
  await write(1, { type: 'mode' }, caveat, said('<command-name>/clear</command-name>'), said('After'));
  await pass(limits.attachFindMs);
  expect(conversationsOf(bodies)).toEqual([ID, `${ID.slice(0, -2)}11`, `${ID.slice(0, -2)}13`]);
  expect(limits.attachFindMs).toBe(1_000);
  await end();
});

it('[Y133] --all follows every session that changed within 10 minutes, also later ones, at most 50', async () => {
  const { io, bodies, pass, file, end } = await follow([said('Hi')], (folder) => ['--all', '--config', folder]);
  expect(conversationsOf(bodies)).toEqual([ID]);
  const now = () => io.timers.now() / 1_000;
  const write = async (n: number, changedAt: number) => {
    const path = join(dirname(file), `00000000-0000-4000-8000-0000000001${String(n).padStart(2, '0')}.jsonl`);
    await writeFile(path, toText([said('Hi')]));
    await utimes(path, changedAt, changedAt);
  };
  await write(0, now() - limits.attachRunningMs / 1_000);
  await write(1, now());
  await pass(limits.attachFindMs);
  expect(conversationsOf(bodies)).toEqual([ID, '00000000-0000-4000-8000-000000000101']);
  // What has not changed for so long does not run any more.
  await utimes(file, now() - 601, now() - 601);
  await pass(limits.attachFindMs);
  expect(bodies.filter(({ is_end: isEnd }) => isEnd).map(({ conversation }) => conversation)).toEqual([ID]);
  for (let n = 2; n < 52; n++) await write(n, now() + 5);
  await pass(limits.attachFindMs);
  expect(io.stderr.text).toBe('51 sessions are running; only the 50 that changed last are followed.\n');
  expect(new Set(bodies.map(({ conversation }) => conversation)).size).toBe(52);
  expect([limits.attachSessionsMax, limits.attachRunningMs]).toEqual([50, 600_000]);
  await end();
}, 60_000);

/** Follows a file with a clock that the test moves, and a server that only takes down what it is sent. */
async function follow(lines: readonly object[], toArgs?: (config: string) => string[]) {
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
      const sessionId = `sesn_${body.conversation}`;
      response.end(JSON.stringify({ session_id: sessionId, lines: taken, taken: body.steps.length }));
    });
  });
  onTestFinished(() => server.close());
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-attach-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'projects', '-work', `${ID}.jsonl`);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, toText(lines));
  const io = new FakeIo({ input: '', env: { FLEETLOOM_URL: server.origin, FLEETLOOM_KEY: 'k' } });
  await utimes(file, io.timers.now() / 1_000, io.timers.now() / 1_000);
  const ended = runProgram(io, ['attach', ...(toArgs?.(folder) ?? [file])]);
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

const ID = '00000000-0000-4000-8000-000000000009';

function toText(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function conversationsOf(bodies: readonly Body[]): string[] {
  return [...new Set(bodies.map(({ conversation }) => conversation))].toSorted();
}

interface Body {
  readonly conversation: string;
  readonly is_end: boolean;
  readonly steps: readonly { readonly key: string; readonly line: number; readonly event: { readonly type: string } }[];
}

function typesOf({ steps }: Body): string[] {
  return steps.map(({ event }) => event.type);
}

function said(text: string) {
  return { type: 'user', timestamp: '2026-01-01T00:00:00Z', message: { role: 'user', content: text } };
}

function called(id: string, name: string) {
  const content = [{ type: 'tool_use', id, name, input: {} }];
  const message = { id: 'm1', model: 'x', content, stop_reason: 'tool_use', usage: {} };
  return { type: 'assistant', timestamp: '2026-01-01T00:00:01Z', message };
}

function answered(text: string) {
  const message = { id: 'm1', model: 'x', content: [{ type: 'text', text }], stop_reason: 'end_turn', usage: {} };
  return { type: 'assistant', timestamp: '2026-01-01T00:00:01Z', message };
}
