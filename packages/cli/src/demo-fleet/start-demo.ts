import { openAsBlob } from 'node:fs';
import { basename, join } from 'node:path';
import type { Environment, FileMetadata, Session } from '@fleetloom/protocol/managed-agents';
import { chooseCoordinator } from '../agents/choose-coordinator.ts';
import { readAgents } from '../agents/read-agents.ts';
import { saveAgents } from '../agents/save-agents.ts';
import { DEFAULT_MODEL } from '../agents/to-model-name.ts';
import type { ServerApi } from '../connection/server-api.ts';
import { demoDirectory, listProject } from './demo-files.ts';
import { demoTask, demoTitle, demoEnvironment, scriptNameOf } from './describe-demo.ts';

export interface DemoRequest {
  readonly agents: number;
  /** A real model for all agents. Left out: the scripted one. */
  readonly model?: string | undefined;
}

/**
 * Begins a session in which a lead and its agents work on a copy of the sample project. It does what any client could:
 * agents, an environment, files, a session and a message, over HTTP.
 */
export async function startDemo(api: ServerApi, { agents, model }: DemoRequest): Promise<string> {
  const files = (await readAgents(join(demoDirectory, 'agents'))).map((each) => ({
    ...each,
    model: model ?? `scripted/${scriptNameOf(each.name, agents)}`,
  }));
  const agent = await saveAgents(api, files, chooseCoordinator(files, 'lead'), DEFAULT_MODEL);
  const session = await api.post<Session>('/v1/sessions', {
    agent,
    environment_id: await findEnvironment(api),
    title: demoTitle(agents),
    resources: await uploadProject(api),
  });
  const content = [{ type: 'text', text: demoTask }];
  await api.post(`/v1/sessions/${session.id}/events`, { events: [{ type: 'user.message', content }] });
  return session.id;
}

/** The one of an earlier start, if there is one. */
async function findEnvironment(api: ServerApi): Promise<string> {
  for await (const { id, name } of api.list<Environment>('/v1/environments')) if (name === demoEnvironment) return id;
  return (await api.post<Environment>('/v1/environments', { name: demoEnvironment, config: { type: 'cloud' } })).id;
}

/** A copy for this session: what its agents change, no other session sees. */
async function uploadProject(api: ServerApi): Promise<readonly object[]> {
  const paths = await listProject();
  return await Promise.all(
    paths.map(async (path) => {
      const form = new FormData();
      form.set('file', await openAsBlob(join(demoDirectory, 'project', path)), basename(path));
      const { id } = await api.upload<FileMetadata>('/v1/files', form);
      return { type: 'file', file_id: id, mount_path: `/workspace/${path}` };
    }),
  );
}
