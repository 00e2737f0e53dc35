import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchFleet } from '@fleetloom/client';
import { startServer } from '@fleetloom/server';

const models = { codex: 'codex/default', opencode: 'opencode/scripted/default', acp: 'acp:bench/default' };

/** Milliseconds from each line of a program to the fleet event at a client, without those during which the code is compiled. */
export async function readEngine(
  name: keyof typeof models,
  options: { readonly lines: number; readonly everyMs: number },
): Promise<readonly number[]> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-bench-'));
  // It answers by its name.
  const program = join(dataDirectory, `${name}.mjs`);
  await copyFile(join(process.cwd(), 'bench', 'engine-program.mjs'), program);
  const choice = { workspaces: ['wrkspc_default'], isUnsandboxed: true, environment: { PATH: process.env['PATH'] } };
  const programs =
    name === 'acp' ? { 'acp:bench': { ...choice, command: [program, 'acp'] } } : { [name]: { ...choice, program } };
  const server = await startServer({ dataDirectory, isOpen: true, programs });
  try {
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as { id: string };
    };
    const environment = await post('/v1/environments', { name: 'here' });
    const agent = await post('/v1/agents', { name: 'bench', model: models[name] });
    const { id: session } = await post('/v1/sessions', { agent: agent.id, environment_id: environment.id });
    const events = watchFleet({ url: server.url, session });
    const content = [{ type: 'text', text: JSON.stringify(options) }];
    await post(`/v1/sessions/${session}/events`, { events: [{ type: 'user.message', content }] });
    const delays: number[] = [];
    for await (const event of events) {
      if (event.type === 'done' && !event.ok) throw new Error(event.error ?? 'the run failed');
      if (event.type === 'done') break;
      if (event.type !== 'text') continue;
      const now = performance.timeOrigin + performance.now();
      for (const [, writtenAt] of event.delta.matchAll(/@([\d.]+)@/g)) delays.push(now - Number(writtenAt));
    }
    return delays.slice(delays.length / 4);
  } finally {
    await server.close();
    await rm(dataDirectory, { recursive: true, force: true, maxRetries: 5 });
  }
}
