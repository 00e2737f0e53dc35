import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { brotliCompressSync, createGzip, deflateSync, gzipSync, constants as zlib } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { baseLimits } from '../../../base/limits.ts';
import { modelLimits } from '../../model/limits.ts';
import { programLimits } from '../limits.ts';
import {
  answerOf,
  ask,
  eventsOf,
  KEY,
  lastOf,
  nowhere,
  openWay,
  readAll,
  serveEndpoint,
  sse,
  STREAM,
} from './gateway.suite.ts';
import { openGateway } from './gateway.ts';

describe('what passes', () => {
  it('[J100] a body goes up as it is, and any status, header and body comes down as it is', async () => {
    const seen: unknown[] = [];
    const { session } = await openWay((request, response) => {
      const body: Buffer[] = [];
      request.on('data', (piece: Buffer) => body.push(piece));
      request.on('end', () => {
        seen.push([request.method, request.url, request.headers['x-mine'], Buffer.concat(body).toString('hex')]);
        response.writeHead(418, 'Short And Stout', ['X-Odd-Case', 'a', 'X-Twice', 'b', 'X-Twice', 'c']);
        response.end(Buffer.from([0, 255, 10, 13]));
      });
    });
    const answer = await ask(session, { headers: { 'x-mine': 'é' }, body: Buffer.from([1, 0, 254]) });
    expect(seen).toEqual([['POST', '/v1/messages?beta=true', 'é', '0100fe']]);
    expect([answer.statusCode, answer.statusMessage]).toEqual([418, 'Short And Stout']);
    const raw = answer.rawHeaders;
    expect(raw.slice(0, 6)).toEqual(['X-Odd-Case', 'a', 'X-Twice', 'b', 'X-Twice', 'c']);
    expect((await readAll(answer)).toString('hex')).toBe('00ff0a0d');
  });

  it('[J100] the base URL of the endpoint may have a path', async () => {
    const paths: (string | undefined)[] = [];
    const upstream = await serveEndpoint((request, response) => {
      paths.push(request.url);
      response.end('body');
    });
    if (upstream.type !== 'endpoint') throw new Error('an endpoint was served');
    const { session } = await openWay({ ...upstream, baseURL: `${upstream.baseURL}/deep/er/` });
    expect((await readAll(await ask(session, { path: '/v1/messages/count_tokens' }))).toString()).toBe('body');
    expect(paths).toEqual(['/deep/er/v1/messages/count_tokens']);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)(
    '[J101] an answer packed as %s comes down packed, byte for byte, and is read all the same',
    async (encoding, pack) => {
      const packed = pack(Buffer.from(answerOf(['one ', 'two'])));
      const { session, heard } = await openWay((_, response) => {
        response.writeHead(200, { ...STREAM, 'content-encoding': encoding }).end(packed);
      });
      const answer = await ask(session, { headers: { 'accept-encoding': 'gzip, deflate, br, zstd' } });
      expect((await readAll(answer)).equals(packed)).toBe(true);
      expect(answer.headers['content-encoding']).toBe(encoding);
      await vi.waitFor(() => expect(lastOf(heard)).toEqual({ type: 'finished' }), 20_000);
      expect(deltas(heard)).toBe('one two');
    },
  );

  it('[J101] packed text is read as it comes, not at the end', async () => {
    const { session, heard } = await openWay((request, response) => {
      response.writeHead(200, { ...STREAM, 'content-encoding': 'gzip' });
      const gzip = createGzip({ flush: zlib.Z_SYNC_FLUSH });
      gzip.pipe(response);
      gzip.write(answerOf(['early']).split('event: content_block_stop')[0]);
      request.on('close', () => gzip.destroy());
    });
    const answer = await ask(session);
    answer.resume();
    await vi.waitFor(() => expect(deltas(heard)).toBe('early'), 20_000);
    answer.destroy();
  });

  it('[J102] only ways of packing that can be read here are asked for', async () => {
    let asked: string | undefined;
    const { session } = await openWay((request, response) => {
      asked = request.headers['accept-encoding'];
      response.end();
    });
    await readAll(await ask(session, { headers: { 'accept-encoding': 'gzip, br;q=0.5, quantum' } }));
    expect(asked).toBe('gzip, br;q=0.5');
    await readAll(await ask(session, { headers: { 'accept-encoding': 'quantum' } }));
    expect(asked).toBe('identity');
  });

  it('[J102] an answer that is packed in another way passes, and is said to be unreadable', async () => {
    const { session, heard } = await openWay((_, response) => {
      response.writeHead(200, { ...STREAM, 'content-encoding': 'quantum' }).end('????');
    });
    expect((await readAll(await ask(session))).toString()).toBe('????');
    expect(lastOf(heard)).toMatchObject({ type: 'failed', failure: { reason: 'unreadable' } });
  });

  it('[J103] an error of the endpoint is forwarded unchanged, and its reason is emitted', async () => {
    const body = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Over "loaded"' } });
    const { session, heard } = await openWay((_, response) => {
      response.writeHead(529, { 'content-type': 'application/json', 'retry-after': '7' }).end(body);
    });
    const answer = await ask(session);
    expect([answer.statusCode, answer.headers['retry-after'], (await readAll(answer)).toString()]).toEqual([
      529,
      '7',
      body,
    ]);
    await vi.waitFor(() => expect(heard).toHaveLength(2), 20_000);
    expect(eventsOf(heard)).toEqual([
      { type: 'requested' },
      { type: 'failed', failure: { reason: 'refused', status: 529, message: 'Over "loaded"' } },
    ]);
  });

  it('[J103] of a refusal only the beginning is kept', async () => {
    const page = `<html>${'x'.repeat(programLimits.gatewayRefusalBytesMax)}`;
    const { session, heard } = await openWay((_, response) => response.writeHead(404).end(page));
    expect((await readAll(await ask(session))).toString()).toBe(page);
    await vi.waitFor(() => expect(heard).toHaveLength(2), 20_000);
    const event = lastOf(heard);
    if (event?.type !== 'failed') throw new Error('it failed');
    expect(event.failure).toMatchObject({ reason: 'refused', status: 404 });
    expect(event.failure.message).toBe(page.slice(0, baseLimits.errorMessageCharsMax));
  });

  it('[J104] an endpoint that cannot be reached is an error of the API, without any secret', async () => {
    const unreachable = { type: 'endpoint', baseURL: 'http://127.0.0.1:9', credential: { apiKey: KEY } } as const;
    const { session, heard } = await openWay(unreachable);
    const answer = await ask(session);
    const body = (await readAll(answer)).toString();
    expect(answer.statusCode).toBe(502);
    expect(JSON.parse(body)).toMatchObject({ type: 'error', error: { type: 'api_error' } });
    expect(lastOf(heard)).toMatchObject({ type: 'failed', failure: { reason: 'broken' } });
    expect(`${body}${JSON.stringify(heard)}`).not.toContain(KEY);
  });

  it('[J105] something in this process answers without any port', async () => {
    const { session, heard } = await openWay({
      type: 'handler',
      handle: (request, response) => {
        expect(request.url).toBe('/v1/messages?beta=true');
        request.resume().on('end', () => response.writeHead(200, STREAM).end(answerOf(['hello'])));
      },
    });
    expect((await readAll(await ask(session))).toString()).toBe(answerOf(['hello']));
    expect(deltas(heard)).toBe('hello');
    expect(lastOf(heard)).toEqual({ type: 'finished' });
  });

  it('[J270] a handler in this process that drops the connection in the middle of an answer cuts the program off', async () => {
    const { session, heard } = await openWay({
      type: 'handler',
      handle: (_, response) => {
        response.writeHead(200, STREAM).write(answerOf(['a']).slice(0, 300), () => response.destroy());
      },
    });
    await expect(readAll(await ask(session))).rejects.toThrow('aborted');
    expect(lastOf(heard)).toMatchObject({ type: 'failed', failure: { reason: 'broken' } });
  });
});

describe('secrets', () => {
  it.each([
    [{ apiKey: KEY }, { 'x-api-key': KEY, authorization: undefined }],
    [{ authToken: KEY }, { 'x-api-key': undefined, authorization: `Bearer ${KEY}` }],
  ])(
    '[J106] the credential is added on the way up in place of what the program sends: %o',
    async (credential, expected) => {
      const seen: unknown[] = [];
      const upstream = await serveEndpoint((request, response) => {
        seen.push({ 'x-api-key': request.headers['x-api-key'], authorization: request.headers.authorization });
        response.end();
      });
      const { session } = await openWay({ ...upstream, credential } as typeof upstream);
      await readAll(await ask(session, { headers: { 'x-api-key': 'dummy', authorization: 'Bearer dummy' } }));
      expect(seen).toEqual([expected]);
    },
  );

  it('[J106] the login of the program itself goes through as it is, if that is wanted', async () => {
    let seen: string | undefined;
    const upstream = await serveEndpoint((request, response) => {
      seen = request.headers.authorization;
      response.end();
    });
    const { session } = await openWay({ ...upstream, credential: 'program' } as typeof upstream);
    await readAll(await ask(session, { headers: { authorization: 'Bearer its-own' } }));
    expect(seen).toBe('Bearer its-own');
    expect(session.environment({})).not.toHaveProperty('ANTHROPIC_API_KEY');
  });

  it('[J106] the program receives neither the credential nor a proxy for its way to the gateway', async () => {
    const { session } = await openWay((_, response) => response.end());
    const environment = session.environment({
      NO_PROXY: 'intranet',
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_AUTH_TOKEN: KEY,
    });
    expect(environment).toEqual({
      ANTHROPIC_BASE_URL: session.baseURL,
      ANTHROPIC_API_KEY: 'fleetloom-gateway',
      ANTHROPIC_AUTH_TOKEN: '',
      NO_PROXY: 'intranet,127.0.0.1',
      no_proxy: 'intranet,127.0.0.1',
    });
  });

  it('[J107] a client without the secret of a session is refused, and so is its own program after the session is closed', async () => {
    const { session, gateway, heard } = await openWay((_, response) => response.end('fine'));
    const origin = new URL(session.baseURL).origin;
    for (const baseURL of [
      origin,
      `${origin}/`,
      `${origin}/wrong`,
      `${session.baseURL}x`,
      session.baseURL.slice(0, -1),
    ]) {
      const answer = await ask({ ...session, baseURL });
      expect(answer.statusCode).toBe(401);
      expect(JSON.parse((await readAll(answer)).toString())).toMatchObject({ error: { type: 'authentication_error' } });
    }
    expect(heard).toEqual([]);
    const other = await gateway.open({
      ...nowhere,
      upstream: await serveEndpoint((_, response) => response.end('other')),
      onEvent: () => {},
    });
    expect(other.baseURL).not.toBe(session.baseURL);
    expect((await readAll(await ask(session))).toString()).toBe('fine');
    session.close();
    expect((await ask(session)).statusCode).toBe(401);
    expect((await readAll(await ask(other))).toString()).toBe('other');
  });

  it('[J108] it listens on loopback only', async () => {
    const { session } = await openWay((_, response) => response.end());
    const { hostname, port } = new URL(session.baseURL);
    expect(hostname).toBe('127.0.0.1');
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    for (const { address, internal, family } of addresses) {
      if (internal || family !== 'IPv4') continue;
      const socket = connect(Number(port), address);
      const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
      expect(error.code).toBe('ECONNREFUSED');
    }
  });
});

describe('what is read on the way', () => {
  it('[J110] agents are distinguished by the headers of the program, each piece as it passes', async () => {
    const { session, heard } = await openWay((_, response) =>
      response.writeHead(200, STREAM).end(answerOf(['a', 'b'])),
    );
    const main = { 'x-claude-code-session-id': 's1' };
    const child = { ...main, 'x-claude-code-agent-id': 'a1' };
    const grandchild = { ...main, 'x-claude-code-agent-id': 'a2', 'x-claude-code-parent-agent-id': 'a1' };
    for (const headers of [main, child, grandchild]) await readAll(await ask(session, { headers }));
    const who = heard.map(({ sessionId, agentId, parentAgentId }) => [sessionId, agentId, parentAgentId].join(' '));
    expect([...new Set(who)]).toEqual(['s1  ', 's1 a1 ', 's1 a2 a1']);
    expect(new Set(heard.map(({ requestId }) => requestId)).size).toBe(3);
    const first = heard.filter(({ agentId }) => agentId === null);
    expect(first.slice(1).every(({ messageId, model }) => messageId === 'msg_1' && model === 'claude-x')).toBe(true);
    const usage = { inputTokens: 7, outputTokens: 0, cacheReadTokens: 0, cacheWrite5mTokens: 0, cacheWrite1hTokens: 0 };
    expect(eventsOf(first)).toEqual([
      { type: 'requested' },
      { type: 'begun', usage },
      { type: 'block_started', index: 0, block: 'text', call: null },
      { type: 'delta', index: 0, text: 'a' },
      { type: 'delta', index: 0, text: 'b' },
      { type: 'block_stopped', index: 0 },
      { type: 'usage', usage: { ...usage, outputTokens: 2 }, stopReason: 'end_turn' },
      { type: 'finished' },
    ]);
  });

  it('[J111] thoughts and calls are emitted too, with the id and the name of a call', async () => {
    const body = [
      sse({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: 'Hm' } }),
      sse({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: '…' } }),
      sse({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'xyz' } }),
      sse({
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: 't1', name: 'Bash', input: {} },
      }),
      sse({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a":' } }),
      sse({ type: 'content_block_start', index: 2, content_block: { type: 'novel' } }),
      sse({ type: 'ping' }),
    ].join('');
    const { session, heard } = await openWay((_, response) => response.writeHead(200, STREAM).end(body));
    await readAll(await ask(session));
    expect(eventsOf(heard)).toEqual([
      { type: 'requested' },
      { type: 'block_started', index: 0, block: 'thinking', call: null },
      { type: 'delta', index: 0, text: 'Hm' },
      { type: 'delta', index: 0, text: '…' },
      { type: 'block_started', index: 1, block: 'tool_use', call: { id: 't1', name: 'Bash' } },
      { type: 'delta', index: 1, text: '{"a":' },
      { type: 'block_started', index: 2, block: 'other', call: null },
      { type: 'failed', failure: { reason: 'broken', status: null, message: 'the answer ended in the middle' } },
    ]);
  });

  it('[J112] whatever an endpoint sends, it passes, and there is one end', async () => {
    const wild = [
      'data: {"type":\n\ndata: null\n\ndata: [1]\n\ndata: {"type":"message_start"}\n\n',
      sse({ type: 'content_block_start', index: -1 }),
      sse({ type: 'content_block_delta', index: 'x', delta: null }),
      sse({ type: 'content_block_delta', index: 0 }),
      sse({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
      sse({ type: 'message_stop' }),
      'rubbish',
    ].join('');
    const { session, heard } = await openWay((_, response) => response.writeHead(200, STREAM).end(wild));
    expect((await readAll(await ask(session))).toString()).toBe(wild);
    const ends = eventsOf(heard).filter(({ type }) => type === 'finished' || type === 'failed');
    expect(ends).toEqual([{ type: 'failed', failure: { reason: 'broken', status: null, message: 'Overloaded' } }]);
  });

  it('[J113] an answer in one piece passes and is finished; other paths are not listened to', async () => {
    const { session, heard } = await openWay((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"msg_1"}');
    });
    await readAll(await ask(session));
    await vi.waitFor(() => expect(eventsOf(heard)).toEqual([{ type: 'requested' }, { type: 'finished' }]), 20_000);
    await readAll(await ask(session, { path: '/v1/messages/count_tokens' }));
    expect(heard).toHaveLength(2);
  });

  it('[J114] an event over the limit passes, and is said to be unreadable', async () => {
    const edge = modelLimits.engineEventBytesMax;
    const long = sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x'.repeat(edge) } });
    const { session, heard } = await openWay((_, response) => {
      response.writeHead(200, STREAM).write(long);
      response.end(answerOf([]));
    });
    expect((await readAll(await ask(session))).length).toBe(long.length + answerOf([]).length);
    expect(lastOf(heard)).toMatchObject({ type: 'failed', failure: { reason: 'unreadable' } });
  }, 60_000);

  it('[J115] one who listens and fails breaks nothing', async () => {
    const problems: unknown[] = [];
    const gateway = await openGateway({ onProblem: (problem) => problems.push(problem) });
    try {
      const upstream = await serveEndpoint((_, response) => response.writeHead(200, STREAM).end(answerOf(['a'])));
      const onEvent = () => {
        throw new Error('no');
      };
      const session = await gateway.open({ ...nowhere, upstream, onEvent });
      expect((await readAll(await ask(session))).toString()).toBe(answerOf(['a']));
      await vi.waitFor(() => expect(problems).toHaveLength(7), 20_000);
    } finally {
      await gateway.close();
    }
  });
});

function deltas(heard: Parameters<typeof eventsOf>[0]): string {
  return eventsOf(heard)
    .map((event) => (event.type === 'delta' ? event.text : ''))
    .join('');
}
