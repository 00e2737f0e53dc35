import { setTimeout as wait } from 'node:timers/promises';
import type Anthropic from '@anthropic-ai/sdk';

type CreateAgent = Parameters<Anthropic['beta']['agents']['create']>[0];
type Config = Parameters<Anthropic['beta']['environments']['create']>[0]['config'];

export interface SessionOptions {
  /** Fields of the agent; by default it has all built-in tools. */
  readonly agent?: Partial<CreateAgent>;
  /** Turns of a scripted model. */
  readonly turns?: readonly unknown[];
  readonly message?: string;
  /** The config of its environment. */
  readonly config?: Config;
  /** Interrupts the session if it still works after this time. Without it such a session is an error. */
  readonly interruptMs?: number;
}

export interface SessionReport {
  readonly id: string;
  readonly isInterrupted: boolean;
  readonly events: readonly SessionEvent[];
  /** The texts of all results of tools. */
  readonly results: readonly string[];
  /** The types of all errors of the session. */
  readonly errors: readonly string[];
}

export interface SessionEvent {
  readonly type: string;
  readonly content?: unknown;
  readonly error?: { readonly type: string; readonly message: string };
}

/** A session of its own agent, from its first message until it is idle. Then it is deleted, and with it its tool host. */
export async function runSession(client: Anthropic, options: SessionOptions): Promise<SessionReport> {
  const id = await startSession(client, options);
  const isInterrupted = await becomesIdle(client, id, options.interruptMs);
  const report = { isInterrupted, ...(await readSession(client, id)) };
  await client.beta.sessions.delete(id);
  return report;
}

/** Resolves with the id of the session once its first message was accepted. */
export async function startSession(
  { beta }: Anthropic,
  { agent: given = {}, turns, message = 'Go on.', config }: SessionOptions,
): Promise<string> {
  const agent = await beta.agents.create({
    name: 'hostile',
    model: 'scripted/hostile',
    tools: [{ type: 'agent_toolset_20260401' }],
    ...(turns === undefined ? {} : { system: toScript(turns) }),
    ...given,
  });
  const environment = await beta.environments.create({ name: 'hostile', ...(config === undefined ? {} : { config }) });
  const session = await beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  await sendMessage({ beta } as Anthropic, session.id, message);
  return session.id;
}

export async function sendMessage({ beta }: Anthropic, sessionId: string, text: string): Promise<void> {
  await beta.sessions.events.send(sessionId, { events: [{ type: 'user.message', content: [{ type: 'text', text }] }] });
}

/** Whether it had to be interrupted. Throws if it works on all the same. */
export async function becomesIdle({ beta }: Anthropic, id: string, interruptMs?: number): Promise<boolean> {
  const isIdle = async (withinMs: number) => {
    const deadline = Date.now() + withinMs;
    while ((await beta.sessions.retrieve(id)).status !== 'idle') {
      if (Date.now() > deadline) return false;
      await wait(100);
    }
    return true;
  };
  if (await isIdle(interruptMs ?? PATIENCE_MS)) return false;
  if (interruptMs !== undefined) {
    await beta.sessions.events.send(id, { events: [{ type: 'user.interrupt' }] });
    if (await isIdle(PATIENCE_MS)) return true;
  }
  throw new Error(`${id} is still running`);
}

export async function readSession({ beta }: Anthropic, id: string): Promise<Omit<SessionReport, 'isInterrupted'>> {
  const events: SessionEvent[] = [];
  for await (const event of beta.sessions.events.list(id, { limit: 1_000 })) events.push(event);
  const results = events.filter(({ type }) => type.endsWith('tool_result'));
  return {
    id,
    events,
    results: results.map(({ content }) => JSON.stringify(content)),
    errors: events.flatMap(({ error }) => (error === undefined ? [] : [error.type])),
  };
}

/** As text that no tag in it can end. */
export function toScript(turns: readonly unknown[]): string {
  return `<script>${JSON.stringify({ turns }).replaceAll('<', '\\u003c')}</script>`;
}

const PATIENCE_MS = 60_000;

/** Works through all of it, so many at a time. */
export async function forEachAtOnce<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  const next = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}
