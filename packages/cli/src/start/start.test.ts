import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import type { WorkspaceChanges } from '@fleetloom/protocol/fleet';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { demoDirectory } from '../demo-fleet/demo-files.ts';
import { buildProgram, type Running, startProgram } from '../../test-support/processes.ts';

const root = mkdtempSync(join(tmpdir(), 'fleetloom-start-'));
beforeAll(buildProgram);
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Printed {
  readonly url: string;
  readonly key: string;
  readonly dashboard: string;
}

async function start(args: string[]): Promise<Running & { printed: Printed; client: Anthropic }> {
  const running = startProgram(['start', '--json', '--port', '0', ...args]);
  all.push(running);
  await running.saw(/\n/);
  const printed = JSON.parse(running.out.stdout) as Printed;
  return { ...running, printed, client: new Anthropic({ baseURL: printed.url, apiKey: printed.key, authToken: null }) };
}

/** Asks again until it is so. */
async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  await vi.waitUntil(isSo, { timeout: 90_000, interval: 100 });
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function stop(running: Running) {
  running.child.kill('SIGINT');
  return await running.ended;
}

/** The only session, once it is as it should be. */
async function untilSession(client: Anthropic, isSo: (session: Anthropic.Beta.BetaManagedAgentsSession) => boolean) {
  let found: Anthropic.Beta.BetaManagedAgentsSession | undefined;
  await eventually(async () => {
    found = (await client.beta.sessions.list()).data[0];
    return found !== undefined && isSo(found);
  });
  return found!;
}

/** The same scripts without the pauses that are for people. */
function hurry(data: string): void {
  const scripts = join(data, 'demo-scripts');
  mkdirSync(scripts, { recursive: true });
  for (const name of readdirSync(join(demoDirectory, 'scripts'))) {
    const text = readFileSync(join(demoDirectory, 'scripts', name), 'utf8');
    writeFileSync(join(scripts, name), text.replaceAll(/(sleep_ms|every_ms|retry_after_s): \d+/g, '$1: 1'));
  }
}

function needsUser(event: Anthropic.Beta.Sessions.BetaManagedAgentsSessionEvent): boolean {
  return event.type === 'session.status_idle' && event.stop_reason.type === 'requires_action';
}

function nameOf(agent: object): unknown {
  return 'name' in agent ? agent.name : undefined;
}

async function textsOf(client: Anthropic, sessionId: string): Promise<string> {
  const texts: string[] = [];
  for await (const event of client.beta.sessions.events.list(sessionId)) {
    if (event.type === 'agent.message')
      for (const block of event.content) texts.push('text' in block ? block.text : '');
  }
  return texts.join('\n');
}

/** Whatever a test that failed has left behind. */
const all: Running[] = [];
afterAll(() => {
  for (const { child } of all) child.kill('SIGKILL');
});

// All at once: each has a directory of its own, and waits most of the time for what its server does.
describe.concurrent('fleetloom start', { timeout: 120_000 }, () => {
  it('[WS132] the demo works on a worktree of its sample project, and its changes are listed', async () => {
    const data = join(root, 'changes');
    hurry(data);
    const running = await start(['--data', data, '--demo', '6']);
    const { client, printed } = running;
    const { id } = await untilSession(client, () => true);
    const headers = { 'x-api-key': printed.key };
    const read = async () => {
      const response = await fetch(`${printed.url}/v1/sessions/${id}/changes`, { headers });
      return (await response.json()) as WorkspaceChanges;
    };
    await eventually(async () => ((await read()).files_count ?? 0) > 0);
    const { source, files, can_apply: can } = await read();
    expect(source).toMatchObject({
      type: 'directory',
      mode: 'worktree',
      path: `${realpathSync(root)}/changes-demo/ferry`,
    });
    expect(files.map(({ path }) => path)).toContain('docs/notes.md');
    expect(can).toEqual({ working_tree: true, branch: true });
    await stop(running);
  });

  it('[Y185] start while a server runs, and open, print a fresh login link and exit with 0', async () => {
    const data = join(root, 'twice');
    const running = await start(['--data', data, '--no-demo']);
    const second = startProgram(['start', '--json', '--data', data]);
    expect(await second.ended).toBe(0);
    const printed = JSON.parse(second.out.stdout) as Printed;
    expect(printed.url).toBe(running.printed.url);
    expect(printed.dashboard).not.toBe(running.printed.dashboard);
    const plain = startProgram(['start', '--data', data]);
    expect(await plain.ended).toBe(0);
    expect(plain.out.stderr).toContain(`Fleetloom is already running at ${printed.url}.`);
    const opened = startProgram(['open'], { FLEETLOOM_DATA: data });
    expect(await opened.ended).toBe(0);
    for (const link of [printed.dashboard, plain.out.stdout.trim(), opened.out.stdout.trim()]) {
      expect((await fetch(link, { redirect: 'manual' })).headers.get('set-cookie')).not.toBeNull();
      // Once only.
      expect((await fetch(link, { redirect: 'manual' })).headers.get('set-cookie')).toBeNull();
    }
    await stop(running);
    expect((await startProgram(['open'], { FLEETLOOM_DATA: data }).ended) as number).toBe(6);
  });

  it('[Y70, Y431] the first start begins a demo: real files, a fan-out, a retry, an approval that waits, a follow-up', async () => {
    const data = join(root, 'first');
    hurry(data);
    const running = await start(['--data', data]);
    const { client } = running;
    const waiting = await untilSession(client, () => true);
    const isWaiting = async () => (await collect(client.beta.sessions.events.list(waiting.id))).some(needsUser);
    await eventually(isWaiting);
    const events = await collect(client.beta.sessions.events.list(waiting.id));
    const threads = await collect(client.beta.sessions.threads.list(waiting.id));
    expect(threads).toHaveLength(8);
    expect(threads.map(({ agent }) => nameOf(agent))).toEqual(
      expect.arrayContaining(['lead', 'fixer', 'archivist', 'scout']),
    );
    const asks = events.filter((event) => event.type === 'agent.tool_use' && event.evaluated_permission === 'ask');
    expect(asks).toMatchObject([{ name: 'edit', input: { file_path: 'src/retry.js' } }]);

    const workspace = join(data, 'workspaces', waiting.id);
    expect(readFileSync(join(workspace, 'src', 'retry.js'), 'utf8')).toContain('2 ** attempts;');
    expect(readFileSync(join(workspace, 'docs', 'notes.md'), 'utf8')).toContain('job queue');
    const [ask] = asks;
    await client.beta.sessions.events.send(waiting.id, {
      events: [{ type: 'user.tool_confirmation', tool_use_id: ask!.id, result: 'allow' }],
    });
    // Then it asks to run the tests; what they printed is its report, and the result of the lead.
    const findTestRun = async () =>
      (await collect(client.beta.sessions.events.list(waiting.id))).find(
        (event) => event.type === 'agent.tool_use' && event.name === 'bash',
      );
    await eventually(async () => (await findTestRun()) !== undefined);
    await client.beta.sessions.events.send(waiting.id, {
      events: [{ type: 'user.tool_confirmation', tool_use_id: (await findTestRun())!.id, result: 'allow' }],
    });
    await eventually(async () =>
      /Fixed(?: and|, not) tested: the first retry now/.test(await textsOf(client, waiting.id)),
    );
    expect(readFileSync(join(workspace, 'src', 'retry.js'), 'utf8')).toContain('2 ** (attempts - 1);');
    const said = await textsOf(client, waiting.id);
    expect(said).toContain('I looked again.');
    expect(said).not.toContain('{{');
    const archivist = threads.find(({ agent }) => nameOf(agent) === 'archivist')!;
    const its = await collect(client.beta.sessions.threads.events.list(archivist.id, { session_id: waiting.id }));
    expect(its.filter(({ type }) => type === 'session.error').length).toBeGreaterThan(0);
    expect(await stop(running)).toBe(0);

    // The second start keeps it and begins nothing.
    const again = await start(['--data', data]);
    expect(again.printed.key).toBe(running.printed.key);
    expect((await again.client.beta.sessions.list()).data.map(({ id }) => id)).toEqual([waiting.id]);
    expect(await stop(again)).toBe(0);
  });

  it('[Y71] --demo sets the number of agents, up to 25', async () => {
    const running = await start(['--data', join(root, 'many'), '--demo', '25']);
    // The fleet shows what the agents of the demo do.
    expect(running.printed.dashboard).toMatch(/\/login\?code=[\w-]+&page=fleet$/);
    const { id } = await untilSession(running.client, () => true);
    const countThreads = async () => (await collect(running.client.beta.sessions.threads.list(id))).length;
    await eventually(async () => (await countThreads()) === 25);
    expect(await stop(running)).toBe(0);
    for (const [count, code] of [
      ['26', 2],
      ['2', 2],
      ['x', 2],
    ] as const) {
      const refused = startProgram(['start', '--demo', count, '--data', join(root, 'never')]);
      expect(await refused.ended).toBe(code);
      expect(refused.out.stderr).toContain('Pass a number from 3 to 25, or mixed.');
    }
  });

  it('[Y72] with --no-demo nothing begins, and the printed link opens the dashboard once', async () => {
    const data = join(root, 'quiet');
    const running = startProgram(['start', '--no-demo', '--port', '0', '--data', data]);
    await running.saw(/Data +\S+\n/);
    const link = /Dashboard +(\S+)/.exec(running.out.stdout)?.[1] ?? '';
    expect(link).not.toContain('page=');
    const first = await fetch(link, { redirect: 'manual' });
    expect(first.headers.get('set-cookie')).toMatch(/HttpOnly/i);
    expect((await fetch(link, { redirect: 'manual' })).headers.get('set-cookie')).toBeNull();
    const key = /Key +(\S+)/.exec(running.out.stdout)?.[1] ?? '';
    const sessions = await fetch(`${new URL(link).origin}/v1/sessions`, { headers: { 'x-api-key': key } });
    expect(await sessions.json()).toMatchObject({ data: [] });
    expect(await stop(running)).toBe(0);
  });

  it('[Y73] the scripts of the demo are files, and edits to them are kept', async () => {
    const data = join(root, 'scripts');
    expect(await stop(await start(['--data', data, '--no-demo']))).toBe(0);
    const script = join(data, 'demo-scripts', 'demo-scout.yaml');
    expect(readdirSync(join(data, 'demo-scripts'))).toContain('demo-lead-8.json');
    writeFileSync(script, 'turns: [[{ say: changed }]]\n');
    // Without a command it is the same.
    const again = startProgram(['--json', '--port', '0', '--data', data, '--no-demo']);
    await again.saw(/\n/);
    expect(await stop(again)).toBe(0);
    expect(readFileSync(script, 'utf8')).toContain('changed');
  });

  it('[Y74] on its machine other commands find the server and its key by themselves', async () => {
    const data = join(root, 'local');
    const running = await start(['--data', data, '--no-demo']);
    const env = { FLEETLOOM_DATA: data };
    const listed = startProgram(['sessions', '--json'], env);
    expect(await listed.ended).toBe(0);
    // To another server the key is not shown.
    const elsewhere = startProgram(['sessions', '--url', running.printed.url.replace('127.0.0.1', 'localhost')], env);
    expect(await elsewhere.ended).toBe(3);
    expect(await stop(running)).toBe(0);
  });
});
