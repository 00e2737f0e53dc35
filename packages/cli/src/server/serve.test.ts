import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import { script } from '../../test-support/fleet-server.ts';
import { call } from '../../test-support/live-io.ts';
import { buildProgram, type Running, startProgram } from '../../test-support/processes.ts';

const root = mkdtempSync(join(tmpdir(), 'fleetloom-serve-'));
beforeAll(buildProgram);
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
const newDirectory = () => join(root, String((count += 1)));

interface Printed {
  readonly url: string;
  readonly port: number;
  readonly key: string | null;
  readonly data: string;
}

async function serve(args: string[], env: Record<string, string> = {}): Promise<Running & { printed: Printed }> {
  const running = startProgram(['serve', '--json', ...args], env);
  await running.saw(/\n/);
  return { ...running, printed: JSON.parse(running.out.stdout) as Printed };
}

async function stop(running: Running, signal: NodeJS.Signals = 'SIGTERM') {
  running.child.kill(signal);
  return await running.ended;
}

const statusOf = async (url: string, key: string | null) =>
  (await fetch(`${url}/v1/sessions`, key === null ? {} : { headers: { authorization: `Bearer ${key}` } })).status;

// Several at once: each has a directory of its own, and waits most of the time for what its server does.
describe.concurrent('fleetloom serve', { timeout: 120_000 }, () => {
  it('[Y27] --json prints one line with the address, the port, the key and the directory, and nothing else', async () => {
    const data = newDirectory();
    const running = await serve(['--port', '0', '--data', data]);
    expect(running.printed).toEqual({
      url: `http://127.0.0.1:${running.printed.port}`,
      port: running.printed.port,
      key: expect.any(String),
      data,
    });
    expect(await statusOf(running.printed.url, running.printed.key)).toBe(200);
    expect(await statusOf(running.printed.url, null)).toBe(401);
    expect(await stop(running)).toBe(0);
    expect(running.out.stdout.split('\n')).toHaveLength(2);
    expect(running.out.stderr).toBe('');
  });

  it('[Y27, Y502] the first key is shown once and never again, and still opens', async () => {
    const data = newDirectory();
    const first = startProgram(['serve', '--port', '0', '--data', data]);
    await first.saw(/ SDK +ANTHROPIC_BASE_URL=.*\n/);
    const [, key = ''] = /key {7}(\S+)\n +shown only once: store it now/.exec(first.out.stdout) ?? [];
    expect(await stop(first)).toBe(0);
    const second = startProgram(['serve', '--port', '0', '--data', data]);
    await second.saw(/ SDK +ANTHROPIC_BASE_URL=.*\n/);
    expect(second.out.stdout).not.toContain('key ');
    expect(second.out.stdout).toMatch(/^ {2}dashboard (npx )?fleetloom open prints a login link/m);
    const url = /listens on (\S+)/.exec(second.out.stdout)?.[1] ?? '';
    expect(await statusOf(url, key)).toBe(200);
    expect(await stop(second)).toBe(0);
  });

  it('[Y28] PORT, HOST and FLEETLOOM_DATA are what options would be, and options win', async () => {
    const [data, other] = [newDirectory(), newDirectory()];
    const set = await serve([], { PORT: '0', HOST: '127.0.0.1', FLEETLOOM_DATA: data });
    expect(set.printed.data).toBe(data);
    const given = await serve(['--port', '0', '--data', other], {
      PORT: String(set.printed.port),
      FLEETLOOM_DATA: data,
    });
    expect(given.printed.data).toBe(other);
    expect([await stop(set), await stop(given)]).toEqual([0, 0]);
    const shared = await serve(['--port', '0'], { XDG_DATA_HOME: root });
    expect(shared.printed.data).toBe(join(root, 'fleetloom'));
    expect(await stop(shared)).toBe(0);
  });

  it('[Y28] an invalid port is a usage error, from a flag and from the environment', async () => {
    const set = startProgram(['serve', '--data', newDirectory()], { PORT: 'http' });
    expect(await set.ended).toBe(2);
    expect(set.out.stderr).toContain('PORT is "http", which is not a port number');
    const given = startProgram(['serve', '--port', '65536']);
    expect(await given.ended).toBe(2);
    expect(given.out.stderr).toContain('Pass a number from 0 to 65535.');
  });

  it('[P83] sessions may wait for their server for 8 seconds or longer, and shorter is wrong usage', async () => {
    const wait = (seconds: string) => call(['serve', '--workspace-wait', seconds, '--shared-workspaces', 'x']);
    for (const wrong of ['7', '8.5', 'x', '']) {
      expect(await wait(wrong)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('number of seconds, at least 8'),
      });
    }
    // It is taken, so something else is complained about.
    expect(await wait('8')).toMatchObject({ code: 2, stderr: expect.stringContaining('Pass --database as well') });
  });

  it('[Y29] a port in use is reported with a fix, and returns 2', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const running = startProgram(['serve', '--port', String(port), '--data', newDirectory()]);
    expect(await running.ended).toBe(2);
    expect(running.out.stderr).toMatch(
      new RegExp(`port ${port} of 127.0.0.1 is taken: stop the program that has it, or choose another port`),
    );
    expect(running.out.stdout).toBe('');
    await new Promise((resolve) => other.close(resolve));
  });

  it('[Y29] a data directory of another process is refused with 2, and that process continues', async () => {
    const data = newDirectory();
    const first = await serve(['--port', '0', '--data', data]);
    const second = startProgram(['serve', '--port', '0', '--data', data]);
    expect(await second.ended).toBe(2);
    expect(second.out.stderr).toContain('another process has');
    expect(await statusOf(first.printed.url, first.printed.key)).toBe(200);
    expect(await stop(first)).toBe(0);
  });

  it('[C18] --connections and --connections-per-address set the limits, and 0 is a usage error', async () => {
    for (const option of ['--connections', '--connections-per-address']) {
      expect(await call(['serve', option, '0'])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Pass a whole number of at least 1.'),
      });
    }
    const args = ['--connections', '4', '--connections-per-address', '4', '--port', '0', '--data', newDirectory()];
    const running = await serve(['--open', ...args]);
    const sockets: Socket[] = [];
    for (let count = 0; count < 6; count++) {
      const socket = connect(running.printed.port, '127.0.0.1').on('error', () => {});
      sockets.push(socket);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const isOpen = () => sockets.map(({ destroyed }) => !destroyed);
    await expect.poll(isOpen).toEqual([false, false, true, true, true, true]);
    for (const socket of sockets) socket.destroy();
    expect(await stop(running)).toBe(0);
  });

  it('[P90] after SIGTERM it serves requests while /readyz reports stopping; a second signal ends the wait', async () => {
    for (const value of ['-1', '1.5', '', '3601']) {
      expect(await call(['serve', '--drain-seconds', value])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Pass a whole number of seconds from 0 to 3600.'),
      });
    }
    for (const second of ['SIGTERM', 'SIGINT'] as const) {
      const args = ['serve', '--open', '--drain-seconds', '3600', '--port', '0', '--data', newDirectory()];
      const running = startProgram(args);
      await running.saw(/ SDK +.*\n/);
      const [, url = ''] = /listens on (\S+)\n/.exec(running.out.stdout) ?? [];
      const stream = await fetch(`${url}/v1/fleet`);
      expect(stream.status).toBe(200);
      running.child.kill('SIGTERM');
      await running.saw(/Stopping in 3600 s; press Ctrl-C or send SIGTERM again to stop now …/);
      const ready = await fetch(`${url}/readyz`);
      expect([ready.status, await ready.json()]).toEqual([503, { status: 'not_ready', reason: 'stopping' }]);
      expect(ready.headers.get('connection')).toBe('close');
      expect([await statusOf(url, null), (await fetch(`${url}/healthz`)).status]).toEqual([200, 200]);
      expect(await stop(running, second)).toBe(0);
      // The stream was open until the listener closed, and ended in order.
      expect(await stream.text()).toContain('retry: 1000');
    }
  });

  it('[Y235] --keep-deltas accepts all, none or a number of days up to keepDeltasDaysMax', async () => {
    for (const value of ['0', '-1', '1.5', '', 'some', `${limits.keepDeltasDaysMax + 1}`]) {
      expect(await call(['serve', '--keep-deltas', value])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Pass "all", "none" or a whole number of days from 1 to 3650.'),
      });
    }
    for (const value of ['none', `${limits.keepDeltasDaysMax}`]) {
      const running = await serve(['--open', '--keep-deltas', value, '--port', '0', '--data', newDirectory()]);
      expect(await stop(running)).toBe(0);
    }
  });

  it('[P90] SIGINT, and SIGTERM without --drain-seconds on a server with its own database, stop it at once', async () => {
    for (const [signal, drain] of [
      ['SIGINT', ['--drain-seconds', '3600']],
      ['SIGTERM', []],
    ] as const) {
      const running = startProgram(['serve', '--open', ...drain, '--port', '0', '--data', newDirectory()]);
      await running.saw(/ SDK +.*\n/);
      expect(await stop(running, signal)).toBe(0);
      expect(running.out.stderr).toBe('Stopping …\n');
    }
  });

  it('[Y29] a server without keys is only possible on this machine', async () => {
    const data = newDirectory();
    const refused = startProgram(['serve', '--open', '--host', '0.0.0.0', '--port', '0', '--data', data]);
    expect(await refused.ended).toBe(2);
    expect(refused.out.stderr).toContain('can be reached from other machines');
    const open = await serve(['--open', '--port', '0', '--data', newDirectory()]);
    expect([open.printed.key, await statusOf(open.printed.url, null)]).toEqual([null, 200]);
    expect(await stop(open)).toBe(0);
  });

  it('[Y30] SIGINT and SIGTERM stop it cleanly while a session runs, and the next start continues it', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const data = newDirectory();
      const first = await serve(['--open', '--port', '0', '--data', data]);
      const words = Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ');
      const body = JSON.stringify({
        message: script([{ say: words, every_ms: 30 }]),
        agent_def: { name: 'a', model: 'scripted/echo' },
      });
      const response = await fetch(`${first.printed.url}/v1/orchestrate?gate=off`, { method: 'POST', body });
      let text = '';
      const reader = response.body!.getReader();
      while (!text.includes('event: text')) text += Buffer.from((await reader.read()).value!).toString();
      expect(await stop(first, signal)).toBe(0);
      expect(first.out.stderr).toBe('');
      const second = await serve(['--open', '--port', '0', '--data', data]);
      const id = /"request_id":"(\w+)"/.exec(text)?.[1] ?? '';
      const replay = await (await fetch(`${second.printed.url}/v1/requests/${id}/events`)).text();
      expect(replay).toContain(`"content":"${words}"`);
      expect(await stop(second)).toBe(0);
    }
  });

  it('[Y30] without --json it reports on standard error that it stops', async () => {
    const running = startProgram(['serve', '--port', '0', '--data', newDirectory()]);
    await running.saw(/ SDK +ANTHROPIC_BASE_URL=.*\n/);
    expect(await stop(running, 'SIGINT')).toBe(0);
    expect(running.out.stderr).toBe('Stopping …\n');
  });

  it('[Y27] stored files are readable only by their owner', async () => {
    const data = newDirectory();
    const running = await serve(['--port', '0', '--data', data]);
    expect(await stop(running)).toBe(0);
    const { statSync, readdirSync } = await import('node:fs');
    expect(statSync(data).mode & 0o077).toBe(0);
    for (const name of readdirSync(join(data, 'keys'))) {
      expect(readFileSync(join(data, 'keys', name), 'utf8')).not.toContain(running.printed.key);
    }
  });
});
