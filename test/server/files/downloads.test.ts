import { readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, readlink, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toFile } from '@anthropic-ai/sdk';
import { expect, it } from 'vitest';
import { exchangeBytes, openRaw, sendRaw } from '../../../packages/server/src/http/hostile/raw-http.suite.ts';
import { outcomeOf } from '../../../packages/server/src/http/routes/records.suite.ts';
import { type TestServer, withServer } from '../server.suite.ts';

/** Paths of files that this process has open in the file store of a directory. */
async function openBelow(directory: string): Promise<string[]> {
  if (process.platform !== 'linux') return [];
  const links = readdirSync('/proc/self/fd').map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''));
  return (await Promise.all(links)).filter((path) => path.startsWith(`${directory}/files/`));
}

async function upload({ client }: TestServer, content: string | Buffer, type = 'text/plain'): Promise<string> {
  return (await client.beta.files.upload({ file: await toFile(Buffer.from(content), 'a.txt', { type }) })).id;
}

async function uploadTyped({ url, key }: TestServer, type: string): Promise<{ id: string; mime_type: string }> {
  const body = `--X\r\ncontent-disposition: form-data; name="file"; filename="a"\r\ncontent-type: ${type}\r\n\r\ntext\r\n--X--`;
  const headers = { 'x-api-key': key, 'content-type': 'multipart/form-data; boundary=X' };
  const answer = await fetch(`${url}/v1/files`, { method: 'POST', headers, body });
  return (await answer.json()) as { id: string; mime_type: string };
}

const download = ({ url, key }: TestServer, id: string) =>
  fetch(`${url}/v1/files/${id}/content`, { headers: { 'x-api-key': key } });

it('[H84] a file uploaded with an invalid media type is downloaded as application/octet-stream and leaves no descriptor open', () =>
  withServer(async (test) => {
    const file = await uploadTyped(test, 'text/✓');
    expect(file.mime_type).toBe('application/octet-stream');
    for (let count = 0; count < 20; count++) {
      const answer = await download(test, file.id);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
      expect(await answer.text()).toBe('text');
    }
    expect((await uploadTyped(test, 'Text/HTML; charset=utf-8')).mime_type).toBe('text/html; charset=utf-8');
    await expect.poll(() => openBelow(test.directory)).toEqual([]);
  }));

it('[H85] a file stored by an older version with an invalid type or name is downloaded, too', () =>
  withServer(async (first) => {
    const id = await upload(first, 'text');
    const path = join(first.directory, 'files', id, 'file.json');
    const stored = JSON.parse(await readFile(path, 'utf8')) as { metadata: object };
    const metadata = { ...stored.metadata, mime_type: 'text/✓', filename: 'a\r\nb: ✓ \ud800' };
    await writeFile(path, JSON.stringify({ ...stored, metadata }));
    const test = await first.restart();
    const answer = await download(test, id);
    expect([answer.status, await answer.text()]).toEqual([200, 'text']);
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toContain('a%0D%0Ab%3A%20%E2%9C%93%20%EF%BF%BD');
  }));

it('[H86] downloads leave no descriptor open: complete, HEAD, client gone, file deleted in the meantime', () =>
  withServer(async (test) => {
    const { client, server, key, directory } = test;
    const large = Buffer.alloc(6_000_000, 'x');
    const headers = [['x-api-key', key]] as const;
    for (let round = 0; round < 5; round++) {
      const id = await upload(test, large);
      const target = `/v1/files/${id}/content`;
      const leaves = async () => {
        const socket = await openRaw(server.port);
        socket.write(`GET ${target} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${key}\r\n\r\n`);
        await new Promise((resolve) => socket.once('data', resolve).once('close', resolve));
        socket.destroy();
      };
      const [, head, , deleted, ...answers] = await Promise.all([
        leaves(),
        sendRaw(server.port, { method: 'HEAD', target, headers }),
        leaves(),
        client.beta.files.delete(id),
        ...Array.from({ length: 3 }, () => sendRaw(server.port, { method: 'GET', target, headers })),
      ]);
      expect(deleted.type).toBe('file_deleted');
      for (const { status, isWhole } of answers) expect([200, 404]).toContain(isWhole ? status : 'cut');
      expect([200, 404]).toContain(head.status);
    }
    await expect.poll(() => openBelow(directory)).toEqual([]);
    expect(await readdir(join(directory, 'files'))).toEqual([]);
  }));

it('[H87] a file that has become shorter or longer ends the connection before the next answer', () =>
  withServer(
    async (test) => {
      const { server, key, directory } = test;
      const id = await upload(test, 'x'.repeat(1_000));
      const path = join(directory, 'files', id, 'content');
      const ask = `GET /v1/files/${id}/content HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${key}\r\n\r\n`;
      const next = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n';
      await truncate(path, 10);
      expect(await exchangeBytes(server.port, ask + next, 5_000)).toMatchObject([{ status: 200, isWhole: false }]);
      await writeFile(path, 'y'.repeat(2_000));
      expect((await exchangeBytes(server.port, ask + next, 5_000)).filter(({ isWhole }) => isWhole)).toEqual([]);
    },
    { log: { onError: () => {} } },
  ));

it('[H89] a file whose content is gone is a 404, one that became a directory a 500, and intact files are listed', () => {
  const errors: unknown[] = [];
  const problems: string[] = [];
  return withServer(
    async (first) => {
      const [gone, turned, damaged, whole] = [
        await upload(first, 'a'),
        await upload(first, 'b'),
        await upload(first, 'c'),
        await upload(first, 'd'),
      ];
      const at = (id: string, ...names: string[]) => join(first.directory, 'files', id, ...names);
      await rm(at(gone, 'content'));
      await rm(at(turned, 'content'));
      await mkdir(at(turned, 'content'));
      await writeFile(at(damaged, 'file.json'), '{');
      const test = await first.restart();
      expect((await download(test, gone)).status).toBe(404);
      expect((await download(test, turned)).status).toBe(500);
      expect((await download(test, damaged)).status).toBe(500);
      expect((await download(test, whole)).status).toBe(200);
      expect(errors).toHaveLength(2);
      const { data } = await test.client.beta.files.list();
      expect(data.map(({ id }) => id).sort()).toEqual([gone, turned, whole].sort());
      expect(problems).toEqual([expect.stringContaining(`${damaged} cannot be read and is left out`)]);
      expect(await outcomeOf(test.client.beta.files.delete(turned))).toBe('ok');
      await expect.poll(() => openBelow(first.directory)).toEqual([]);
    },
    { log: { onError: (error) => errors.push(error) }, onProblem: (problem) => problems.push(String(problem)) },
  );
});
