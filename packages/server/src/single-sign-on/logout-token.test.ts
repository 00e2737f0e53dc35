import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateKeyPair, SignJWT } from 'jose';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { signOnLimits } from './limits.ts';
import { createLogoutTokenReader } from './logout-token.ts';
import type { Provider } from './provider.ts';

it('[ID203] keys of a provider that have more than 1 MiB are not read to their end, and its logout tokens are refused', async () => {
  let sent = 0;
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    const part = ' '.repeat(64 * 1024);
    const send = () => {
      while (!response.destroyed && sent < 64 * signOnLimits.responseBytesMax) {
        sent += part.length;
        if (!response.write(part)) return void response.once('drain', send);
      }
    };
    send();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = { client_id: 'c', clock_skew_seconds: 30 } as Provider['config'];
  const metadata = async () => ({ issuer, jwks_uri: `${issuer}/keys` });
  const unused = () => Promise.reject(new Error('it is not asked for'));
  const provider: Provider = { config, metadata, begin: unused, finish: unused, endSessionUrl: unused };
  const read = createLogoutTokenReader(provider, systemClock);
  const { privateKey } = await generateKeyPair('RS256');
  const token = await new SignJWT({ sub: 'ann', jti: 'j', events: {} })
    .setProtectedHeader({ alg: 'RS256', kid: 'k' })
    .setIssuedAt()
    .setIssuer(issuer)
    .setAudience('c')
    .sign(privateKey);
  await expect(read(token)).rejects.toThrow(`more than ${signOnLimits.responseBytesMax} bytes`);
  expect(sent).toBeLessThan(32 * signOnLimits.responseBytesMax);
});
