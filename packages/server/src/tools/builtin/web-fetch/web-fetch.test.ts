import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { baseLimits } from '../../../base/limits.ts';
import { toolLimits } from '../../limits.ts';
import type { ToolboxOptions } from '../../registry/create-toolbox.ts';
import { type Bench, hasOpenssl, openBench, runProgram } from '../../toolbox.suite.ts';
import { isPublicAddress } from '../../network/is-public-address.ts';

const servers: { close(): void }[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe('addresses', () => {
  it.each(
    words(`
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.0.1
    169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.1
    203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1
    ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe ::127.0.0.1 fe80::1 fe80::1%eth0 fc00::1 fd12:3456::1
    fec0::1 ff02::1 64:ff9b::127.0.0.1 64:ff9b::a00:1 64:ff9b:: 64:ff9b:1::1 2001:db8::1 2001::1
    2002:7f00:1:: 2002:a00:1::1 3fff::1 100::1 4000::1 localhost 1.2.3 127.1
  `),
  )('[U50] %s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(
    words(`
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1
    169.253.0.1 169.255.0.1 172.15.255.255 172.32.0.1 192.167.1.1 192.169.1.1 198.17.0.1 198.20.0.1
    223.255.255.255 2606:4700::1111 2a00:1450::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8
  `),
  )('[U50] %s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('where web_fetch goes', () => {
  it('[U51] private hosts are refused however they are written, without a connection to them', async () => {
    const site = await serve((_request, response) => response.end('secret'));
    const { run } = openBench();
    const { port } = new URL(site.url);
    const hosts = ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '0177.0.0.1', '017700000001', '127.1'];
    const more = [
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '0.0.0.0',
      '0',
      '[::]',
      '①②⑦.0.0.1',
      '[64:ff9b::7f00:1]',
    ];
    for (const host of [...hosts, ...more]) {
      const { text, isError } = await run('web_fetch', { url: `http://${host}:${port}/` });
      expect({ host, text, isError }).toEqual({
        host,
        text: expect.stringContaining('is not on the public internet'),
        isError: true,
      });
    }
    expect(site.requests).toEqual([]);
  });

  it('[U51] a name is judged by its addresses', async () => {
    const site = await serve((_request, response) => response.end('secret'));
    const { port } = new URL(site.url);
    const { run } = openBench({ resolveHost: async () => ['10.0.0.1', '127.0.0.1', 'fd00::1'] });
    const { text } = await run('web_fetch', { url: `http://harmless.example:${port}/` });
    expect(text).toBe(
      `web_fetch: harmless.example:${port} is not on the public internet, and only pages there can be fetched`,
    );
    expect(site.requests).toEqual([]);
  });

  it('[U52] it connects to the address that was checked: a name is looked up once for each request', async () => {
    const site = await serve((request, response) => response.end(`for ${request.headers.host}`));
    const { port } = new URL(site.url);
    let asked = 0;
    const resolveHost = async (): Promise<string[]> => (asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']);
    const { run } = openBench({ resolveHost, allowedPrivateHosts: ['rebinding.example'] });
    const { text } = await run('web_fetch', { url: `http://rebinding.example:${port}/x` });
    expect(text).toContain(`for rebinding.example:${port}`);
    expect(asked).toBe(1);
  });

  it('[U51] hosts that the operator names may be private, with this port or with any', async () => {
    const site = await serve((_request, response) => response.end('inner'));
    const { host } = new URL(site.url);
    expect((await openBench({ allowedPrivateHosts: [host] }).run('web_fetch', { url: site.url })).text).toContain(
      'inner',
    );
    expect(
      (await openBench({ allowedPrivateHosts: ['127.0.0.1'] }).run('web_fetch', { url: site.url })).text,
    ).toContain('inner');
    const other = await openBench({ allowedPrivateHosts: ['127.0.0.1:1'] }).run('web_fetch', { url: site.url });
    expect(other.text).toContain('is not on the public internet');
  });

  it('[U53] each redirect is checked as the first address', async () => {
    const secret = await serve((_request, response) => response.end('secret'));
    const targets = [
      secret.url,
      'http://169.254.169.254/latest/meta-data',
      'file:///etc/passwd',
      'http://user:pass@x.example/',
    ];
    for (const location of [...targets, 'http://[', '//10.0.0.1/']) {
      const site = await serve((_request, response) => response.writeHead(302, { location }).end());
      const { text, isError } = await bench(site.url).run('web_fetch', { url: site.url });
      expect({ location, text, isError }).toEqual({
        location,
        text: expect.not.stringContaining('secret'),
        isError: true,
      });
    }
    expect(secret.requests).toEqual([]);
  });

  it('[U53] five redirects are followed, and a sixth is not', async () => {
    const site = await serve((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) return void response.end('arrived');
      response.writeHead([301, 302, 303, 307, 308][left % 5] ?? 302, { location: `/${left - 1}` }).end('not read');
    });
    const { run } = bench(site.url);
    expect(toolLimits.webFetchRedirectsMax).toBe(5);
    expect((await run('web_fetch', { url: `${site.url}5` })).text).toBe(`${site.url}0\n\narrived`);
    expect((await run('web_fetch', { url: `${site.url}6` })).text).toContain('redirects more than 5 times');
  });

  it('[U2] an address that is not a web page is refused', async () => {
    const { run } = openBench();
    const refusals: [string, string][] = [
      ['example.com', 'is not a whole address'],
      ['ftp://example.com/', 'use http: or https:'],
      ['file:///etc/passwd', 'use http: or https:'],
      ['javascript:alert(1)', 'use http: or https:'],
      ['http://user@example.com/', 'cannot have a user'],
      [`https://example.com/${'x'.repeat(baseLimits.webFetchUrlCharsMax)}`, 'url: '],
    ];
    for (const [url, words] of refusals) expect((await run('web_fetch', { url })).text).toContain(words);
  });

  it('[U54] allowed_domains and blocked_domains decide by domain, on redirects too', async () => {
    const site = await serve((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: `http://b.example:${port}/` }).end();
      else response.end('page');
    });
    const { port } = new URL(site.url);
    const names = ['a.example', 'sub.a.example', 'nota.example', 'b.example'];
    const { run } = openBench({ resolveHost: async () => ['127.0.0.1'], allowedPrivateHosts: names });
    const fetched = async (config: { [key: string]: string[] }): Promise<string[]> => {
      const results = await Promise.all(
        names.map((name) => run('web_fetch', { url: `http://${name}:${port}/` }, { config })),
      );
      return names.filter((_, at) => results[at]?.isError === false);
    };
    expect(await fetched({ allowed_domains: ['A.example.'] })).toEqual(['a.example', 'sub.a.example']);
    expect(await fetched({ blocked_domains: ['a.example'] })).toEqual(['nota.example', 'b.example']);
    const away = await run(
      'web_fetch',
      { url: `http://a.example:${port}/away` },
      { config: { allowed_domains: ['a.example'] } },
    );
    expect(away.text).toBe('web_fetch: b.example cannot be fetched from: only a.example can');
  });
});

describe('what web_fetch gives', () => {
  it('[U55] text and JSON as they are, HTML as text that can be read', async () => {
    const pages: { [path: string]: [type: string, body: string | Buffer] } = {
      '/text': ['text/plain; charset=utf-8', 'a < b\n  é'],
      '/json': ['application/json', '{"a": [1]}'],
      '/problem': ['application/problem+json', '{}'],
      '/xml': ['application/rss+xml', '<rss/>'],
      '/html': [
        'text/html',
        '<title>T</title><h1>Head</h1><p>One&amp;two <a href="/x">link</a></p><script>no()</script>',
      ],
      '/latin': ['text/plain; charset=iso-8859-1', Buffer.from([0xe9])],
      '/meta': [
        'text/html',
        Buffer.concat([Buffer.from('<meta charset="windows-1252">'), Buffer.from([0x80, 0x96, 0x41])]),
      ],
      '/utf16': ['text/plain', Buffer.from('\ufeffhé', 'utf16le')],
      '/odd': ['text/plain; charset=nonsense', 'é'],
    };
    const site = await serve((request, response) => {
      const [type, body] = pages[request.url ?? ''] ?? ['text/plain', ''];
      response.setHeader('content-type', type).end(body);
    });
    const { run } = bench(site.url);
    const get = async (path: string): Promise<string> => {
      const { text } = await run('web_fetch', { url: `${site.url}${path}` });
      return text.slice(text.indexOf('\n\n') + 2);
    };
    expect(await get('text')).toBe('a < b\n  é');
    expect(await get('json')).toBe('{"a": [1]}');
    expect(await get('problem')).toBe('{}');
    expect(await get('xml')).toBe('<rss/>');
    expect(await get('html')).toBe(`T\n\n# Head\n\nOne&two link (${site.url}x)`);
    expect(await get('latin')).toBe('é');
    expect(await get('meta')).toBe('€–A');
    expect(await get('utf16')).toBe('hé');
    expect(await get('odd')).toBe('é');
  });

  it('[U55] other types are refused before they are read', async () => {
    const site = await serve((_request, response) => {
      response.setHeader('content-type', 'video/mp4');
      // Never ends.
      response.write(Buffer.alloc(1_000));
    });
    const { text, isError } = await bench(site.url).run('web_fetch', { url: site.url });
    expect(isError).toBe(true);
    expect(text).toBe('web_fetch: the page is of type video/mp4, and only text, HTML, JSON and XML can be fetched');
    const untyped = await serve((_request, response) => response.end(Buffer.from([1, 0, 2])));
    expect((await bench(untyped.url).run('web_fetch', { url: untyped.url })).text).toContain('binary');
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', (bytes: Buffer) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ])('[U56] a page has 10 MiB after unpacking, however small it was packed: %s', async (encoding, pack) => {
    expect(toolLimits.webFetchBytesMax).toBe(10_485_760);
    const pages: { [path: string]: Buffer } = {
      '/whole': pack(Buffer.alloc(1_000, 'a')),
      '/bomb': pack(Buffer.alloc(100_000_000, 'a')),
    };
    const site = await serve((request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': encoding })
        .end(pages[request.url ?? '']);
    });
    const { run } = bench(site.url, { limits: { webFetchBytesMax: 1_000 } });
    expect((await run('web_fetch', { url: `${site.url}whole` })).text).toBe(`${site.url}whole\n\n${'a'.repeat(1_000)}`);
    const before = process.memoryUsage().rss;
    const { text } = await run('web_fetch', { url: `${site.url}bomb` });
    expect(text).toBe(`${site.url}bomb\n\n${'a'.repeat(1_000)}\n(cut: the page has more than 1000 bytes)`);
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
  });

  it('[U56] a page that cannot be decompressed is refused', async () => {
    const site = await serve((request, response) => {
      const encoding = request.url === '/odd' ? 'rot13' : 'gzip';
      response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': encoding }).end('not packed');
    });
    const { run } = bench(site.url);
    expect((await run('web_fetch', { url: `${site.url}odd` })).text).toContain('content-encoding rot13');
    expect((await run('web_fetch', { url: `${site.url}gzip` })).text).toContain('the page cannot be fetched');
  });

  it('[U57] a page that does not arrive in time fails, and an interrupt ends it at once', async () => {
    const site = await serve((request, response) => {
      if (request.url === '/begun') response.write('begun');
    });
    const { run } = bench(site.url, { limits: { webFetchTimeoutMs: 200 } });
    expect((await run('web_fetch', { url: site.url })).text).toBe('web_fetch: the page did not come within 200 ms');
    expect((await run('web_fetch', { url: `${site.url}begun` })).text).toBe(
      'web_fetch: the page did not come within 200 ms',
    );
    const stop = new AbortController();
    const patient = bench(site.url).run('web_fetch', { url: `${site.url}begun` }, { signal: stop.signal });
    while (site.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort();
    expect(await patient).toMatchObject({ text: 'web_fetch: interrupted before it was done', isError: true });
    expect(toolLimits.webFetchTimeoutMs).toBe(30_000);
  });

  it('[U57] a host that accepts connections and sends nothing fails', async () => {
    const silent = createTcpServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    servers.push(silent);
    // A server that listens on a port has such an address.
    const { port } = silent.address() as AddressInfo;
    const { run } = openBench({ allowedPrivateHosts: ['127.0.0.1'], limits: { webFetchConnectMs: 100 } });
    const { text } = await run('web_fetch', { url: `https://127.0.0.1:${port}/` });
    expect(text).toBe('web_fetch: no connection within 100 ms');
    expect(toolLimits.webFetchConnectMs).toBe(10_000);
  });

  it('[U57] an interrupt does not wait for a name to be looked up', async () => {
    const stop = new AbortController();
    const { run } = openBench({ resolveHost: async () => await new Promise(() => {}) });
    const fetching = run('web_fetch', { url: 'http://slow.example/' }, { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    expect((await fetching).text).toBe('web_fetch: interrupted before it was done');
  });

  it('[U58] a status that is not a success, a broken answer and a host that is not there are errors with words', async () => {
    const site = await serve((request, response) => {
      if (request.url === '/cut') {
        response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '100' }).write('half');
        setTimeout(() => response.destroy(), 20);
      } else response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Gone</h1>');
    });
    const { run } = bench(site.url);
    expect(await run('web_fetch', { url: site.url })).toMatchObject({
      text: `${site.url} answered with status 404\n\n# Gone`,
      isError: true,
    });
    expect((await run('web_fetch', { url: `${site.url}cut` })).text).toContain(
      'the page cannot be fetched (ECONNRESET)',
    );
    const withoutAddress = openBench({
      resolveHost: async () => {
        throw Object.assign(new Error('no'), { code: 'ENOTFOUND' });
      },
    });
    expect((await withoutAddress.run('web_fetch', { url: 'http://none.example' })).text).toBe(
      'web_fetch: there is no host of this name',
    );
    const closed = openBench({ allowedPrivateHosts: ['127.0.0.1'] });
    expect((await closed.run('web_fetch', { url: 'http://127.0.0.1:1/' })).text).toContain('(ECONNREFUSED)');
  });

  it('[U59] the next address of a host is tried when one does not answer', async () => {
    const site = await serve((_request, response) => response.end('here'));
    const { port } = new URL(site.url);
    const { run } = openBench({
      resolveHost: async () => ['127.0.0.2', '127.0.0.1'],
      allowedPrivateHosts: ['two.example'],
    });
    expect((await run('web_fetch', { url: `http://two.example:${port}/` })).text).toContain('here');
  });

  it.skipIf(!hasOpenssl)('[U59] a certificate without a trusted issuer is refused', async () => {
    const { workspace } = openBench();
    const [key, cert] = [join(workspace, 'key.pem'), join(workspace, 'cert.pem')];
    const request =
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=pinned.example';
    runProgram('openssl', [...request.split(' '), '-keyout', key, '-out', cert]);
    const site = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) => {
      response.end('secret');
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    servers.push(site);
    // A server that listens on a port has such an address.
    const { port } = site.address() as AddressInfo;
    const { run } = openBench({ resolveHost: async () => ['127.0.0.1'], allowedPrivateHosts: ['pinned.example'] });
    expect(await run('web_fetch', { url: `https://pinned.example:${port}/` })).toMatchObject({
      text: 'web_fetch: the page cannot be fetched (DEPTH_ZERO_SELF_SIGNED_CERT)',
      isError: true,
    });
  });

  it('[U60] max_content_tokens cuts the text, and states it', async () => {
    const site = await serve((_request, response) =>
      response.setHeader('content-type', 'text/plain').end('x'.repeat(41)),
    );
    const { run } = bench(site.url);
    const get = async (tokens: number): Promise<string> => {
      const config = { max_content_tokens: tokens };
      return (await run('web_fetch', { url: site.url }, { threadId: `t${tokens}`, config })).text;
    };
    expect(await get(10)).toBe(`${site.url}\n\n${'x'.repeat(40)}\n(cut: the first 40 of 41 characters)`);
    expect(await get(11)).toBe(`${site.url}\n\n${'x'.repeat(41)}`);
  });
});

describe('the cache', () => {
  it('[U61] a page is fetched once by a thread and again by its siblings', async () => {
    let count = 0;
    const site = await serve((_request, response) => response.end(`page ${++count}`));
    const { run, toolbox } = bench(site.url);
    const get = async (threadId: string, hash = ''): Promise<string | undefined> => {
      return (await run('web_fetch', { url: `${site.url}${hash}` }, { threadId })).text.split('\n').at(-1);
    };
    expect([await get('a'), await get('a', '#part'), await get('b'), await get('b'), await get('a')]).toEqual([
      'page 1',
      'page 1',
      'page 2',
      'page 2',
      'page 1',
    ]);
    await toolbox.closeThread('a');
    expect(await get('a')).toBe('page 3');
  });

  it('[U61] errors are not kept, and pages for 15 minutes', async () => {
    let count = 0;
    const site = await serve((_request, response) => {
      response.statusCode = ++count === 1 ? 500 : 200;
      response.end(`page ${count}`);
    });
    const clock = createManualClock();
    const { run } = bench(site.url, { clock });
    const get = async (): Promise<string | undefined> =>
      (await run('web_fetch', { url: site.url })).text.split('\n').at(-1);
    expect([await get(), await get()]).toEqual(['page 1', 'page 2']);
    clock.advance(toolLimits.webFetchCacheMs - 1);
    expect(await get()).toBe('page 2');
    clock.advance(1);
    expect(await get()).toBe('page 3');
    expect(toolLimits.webFetchCacheMs).toBe(900_000);
  });

  it.each([
    ['pages', { webFetchCacheEntriesMax: 2 }],
    ['characters', { webFetchCacheCharsMax: 80 }],
  ])('[U61] a limited number of %s is cached, the newest ones', async (_what, some) => {
    const counts: { [path: string]: number } = {};
    const site = await serve((request, response) => {
      const path = request.url ?? '';
      counts[path] = (counts[path] ?? 0) + 1;
      // With the address before it the result has 40 characters.
      response.end('x'.repeat(40 - `${site.url}a\n\n`.length));
    });
    const { run } = bench(site.url, { limits: some });
    for (const path of ['a', 'b', 'a', 'b', 'c', 'c', 'b', 'a']) await run('web_fetch', { url: `${site.url}${path}` });
    expect(counts).toEqual({ '/a': 2, '/b': 1, '/c': 1 });
  });
});

describe('web_search', () => {
  it('[U62] reports that no provider is configured', async () => {
    const { text, isError } = await openBench().run('web_search', { query: 'x' });
    expect([text, isError]).toEqual([
      'web_search: no search provider is configured on this server: if you know an address, use web_fetch',
      true,
    ]);
  });
});

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** A bench that may reach this site, and nothing else of this machine. */
function bench(url: string, options: ToolboxOptions = {}): Bench {
  return openBench({ allowedPrivateHosts: [new URL(url).host], ...options });
}

async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  // A server that listens on a port has such an address.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests };
}
