// Pages, most of them of eleven megabytes.

import { begin, bomb, drip, flood, MIB, rawFlood, X64K } from './send.mjs';

const html = (piece) => (response) =>
  flood(begin(response, 'text/html'), piece.repeat(Math.ceil(MIB / piece.length)), 11);

export const page = {
  fine: (response) => begin(response, 'text/html').end('<p>fine</p>'),
  'open-tags': html('<a '),
  'open-tags-closed': html('<a href=x>y</a> '),
  comments: html('<!--'),
  'short-comments': html('<!---->'),
  nested: html('<div>'),
  'nested-pre': html('<pre>'),
  entities: html('&amp;'),
  'number-entities': html('&#x202e;'),
  'broken-entities': html('&#'),
  ampersands: html('&'),
  attributes: html('a '),
  'one-tag': (response) => (begin(response, 'text/html').write('<a '), flood(response, 'b=c '.repeat(16 * 1024), 170)),
  'one-attribute': (response) => (begin(response, 'text/html').write('<a b='), flood(response, X64K, 170)),
  'one-name': (response) => (begin(response, 'text/html').write('<'), flood(response, X64K, 170)),
  'one-word': html('x'),
  spaces: html(' '),
  lines: html('<br>\n'),
  'pre-spaces': (response) => (
    begin(response, 'text/html').write('<pre>'), flood(response, ' \r'.repeat(32 * 1024), 170)
  ),
  scripts: html('<script>'),
  'script-ends': (response) => (
    begin(response, 'text/html').write('<script>'), flood(response, '</scripts'.repeat(7_000), 170)
  ),
  'less-than': html('<'),
  closes: html('</'),
  declarations: html('<!'),
  latin1: (response) => flood(begin(response, 'text/html; charset=latin1'), Buffer.alloc(MIB, 0x81), 11),
  big5: (response) =>
    flood(begin(response, 'text/html; charset=big5'), Buffer.alloc(MIB, Buffer.from([0xa4, 0xa4])), 11),
  'broken-utf8': (response) => flood(begin(response, 'text/html'), Buffer.alloc(MIB, 0xff), 11),
  'utf-16': (response) => (
    begin(response, 'text/html').write(Buffer.from([0xff, 0xfe])),
    flood(response, Buffer.alloc(MIB, Buffer.from('<b>', 'utf16le')), 11)
  ),
  json: (response) => flood(begin(response, 'application/json'), '['.repeat(64 * 1024), 170),
  endless: (response) => flood(begin(response, 'text/plain'), X64K),
  gzip: (response) => begin(response, 'text/html', 200, { 'content-encoding': 'gzip' }).end(bomb('<a ', 200)),
  drip: (response) => drip(begin(response, 'text/html'), 'x'),
  // Each byte in a chunk of its own.
  'single-bytes': (response) =>
    rawFlood(
      response,
      'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n',
      '1\r\nx\r\n'.repeat(10_000),
    ),
  headers: (response) => rawFlood(response, 'HTTP/1.1 200 OK\r\n', `x-a: ${'y'.repeat(1_000)}\r\n`),
  'redirect-loop': (response, request) => response.writeHead(302, { location: `${request.url}?` }).end(),
};
