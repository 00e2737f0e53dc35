import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { call } from '../../test-support/live-io.ts';
import { buildProgram, startProgram } from '../../test-support/processes.ts';

const root = mkdtempSync(join(tmpdir(), 'fleetloom-webhooks-'));
const patience = { timeout: 30_000, interval: 10 };

/** What came, and with which status it is answered. */
const received: { readonly body: string; readonly headers: Record<string, string> }[] = [];
let status = 200;
const receiver = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.on('end', () => {
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
    received.push({ body, headers: Object.fromEntries(headers) });
    response.writeHead(status).end();
  });
});
let url = '';
beforeAll(async () => {
  buildProgram();
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?token=secret`;
});
afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
  rmSync(root, { recursive: true, force: true });
});

const typesWith = (key: string) => {
  const { webhooks } = new Anthropic({ apiKey: 'any', webhookKey: key }).beta;
  return received.map(({ body, headers }) => webhooks.unwrap(body, { headers }).data.type);
};

async function createSession(baseURL: string, apiKey: string): Promise<void> {
  const client = new Anthropic({ baseURL, apiKey, maxRetries: 0 });
  const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
  const environment = await client.beta.environments.create({ name: 'here' });
  await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
}

describe('--webhook', { timeout: 120_000 }, () => {
  it('[W67, W72, W73] serve sends webhooks to the URLs of options and configuration, after a crash too, and shows the key once', async () => {
    const data = join(root, 'served');
    const config = join(root, 'config.yaml');
    writeFileSync(config, `webhook:\n  - ${url}\n  - ${url}\n`);
    const first = startProgram(['serve', '--port', '0', '--data', data], { FLEETLOOM_CONFIG: config });
    await first.saw(/ SDK +ANTHROPIC_BASE_URL=.*\n/);
    const [, key = ''] = /signing {3}(whsec_\S+)\n +shown only once/.exec(first.out.stdout) ?? [];
    expect(first.out.stdout).toContain(`  webhooks  ${new URL(url).origin}\n`);
    const [, address = ''] = /listens on (\S+)/.exec(first.out.stdout) ?? [];
    const [, secret = ''] = /key {7}(\S+)/.exec(first.out.stdout) ?? [];
    status = 503;
    await createSession(address, secret);
    await first.saw(/failed and will be retried: it answered 503\n/);
    // Whatever was on its way, the next one sends it.
    first.child.kill('SIGKILL');
    await first.ended;
    received.length = 0;
    status = 200;
    const second = startProgram(['serve', '--json', '--port', '0', '--data', data, '--webhook', url]);
    await second.saw(/\n/);
    expect(JSON.parse(second.out.stdout)).toMatchObject({ webhook_key: null });
    await vi.waitFor(() => expect(typesWith(key)).toEqual(['session.created']), patience);
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
    // No secret was printed.
    for (const { out } of [first, second]) expect(out.stderr).not.toMatch(/whsec_|token|secret/);
    expect(first.out.stderr).toContain(`the webhook at ${new URL(url).origin} failed and will be retried`);
  });

  it('[W72] start takes it too, and a key that is set is used and not shown', async () => {
    received.length = 0;
    const key = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
    const args = ['start', '--no-demo', '--no-browser', '--port', '0', '--data', join(root, 'started')];
    const running = startProgram([...args, '--webhook', url], { FLEETLOOM_WEBHOOK_SIGNING_KEY: key });
    await running.saw(/Data +\S+\n/);
    expect(running.out.stdout).toContain(`Webhooks   ${new URL(url).origin}\n`);
    const [, address = ''] = /ANTHROPIC_BASE_URL=(\S+)/.exec(running.out.stdout) ?? [];
    const [, secret = ''] = /Key +(\S+)/.exec(running.out.stdout) ?? [];
    await createSession(address, secret);
    await vi.waitFor(() => expect(typesWith(key)).toEqual(['session.created']), patience);
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);
    expect(running.out.stdout + running.out.stderr).not.toContain('whsec_');
  });

  it('[W70] an address with a password, an invalid address and an invalid key are usage errors', async () => {
    const args = ['serve', '--port', '0', '--data', join(root, 'refused')];
    for (const [address, problem] of [
      ['https://me:secret@a.example/', 'contains a user name or a password'],
      ['ftp://a.example/secret', 'is not a valid http or https URL'],
    ]) {
      const { code, stderr } = await call([...args, '--webhook', address!], { env: {} });
      expect([code, stderr]).toEqual([2, expect.stringContaining(problem!)]);
      expect(stderr).not.toContain('secret');
    }
    const env = { FLEETLOOM_WEBHOOK_SIGNING_KEY: 'secret' };
    const { code, stderr } = await call([...args, '--webhook', url], { env });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('the configured signing key does not contain a webhook signing key'),
    ]);
  });
});
