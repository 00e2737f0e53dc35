import type { Agent, AgentCreateParams, FileMetadata, Session } from '@fleetloom/protocol/managed-agents';
import { api } from '../stores/connection/api.ts';
import { ensureEnvironment } from '../stores/connection/ensure-environment.ts';

/** Starts the same demo as `fleetloom start --demo 25`: creates missing agents, uploads the sample project, sends the task. */
export async function startDemo(): Promise<Session> {
  const { demo } = await import('./demo.ts');
  const known = new Map<string, Agent>();
  for await (const agent of api.list<Agent>('v1/agents?limit=100')) {
    if (!known.has(agent.name)) known.set(agent.name, agent);
  }
  const members = await Promise.all(demo.members.map((member) => ensure(known, member)));
  const lead = await ensure(known, { ...demo.lead, multiagent: { type: 'coordinator', agents: members } });
  const session = await api.post<Session>('v1/sessions', {
    agent: lead,
    environment_id: await ensureEnvironment(demo.environment),
    title: demo.title,
    resources: await Promise.all(Object.entries(demo.files).map(([path, text]) => upload(path, text))),
  });
  await api.send(session.id, { type: 'user.message', content: [{ type: 'text', text: demo.task }] });
  return session;
}

/** The id of an agent, created if needed. An agent of the command line is reused if its model, which names the script, is the same. */
async function ensure(known: ReadonlyMap<string, Agent>, params: AgentCreateParams): Promise<string> {
  const found = known.get(params.name);
  return found?.model.id === params.model ? found.id : (await api.post<Agent>('v1/agents', params)).id;
}

async function upload(path: string, text: string): Promise<object> {
  const form = new FormData();
  form.set('file', new Blob([text]), path.split('/').at(-1));
  const { id } = await api.upload<FileMetadata>('v1/files', form);
  return { type: 'file', file_id: id, mount_path: `/workspace/${path}` };
}
