import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeyPair, SignJWT } from 'jose';
import { expect, it, onTestFinished } from 'vitest';
import { signOnLimits } from './limits.ts';
import { createLogoutTokenReader } from './logout-token.ts';
import type { Provider } from './provider.ts';

it('[U607] the keys of a provider for logout tokens are read up to 1 MiB', async () => {
  let isOpen = false;
  // Keys without end.
  const server = createServer((_, response) => {
    isOpen = true;
    response.on('close', () => (isOpen = false));
    const write = () => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
    };
    response.writeHead(200, { 'content-type': 'application/json' }).on('drain', write);
    write();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = {
    config: { client_id: 'c', clock_skew_seconds: 0 },
    metadata: async () => ({ issuer, jwks_uri: `${issuer}/jwks` }),
    // The reader uses nothing else of it.
  } as unknown as Provider;
  const read = createLogoutTokenReader(provider, { now: Date.now });
  const { privateKey } = await generateKeyPair('ES256');
  const token = await new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid: 'k' }).sign(privateKey);
  await expect(read(token)).rejects.toThrow(`more than ${signOnLimits.responseBytesMax} bytes`);
  await expect.poll(() => isOpen).toBe(false);
});
