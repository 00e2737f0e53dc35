import { expect, it } from 'vitest';
import { filesWith } from '../workspaces/raw-files.suite.ts';
import { withServer } from '../server.suite.ts';

it('[H112] the secret of an environment key is in no file, and a repeated request still gets it, also after a restart', () =>
  withServer(async (test) => {
    const { id } = await test.client.beta.environments.create({ name: 'ours', config: { type: 'self_hosted' } });
    const create = async (url: string, more: Record<string, string>) => {
      const headers = { 'x-api-key': test.key, 'content-type': 'application/json', ...more };
      const answer = await fetch(`${url}/v1/environments/${id}/keys`, {
        method: 'POST',
        headers,
        body: '{"name":"w"}',
      });
      return { ...((await answer.json()) as { secret: string }), replayed: answer.headers.get('idempotency-replayed') };
    };
    const byKey = await create(test.url, { 'idempotency-key': 'once' });
    const byGuess = await create(test.url, { 'x-stainless-retry-count': '0' });
    expect(new Set([byKey.secret, byGuess.secret, 'x']).size).toBe(3);
    for (const { secret } of [byKey, byGuess]) {
      expect(filesWith(test.directory, secret)).toEqual([]);
      expect(filesWith(test.directory, secret.slice(-20))).toEqual([]);
    }
    const again = await test.restart();
    expect(await create(again.url, { 'idempotency-key': 'once' })).toEqual({ ...byKey, replayed: 'true' });
    expect(await create(again.url, { 'x-stainless-retry-count': '1' })).toEqual({ ...byGuess, replayed: 'true' });
    // The key of the caller is what opens it, so it must not be there either.
    expect(filesWith(test.directory, test.key)).toEqual([]);
  }));
