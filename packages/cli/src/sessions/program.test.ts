import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestServer, type TestServer } from '../../test-support/fleet-server.ts';
import { call } from '../../test-support/live-io.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const usage = {
  type: 'program_usage',
  cost_usd: 0.5,
  models: [
    {
      model: 'some-model',
      input_tokens: 1_000,
      output_tokens: 20,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      cost_usd: 0.5,
    },
  ],
  plan_limits: [{ name: 'five_hour', used_percent: 12, resets_at: null }],
};

describe('fleetloom program', () => {
  it('[Y150] usage is a row for each model and each limit of the plan, or JSON', async () => {
    const { fleet, requests } = await serveResponses({
      '/v1/sessions/sesn_0101kdvdna00w8v1yk3x2q7d/program/usage': usage,
    });
    const { code, stdout } = await fleet('program', 'usage', 'sesn_0101kdvdna00w8v1yk3x2q7d');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^MODEL +INPUT +OUTPUT +COST\nsome-model +1\.0k +20 +\$0\.50/);
    expect(stdout).toMatch(/PLAN LIMIT +USED +RESETS\nfive_hour +12 %/);
    expect(JSON.parse((await fleet('program', 'usage', 'sesn_0101kdvdna00w8v1yk3x2q7d', '--json')).stdout)).toEqual(
      usage,
    );
    expect(requests).toEqual(Array(2).fill('GET /v1/sessions/sesn_0101kdvdna00w8v1yk3x2q7d/program/usage'));
  });

  it('[Y151] diff prints each file with its hunks, or the reason why there is no diff', async () => {
    const file = { path: 'a.txt', status: 'modified', lines_added: 1, lines_removed: 1, is_binary: false };
    const files = [{ ...file, patch: '@@ -1,1 +1,1 @@\n-one\n+two\u001b[31m' }];
    const path = '/v1/sessions/sesn_0101kdvdna00w8v1yk3x2q7d/program/diff';
    const some = await serveResponses({ [path]: { type: 'program_diff', files, files_omitted: 3, reason: null } });
    const { code, stdout, stderr } = await some.fleet('program', 'diff', 'sesn_0101kdvdna00w8v1yk3x2q7d');
    expect([code, stderr]).toEqual([0, '3 more files differ.\n']);
    expect(stdout).toMatch(/^modified a\.txt \(\+1 −1\)\n@@ -1,1 \+1,1 @@\n-one\n\+two/);
    expect(stdout).not.toContain('\u001b');
    const none = await serveResponses({ [path]: { files: [], files_omitted: 0, reason: 'no-repository' } });
    expect(await none.fleet('program', 'diff', 'sesn_0101kdvdna00w8v1yk3x2q7d')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'There is no diff: no-repository.\n',
    });
  });

  it('[Y152] rewind restores the files to before a message, by default the newest, and prints their paths', async () => {
    const { fleet, requests } = await serveResponses({
      '/v1/sessions/sesn_0101kdvdna00w8v1yk3x2q7d/events': {
        data: [{ type: 'user.message', id: 'sevt_9' }],
        next_page: null,
      },
      '/v1/sessions/sesn_0101kdvdna00w8v1yk3x2q7d/program/rewind': {
        type: 'program_rewind',
        files: ['/w/a.txt', '/w/b.txt'],
      },
    });
    expect(await fleet('program', 'rewind', 'sesn_0101kdvdna00w8v1yk3x2q7d', 'sevt_1')).toMatchObject({
      code: 0,
      stdout: '/w/a.txt\n/w/b.txt\n',
    });
    expect((await fleet('program', 'rewind', 'sesn_0101kdvdna00w8v1yk3x2q7d', '--dry-run')).code).toBe(0);
    expect(requests).toEqual([
      'POST /v1/sessions/sesn_0101kdvdna00w8v1yk3x2q7d/program/rewind {"message_id":"sevt_1","dry_run":false}',
      'GET /v1/sessions/sesn_0101kdvdna00w8v1yk3x2q7d/events',
      'POST /v1/sessions/sesn_0101kdvdna00w8v1yk3x2q7d/program/rewind {"message_id":"sevt_9","dry_run":true}',
    ]);
  });

  it('[Y153] a rejection by the server is printed with a fix', async () => {
    const { sessionId } = await server.begin('hello');
    const fleet = (...args: string[]) => call(args, { env: server.env });
    for (const args of [['usage'], ['diff'], ['rewind']]) {
      const { code, stderr } = await fleet('program', ...args, sessionId);
      expect([args, code]).toEqual([args, 5]);
      expect(stderr).toContain('is run by the model scripted/echo: use a session whose model is claude-code/…');
    }
  });
});

/** A server that returns these responses, and the requests it received. */
async function serveResponses(answers: Readonly<Record<string, object>>) {
  const requests: string[] = [];
  const fake = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    void readBody(request).then((body) => {
      requests.push([request.method, path, ...(body === '' ? [] : [body])].join(' '));
      response.writeHead(answers[path] === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answers[path] ?? {}));
    });
  });
  await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void fake.close());
  // A TCP server has an address with a port.
  const { port } = fake.address() as AddressInfo;
  const env = { FLEETLOOM_URL: `http://127.0.0.1:${port}`, FLEETLOOM_KEY: 'any' };
  return { requests, fleet: (...args: string[]) => call(args, { env }) };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
