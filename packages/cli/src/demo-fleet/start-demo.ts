import { openAsBlob } from 'node:fs';
import { basename, join } from 'node:path';
import type { Environment, FileMetadata, Session } from '@fleetloom/protocol/managed-agents';
import { chooseCoordinator } from '../agents/choose-coordinator.ts';
import { readAgents } from '../agents/read-agents.ts';
import { saveAgents } from '../agents/save-agents.ts';
import { DEFAULT_MODEL } from '../agents/to-model-name.ts';
import type { ServerApi } from '../connection/server-api.ts';
import { demoDirectory, listProject } from './demo-files.ts';
import { mixedTask, mixedTitle, saveMixedTeam } from './mixed-demo.ts';
import { demoTask, demoTitle, demoEnvironment, scriptNameOf } from './describe-demo.ts';

/** The size and the model of a demo. */
export interface DemoRequest {
  /** The number of agents, or `mixed` for one member on each program. */
  readonly agents: number | 'mixed';
  /** A real model for all agents. Undefined for the scripted model. */
  readonly model?: string | undefined;
  /** The git repository of the sample project. If undefined, the agents get a copy of its files. */
  readonly project?: string | undefined;
}

/**
 * Starts a session in which a lead and its agents work on the sample project, in a worktree of its repository or on a copy of
 * its files. Uses only the HTTP API: agents, an environment, files, a session and a message.
 */
export async function startDemo(api: ServerApi, { agents, model, project }: DemoRequest): Promise<string> {
  const isMixed = agents === 'mixed';
  const agent = isMixed ? await saveMixedTeam(api) : await saveTeam(api, agents, model);
  const session = await api.post<Session>('/v1/sessions', {
    agent,
    environment_id: await findEnvironment(api),
    title: isMixed ? mixedTitle : demoTitle(agents),
    resources: project === undefined ? await uploadProject(api) : [{ type: 'directory', path: project }],
  });
  const content = [{ type: 'text', text: isMixed ? mixedTask : demoTask }];
  await api.post(`/v1/sessions/${session.id}/events`, { events: [{ type: 'user.message', content }] });
  return session.id;
}

/** Creates the agents of the demo, and returns the id of the lead. */
async function saveTeam(api: ServerApi, agents: number, model: string | undefined): Promise<string> {
  const files = (await readAgents(join(demoDirectory, 'agents'))).map((each) => ({
    ...each,
    model: model ?? `scripted/${scriptNameOf(each.name, agents)}`,
  }));
  return await saveAgents(api, files, chooseCoordinator(files, 'lead'), DEFAULT_MODEL);
}

/** The environment of an earlier demo, or a new one. */
async function findEnvironment(api: ServerApi): Promise<string> {
  for await (const { id, name } of api.list<Environment>('/v1/environments')) if (name === demoEnvironment) return id;
  return (await api.post<Environment>('/v1/environments', { name: demoEnvironment, config: { type: 'cloud' } })).id;
}

/** Uploads a copy of the project for this session; changes are not visible to other sessions. */
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
