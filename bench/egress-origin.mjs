// A host that answers every request with 64 MiB over TLS. Reads its key and certificate from its standard input, and prints its port.
import { createServer } from 'node:https';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

const part = Buffer.alloc(1024 * 1024, 'x');
const server = createServer(JSON.parse(await text(process.stdin)), (_, response) => {
  response.setHeader('content-length', 64 * part.length);
  Readable.from(Array.from({ length: 64 }, () => part)).pipe(response);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
