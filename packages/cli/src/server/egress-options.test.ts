import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkToolPrograms } from '@fleetloom/server';
import { expect, it, onTestFinished } from 'vitest';
import { begin, call } from '../../test-support/live-io.ts';

const { sandboxProblem } = await checkToolPrograms();
const ADDRESS = '127.0.0.2';

it.skipIf(sandboxProblem !== null)(
  '[EG109] --bash-network, --package-host and --egress-ca decide what commands reach, and wrong values are wrong usage',
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'fleetloom-egress-options-'));
    const registry = createServer((_, response) => void response.end('the registry')).listen(0, ADDRESS);
    await once(registry, 'listening');
    onTestFinished(async () => {
      registry.close();
      await rm(root, { recursive: true });
    });
    const host = `${ADDRESS}:${(registry.address() as AddressInfo).port}`;
    const command = `curl -sS --max-time 20 http://${host}/ 2>&1; echo "proxy $HTTPS_PROXY"`;
    const registries = { type: 'limited', allow_package_managers: true };
    const ca = join(root, 'ca.pem');
    await writeFile(ca, '');
    const hosts = ['--allow-private-host', ADDRESS, '--egress-ca', ca, '--package-host', host];
    const bash = { call: 'bash', input: { command } };
    const run = (args: string[], networking: object) => runTool(root, args, networking, bash);
    expect(await run(hosts, registries)).toBe('the registryproxy http://127.0.0.1:3128');
    expect(await run([...hosts, '--bash-network', 'none'], registries)).toMatch(/proxy $/);
    const open = { type: 'unrestricted' };
    expect(await run(hosts, open)).toMatch(/proxy $/);
    expect(await run([...hosts, '--bash-network', 'open'], open)).toMatch(/is not allowed[\s\S]*proxy http/);
    const serve = ['serve', '--port', '0', '--open', '--data', join(root, 'data')];
    const wrong = await call([...serve, '--bash-network', 'some']);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('none, limited, open') });
    const missing = await call([...serve, '--egress-ca', join(root, 'none.pem')]);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('none.pem cannot be read') });
  },
  240_000,
);

it('[EG202] --strict-network holds web_fetch to the hosts of the environment', async () => {
  const root = await mkdtemp(join(tmpdir(), 'fleetloom-strict-network-'));
  const site = createServer((_, response) => void response.end('the page')).listen(0, ADDRESS);
  await once(site, 'listening');
  onTestFinished(async () => {
    site.close();
    await rm(root, { recursive: true });
  });
  const fetch = { call: 'web_fetch', input: { url: `http://${ADDRESS}:${(site.address() as AddressInfo).port}/` } };
  const run = (...args: string[]) =>
    runTool(root, ['--allow-private-host', ADDRESS, ...args], { type: 'limited' }, fetch);
  expect(await run()).toContain('the page');
  expect(await run('--strict-network')).toContain('limits its network');
}, 240_000);

/** What a tool call of an agent gives on a server with these options. */
async function runTool(root: string, args: string[], networking: object, call: object): Promise<string> {
  const data = await mkdtemp(join(root, 'data-'));
  const { fake, ended } = begin(['serve', '--port', '0', '--open', '--json', '--data', data, ...args], {});
  await expect.poll(() => fake.stdout.text, { timeout: 60_000 }).toContain('"url"');
  const { url } = JSON.parse(fake.stdout.text) as { url: string };
  const send = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return ((await response.json()) as { id: string }).id;
  };
  const environment_id = await send('/v1/environments', { name: 'e', config: { type: 'cloud', networking } });
  const turns = [[call], [{ say: 'done' }]];
  const system = `<script>${JSON.stringify({ turns })}</script>`;
  const tools = [{ type: 'agent_toolset_20260401' }];
  const agent = await send('/v1/agents', { name: 'a', model: 'scripted/inline', system, tools });
  const session = await send('/v1/sessions', { agent, environment_id });
  await send(`/v1/sessions/${session}/events`, {
    events: [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }],
  });
  const findResult = async () => {
    const { data: events } = (await (await fetch(`${url}/v1/sessions/${session}/events?limit=100`)).json()) as {
      data: { type: string; content?: { text: string }[] }[];
    };
    return events.find(({ type }) => type === 'agent.tool_result')?.content?.[0]?.text;
  };
  await expect.poll(findResult, { timeout: 60_000 }).toBeDefined();
  const text = await findResult();
  fake.send('SIGINT');
  await ended;
  return text ?? '';
}
