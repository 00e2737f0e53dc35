import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { toolLimits } from '../../limits.ts';
import { type ToolLimits, toToolLimits } from '../../tool-limits.ts';
import { HostConnection } from './host-connection.ts';

// Tool hosts that an agent has taken over: real processes that do not keep to the contract.

const workspace = mkdtempSync(join(tmpdir(), 'fleetloom-hostile-'));
afterAll(() => rmSync(workspace, { recursive: true }));

const CALL = { type: 'close_thread', threadId: 'sthr_1' } as const;

/** Its functions are there for all of them. */
const WORDS = `
  const send = (text) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(text));
    process.stdout.write(Buffer.concat([length, Buffer.from(text)]));
  };
  const answer = (id) => send(JSON.stringify({ id, text: '', isError: false, shells: 0 }));
  process.stdin.once('data', () => begin());
  const begin = () => `;

async function connect(begin: string, changed: Partial<ToolLimits> = {}): Promise<HostConnection> {
  const launch = { file: process.execPath, args: ['-e', `${WORDS}{${begin}}`], env: {}, data: [] };
  return await HostConnection.start({ launch, workspace, limits: toToolLimits(changed) });
}

describe('a tool host that does not keep to the contract', () => {
  it.each([
    ['sends what is not JSON', `send('{')`, 'it sent what is not an answer'],
    ['sends JSON that is not an answer', `send('{"id":0}')`, 'it sent what is not an answer: not an answer'],
    ['sends bytes that are not UTF-8', `process.stdout.write(Buffer.from([0, 0, 0, 1, 255]))`, 'is not an answer'],
    [
      'announces a message of 4 GiB',
      `process.stdout.write(Buffer.alloc(64, 255))`,
      'has 4294967295 bytes, and at most',
    ],
    ['answers what was not asked', `answer(0); answer(7)`, 'no call waits for it'],
    ['answers twice', `answer(0); answer(0)`, 'no call waits for it'],
    [
      'floods stdout',
      `setInterval(() => process.stdout.write(Buffer.alloc(1e6, 'x')), 0)`,
      'at most 2097152 are allowed',
    ],
    ['floods stderr', `setInterval(() => process.stderr.write('x'.repeat(1e5)), 0)`, 'more than 65536 bytes to stderr'],
  ])('[U106] is ended, and its calls fail: it %s', async (_what, begin, reason) => {
    const connection = await connect(begin);
    const [first, second] = await Promise.all([
      connection.call(CALL, { timeoutMs: 20_000 }).catch(String),
      connection.call(CALL, { timeoutMs: 20_000 }).catch(String),
    ]);
    // The first of those that answer is answered, which is all that it was asked for.
    if (typeof first === 'string') expect(first).toContain(reason);
    expect(second).toContain(reason);
    await connection.gone;
    expect(toolLimits.toolHostStderrBytesMax).toBe(65_536);
  });

  it('[U106] an answer has 2 MiB and not a byte more', async () => {
    const padded = (bytes: number) => `
      const rest = JSON.stringify({ id: 0, text: '', isError: false, shells: 0 }).length;
      send(JSON.stringify({ id: 0, text: 'x'.repeat(${bytes} - rest), isError: false, shells: 0 }))`;
    const full = await connect(padded(1_000), { toolHostAnswerBytesMax: 1_000 });
    expect((await full.call(CALL, { timeoutMs: 20_000 })).text.length).toBeGreaterThan(900);
    full.close();
    const over = await connect(padded(1_001), { toolHostAnswerBytesMax: 1_000 });
    await expect(over.call(CALL, { timeoutMs: 20_000 })).rejects.toThrow('a message has 1001 bytes');
    await Promise.all([full.gone, over.gone]);
  });

  it('[U105] does not answer in time: it is ended, with all that it was doing', async () => {
    const connection = await connect('');
    const patient = connection.call(CALL, { timeoutMs: 20_000 });
    const calls = [connection.call(CALL, { timeoutMs: 200 }), patient];
    const outcomes = await Promise.allSettled(calls);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'ToolFailure' } });
    }
    await expect(patient).rejects.toThrow('it did not answer within 200 ms');
    await connection.gone;
    expect(toolLimits.toolHostCallMs).toBe(60_000);
  });

  it('[U108] does not stop when it is interrupted: it is ended after 4 s', async () => {
    const connection = await connect('answer(0)', { toolHostCancelMs: 200 });
    await connection.call(CALL, { timeoutMs: 20_000 });
    const stop = new AbortController();
    const call = connection.call(CALL, { timeoutMs: 20_000, signal: stop.signal });
    const other = connection.call(CALL, { timeoutMs: 20_000 }).catch(String);
    setTimeout(() => stop.abort(), 50);
    await expect(call).rejects.toThrow('(it did not stop when it was interrupted)');
    expect(await other).toContain('(it did not stop when it was interrupted)');
    await connection.gone;
    expect(toolLimits.toolHostCancelMs).toBe(4_000);
    expect(toolLimits.toolHostCancelMs).toBeLessThan(toolLimits.toolStopMsMax);
  });

  it('[U108] a call that was interrupted before it was sent is not sent', async () => {
    const connection = await connect('answer(1)');
    const call = connection.call(CALL, { timeoutMs: 20_000, signal: AbortSignal.abort() });
    await expect(call).rejects.toThrow('interrupted before it was done');
    expect(await connection.call(CALL, { timeoutMs: 20_000 })).toMatchObject({ id: 1 });
    connection.close();
    await connection.gone;
  });

  it('[U105] does not read: what waits for it does not pile up, and the calls fail in time', async () => {
    const deaf = { file: '/bin/sleep', args: ['1000'], env: {}, data: [] };
    const connection = await HostConnection.start({ launch: deaf, workspace, limits: toToolLimits() });
    const text = 'x'.repeat(8_000_000);
    const before = process.memoryUsage().rss;
    const keep = { type: 'keep', name: 'name', text } as const;
    const calls = Array.from({ length: 40 }, () => connection.call(keep, { timeoutMs: 700 }).catch(String));
    await new Promise((resolve) => setTimeout(resolve, 400));
    // One of them is on its way; forty of them would be 320 MB.
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    for (const outcome of await Promise.all(calls)) expect(outcome).toContain('it did not answer within 700 ms');
    await connection.gone;
  });

  it('[U103] input that is larger than a request may be is refused, and the host continues', async () => {
    const connection = await connect(`answer(1)`, { toolHostRequestBytesMax: 200 });
    const large = { type: 'keep', name: 'name', text: 'x'.repeat(200) } as const;
    await expect(connection.call(large, { timeoutMs: 20_000 })).rejects.toThrow('and at most 200 are taken');
    expect(await connection.call(CALL, { timeoutMs: 20_000 })).toMatchObject({ id: 1 });
    connection.close();
    await connection.gone;
  });

  it('[U104] the failure names why the host ended: killed, out of memory, or its last line on stderr', async () => {
    const outcome = async (begin: string) => {
      const connection = await connect(`answer(0); ${begin}`);
      await connection.call(CALL, { timeoutMs: 20_000 });
      const failure = await connection.call(CALL, { timeoutMs: 20_000 }).catch(String);
      await connection.gone;
      return failure;
    };
    expect(await outcome(`process.kill(process.pid, 'SIGKILL')`)).toContain('the tool process ended (it was killed); ');
    expect(await outcome(`process.exitCode = 9; process.stdin.destroy()`)).toContain('(exit code 9)');
    expect(await outcome(`console.error('JavaScript heap out of memory'); process.abort()`)).toContain(
      '(out of memory)',
    );
    expect(await outcome(`console.error('one'); console.error('two'); process.exit(3)`)).toContain(
      '(exit code 3: two)',
    );
  });

  it('[U104] a program that does not exist, and one that ends before it answers, fail the call that starts them', async () => {
    const nothing = { file: '/nonexistent/program', args: [], env: {}, data: [] };
    const start = HostConnection.start({ launch: nothing, workspace, limits: toToolLimits() });
    await expect(start).rejects.toThrow(/^the tool process could not be started \(spawn .*ENOENT\): call again later$/);
    const short = await connect(`console.error('cannot'); process.exit(1)`);
    await expect(short.call(CALL, { timeoutMs: 20_000 })).rejects.toThrow(
      'the tool process did not start (exit code 1: cannot): call again later',
    );
    await short.gone;
  });
});
