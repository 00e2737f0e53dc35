import type Anthropic from '@anthropic-ai/sdk';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { writeShellProgram } from '../../../packages/server/src/engines/program/claude-code/process/shell-program.suite.ts';
import type { ClaudeCodeChoice } from '../../../packages/server/src/composition/open-programs.ts';
import type { TestServer } from '../server.suite.ts';
import { noSandbox } from '../../../packages/server/src/tools/sandbox/sandbox.suite.ts';

export const WORKSPACE = 'wrkspc_default';
export const MODEL = 'claude-code/default';

/** A program that runs commands on request; in the sandbox, where one is available. */
export function choose(): ClaudeCodeChoice {
  return { workspaces: [WORKSPACE], program: writeShellProgram(), isUnsandboxed: noSandbox !== undefined };
}

export async function begin(
  { client }: TestServer,
  networking?: object,
  resources: NonNullable<Anthropic.Beta.SessionCreateParams['resources']> = [],
): Promise<string> {
  const agent = await client.beta.agents.create({ name: 'shell', model: MODEL });
  const config = networking === undefined ? {} : { config: { type: 'cloud', networking } as never };
  const environment = await client.beta.environments.create({ name: 'here', ...config });
  return (await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id, resources })).id;
}

/** Sends a command to the program and returns its output. Throws if the turn failed. */
export async function run({ client }: Pick<TestServer, 'client'>, id: string, command: string): Promise<string> {
  const stream = await client.beta.sessions.events.stream(id);
  await client.beta.sessions.events.send(id, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: command }] }],
  });
  let said = '';
  for await (const event of stream) {
    if (event.type === 'session.error') throw new Error(event.error.message);
    if (event.type === 'agent.message')
      said += event.content.map((block) => ('text' in block ? block.text : '')).join('');
    if (event.type === 'session.status_idle') return said;
  }
  throw new Error('the stream ended');
}

interface Exported {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export async function exported({ url, key }: Pick<TestServer, 'url' | 'key'>, id: string): Promise<Exported[]> {
  const answer = await fetch(`${url}/v1/sessions/${id}/export`, { headers: { authorization: `Bearer ${key}` } });
  const lines = (await answer.text()).trim().split('\n');
  return lines.slice(1, -1).map((line) => JSON.parse(line) as Exported);
}

/** A service of this machine that counts who reaches it. */
export async function serveNeighbour() {
  let requests = 0;
  const server: Server = createServer((_, response) => {
    requests++;
    response.end('reached');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, requests: () => requests };
}

/** Processes of this machine whose command line has this text. */
export function countProcesses(text: string): number {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && readCommand(name).includes(text)).length;
}

function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
