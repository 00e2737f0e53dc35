import { describe, expect, it } from 'vitest';
import { RouteTable } from './route-table.ts';

const table = new RouteTable(
  [
    ['GET', '/'],
    ['GET', '/v1/things'],
    ['POST', '/v1/things'],
    ['GET', '/v1/things/{thing_id}'],
    ['DELETE', '/v1/things/{thing_id}'],
    ['GET', '/v1/things/{thing_id}/parts/{part_id}'],
    ['GET', '/v1/things/{thing_id}/parts/poll'],
    ['GET', '/v1/things/special/parts'],
    ['GET', '/v1/{family}/{name}/parts/{part_id}/more'],
    ['GET', '/assets/*'],
    ['POST', '/other/*'],
  ].map(([method, path]) => ({ method: method!, path: path!, handler: `${method} ${path}` })),
);

function find(method: string, path: string): [string, object] | undefined {
  const match = table.find(method, path);
  return match === undefined ? undefined : [match.handler, match.params];
}

describe('route table', () => {
  it('[H150] a request is routed by method and path, with the values of the segments in braces', () => {
    expect(find('GET', '/')).toEqual(['GET /', {}]);
    expect(find('GET', '/v1/things')).toEqual(['GET /v1/things', {}]);
    expect(find('POST', '/v1/things')).toEqual(['POST /v1/things', {}]);
    expect(find('DELETE', '/v1/things/a')).toEqual(['DELETE /v1/things/{thing_id}', { thing_id: 'a' }]);
    expect(find('GET', '/v1/things/a/parts/b')).toEqual([
      'GET /v1/things/{thing_id}/parts/{part_id}',
      { thing_id: 'a', part_id: 'b' },
    ]);
  });

  it('[H150] a literal segment wins over a parameter, unless the rest of the path has no route there', () => {
    expect(find('GET', '/v1/things/a/parts/poll')?.[0]).toBe('GET /v1/things/{thing_id}/parts/poll');
    expect(find('GET', '/v1/things/special/parts')?.[0]).toBe('GET /v1/things/special/parts');
    expect(find('GET', '/v1/things/special/parts/b')).toEqual([
      'GET /v1/things/{thing_id}/parts/{part_id}',
      { thing_id: 'special', part_id: 'b' },
    ]);
    expect(find('GET', '/v1/things/a/parts/b/more')).toEqual([
      'GET /v1/{family}/{name}/parts/{part_id}/more',
      { family: 'things', name: 'a', part_id: 'b' },
    ]);
    expect(find('DELETE', '/v1/things/special')?.[1]).toEqual({ thing_id: 'special' });
  });

  it('[H150] another method, a trailing slash, an empty segment and a longer path have no route', () => {
    for (const [method, path] of [
      ['PUT', '/v1/things'],
      ['get', '/v1/things'],
      ['OPTIONS', '/v1/things'],
      ['GET', '/v1/things/'],
      ['GET', '/v1//things'],
      ['GET', '//v1/things'],
      ['GET', '/v1/things//parts/b'],
      ['GET', '/v1/things/a/parts'],
      ['GET', '/V1/things'],
      ['GET', '/v1'],
      ['GET', ''],
      ['GET', '/__proto__'],
      ['GET', '/constructor'],
    ] as const) {
      expect([method, path, find(method, path)]).toEqual([method, path, undefined]);
    }
  });

  it('[H150] HEAD finds the route of GET, and a pattern that ends with /* finds its path and everything below it', () => {
    expect(find('HEAD', '/v1/things')?.[0]).toBe('GET /v1/things');
    expect(find('HEAD', '/other/a')).toBe(undefined);
    for (const path of ['/assets', '/assets/', '/assets/a.js', '/assets/a/b/c'])
      expect(find('GET', path)).toEqual(['GET /assets/*', {}]);
    expect(find('GET', '/assetsx')).toBe(undefined);
  });

  it('[H150] segments are percent-decoded once, one by one; an escape that is not UTF-8 stays as it is', () => {
    expect(find('GET', '/v1/%74hings/a%20b')?.[1]).toEqual({ thing_id: 'a b' });
    expect(find('GET', '/v1/things/a%2Fb')?.[1]).toEqual({ thing_id: 'a/b' });
    expect(find('GET', '/v1/things/a%252Fb')?.[1]).toEqual({ thing_id: 'a%2Fb' });
    expect(find('GET', '/v1/things/%FF%zz%C3%A4')?.[1]).toEqual({ thing_id: '%FF%zzä' });
  });

  it('[H150] two handlers for one method and pattern are refused', () => {
    const entries = ['/a/{b}', '/a/{c}'].map((path) => ({ method: 'GET', path, handler: path }));
    expect(() => new RouteTable(entries)).toThrow('GET /a/{c} has two handlers');
  });
});
