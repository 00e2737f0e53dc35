import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
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
  await expect(ask('scripted/missing')).rejects.toMatchObject({ status: 404 });
  fake.send('SIGTERM');
  expect(await ended).toBe(0);
  await expect(fetch(url)).rejects.toThrow();
  expect(fake.stderr.text).toBe('');
});

it('[Y91] `model` prints its address, and returns 2 for a port in use and for missing scripts', async () => {
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

it('[Y154] `model` names the base URLs of the Messages and the Responses API, and serves both', async () => {
  const { fake, ended } = begin(['model', '--port', '0']);
  await eventually(() => fake.stdout.text.includes('OPENAI'));
  const anthropicUrl = /ANTHROPIC_BASE_URL=(\S+)/.exec(fake.stdout.text)?.[1] ?? '';
  const openAiUrl = /OPENAI_BASE_URL=(\S+)/.exec(fake.stdout.text)?.[1] ?? '';
  const anthropic = new Anthropic({ baseURL: anthropicUrl, apiKey: 'any', maxRetries: 0 });
  const asked = { model: 'any', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Ada' }] };
  expect((await anthropic.messages.create(asked)).content).toMatchObject([{ text: 'Ada' }]);
  const openAi = new OpenAI({ baseURL: openAiUrl, apiKey: 'any', maxRetries: 0 });
  expect((await openAi.responses.create({ model: 'any', input: 'Ada' })).output_text).toBe('Ada');
  fake.send('SIGINT');
  expect(await ended).toBe(0);
});

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fleetloom-model-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
