import { connect, type Socket } from 'node:net';
import { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import { expect } from 'vitest';
import type { HostileServer } from '../support/hostile-server.ts';
import { forEachAtOnce, runSession, sendMessage, startSession, toScript } from './run-session.ts';
import type { Victim } from './victim.ts';

/** Everything that a key holder may do, all at the same time and as large as it is allowed. */
export async function fillMemory(victim: Victim, hostile: HostileServer, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const unread = await openUnreadStreams(victim, 30);
    const refusals = await Promise.all([
      sendLargeMessages(victim, 4, 30_000_000),
      sendLargeMessages(victim, 16, 3_000_000),
      getLargeResults(victim, hostile, 8),
      runManySessions(victim, 100),
    ]);
    for (const socket of unread) socket.destroy();
    expect([victim.exit(), victim.stderr().slice(0, 2_000)]).toEqual([undefined, expect.any(String)]);
    // A client that sends on for longer than a second after its refusal is cut off, and on a busy machine some are.
    const untyped = refusals.flat().filter((error) => !(error instanceof APIConnectionError) && !isTyped(error.error));
    expect(untyped.map(({ message }) => message)).toEqual([]);
    console.log(`refused: ${JSON.stringify(countBy(refusals.flat().map(({ status }) => `${status}`)))}`);
  }
}

/** Streams of a session that says 4 MB, whose readers take nothing. */
async function openUnreadStreams({ attacker, port, keys }: Victim, count: number): Promise<readonly Socket[]> {
  const words = 'wörter '.repeat(500_000);
  const message = toScript([[{ say: words, chunks: 5_000, every_ms: 1 }]]);
  const id = await startSession(attacker, { message });
  return Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1').pause();
    socket.on('error', () => undefined);
    socket.write(
      `GET /v1/sessions/${id}/events/stream HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${keys.attacker}\r\n\r\n`,
    );
    return socket;
  });
}

/** Each is kept in the log, and shown to the model again with every request. */
async function sendLargeMessages({ attacker }: Victim, count: number, bytes: number): Promise<APIError[]> {
  const text = 'x'.repeat(bytes);
  return await collectRefusals(count, 8, async () => {
    const id = await startSession(attacker, { turns: [[{ say: 'one' }], [{ say: 'two' }]] });
    await sendMessage(attacker.withOptions({ maxRetries: 0 }), id, text);
  });
}

async function getLargeResults({ attacker }: Victim, hostile: HostileServer, count: number): Promise<APIError[]> {
  const names = ['call-largest', 'call-largest-wide', 'call-largest-image', 'call-many-values'];
  return await collectRefusals(count, 6, async (index) => {
    const policy = { default_config: { permission_policy: { type: 'always_allow' as const } } };
    const url = hostile.url('mcp', names[index % names.length]!);
    await runSession(attacker, {
      agent: {
        mcp_servers: [{ type: 'url', name: 'x', url }],
        tools: [{ type: 'mcp_toolset', mcp_server_name: 'x', ...policy }, { type: 'agent_toolset_20260401' }],
      },
      turns: [
        Array.from({ length: 4 }, () => ({ call: 'mcp__x__echo', input: {} })),
        [{ call: 'bash', input: { command: 'head -c 20000000 /dev/urandom | base64' } }],
        [{ say: 'done' }],
      ],
      interruptMs: 20_000,
    });
  });
}

/** All at work at the same time. */
async function runManySessions({ attacker: { beta } }: Victim, count: number): Promise<APIError[]> {
  const system = toScript([[{ say: 'word '.repeat(2_000), chunks: 200, every_ms: 20 }]]);
  const agent = await beta.agents.create({ name: 'many', model: 'scripted/many', system });
  const environment = await beta.environments.create({ name: 'many' });
  return await collectRefusals(count, 16, async () => {
    const session = await beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    const content = [{ type: 'text' as const, text: 'y'.repeat(100_000) }];
    await beta.sessions.events.send(session.id, { events: [{ type: 'user.message', content }] });
  });
}

async function collectRefusals(
  count: number,
  atOnce: number,
  work: (index: number) => Promise<void>,
): Promise<APIError[]> {
  const refusals: APIError[] = [];
  const indexes = Array.from({ length: count }, (_, index) => index);
  await forEachAtOnce(indexes, atOnce, async (index) => {
    await work(index).catch((error: unknown) => {
      refusals.push(error instanceof APIError ? error : new APIConnectionError({ message: String(error) }));
    });
  });
  return refusals;
}

function isTyped(error: unknown): boolean {
  return JSON.stringify(error).includes('"error_code"');
}

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}
