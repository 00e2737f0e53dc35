import { expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import { toWebhookAddresses } from './webhook-addresses.ts';

it('[W70] http and https are taken, each address once; what people are told of it has no path and no query', () => {
  const given = ['https://a.example/x?token=1', 'http://127.0.0.1:8080/', 'https://A.example:443/x?token=1#part'];
  const addresses = toWebhookAddresses(given);
  expect(addresses.map(({ url }) => url)).toEqual(['https://a.example/x?token=1', 'http://127.0.0.1:8080/']);
  expect(addresses.map(({ label }) => label)).toEqual(['https://a.example', 'http://127.0.0.1:8080']);
  // Kept in databases for as long as these are: another one would be an address that was never told anything.
  expect(addresses.map(({ id }) => id)).toEqual([
    '9f0744b75a58331c128bc424612d45ec',
    '0bc3c2f13ccd1516eaa022809224b72e',
  ]);
});

it.each([
  ['nothing', 'no web address'],
  ['ftp://a.example/secret', 'no web address'],
  ['file:///etc/secret', 'no web address'],
  ['https://me:secret@a.example/', 'a.example has a name or a password'],
  ['https://secret@a.example/?secret', 'a.example has a name or a password'],
])('[W70] %s is refused by a sentence that does not repeat it', (text, problem) => {
  const refuse = () => toWebhookAddresses(['https://a.example', text]);
  expect(refuse).toThrow(expect.objectContaining({ code: 'webhook_refused', kind: 'caller' }));
  expect(refuse).toThrow(problem);
  expect(refuse).not.toThrow(/secret/);
});

it('[W70] there are at most ten', () => {
  const urls = Array.from({ length: limits.webhooksMax + 1 }, (_, index) => `https://a.example/${index}`);
  expect(limits.webhooksMax).toBe(10);
  expect(toWebhookAddresses(urls.slice(1))).toHaveLength(10);
  expect(() => toWebhookAddresses(urls)).toThrow('there are 11 webhooks, and 10 are possible');
});
