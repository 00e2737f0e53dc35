import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { openWebhookKey } from './open-webhook-key.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { systemClock } from '../base/clock.ts';

async function newFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-webhook-key-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return join(directory, 'webhook-key');
}

it('[W71] of several servers that start at the same time one creates the key, and only that one reports it as new', async () => {
  for (const cursor of [
    { file: await newFile() },
    { store: createMemoryStore({ clock: systemClock }), secret: 's'.repeat(32) },
  ]) {
    const opened = await Promise.all(Array.from({ length: 5 }, () => openWebhookKey(undefined, cursor)));
    const [text] = new Set(opened.map(({ key }) => key.text));
    expect(text).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(opened.map(({ key }) => key.text)).toEqual(Array.from({ length: 5 }, () => text));
    expect(opened.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await openWebhookKey(undefined, cursor)).toMatchObject({ key: { text }, isNew: false });
  }
});

it('[W71] the key is in a file that no other user can read, in the form that receivers use', async () => {
  const file = await newFile();
  const { key } = await openWebhookKey(undefined, { file });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).toBe(`${key.text}\n`);
});

it('[W71] a configured key is used and not stored; an invalid one is refused without repeating it', async () => {
  const file = await newFile();
  const given = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
  expect(await openWebhookKey(given, { file })).toMatchObject({ key: { text: given }, isNew: false });
  await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
  const short = `whsec_${Buffer.alloc(23, 1).toString('base64')}`;
  for (const bad of ['', 'secret', given.slice('whsec_'.length), short, `${given} `]) {
    const opening = openWebhookKey(bad, { file });
    await expect(opening).rejects.toMatchObject({ code: 'webhook_key_broken', kind: 'caller' });
    if (bad !== '') await expect(opening).rejects.not.toThrow(bad);
  }
  await writeFile(file, 'x');
  await expect(openWebhookKey(undefined, { file })).rejects.toThrow(`${file} does not contain a webhook signing key`);
});

it('[W60] the official client accepts events signed with it, and refuses changed ones', async () => {
  const { key } = await openWebhookKey(undefined, { file: await newFile() });
  const { webhooks } = new Anthropic({ apiKey: 'any', webhookKey: key.text }).beta;
  const message = { id: 'whevt_1', seconds: Math.floor(Date.now() / 1_000), body: '{"type":"event"}' };
  const headers = {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.seconds),
    'webhook-signature': key.sign(message),
  };
  expect(webhooks.unwrap(message.body, { headers })).toEqual({ type: 'event' });
  expect(() => webhooks.unwrap('{"type":"other"}', { headers })).toThrow('No matching signature');
  const other = { ...headers, 'webhook-id': 'whevt_2' };
  expect(() => webhooks.unwrap(message.body, { headers: other })).toThrow('No matching signature');
});
