import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type TestServer, withServer } from '../../../../test/server/server.suite.ts';
import { createVault } from '../../../../test/server/vaults/vaults.suite.ts';
import { captureResponse } from './capture-response.ts';
import { vaultLimits } from './limits.ts';
import { listen, serveProtectedMcp, serveTokenEndpoint, type TokenReply } from './oauth-mcp.suite.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: TestServer;
let stop = () => {};
let running: Promise<void>;

beforeAll(async () => {
  await new Promise<void>((resolve, reject) => {
    const run = async (test: TestServer) => {
      server = test;
      await new Promise<void>((close) => {
        stop = close;
        resolve();
      });
    };
    running = withServer(run, { isOpen: true, allowedPrivateHosts: ['127.0.0.1'] });
    running.catch(reject);
  });
});

afterAll(async () => {
  stop();
  await running;
});

/** Validates a credential for a server, with or without a token endpoint. */
async function validate(url: string, token: string, reply?: TokenReply | 'unreachable') {
  const { client } = server;
  const endpoint = await serveTokenEndpoint(() => reply as TokenReply);
  const refresh = {
    client_id: 'id',
    refresh_token: 'canary-refresh',
    token_endpoint: reply === 'unreachable' ? 'http://127.0.0.1:1/token' : endpoint.url,
    token_endpoint_auth: { type: 'none' },
  } as const;
  const vault = await createVault(client, {
    type: 'mcp_oauth',
    mcp_server_url: url,
    access_token: token,
    ...(reply === undefined ? {} : { refresh }),
  });
  const [id = ''] = vault.credentials;
  const { credentials } = client.beta.vaults;
  const validation = await credentials.mcpOAuthValidate(id, { vault_id: vault.id });
  expect(validation).toMatchObject({ type: 'vault_credential_validation', credential_id: id, vault_id: vault.id });
  expect(JSON.stringify(validation)).not.toContain('canary');
  return { ...validation, calls: endpoint.calls.length };
}

/** A server that gives every request the same answer, after `initialize` if `later`. */
async function serveAnswer(status: number, body: string | ((authorization: string) => string), later = false) {
  const http = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => (text += String(part)));
    request.on('end', () => {
      const isFirst = text.includes('"initialize"');
      if (later && (isFirst || text.includes('notifications/'))) {
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's' });
        return void response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} }));
      }
      response.writeHead(status, { 'content-type': 'text/plain' });
      response.end(typeof body === 'string' ? body : body(request.headers.authorization ?? ''));
    });
  });
  return `http://${await listen(http)}/mcp`;
}

it('[VT33] a token that the server accepts is valid, and is not renewed', async () => {
  const mcp = await serveProtectedMcp('canary-right');
  const none = { mcp_probe: null, refresh: null, calls: 0 };
  expect(await validate(mcp.url, 'canary-right', { body: {} })).toMatchObject({
    ...none,
    status: 'valid',
    has_refresh_token: true,
  });
  expect(mcp.mcp.methods.slice(0, 3)).toEqual(['initialize', 'notifications/initialized', 'tools/list']);
  expect(await validate(mcp.url, 'canary-right')).toMatchObject({ ...none, status: 'valid', has_refresh_token: false });
});

it('[VT33] after a 401 the token is renewed once and asked with again', async () => {
  const mcp = await serveProtectedMcp('canary-new');
  const refused = { method: 'initialize', http_response: { status_code: 401 } };
  expect(await validate(mcp.url, 'canary-old', { body: { access_token: 'canary-new' } })).toMatchObject({
    status: 'valid',
    mcp_probe: null,
    refresh: { status: 'succeeded', http_response: null },
    calls: 1,
  });
  expect(await validate(mcp.url, 'canary-old', { body: { access_token: 'canary-other' } })).toMatchObject({
    status: 'invalid',
    mcp_probe: refused,
    refresh: { status: 'succeeded', http_response: null },
    calls: 1,
  });
  expect(await validate(mcp.url, 'canary-old')).toMatchObject({
    status: 'invalid',
    mcp_probe: refused,
    refresh: { status: 'no_refresh_token', http_response: null },
  });
  const denied = { error: 'invalid_grant', hint: 'canary-refresh' };
  expect(await validate(mcp.url, 'canary-old', { status: 400, body: denied })).toMatchObject({
    status: 'invalid',
    mcp_probe: refused,
    refresh: {
      status: 'failed',
      http_response: { status_code: 400, body: '{"error":"invalid_grant","hint":"[redacted]"}', body_truncated: false },
    },
    calls: 1,
  });
  for (const reply of [
    { status: 503, body: {} },
    { status: 429, body: {} },
    { status: 200, body: 'no' },
  ]) {
    expect(await validate(mcp.url, 'canary-old', reply)).toMatchObject({
      status: 'unknown',
      mcp_probe: refused,
      refresh: { status: 'failed', http_response: { status_code: reply.status } },
    });
  }
  expect(await validate(mcp.url, 'canary-old', 'unreachable')).toMatchObject({
    status: 'unknown',
    mcp_probe: refused,
    refresh: { status: 'connect_error', http_response: null },
  });
});

it('[VT33] other answers of the server are invalid for 4xx, and unknown otherwise', async () => {
  const of = async (status: number, later = false) => await validate(await serveAnswer(status, 'no', later), 'canary');
  const failed = (status_code: number, method = 'initialize') => ({
    mcp_probe: { method, http_response: { status_code, content_type: 'text/plain', body: 'no' } },
    refresh: null,
  });
  expect(await of(403)).toMatchObject({ ...failed(403), status: 'invalid' });
  expect(await of(404, true)).toMatchObject({ ...failed(404, 'tools/list'), status: 'invalid' });
  expect(await of(429)).toMatchObject({ ...failed(429), status: 'unknown' });
  expect(await of(500)).toMatchObject({ ...failed(500), status: 'unknown' });
  expect(await of(200)).toMatchObject({ ...failed(200), status: 'unknown' });
  expect(await of(302)).toMatchObject({ ...failed(302), status: 'unknown' });
  expect(await validate('http://127.0.0.1:1/mcp', 'canary')).toMatchObject({
    status: 'unknown',
    mcp_probe: { method: 'initialize', http_response: null },
    refresh: null,
  });
});

it('[VT34] a captured body is cut at 4,096 bytes and has no token, in whatever form the server returns it', async () => {
  const { capturedBytesMax } = vaultLimits;
  const bodyOf = async (body: string | ((authorization: string) => string)) => {
    const { mcp_probe: probe } = (await validate(await serveAnswer(403, body), 'canary"+ü')) as unknown as {
      mcp_probe: { http_response: { body: string; body_truncated: boolean } };
    };
    return probe.http_response;
  };
  expect(await bodyOf('x'.repeat(capturedBytesMax))).toMatchObject({ body_truncated: false });
  const cut = await bodyOf('x'.repeat(capturedBytesMax + 1));
  expect([cut.body.length, cut.body_truncated]).toEqual([capturedBytesMax, true]);
  // Not in the middle of a character.
  expect(Buffer.byteLength((await bodyOf('ü'.repeat(capturedBytesMax))).body)).toBe(capturedBytesMax);
  expect(Buffer.byteLength((await bodyOf(`x${'ü'.repeat(capturedBytesMax)}`)).body)).toBe(capturedBytesMax - 1);
  const forms = await bodyOf(() => {
    const token = 'canary"+ü';
    return [token, JSON.stringify(token), encodeURIComponent(token), Buffer.from(token).toString('base64')].join(' ');
  });
  expect(forms.body).toBe('[redacted] "[redacted]" [redacted] [redacted]');
  expect((await bodyOf(`${'x'.repeat(capturedBytesMax - 3)}canary"+ü`)).body.endsWith('[re')).toBe(true);
});

it('[VT33] only credentials of the type mcp_oauth that are not archived can be validated', async () => {
  const { client } = server;
  const url = 'https://a.example';
  const vault = await createVault(
    client,
    { type: 'static_bearer', mcp_server_url: url, token: 't' },
    { type: 'mcp_oauth', mcp_server_url: `${url}/2`, access_token: 't' },
  );
  const [bearer = '', oauth = ''] = vault.credentials;
  const { credentials } = client.beta.vaults;
  const ask = (id: string) => credentials.mcpOAuthValidate(id, { vault_id: vault.id });
  await expect(ask(bearer)).rejects.toThrow(/^400 .*static_bearer/);
  await credentials.archive(oauth, { vault_id: vault.id });
  await expect(ask(oauth)).rejects.toThrow(/^400 .*is archived/);
});

it('[VT61] a captured body has no part of a token where it was cut, and none in the escapes of JSON, URLs and HTML', async () => {
  const capture = (body: string, secret: string, isTruncated = false) =>
    captureResponse({ status: 403, headers: {}, body, isTruncated }, [secret]).body;
  const secret = 'ab/cd+ef=ü&"';
  for (const form of [
    // As PHP, .NET and Python write it.
    JSON.stringify(secret).replaceAll('/', '\\/'),
    JSON.stringify(secret).replaceAll('+', '\\u002B').replaceAll('&', '\\u0026').replaceAll('ü', '\\u00fc'),
    encodeURIComponent(secret),
    encodeURIComponent(secret).toLowerCase(),
    secret.replaceAll('&', '&amp;').replaceAll('"', '&#34;').replaceAll('+', '&#x2B;'),
    Buffer.from(secret).toString('base64url'),
  ]) {
    expect(capture(`{"sent":[${form}], "x": "\\u0041"}`, secret)).toMatch(
      /^\{"sent":\["?\[redacted\]"?\], "x": "\\u0041"\}$/,
    );
  }
  expect(capture('%41%42%43', '%41%42')).toBe('[redacted]%43');
  expect(capture('&#X61;b&#x63;d &#X10FFF; &#1114112; &#xfffff; &#0;', 'abcd')).toBe(
    '[redacted] &#X10FFF; &#1114112; &#xfffff; &#0;',
  );
  // A token that UTF-8 does not have.
  expect(capture('text', 'abcd\ud800')).toBe('text');
  const long = `canary-${'x'.repeat(1_000)}`;
  expect(capture(`${long.repeat(200)}${long.slice(0, -1)}`, long, true)).not.toContain('canary');
});

it('[VT61] a server that echoes a long token in a body that is not read to its end does not show the token', async () => {
  const token = `canary-${'x'.repeat(1_000)}`;
  const url = await serveAnswer(403, (authorization) => authorization.slice('Bearer '.length).repeat(300));
  const { mcp_probe: probe } = await validate(url, token);
  expect(probe!.http_response).toMatchObject({ body_truncated: true });
});

it('[VT62] tokens in a response of the token endpoint are redacted where they are nested, form-encoded or cut', async () => {
  const mcp = await serveProtectedMcp('canary-right');
  const nested = JSON.stringify({ ok: true, user: { access_token: 'canary-1', refresh_token: 'canary-2' } });
  for (const body of [nested, 'access_token=canary-3&token_type=bearer', '{"id_token": "canary-4']) {
    // None of them may be in the validation.
    expect(await validate(mcp.url, 'canary-old', { body })).toMatchObject({
      status: 'unknown',
      refresh: { status: 'failed', http_response: { body: expect.stringContaining('[redacted]') } },
    });
  }
});

it('[VT63] an event stream is read up to the response, however small its parts are, and nothing behind it is captured', async () => {
  const http = createServer((request, response) => {
    request.resume();
    response.writeHead(403, { 'content-type': 'text/event-stream' });
    response.write(': hello\n\n');
    const event = 'data: {"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}';
    for (const part of event.slice(0, -1)) response.write(part);
    // It does not end.
    response.write('}\n\ndata: canar');
  });
  const { mcp_probe: probe } = await validate(`http://${await listen(http)}/mcp`, 'canary');
  expect(probe!.http_response!.body).toMatch(/"no"\}\}\n$/);
});
