import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { script } from '../../test-support/fleet-server.ts';
import { call } from '../../test-support/live-io.ts';
import { buildProgram, type Running, startProgram } from '../../test-support/processes.ts';

const root = mkdtempSync(join(tmpdir(), 'fleetloom-serve-'));
beforeAll(buildProgram);
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
const newDirectory = () => join(root, String((count += 1)));

interface Told {
  readonly url: string;
  readonly port: number;
  readonly key: string | null;
  readonly data: string;
}

async function serve(args: string[], env: Record<string, string> = {}): Promise<Running & { told: Told }> {
  const running = startProgram(['serve', '--json', ...args], env);
  await running.saw(/\n/);
  return { ...running, told: JSON.parse(running.out.stdout) as Told };
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
    expect(running.told).toEqual({
      url: `http://127.0.0.1:${running.told.port}`,
      port: running.told.port,
      key: expect.any(String),
      data,
    });
    expect(await statusOf(running.told.url, running.told.key)).toBe(200);
    expect(await statusOf(running.told.url, null)).toBe(401);
    expect(await stop(running)).toBe(0);
    expect(running.out.stdout.split('\n')).toHaveLength(2);
    expect(running.out.stderr).toBe('');
  });

  it('[Y27] the first key is shown once and never again, and still opens', async () => {
    const data = newDirectory();
    const first = startProgram(['serve', '--port', '0', '--data', data]);
    await first.saw(/the official SDK\n/);
    const [, key = ''] = /key {5}(\S+)\n +shown only now, keep it/.exec(first.out.stdout) ?? [];
    expect(await stop(first)).toBe(0);
    const second = startProgram(['serve', '--port', '0', '--data', data]);
    await second.saw(/the official SDK\n/);
    expect(second.out.stdout).not.toContain('key ');
    const url = /listens on (\S+)/.exec(second.out.stdout)?.[1] ?? '';
    expect(await statusOf(url, key)).toBe(200);
    expect(await stop(second)).toBe(0);
  });

  it('[Y28] PORT, HOST and FLEETLOOM_DATA are what options would be, and options win', async () => {
    const [data, other] = [newDirectory(), newDirectory()];
    const set = await serve([], { PORT: '0', HOST: '127.0.0.1', FLEETLOOM_DATA: data });
    expect(set.told.data).toBe(data);
    const given = await serve(['--port', '0', '--data', other], { PORT: String(set.told.port), FLEETLOOM_DATA: data });
    expect(given.told.data).toBe(other);
    expect([await stop(set), await stop(given)]).toEqual([0, 0]);
    const shared = await serve(['--port', '0'], { XDG_DATA_HOME: root });
    expect(shared.told.data).toBe(join(root, 'fleetloom'));
    expect(await stop(shared)).toBe(0);
  });

  it('[Y28] a port that is none is wrong usage, from wherever it comes', async () => {
    const set = startProgram(['serve', '--data', newDirectory()], { PORT: 'http' });
    expect(await set.ended).toBe(2);
    expect(set.out.stderr).toContain('PORT is http, which is no port');
    const given = startProgram(['serve', '--port', '65536']);
    expect(await given.ended).toBe(2);
    expect(given.out.stderr).toContain('Give a number from 0 to 65535.');
  });

  it('[P83] sessions may wait for their server for 8 seconds or longer, and shorter is wrong usage', async () => {
    const wait = (seconds: string) => call(['serve', '--workspace-wait', seconds, '--shared-workspaces', 'x']);
    for (const wrong of ['7', '8.5', 'x', '']) {
      expect(await wait(wrong)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('number of seconds from 8 on'),
      });
    }
    // It is taken, so something else is complained about.
    expect(await wait('8')).toMatchObject({ code: 2, stderr: expect.stringContaining('give --database too') });
  });

  it('[Y29] a port that is taken is told with what to do, and returns 2', async () => {
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

  it('[Y29] a data directory that another process has is refused with 2, and that one goes on', async () => {
    const data = newDirectory();
    const first = await serve(['--port', '0', '--data', data]);
    const second = startProgram(['serve', '--port', '0', '--data', data]);
    expect(await second.ended).toBe(2);
    expect(second.out.stderr).toContain('another process has');
    expect(await statusOf(first.told.url, first.told.key)).toBe(200);
    expect(await stop(first)).toBe(0);
  });

  it('[C18] --connections and --connections-per-address say how many there may be, and none is wrong usage', async () => {
    for (const option of ['--connections', '--connections-per-address']) {
      expect(await call(['serve', option, '0'])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Give a whole number from 1 on.'),
      });
    }
    const args = ['--connections', '4', '--connections-per-address', '4', '--port', '0', '--data', newDirectory()];
    const running = await serve(['--open', ...args]);
    const sockets: Socket[] = [];
    for (let count = 0; count < 6; count++) {
      const socket = connect(running.told.port, '127.0.0.1').on('error', () => {});
      sockets.push(socket);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const isOpen = () => sockets.map(({ destroyed }) => !destroyed);
    await expect.poll(isOpen).toEqual([false, false, true, true, true, true]);
    for (const socket of sockets) socket.destroy();
    expect(await stop(running)).toBe(0);
  });

  it('[Y29] a server without keys is only possible on this machine', async () => {
    const data = newDirectory();
    const refused = startProgram(['serve', '--open', '--host', '0.0.0.0', '--port', '0', '--data', data]);
    expect(await refused.ended).toBe(2);
    expect(refused.out.stderr).toContain('can be reached by others');
    const open = await serve(['--open', '--port', '0', '--data', newDirectory()]);
    expect([open.told.key, await statusOf(open.told.url, null)]).toEqual([null, 200]);
    expect(await stop(open)).toBe(0);
  });

  it('[Y30] SIGINT and SIGTERM stop it cleanly while a session works, and the next start goes on with it', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const data = newDirectory();
      const first = await serve(['--open', '--port', '0', '--data', data]);
      const words = Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ');
      const body = JSON.stringify({
        message: script([{ say: words, every_ms: 30 }]),
        agent_def: { name: 'a', model: 'scripted/echo' },
      });
      const response = await fetch(`${first.told.url}/v1/orchestrate?gate=off`, { method: 'POST', body });
      let text = '';
      const reader = response.body!.getReader();
      while (!text.includes('event: text')) text += Buffer.from((await reader.read()).value!).toString();
      expect(await stop(first, signal)).toBe(0);
      expect(first.out.stderr).toBe('');
      const second = await serve(['--open', '--port', '0', '--data', data]);
      const id = /"request_id":"(\w+)"/.exec(text)?.[1] ?? '';
      const replay = await (await fetch(`${second.told.url}/v1/requests/${id}/events`)).text();
      expect(replay).toContain(`"content":"${words}"`);
      expect(await stop(second)).toBe(0);
    }
  });

  it('[Y30] without --json it says that it stops, on standard error', async () => {
    const running = startProgram(['serve', '--port', '0', '--data', newDirectory()]);
    await running.saw(/the official SDK\n/);
    expect(await stop(running, 'SIGINT')).toBe(0);
    expect(running.out.stderr).toBe('stopping …\n');
  });

  it('[Y27] what is kept is for its owner alone', async () => {
    const data = newDirectory();
    const running = await serve(['--port', '0', '--data', data]);
    expect(await stop(running)).toBe(0);
    const { statSync, readdirSync } = await import('node:fs');
    expect(statSync(data).mode & 0o077).toBe(0);
    for (const name of readdirSync(join(data, 'keys'))) {
      expect(readFileSync(join(data, 'keys', name), 'utf8')).not.toContain(running.told.key);
    }
  });
});
