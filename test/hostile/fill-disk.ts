import { existsSync, rmSync } from 'node:fs';
import { APIError, type Anthropic } from '@anthropic-ai/sdk';
import { expect } from 'vitest';
import { becomesIdle, readSession, runSession, sendMessage, type SessionEvent, startSession } from './run-session.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';
import { startVictim, type Victim } from './victim.ts';

const FULL_BYTES = 16 * 1_024;
const SPARE = 'spare';

/** The records that the server has acknowledged. */
interface Acknowledged {
  readonly agents: Set<string>;
  readonly files: Map<string, number>;
  readonly messages: Map<string, number>;
}

/** An agent and uploads fill the disk of a server, rounds after one another; each time there is room again, everything works. */
export async function fillDisk(rounds: number): Promise<void> {
  const disk = mountSmallDisk(48)!;
  const known: Acknowledged = { agents: new Set(), files: new Map(), messages: new Map() };
  let victim = await startVictim({ dataDirectory: disk.directory });
  try {
    const history = new Map<string, readonly SessionEvent[]>();
    for (let round = 0; round < rounds; round++) {
      const reader = await startSession(victim.canary, { turns: [[{ say: 'one two three', chunks: 3, every_ms: 1 }]] });
      await becomesIdle(victim.canary, reader);
      known.messages.set(reader, 1);
      history.set(reader, (await readSession(victim.canary, reader)).events);
      const filler = await fillByAgent(victim, disk);
      await workOnFullDisk(victim, disk, known, reader);
      expect((await fetch(`${victim.url}/healthz`)).status).toBe(200);
      free(disk, filler);
      await expectRecovered(victim, known);
      await expectKept(victim, known, history);
      // Its result could not be written, nor that it is given up: it is taken up again when its lease has run out.
      await becomesIdle(victim.attacker, filler);
      await victim.attacker.beta.sessions.delete(filler);
    }
    expect(victim.exit()).toBe(undefined);
    expect(victim.stderr()).not.toMatch(/unexpected|uncaught|unhandled|FATAL/i);
    // Killed, because an orderly end could repair what was wrong.
    await victim.kill();
    victim = await startVictim({ dataDirectory: disk.directory, keys: victim.keys });
    await expectKept(victim, known, history);
    const filler = await fillByAgent(victim, disk);
    await sendLargeMessages(victim, history.keys().next().value!);
    expect(await victim.stop()).toBe(0);
    expect(victim.stderr()).not.toMatch(/unexpected|uncaught|unhandled|FATAL/i);
    free(disk, filler);
    victim = await startVictim({ dataDirectory: disk.directory, keys: victim.keys });
    await expectKept(victim, known, history);
    expect(await victim.stop()).toBe(0);
  } finally {
    await victim.close();
    disk.unmount();
  }
}

/** The agent's workspace takes all that is left, except what `SPARE` gives back. */
async function fillByAgent({ attacker }: Victim, disk: SmallDisk): Promise<string> {
  const command = `head -c 600000 /dev/zero > ${SPARE}; head -c 100000000 /dev/zero > fill; head -c 1000000 /dev/zero > more; : > filled`;
  const id = await startSession(attacker, { turns: [[{ call: 'bash', input: { command } }], [{ say: 'done' }]] });
  // An empty file needs no space. Before it is there, the agent could take what `SPARE` gives back.
  await expect.poll(() => existsSync(`${disk.directory}/workspaces/${id}/filled`), { timeout: 30_000 }).toBe(true);
  expect(disk.freeBytes()).toBeLessThan(FULL_BYTES);
  // Room for some requests: what they are promised has to survive the ones that find none.
  rmSync(`${disk.directory}/workspaces/${id}/${SPARE}`);
  return id;
}

/** Everything that a client can ask for either succeeds and is kept, or fails with an error that says why. */
async function workOnFullDisk(victim: Victim, disk: SmallDisk, known: Acknowledged, reader: string): Promise<void> {
  const failures: APIError[] = [];
  const attempt = async (work: () => Promise<void>) => {
    await work().catch((error: unknown) => {
      if (!(error instanceof APIError) || error.status === undefined) throw error;
      failures.push(error);
    });
  };
  const { attacker, canary } = victim;
  for (let count = 0; count < 30; count++) {
    await attempt(async () => {
      const options = { name: 'kept', model: 'scripted/echo', system: 'x'.repeat(20_000) } as const;
      known.agents.add((await withoutRetries(attacker).beta.agents.create(options)).id);
    });
    await attempt(async () => {
      const bytes = 1 + count * 10_000;
      const file = new File([Buffer.alloc(bytes)], 'kept.bin', { type: 'application/octet-stream' });
      known.files.set((await withoutRetries(attacker).beta.files.upload({ file })).id, bytes);
    });
    await attempt(async () => {
      await sendMessage(withoutRetries(canary), reader, 'Go on.');
      known.messages.set(reader, known.messages.get(reader)! + 1);
    });
  }
  await sendLargeMessages(victim, reader);
  console.log(`${failures.length} of 90 requests failed with ${disk.freeBytes()} bytes free`);
  expect(failures.length).toBeGreaterThan(10);
  expect([known.agents.size > 0, known.files.size > 0]).toEqual([true, true]);
  const untyped = failures.filter(({ status, message }) => status !== 507 || !message.includes('storage_full'));
  expect(untyped.map(({ message }) => message)).toEqual([]);
  // Reading does not need disk space.
  expect((await canary.beta.sessions.retrieve(reader)).id).toBe(reader);
}

/** SQLite writes messages that are larger than its page cache before the commit, inside a savepoint. */
async function sendLargeMessages({ canary }: Victim, reader: string): Promise<void> {
  for (let count = 0; count < 3; count++) {
    const sending = sendMessage(withoutRetries(canary), reader, 'x'.repeat(8_000_000));
    await expect(sending).rejects.toMatchObject({ status: 507 });
  }
}

function withoutRetries(client: Anthropic): Anthropic {
  return client.withOptions({ maxRetries: 0 });
}

/** What an operator would do. */
function free({ directory }: SmallDisk, sessionId: string): void {
  for (const name of ['fill', 'more']) rmSync(`${directory}/workspaces/${sessionId}/${name}`, { force: true });
}

async function expectRecovered({ attacker, canary }: Victim, known: Acknowledged): Promise<void> {
  await expect
    .poll(
      async () => (await attacker.beta.agents.create({ name: 'kept', model: 'scripted/echo' }).catch(String)) as never,
    )
    .toMatchObject({ type: 'agent' });
  for (const [id] of known.messages) await becomesIdle(canary, id);
  const turns = [[{ call: 'bash', input: { command: 'echo works > a; cat a' } }], [{ say: 'done' }]];
  const { results } = await runSession(attacker, { turns });
  expect(results).toEqual([expect.stringContaining('works')]);
}

/** All that was acknowledged is there, and what was read before is the beginning of what is read now. */
async function expectKept(
  { attacker, canary }: Victim,
  known: Acknowledged,
  history: ReadonlyMap<string, readonly SessionEvent[]>,
): Promise<void> {
  const agents = new Set<string>();
  for await (const { id } of attacker.beta.agents.list({ limit: 100 })) agents.add(id);
  expect([...known.agents].filter((id) => !agents.has(id))).toEqual([]);
  for (const [id, bytes] of known.files) {
    const answer = await attacker.beta.files.retrieveMetadata(id);
    expect([id, answer.size_bytes]).toEqual([id, bytes]);
  }
  for (const [id, before] of history) {
    // A message that was acknowledged while the log could not be written is taken up when the session has an owner again.
    const countMessages = async () =>
      (await readSession(canary, id)).events.filter(({ type }) => type === 'user.message').length;
    await expect.poll(countMessages, { timeout: 60_000 }).toBe(known.messages.get(id));
    await becomesIdle(canary, id);
    const { events } = await readSession(canary, id);
    expect(events.slice(0, before.length)).toEqual(before);
  }
}
