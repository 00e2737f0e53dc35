import { expect, it } from 'vitest';
import { toScript, withServer } from '../server.suite.ts';

const MESSAGE = [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }] as const;
/** A busy machine may answer some of many requests at once with 529. */
const PATIENCE = { maxRetries: 10 };
/** It reports that it has done so. */
const WITHOUT_REPORTS = { onProblem: () => undefined };

it('[H70] a session that is made with events is answered as running, however fast its agent is', async () => {
  await withServer(async ({ client: impatient }) => {
    const client = impatient.withOptions(PATIENCE);
    const system = toScript([[{ say: 'done' }]]);
    const { id: agent } = await client.beta.agents.create({ name: 'quick', model: 'scripted/echo', system });
    const { id: environment_id } = await client.beta.environments.create({ name: 'here' });
    const initial_events = [...MESSAGE] as never;
    // Many at once: some have ended their turn before their answer is written.
    const made = await Promise.all(
      Array.from({ length: 40 }, () => client.beta.sessions.create({ agent, environment_id, initial_events })),
    );
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set(['running']));
    const plain = await client.beta.sessions.create({ agent, environment_id });
    expect(plain.status).toBe('idle');
  }, WITHOUT_REPORTS);
}, 240_000);

it('[H71] a request after a send finds the session running and the message in the list', async () => {
  await withServer(async ({ client: impatient }) => {
    const client = impatient.withOptions(PATIENCE);
    const system = toScript([[{ sleep_ms: 60_000 }]]);
    const { id: agent } = await client.beta.agents.create({ name: 'slow', model: 'scripted/echo', system });
    const { id: environment_id } = await client.beta.environments.create({ name: 'here' });
    const ask = async () => {
      const { id } = await client.beta.sessions.create({ agent, environment_id });
      const { data } = await client.beta.sessions.events.send(id, { events: [...MESSAGE] as never });
      const [session, { data: listed }] = await Promise.all([
        client.beta.sessions.retrieve(id),
        client.beta.sessions.events.list(id),
      ]);
      return [session.status, listed.some((event) => event.id === data?.[0]?.id)];
    };
    // Many at once, so that some are taken up later than others.
    const seen = await Promise.all(Array.from({ length: 30 }, ask));
    expect(new Set(seen.map(String))).toEqual(new Set(['running,true']));
  }, WITHOUT_REPORTS);
}, 240_000);
