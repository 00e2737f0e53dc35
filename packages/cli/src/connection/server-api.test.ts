import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../../test-support/live-io.ts';
import { startTestServer, type TestServer } from '../../test-support/fleet-server.ts';
import { limits } from '../base/limits.ts';
import { toConnection } from './connection.ts';
import { createServerApi } from './server-api.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

/** A program that is not a Fleetloom server. */
async function withStranger(
  answer: (path: string) => [status: number, body: string] | 'nothing',
  run: (url: string) => Promise<void>,
) {
  const stranger = createServer((request, response) => {
    const answered = answer(request.url ?? '');
    if (answered !== 'nothing') response.writeHead(answered[0]).end(answered[1]);
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  await run(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}`);
  stranger.closeAllConnections();
  await new Promise((resolve) => stranger.close(resolve));
}

describe('how a server is reached', () => {
  it('[Y1] a flag wins over the environment, and that over the address of a local server', () => {
    const FLEETLOOM_DATA = '/nowhere';
    const env = { FLEETLOOM_URL: 'http://set:1/', FLEETLOOM_KEY: 'set', FLEETLOOM_DATA };
    expect(toConnection(env, { url: 'https://given/under/', key: 'given' })).toEqual({
      url: 'https://given/under',
      key: 'given',
    });
    expect(toConnection(env, {})).toEqual({ url: 'http://set:1', key: 'set' });
    expect(toConnection({ FLEETLOOM_DATA }, {})).toEqual({ url: 'http://127.0.0.1:4280', key: undefined });
    expect(toConnection({ FLEETLOOM_DATA, FLEETLOOM_URL: '', FLEETLOOM_KEY: '' }, {})).toEqual({
      url: 'http://127.0.0.1:4280',
      key: undefined,
    });
  });

  it('[Y1] an invalid URL is reported before a request is sent', async () => {
    for (const url of ['127.0.0.1:4280', 'ftp://x', '']) {
      const called = await call(['sessions', '--url', url]);
      expect(called).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('is not a server URL'),
      });
    }
  });

  it('[Y2] a missing server is exit code 6, with how to start one', async () => {
    let gone = '';
    await withStranger(
      () => [200, ''],
      async (url) => {
        // Its port is free again in a moment.
        gone = url;
      },
    );
    const called = await call(['sessions', '--url', gone]);
    expect(called).toEqual({
      code: 6,
      stdout: '',
      stderr: `fleetloom: There is no server at ${gone} (ECONNREFUSED).\n  Start one with "fleetloom serve", or select another with --url or FLEETLOOM_URL.\n`,
    });
  });

  it('[Y2] a missing and a wrong key are exit code 3, with the source of the key', async () => {
    const without = await call(['sessions', '--url', server.url]);
    expect(without).toMatchObject({ code: 3, stdout: '' });
    expect(without.stderr).toBe(
      `fleetloom: The server at ${server.url} requires an API key.\n  Pass it with --key or FLEETLOOM_KEY; create one with "fleetloom keys create <name>".\n`,
    );
    const wrong = await call(['sessions', '--url', server.url, '--key', 'nonsense']);
    expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining('This key is not known to the server') });
    expect(wrong.stderr).not.toContain('nonsense');
  });

  it('[Y2] every command reports a missing object with 4', async () => {
    const commands = [
      ['threads', 'sesn_none'],
      ['export', 'sesn_none'],
      ['send', 'sesn_none', 'hello'],
      ['approve', 'sesn_none', '--all'],
      ['deny', 'sesn_none', '--all'],
      ['cancel', 'req_none'],
      ['watch', 'sesn_none', '--once'],
      ['watch', '--once'],
      ['run', 'x', '--agent', 'none'],
    ];
    for (const args of commands) {
      const called = await call(args, { env: server.env });
      expect([args[0], called.code, called.stdout]).toEqual([args[0], 4, '']);
      expect(called.stderr).toMatch(/^(fleetloom: |\d\d:\d\d)/);
    }
  });

  it('[Y2] a refusal of the server is exit code 5, with its message', async () => {
    const { sessionId } = await server.begin('hello');
    await server.post(`/v1/sessions/${sessionId}/archive`, {}).catch(() => undefined);
    await expect
      .poll(async () => (await server.get<{ status: string }>(`/v1/sessions/${sessionId}`)).status)
      .not.toBe('running');
    await server.post(`/v1/sessions/${sessionId}/archive`, {});
    const called = await call(['send', sessionId, 'hello'], { env: server.env });
    expect(called).toMatchObject({ code: 5, stdout: '', stderr: expect.stringContaining('is archived') });
  });

  it('[Y2] another program at the URL is reported', async () => {
    await withStranger(
      () => [200, '<html>hello'],
      async (url) => {
        const called = await call(['sessions', '--url', url]);
        expect(called).toMatchObject({ code: 5, stderr: expect.stringContaining('is not a Fleetloom server') });
      },
    );
    await withStranger(
      () => [502, 'Bad gateway'],
      async (url) => {
        const called = await call(['sessions', '--url', url]);
        expect(called).toMatchObject({ code: 5, stderr: expect.stringContaining('responded with status 502') });
      },
    );
  });

  it('[Y2] messages of a server are cleaned before they are shown', async () => {
    const body = JSON.stringify({ error: { message: 'bad \u001b]0;title\u0007\u001b[2Jthing' } });
    await withStranger(
      () => [400, body],
      async (url) => {
        const called = await call(['sessions', '--url', url]);
        expect(called.stderr).toContain('Bad ⟦ESC⟧]0;title⟦U+0007⟧⟦ESC⟧[2Jthing.');
        expect(called.stderr).not.toContain('\u001b');
      },
    );
  });

  it('[Y2] a server that does not answer in time is 6; the time is 30 seconds', async () => {
    expect(limits.callMs).toBe(30_000);
    await withStranger(
      () => 'nothing',
      async (url) => {
        const api = createServerApi({ url, key: undefined }, 60);
        const error = await api.get('/v1/sessions').catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ exitCode: 6, message: `The server at ${url} does not respond.` });
      },
    );
  });

  it('[Y1] a path in front of the API and all pages of a list are kept', async () => {
    const asked: string[] = [];
    const pages: Record<string, string> = {
      '/under/v1/things?a%5B%5D=x&a%5B%5D=y': '{"data":[1,2],"next_page":"p2"}',
      '/under/v1/things?a%5B%5D=x&a%5B%5D=y&page=p2': '{"data":[3],"next_page":null}',
    };
    await withStranger(
      (path) => {
        asked.push(path);
        return [200, pages[path] ?? '{}'];
      },
      async (url) => {
        const api = createServerApi({ url: `${url}/under`, key: undefined });
        const items: number[] = [];
        for await (const item of api.list<number>('/v1/things', { a: ['x', 'y'], b: undefined })) items.push(item);
        expect(items).toEqual([1, 2, 3]);
        expect(asked).toEqual(Object.keys(pages));
      },
    );
  });
});
