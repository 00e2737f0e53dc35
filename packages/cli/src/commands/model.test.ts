import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../test-support/fake-io.ts';
import { begin, call } from '../../test-support/live-io.ts';

it('[Y90] `model` serves the scripted model alone, with scripts of a directory, to any client with any key', async () => {
  const scripts = await temporaryFolder();
  await writeFile(join(scripts, 'greet.yaml'), 'turns:\n  - - say: Good morning, {{last_user}}.\n');
  const { fake, ended } = begin(['model', '--port', '0', '--scripts', scripts, '--json']);
  await eventually(() => fake.stdout.text.includes('\n'));
  const { url, port } = JSON.parse(fake.stdout.text) as { url: string; port: number };
  expect(url).toBe(`http://127.0.0.1:${port}`);
  const client = new Anthropic({ baseURL: url, apiKey: 'any', maxRetries: 0 });
  const ask = (model: string) =>
    client.messages.stream({ model, max_tokens: 100, messages: [{ role: 'user', content: 'Ada' }] }).finalText();
  expect(await ask('scripted/greet')).toBe('Good morning, Ada.');
  expect(await ask('scripted/echo')).toBe('Ada');
  const models = [];
  for await (const { id } of client.models.list()) models.push(id);
  expect(models).toEqual(expect.arrayContaining(['scripted/echo', 'scripted/greet']));
  await expect(ask('scripted/nobody')).rejects.toMatchObject({ status: 404 });
  fake.send('SIGTERM');
  expect(await ended).toBe(0);
  await expect(fetch(url)).rejects.toThrow();
  expect(fake.stderr.text).toBe('');
});

it('[Y91] `model` says in words where it listens, and returns 2 for a port that is taken and scripts that are not there', async () => {
  const { fake, ended } = begin(['model', '--port', '0']);
  await eventually(() => fake.stdout.text.includes('\n'));
  const url = /listens on (http:\S+)/.exec(fake.stdout.text)?.[1] ?? '';
  expect((await fetch(url)).status).toBe(200);
  const taken = await call(['model', '--port', new URL(url).port]);
  expect(taken).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('cannot listen') });
  const missing = await call(['model', '--port', '0', '--scripts', join(tmpdir(), 'fleetloom-no-scripts')]);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be read') });
  fake.send('SIGINT');
  expect(await ended).toBe(0);
});

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-model-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
