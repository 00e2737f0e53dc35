import { mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Anthropic, { toFile } from '@anthropic-ai/sdk';
import { expect, it } from 'vitest';
import { fileLimits } from '../../../packages/server/src/files/limits.ts';
import { httpLimits } from '../../../packages/server/src/http/limits.ts';
import type { Engine, ModelRequest } from '../../../packages/server/src/engines/model/engine.ts';
import { outcomeOf } from '../../../packages/server/src/http/routes/records.suite.ts';
import { type TestServer, toScript, withServer } from '../server.suite.ts';

it('[W30] a file that is uploaded is read back byte for byte, also after a restart, and is gone when it is deleted', () =>
  withServer(async (test) => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const sent = Buffer.concat([bytes, Buffer.from('\r\n--not-the-boundary\r\n'), bytes]);
    const file = await test.client.beta.files.upload({
      file: await toFile(sent, 'a "b" ä.bin', { type: 'image/png' }),
    });
    expect(file).toEqual({
      type: 'file',
      id: expect.stringMatching(/^file_/),
      filename: 'a "b" ä.bin',
      mime_type: 'image/png',
      size_bytes: sent.length,
      downloadable: true,
      created_at: expect.any(String),
      expires_at: null,
      scope: null,
    });
    const { client } = await test.restart();
    expect(await client.beta.files.retrieveMetadata(file.id)).toEqual(file);
    const answer = await client.beta.files.download(file.id);
    expect(Buffer.from(await answer.arrayBuffer()).equals(sent)).toBe(true);
    expect(answer.headers.get('content-type')).toBe('image/png');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment;/);
    expect(await client.beta.files.delete(file.id)).toEqual({ type: 'file_deleted', id: file.id });
    expect(await outcomeOf(client.beta.files.retrieveMetadata(file.id))).toBe('404 not_found_error');
    expect(await outcomeOf(client.beta.files.download(file.id))).toBe('404 not_found_error');
    expect(await outcomeOf(client.beta.files.delete(file.id))).toBe('404 not_found_error');
    expect(await readdir(join(test.directory, 'files'))).toEqual([]);
  }));

it('[W30] a form without a file, with something else, without an end or with too long a name leaves nothing behind', () =>
  withServer(async ({ client, url, key, directory }) => {
    const post = async (body: string, type = 'multipart/form-data; boundary=X') => {
      const headers = { 'x-api-key': key, 'content-type': type };
      return (await fetch(`${url}/v1/files`, { method: 'POST', headers, body })).status;
    };
    const part = (name: string, content = 'x') =>
      `--X\r\ncontent-disposition: form-data; ${name}\r\n\r\n${content}\r\n`;
    const file = part('name="file"; filename="a.txt"');
    expect(await post(`${file}--X--\r\n`)).toBe(200);
    expect(await post(`preamble\r\n${file}--X--`)).toBe(200);
    expect(await post('{}', 'application/json')).toBe(400);
    expect(await post('--X--')).toBe(400);
    expect(await post(file)).toBe(400);
    expect(await post(`${file}--Xx`)).toBe(400);
    expect(await post(`${file}${part('name="purpose"')}--X--`)).toBe(400);
    expect(await post(`${file}${file}--X--`)).toBe(400);
    expect(await post(`${part('name="file"')}--X--`)).toBe(400);
    expect(await post(`${part('name="file"; filename=".."')}--X--`)).toBe(400);
    expect(await post(`--X\r\n\r\nx\r\n--X--`)).toBe(400);
    const named = (chars: number) => part(`name="file"; filename="${'n'.repeat(chars)}"`);
    expect(await post(`${named(httpLimits.uploadNameCharsMax)}--X--`)).toBe(200);
    expect(await post(`${named(httpLimits.uploadNameCharsMax + 1)}--X--`)).toBe(400);
    const headers = (chars: number) =>
      `--X\r\ncontent-disposition: form-data; name="file"; filename="a"; x=${'y'.repeat(chars)}\r\n\r\nx\r\n--X--`;
    expect(await post(headers(httpLimits.uploadHeaderBytesMax - 200))).toBe(200);
    expect(await post(headers(httpLimits.uploadHeaderBytesMax))).toBe(400);
    const field = (chars: number) => part('name="expires_in_seconds"', ' '.repeat(chars - 2) + '60');
    expect(await post(`${field(httpLimits.uploadFieldBytesMax)}${file}--X--`)).toBe(200);
    expect(await post(`${field(httpLimits.uploadFieldBytesMax + 1)}${file}--X--`)).toBe(400);
    const { data } = await client.beta.files.list({ limit: 100 });
    expect(data).toHaveLength(5);
    const kept = await readdir(join(directory, 'files'));
    expect(kept.sort()).toEqual(data.map(({ id }) => id).sort());
    const gone = new AbortController();
    const slow = new ReadableStream({
      start: (controller) => {
        controller.enqueue(Buffer.from(file.slice(0, -3)));
        setTimeout(() => gone.abort(), 100);
      },
    });
    const half = fetch(`${url}/v1/files`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'multipart/form-data; boundary=X' },
      body: slow,
      duplex: 'half',
      signal: gone.signal,
    } as RequestInit);
    await expect(half).rejects.toThrow();
    await until(async () => (await readdir(join(directory, 'files'))).length === 5);
  }));

it('[W30] a file that expires is gone when its time is over', () =>
  withServer(async ({ client }) => {
    const upload = (expires_in_seconds: number) =>
      toFile(Buffer.from('x'), 'x.txt').then((file) => client.beta.files.upload({ file, expires_in_seconds }));
    const file = await upload(1);
    expect(Date.parse(file.expires_at!) - Date.parse(file.created_at)).toBeGreaterThanOrEqual(900);
    expect((await client.beta.files.retrieveMetadata(file.id)).id).toBe(file.id);
    await until(async () => (await outcomeOf(client.beta.files.retrieveMetadata(file.id))) === '404 not_found_error');
    expect((await client.beta.files.list()).data).toEqual([]);
    expect(await outcomeOf(upload(0))).toBe('400 invalid_request_error');
  }));

it('[W31] files are listed newest first, in pages of both kinds, each once although others come and go', () =>
  withServer(async ({ client, url, key }) => {
    const ids: string[] = [];
    for (let count = 0; count < 7; count++) {
      ids.unshift((await client.beta.files.upload({ file: await toFile(Buffer.from('x'), `${count}.txt`) })).id);
    }
    const listed: string[] = [];
    for await (const { id } of client.beta.files.list({ limit: 3 })) listed.push(id);
    expect(listed).toEqual(ids);
    const get = async (query: string) => {
      const answer = await fetch(`${url}/v1/files?${query}`, { headers: { 'x-api-key': key } });
      return (await answer.json()) as { data: { id: string }[]; has_more: boolean; first_id: string; last_id: string };
    };
    const first = await get('limit=3');
    expect(first).toMatchObject({ has_more: true, first_id: ids[0], last_id: ids[2] });
    await client.beta.files.delete(ids[2]!);
    const second = await get(`limit=3&after_id=${ids[2]}`);
    expect(second.data.map(({ id }) => id)).toEqual(ids.slice(3, 6));
    const back = await get(`limit=2&before_id=${ids[3]}`);
    expect(back.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect((await get(`ids[]=${ids[1]}&ids[]=${ids[5]}`)).data.map(({ id }) => id)).toEqual([ids[1], ids[5]]);
    expect(await outcomeOf(client.beta.files.list({ page: 'page_nonsense' }))).toBe('400 invalid_request_error');
  }));

it('[W32] a file is mounted before the first turn, at the path given to the agent, and removed with its resource', () =>
  withServer(async (test) => {
    const { client } = test;
    const file = await client.beta.files.upload({ file: await toFile(Buffer.from('from the file'), 'data.csv') });
    const turns = [
      [{ call: 'read', input: { file_path: '/mnt/session/uploads/data.csv' } }],
      [{ call: 'read', input: { file_path: '/workspace/in/other.csv' } }],
      [{ say: 'read {{last_result}}' }],
    ];
    const { agent, environment_id } = await cloud(test, turns);
    const session = await client.beta.sessions.create({
      agent,
      environment_id,
      resources: [
        { type: 'file', file_id: file.id },
        { type: 'file', file_id: file.id, mount_path: '/workspace/in/other.csv' },
      ],
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }],
    });
    expect(session.resources).toMatchObject([
      { type: 'file', file_id: file.id, mount_path: '/mnt/session/uploads/data.csv' },
      { type: 'file', file_id: file.id, mount_path: '/workspace/in/other.csv' },
    ]);
    const events = await untilRest(client, session.id);
    const results = events.filter(({ type }) => type === 'agent.tool_result');
    expect(results.map((result) => JSON.stringify(result))).toEqual([
      expect.stringContaining('from the file'),
      expect.stringContaining('from the file'),
    ]);
    expect((await client.beta.sessions.retrieve(session.id)).resources).toEqual(session.resources);
    const at = { session_id: session.id };
    const added = await client.beta.sessions.resources.add(session.id, {
      type: 'file',
      file_id: file.id,
      mount_path: '/workspace/late',
    });
    const inside = join(test.directory, 'workspaces', session.id);
    expect(await readFile(join(inside, 'late'), 'utf8')).toBe('from the file');
    expect(await client.beta.sessions.resources.retrieve(added.id, at)).toEqual(added);
    const ids: string[] = [];
    for await (const each of client.beta.sessions.resources.list(session.id, { limit: 2 }))
      ids.push((each as { id: string }).id);
    expect(ids).toHaveLength(3);
    expect(await client.beta.sessions.resources.delete(added.id, at)).toEqual({
      type: 'session_resource_deleted',
      id: added.id,
    });
    await expect(readFile(join(inside, 'late'))).rejects.toThrow('ENOENT');
    expect(await outcomeOf(client.beta.sessions.resources.retrieve(added.id, at))).toBe('404 not_found_error');
    const update = client.beta.sessions.resources.update(ids[0]!, { ...at, authorization_token: 'x' });
    expect(await outcomeOf(update)).toBe('400 invalid_request_error');
    await client.beta.sessions.delete(session.id);
    await until(async () => (await readdir(join(test.directory, 'workspaces'))).length === 0);
    expect(await readdir(join(test.directory, 'resources'))).toEqual([]);
  }));

it('[W32] a file that cannot be mounted is refused, and no session is created', () =>
  withServer(async (test) => {
    const { client } = test;
    const file = await client.beta.files.upload({ file: await toFile(Buffer.from('x'), 'x') });
    const { agent, environment_id } = await cloud(test, [[{ say: 'x' }]]);
    const create = (resources: object[], environment = environment_id) =>
      outcomeOf(client.beta.sessions.create({ agent, environment_id: environment, resources: resources as never }));
    const at = (mount_path: string) => [{ type: 'file', file_id: file.id, mount_path }];
    for (const path of [
      'relative',
      '/',
      '/uploads',
      '/mnt/session/uploads',
      `/workspace/${'n'.repeat(fileLimits.pathNameBytesMax + 1)}`,
      '/workspace',
      '/workspace/',
      '/workspace/../etc/x',
      '/mnt/session/../x',
      '/workspace/a\0b',
    ]) {
      expect(await create(at(path))).toBe('400 invalid_request_error');
    }
    expect(await create([...at('/workspace/a'), ...at('/workspace/./a')])).toBe('400 invalid_request_error');
    expect(await create([{ type: 'file', file_id: 'file_none' }])).toBe('404 not_found_error');
    expect(await create([{ type: 'github_repository', url: 'https://example.com/a/b' }])).toBe(
      '400 invalid_request_error',
    );
    expect(await create([{ type: 'memory_store', memory_store_id: 'memstore_1' }])).toBe('400 invalid_request_error');
    const own = await client.beta.environments.create({ name: 'own', config: { type: 'self_hosted' } });
    expect(await create([{ type: 'file', file_id: file.id }], own.id)).toBe('400 invalid_request_error');
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        type: 'file',
        file_id: file.id,
        mount_path: `/workspace/${index}`,
      }));
    expect(await create(many(fileLimits.sessionResourcesMax + 1))).toBe('400 invalid_request_error');
    expect((await client.beta.sessions.list()).data).toEqual([]);
    expect(await create(many(fileLimits.sessionResourcesMax))).toBe('ok');
    const long = (chars: number) =>
      at(`/workspace/${'d/'.repeat(Math.floor((chars - 11) / 2))}${chars % 2 === 0 ? 'f' : 'ff'}`);
    expect(long(fileLimits.mountPathCharsMax)[0]!.mount_path.length).toBe(fileLimits.mountPathCharsMax);
    expect(await create(long(fileLimits.mountPathCharsMax))).toBe('ok');
    expect(await create(long(fileLimits.mountPathCharsMax + 1))).toBe('400 invalid_request_error');
  }));

it('[W33] output files of agents are listed under the session, read by id, and never lead outside', () =>
  withServer(async (test) => {
    const { client, directory } = test;
    const { agent, environment_id } = await cloud(test, [
      [{ call: 'write', input: { file_path: '/mnt/session/outputs/out.txt', content: 'made by an agent' } }],
      [{ call: 'write', input: { file_path: '/mnt/session/outputs/sub/b.json', content: '{}' } }],
      [{ call: 'glob', input: { pattern: '**/*' } }],
      [{ say: '{{last_result}}' }],
    ]);
    const { id } = await client.beta.sessions.create({ agent, environment_id });
    expect((await client.beta.files.list({ scope_id: id })).data).toEqual([]);
    await send(client, id, { type: 'user.message', content: [{ type: 'text', text: 'go' }] });
    const events = await untilRest(client, id);
    // A search of the workspace does not find them.
    expect(JSON.stringify(events.filter(({ type }) => type === 'agent.message'))).not.toContain('out.txt');
    const listed = [];
    for await (const file of client.beta.files.list({ scope_id: id, limit: 1 })) listed.push(file);
    expect(listed.map(({ filename, mime_type, size_bytes }) => [filename, mime_type, size_bytes])).toEqual([
      ['out.txt', 'text/plain', 16],
      ['sub/b.json', 'application/json', 2],
    ]);
    const [out] = listed;
    expect(out!.scope).toEqual({ type: 'session', id });
    expect(await client.beta.files.retrieveMetadata(out!.id)).toEqual(out);
    expect(await (await client.beta.files.download(out!.id)).text()).toBe('made by an agent');
    expect((await client.beta.files.list()).data).toEqual([]);
    const outputs = join(directory, 'workspaces', id, '.fleetloom', 'session', 'outputs');
    await writeFile(join(directory, 'secret'), 'secret');
    await symlink(join(directory, 'secret'), join(outputs, 'link'));
    await symlink(directory, join(outputs, 'tree'));
    expect((await client.beta.files.list({ scope_id: id })).data).toHaveLength(2);
    await client.beta.files.delete(out!.id);
    expect((await client.beta.files.list({ scope_id: id })).data).toHaveLength(1);
    expect(await outcomeOf(client.beta.files.list({ scope_id: 'sesn_none' }))).toBe('404 not_found_error');
    const moved = join(directory, 'elsewhere');
    await mkdir(join(moved, 'outputs'), { recursive: true });
    await writeFile(join(moved, 'outputs', 'x'), 'x');
    const other = await client.beta.sessions.create({ agent, environment_id });
    await client.beta.files.list({ scope_id: other.id });
    const session = join(directory, 'workspaces', other.id, '.fleetloom', 'session');
    await rm(session, { recursive: true });
    await symlink(moved, session);
    expect((await client.beta.files.list({ scope_id: other.id })).data).toEqual([]);
    const file = await client.beta.files.upload({ file: await toFile(Buffer.from('x'), 'x.txt') });
    const mount = client.beta.sessions.resources.add(other.id, { type: 'file', file_id: file.id });
    expect(await outcomeOf(mount)).toBe('400 invalid_request_error');
    expect(await readdir(moved)).toEqual(['outputs']);
  }));

it('[W34] files that a message refers to reach the model as their content, and stay ids in the log', async () => {
  const requests: ModelRequest[] = [];
  await withServer(
    async (test) => {
      const { client } = test;
      const upload = async (text: string, name: string, type: string) =>
        (await client.beta.files.upload({ file: await toFile(Buffer.from(text), name, { type }) })).id;
      const image = await upload('PNG', 'a.png', 'image/png');
      const pdf = await upload('PDF', 'a.pdf', 'application/pdf');
      const text = await upload('plain words', 'a.md', 'text/markdown');
      const binary = await upload('x', 'a.bin', 'application/octet-stream');
      const { agent, environment_id } = await cloud(test, []);
      const { id } = await client.beta.sessions.create({ agent, environment_id });
      const of = (file_id: string) => ({ type: 'file' as const, file_id });
      const content = [
        { type: 'image', source: of(image) },
        { type: 'document', source: of(pdf), title: 'a' },
        { type: 'document', source: of(text) },
      ];
      await send(client, id, { type: 'user.message', content });
      const events = await untilRest(client, id);
      expect(events.findLast(({ type }) => type === 'user.message')).toMatchObject({ content });
      expect(requests[0]!.messages[0]!.content).toMatchObject([
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'UE5H' } },
        { type: 'document', title: 'a', source: { type: 'base64', media_type: 'application/pdf', data: 'UERG' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain words' } },
      ]);
      await client.beta.files.delete(image);
      await send(client, id, { type: 'user.message', content: [{ type: 'text', text: 'again' }] });
      await untilRest(client, id);
      expect(requests.at(-1)!.messages[0]!.content[0]).toEqual({
        type: 'text',
        text: `[The file ${image} was deleted.]`,
      });
      const refused = (block: object) => outcomeOf(send(client, id, { type: 'user.message', content: [block] }));
      for (const block of [
        { type: 'image', source: of(image) },
        { type: 'image', source: of(pdf) },
        { type: 'document', source: of(binary) },
      ]) {
        expect(await refused(block)).toBe('400 invalid_request_error');
      }
      const largest = await upload('x'.repeat(fileLimits.shownFileBytesMax), 'l.txt', 'text/plain');
      const larger = await upload('x'.repeat(fileLimits.shownFileBytesMax + 1), 'l.txt', 'text/plain');
      expect(await refused({ type: 'document', source: of(larger) })).toBe('400 invalid_request_error');
      expect(await refused({ type: 'document', source: of(largest) })).toBe('ok');
      await untilRest(client, id);
      const first = {
        agent,
        environment_id,
        initial_events: [{ type: 'user.message', content: [{ type: 'image', source: of(image) }] }],
      };
      expect(await outcomeOf(client.beta.sessions.create(first as never))).toBe('400 invalid_request_error');
    },
    { engine: rememberRequests(requests) },
  );
});

/** Says `ok` to everything. */
function rememberRequests(requests: ModelRequest[]): Engine {
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWrite5mTokens: 0, cacheWrite1hTokens: 0 };
  return {
    request: async function* (request) {
      requests.push(request);
      yield { type: 'block_started', index: 0, block: 'text' };
      yield { type: 'delta', index: 0, text: 'ok' };
      const stop = { reason: 'end_turn', category: null, explanation: null } as const;
      yield { type: 'finished', content: [{ type: 'text', text: 'ok' }], stop, usage, model: 'any' };
    },
    close: async () => {},
  };
}

async function cloud({ client }: TestServer, turns: object[][]): Promise<{ agent: string; environment_id: string }> {
  const { id: environment_id } = await client.beta.environments.create({ name: 'cloud' });
  const agent = await client.beta.agents.create({
    name: 'a',
    model: 'scripted/inline',
    system: toScript(turns.length === 0 ? [[{ say: 'x' }]] : turns),
    tools: [{ type: 'agent_toolset_20260401' }],
  });
  return { agent: agent.id, environment_id };
}

async function send(client: Anthropic, session: string, event: object): Promise<void> {
  await client.beta.sessions.events.send(session, { events: [event as never] });
}

async function untilRest(client: Anthropic, session: string) {
  let events: { type: string; processed_at?: string | null }[] = [];
  await until(async () => {
    events = [];
    for await (const event of client.beta.sessions.events.list(session, { limit: 1_000 })) events.push(event);
    const isWaiting = events.some(
      (event, index) => event.type === 'user.message' && event.processed_at === null && index === events.length - 1,
    );
    return events.at(-1)?.type === 'session.status_idle' && !isWaiting;
  });
  return events;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error('it did not come to that within ten seconds');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
