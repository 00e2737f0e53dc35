import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { baseLimits } from '../../../../base/limits.ts';
import { programLimits } from '../../limits.ts';
import { createClient } from './client.ts';

it('[OC20] a request carries the password and the directory; its answer is the status and the parsed body', async () => {
  const port = await serve((request, response) => {
    response.writeHead(request.url?.startsWith('/known') ? 200 : 404);
    response.end(request.url?.startsWith('/empty') ? '' : JSON.stringify({ url: request.url, by: toUser(request) }));
  });
  const client = createClient({ directory: '/my work', password: 'secret', target: { port } });
  onTestFinished(() => client.close());
  const by = 'opencode:secret';
  expect(await client.send('GET', '/known')).toEqual({
    status: 200,
    body: { url: '/known?directory=%2Fmy%20work', by },
  });
  expect(await client.send('POST', '/x?y=1', {})).toMatchObject({
    status: 404,
    body: { url: '/x?y=1&directory=%2Fmy%20work' },
  });
  expect(await client.send('GET', '/empty')).toMatchObject({ body: null });
});

it('[OC20] connections can come from elsewhere, as those into a sandbox do', async () => {
  const port = await serve((_, response) => void response.end('"there"'));
  const target = { connect: async () => connect(port, '127.0.0.1') };
  const client = createClient({ directory: '/', password: '', target });
  onTestFinished(() => client.close());
  expect(await client.send('GET', '/')).toMatchObject({ body: 'there' });
  const broken = createClient({
    directory: '/',
    password: '',
    target: { connect: async () => Promise.reject(new Error('gone')) },
  });
  await expect(broken.send('GET', '/')).rejects.toThrow('gone');
});

it('[OC20] an answer that does not come in time, or is longer than allowed, fails the request', async () => {
  const port = await serve((request, response) => {
    if (request.url?.startsWith('/long')) response.end('x'.repeat(11));
    else if (request.url?.startsWith('/short')) response.end('x'.repeat(10));
  });
  const client = createClient({ directory: '/', password: '', target: { port }, answerMs: 50, answerBytesMax: 10 });
  onTestFinished(() => client.close());
  expect(await client.send('GET', '/short')).toMatchObject({ body: 'xxxxxxxxxx' });
  await expect(client.send('GET', '/long')).rejects.toThrow('longer than 10 bytes');
  await expect(client.send('GET', '/never')).rejects.toThrow('within 0.05 s');
});

it('[U404] a long list is read item by item without holding the event loop; one with too many values or levels fails', async () => {
  const { programLineBytesMax } = programLimits;
  const item = { text: '"],[{\\', list: [1, [2]] };
  const long = JSON.stringify(Array.from({ length: 20_000 }, () => item));
  const answers: Record<string, string> = {
    '/long': ` ${long}\n`,
    '/large': `[${JSON.stringify(item)},{"x":"${'y'.repeat(programLineBytesMax)}"},5,${JSON.stringify(item)}]`,
    '/object': `{"x":"${'y'.repeat(programLineBytesMax)}"}`,
    '/deep': '['.repeat(baseLimits.contentDepthMax + 1),
    '/values': `[${'0,'.repeat(programLimits.opencodeAnswerValuesMax)}0]`,
  };
  const port = await serve((request, response) => void response.end(answers[request.url!.split('?')[0]!]));
  const client = createClient({ directory: '/', password: '', target: { port } });
  onTestFinished(() => client.close());
  const { body } = await client.send('GET', '/long');
  expect(body).toEqual(JSON.parse(long));
  expect((await client.send('GET', '/large')).body).toEqual([item, item]);
  await expect(client.send('GET', '/object')).rejects.toThrow(`longer than ${programLineBytesMax} bytes`);
  await expect(client.send('GET', '/deep')).rejects.toThrow('nested more than 500 levels');
  await expect(client.send('GET', '/values')).rejects.toThrow('more than 1000000 values');
});

async function serve(handle: RequestListener): Promise<number> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function toUser({ headers }: IncomingMessage): string {
  return Buffer.from(headers.authorization?.split(' ')[1] ?? '', 'base64').toString();
}
