import { type Step, toScript } from '../../packages/cli/src/conformance/harness/script.ts';
import { Caller, toMessage } from '../nodes/work.ts';

/** Sessions that a version of Fleetloom has made, and what it returned for them before it was stopped. */
export interface OldData {
  readonly key: string;
  readonly environment: string;
  readonly file: string;
  readonly sessions: Readonly<Record<'done' | 'asks' | 'works' | 'delegates' | 'archived', OldSession>>;
}

export interface OldSession {
  readonly id: string;
  readonly status: string;
  readonly title: string;
  readonly events: readonly OldEvent[];
}

export interface OldEvent {
  readonly id: string;
  readonly type: string;
  readonly content?: unknown;
}

/** Makes one session of each kind, waits until each is where it is meant to be, and notes what the server returns. */
export async function makeOldData(url: string, key: string): Promise<OldData> {
  const caller = new Caller(url, key);
  const { id: environment } = await caller.call<{ id: string }>('POST', '/v1/environments', { name: 'old' });
  const tools = [{ type: 'agent_toolset_20260401' }];
  const asking = [{ ...tools[0], default_config: { permission_policy: { type: 'always_ask' } } }];
  const agentOf = async (turns: readonly (readonly Step[])[], more: object = {}) => {
    const agent = { name: 'old', model: 'scripted/echo', system: toScript(turns), ...more };
    return (await caller.call<{ id: string }>('POST', '/v1/agents', agent)).id;
  };
  const begin = async (title: string, agent: string) => {
    const body = { agent, environment_id: environment, title };
    const { id } = await caller.call<{ id: string }>('POST', '/v1/sessions', body);
    await caller.call('POST', `/v1/sessions/${id}/events`, toMessage('Begin'));
    return id;
  };
  const write: Step = { call: 'write', input: { file_path: '/mnt/session/outputs/old.txt', content: 'from before' } };
  const said: Step = { say: 'The first answer', chunks: 3, every_ms: 5 };
  const worker = await agentOf([[{ say: 'My report' }], [{ say: 'My second report' }]]);
  const done = await begin(
    'done',
    await agentOf([[write], [said], [{ say: 'An answer after the upgrade' }]], { tools }),
  );
  const asks = await begin('asks', await agentOf([[write], [{ say: 'Allowed' }]], { tools: asking }));
  const lead = await caller.call<{ id: string }>('POST', '/v1/agents', {
    name: 'lead',
    model: 'scripted/research',
    multiagent: { type: 'coordinator', agents: [worker] },
  });
  const delegates = await begin('delegates', lead.id);
  const archived = await begin('archived', await agentOf([[said]]));
  for (const id of [done, asks, delegates, archived]) await untilStatus(caller, id, 'idle');
  await caller.call('POST', `/v1/sessions/${archived}/archive`);
  const works = await begin('works', await agentOf([[{ sleep_ms: 3_000 }, { say: 'It went on' }]]));
  await untilStatus(caller, works, 'running');
  const form = new FormData();
  form.set('file', new Blob(['uploaded before']), 'before.txt');
  const upload = await fetch(`${url}/v1/files`, { method: 'POST', headers: { 'x-api-key': key }, body: form });
  const { id: file } = (await upload.json()) as { id: string };
  const note = async (id: string) => {
    const { status, title } = await caller.call<{ status: string; title: string }>('GET', `/v1/sessions/${id}`);
    return { id, status, title, events: await readEvents(caller, id) };
  };
  const sessions = {
    done: await note(done),
    asks: await note(asks),
    works: await note(works),
    delegates: await note(delegates),
    archived: await note(archived),
  };
  return { key, environment, file, sessions };
}

export async function readEvents(caller: Caller, session: string): Promise<OldEvent[]> {
  const { data } = await caller.call<{ data: OldEvent[] }>('GET', `/v1/sessions/${session}/events?limit=100`);
  // What both versions promise; a newer one may add fields.
  return data.map(({ id, type, content }) => ({ id, type, ...(content === undefined ? {} : { content }) }));
}

export async function untilStatus(caller: Caller, session: string, status: string): Promise<void> {
  for (const until = performance.now() + 60_000; ; ) {
    const now = (await caller.call<{ status: string }>('GET', `/v1/sessions/${session}`)).status;
    if (now === status) return;
    if (performance.now() > until) throw new Error(`${session} is ${now}, not ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
