import { expect, it } from 'vitest';
import { toContentHeaders } from '../http/response/content-headers.ts';
import { toMediaType } from './media-type.ts';

it('[H84] a media type is kept in its canonical form, and an invalid one becomes application/octet-stream', () => {
  const cases: [given: string | undefined, kept: string][] = [
    ['text/plain', 'text/plain'],
    ['Image/PNG', 'image/png'],
    [' text/plain ;charset=utf-8 ', 'text/plain; charset=utf-8'],
    ['text/plain; charset="utf-8"', 'text/plain; charset="utf-8"'],
    ['application/vnd.api+json', 'application/vnd.api+json'],
    ['text/plain; charset=✓', 'text/plain'],
    ['text/plain; a="\u0001"', 'text/plain'],
    ['text/plain;', 'text/plain'],
    [`text/plain; a=${'b'.repeat(300)}`, 'text/plain'],
  ];
  for (const [given, kept] of cases) expect([given, toMediaType(given)]).toEqual([given, kept]);
  const none = [
    undefined,
    '',
    'text',
    'text/',
    '/plain',
    'text/✓',
    'text/pla in',
    'a/b/c',
    'text/plain\r\nx: y',
    'é/é',
  ];
  for (const given of [...none, `${'a'.repeat(101)}/b`, '\u0000/b', '*', '\ud800/x']) {
    expect([given, toMediaType(given)]).toEqual([given, 'application/octet-stream']);
  }
});

it('[H85] headers of a file can be sent whatever its type and its name are', () => {
  const metadata = {
    type: 'file' as const,
    id: 'file_1',
    size_bytes: 1,
    downloadable: true,
    created_at: '2026-01-01T00:00:00Z',
    expires_at: null,
    scope: null,
  };
  const headersOf = (filename: string, mime_type = 'text/✓') => toContentHeaders({ ...metadata, filename, mime_type });
  const nameOf = (filename: string) => headersOf(filename)['content-disposition']!.replace(/^.*UTF-8''/, '');
  expect(nameOf("a b'(c)*.txt")).toBe('a%20b%27%28c%29%2A.txt');
  expect(nameOf('a/b/ä.txt')).toBe('%C3%A4.txt');
  expect(nameOf('a\r\nset-cookie: x')).toBe('a%0D%0Aset-cookie%3A%20x');
  expect(nameOf('\ud800')).toBe('%EF%BF%BD');
  expect(nameOf('😀'.repeat(10_000)).length).toBeLessThan(3_000);
  for (const name of ['', '\u0000', '"', '\\', '✓', '%', '\ud800x', '😀'.repeat(500)]) {
    // oxlint-disable-next-line no-control-regex -- what a header may hold
    for (const value of Object.values(headersOf(name))) expect(value).toMatch(/^[\x20-\x7e]*$/);
  }
  expect(headersOf('a')['content-type']).toBe('application/octet-stream');
});
