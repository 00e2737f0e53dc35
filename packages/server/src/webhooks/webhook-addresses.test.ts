import { expect, it } from 'vitest';
import { webhookLimits } from './limits.ts';
import { toWebhookAddresses } from './webhook-addresses.ts';

it('[W70] http and https are accepted, each address once; its label has no path and no query', () => {
  const given = ['https://a.example/x?token=1', 'http://127.0.0.1:8080/', 'https://A.example:443/x?token=1#part'];
  const addresses = toWebhookAddresses(given);
  expect(addresses.map(({ url }) => url)).toEqual(['https://a.example/x?token=1', 'http://127.0.0.1:8080/']);
  expect(addresses.map(({ label }) => label)).toEqual(['https://a.example', 'http://127.0.0.1:8080']);
  // Databases keep these ids: with another id the same address would receive everything again.
  expect(addresses.map(({ id }) => id)).toEqual([
    '9f0744b75a58331c128bc424612d45ec',
    '0bc3c2f13ccd1516eaa022809224b72e',
  ]);
});

it.each([
  ['nothing', 'is not a valid http or https URL'],
  ['ftp://a.example/secret', 'is not a valid http or https URL'],
  ['file:///etc/secret', 'is not a valid http or https URL'],
  ['https://me:secret@a.example/', 'a.example contains a user name or a password'],
  ['https://secret@a.example/?secret', 'a.example contains a user name or a password'],
])('[W70] %s is refused by a sentence that does not repeat it', (text, problem) => {
  const refuse = () => toWebhookAddresses(['https://a.example', text]);
  expect(refuse).toThrow(expect.objectContaining({ code: 'webhook_refused', kind: 'caller' }));
  expect(refuse).toThrow(problem);
  expect(refuse).not.toThrow(/secret/);
});

it('[W70] there are at most ten', () => {
  const urls = Array.from({ length: webhookLimits.webhooksMax + 1 }, (_, index) => `https://a.example/${index}`);
  expect(webhookLimits.webhooksMax).toBe(10);
  expect(toWebhookAddresses(urls.slice(1))).toHaveLength(10);
  expect(() => toWebhookAddresses(urls)).toThrow('11 webhook addresses are configured, and the maximum is 10');
});
