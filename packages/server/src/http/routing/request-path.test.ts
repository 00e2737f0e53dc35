import { expect, it } from 'vitest';
import { pathOf, toRoutedPath } from './request-path.ts';

it('[H151] a request is routed by its path without query, fragment, dot segments and origin', () => {
  const cases: [target: string, path: string][] = [
    ['/v1/agents?limit=2', '/v1/agents'],
    ['/v1/agents/a.b:c@d~(e)', '/v1/agents/a.b:c@d~(e)'],
    ['/v1/a/../agents/./b?x=/../y', '/v1/agents/b'],
    ['/v1/%2e%2e/agents', '/agents'],
    ['/v1/agents#part', '/v1/agents'],
    ['/v1/a b|c', '/v1/a%20b|c'],
    ['/v1/%61gents', '/v1/%61gents'],
    ['//example.com/v1/agents', '//example.com/v1/agents'],
    ['//example.com/../v1', '//v1'],
    ['http://localhost:4280/v1/agents?limit=2', '/v1/agents'],
    ['https://example.com', '/'],
    ['', '/'],
  ];
  for (const [url, path] of cases) expect([url, toRoutedPath({ url })]).toEqual([url, path]);
});

it('[H151] a request target that is not a URL is a 400 that quotes it', () => {
  for (const url of ['*', 'v1/agents', 'http://[', 'ftp://localhost/']) {
    expect(() => toRoutedPath({ url })).toThrow(`the request target ${url} is not a valid URL`);
  }
  expect(() => toRoutedPath({ url: `*${'x'.repeat(300)}` })).toThrow(`*${'x'.repeat(199)} is not`);
});

it('[H151] the logged path is the path as it was sent, without its query', () => {
  expect(pathOf({ url: '/v1/../x?key=secret' })).toBe('/v1/../x');
  expect(pathOf({})).toBe('/');
});
