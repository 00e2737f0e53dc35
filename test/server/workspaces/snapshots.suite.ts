import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DirectoryResourceParams } from '@fleetloom/protocol/managed-agents';
import { expect } from 'vitest';
import type { FramePayloads, FrameType } from '../../../packages/server/src/frames/frames.ts';
import { type TestServer, toScript } from '../server.suite.ts';
import { createGit } from '../../../packages/server/src/workspaces/git/run-git.ts';
import { createSnapshots, type Snapshots } from '../../../packages/server/src/workspaces/snapshots/snapshots.ts';

/** A frame as an export has it. */
export type ExportedFrame = {
  [Type in FrameType]: {
    readonly seq: number;
    readonly type: Type;
    readonly thread_id: string | null;
    readonly turn: { readonly stream_id: number } | null;
    readonly payload: FramePayloads[Type];
  };
}[FrameType];

/** Creates a session on a directory, with an agent that plays a script. */
export async function createRecorded(
  { client }: Pick<TestServer, 'client'>,
  turns: readonly (readonly object[])[],
  resource: Omit<DirectoryResourceParams, 'type'> | null,
): Promise<string> {
  const tools = [{ type: 'agent_toolset_20260401' as const }];
  const agent = await client.beta.agents.create({
    name: 'a',
    model: 'scripted/inline',
    system: toScript(turns),
    tools,
    multiagent: { type: 'coordinator', agents: [{ type: 'self' }] },
  });
  const environment = await client.beta.environments.create({ name: 'here' });
  const { id } = await client.beta.sessions.create({
    agent: agent.id,
    environment_id: environment.id,
    // Not in the types of the SDK.
    ...(resource === null ? {} : { resources: [{ type: 'directory', ...resource }] as never }),
  });
  return id;
}

/** Sends a message and waits until the session is idle again. */
export async function say({ client }: Pick<TestServer, 'client'>, sessionId: string, text = 'Go.'): Promise<void> {
  const { events } = client.beta.sessions;
  await events.send(sessionId, { events: [{ type: 'user.message', content: [{ type: 'text', text }] }] });
  await waitIdle({ client }, sessionId);
}

/** Waits until the session is not running. */
export async function waitIdle({ client }: Pick<TestServer, 'client'>, sessionId: string): Promise<void> {
  const status = async () => (await client.beta.sessions.retrieve(sessionId)).status;
  // On a busy machine a session may work for minutes. The timeout of the test ends it in any case.
  await expect.poll(status, { timeout: 600_000 }).toMatch(/idle|terminated/);
}

/** All frames of a session. */
export async function framesOf({ url, key }: Pick<TestServer, 'url' | 'key'>, id: string): Promise<ExportedFrame[]> {
  const response = await fetch(`${url}/v1/sessions/${id}/export`, { headers: { 'x-api-key': key } });
  const lines = (await response.text()).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as ExportedFrame).filter(({ seq }) => seq !== undefined);
}

/** The snapshots of a server, read beside it. */
export function readSnapshots({ directory }: Pick<TestServer, 'directory'>): Snapshots {
  return createSnapshots({
    git: createGit('git'),
    directory: join(directory, 'snapshots'),
    workspaces: {
      sourceOf: async () => undefined,
      prepare: async () => {
        throw new Error('snapshots are only read');
      },
    },
    remover: { discard: async (path) => rmSync(path, { recursive: true, force: true }) },
  });
}
