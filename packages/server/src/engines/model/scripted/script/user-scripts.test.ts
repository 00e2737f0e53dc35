import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FleetloomError } from '../../../../base/errors.ts';
import { limits } from '../limits.ts';
import { createScriptedModel } from '../model.ts';
import { createUserScripts } from './user-scripts.ts';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'fleetloom-scripts-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

it('[K21] each JSON or YAML file of the directory is a model of its name', async () => {
  await write('one.json', '{"turns":[[{"say":"from JSON"}]]}');
  await write('two.yaml', 'turns: [[{say: from YAML}]]');
  await write('three.v2.yml', 'turns: [[{say: from YML}]]');
  await write('README.md', 'no script');
  expect(await say('one')).toBe('from JSON');
  expect(await say('two')).toBe('from YAML');
  expect(await say('three.v2')).toBe('from YML');
  expect(await createUserScripts(directory).list()).toEqual(['one', 'three.v2', 'two']);
  expect(await createScriptedModel({ scriptsDirectory: directory }).listScripts()).toContain('echo');
});

it('[K21] a script of the user goes before a built-in one, and an edit plays at the next request', async () => {
  expect(await say('echo')).toBe('Hello');
  await write('echo.yaml', 'turns: [[{say: mine}]]');
  expect(await say('echo')).toBe('mine');
  await write('echo.yaml', 'turns: [[{say: mine again}]]');
  expect(await say('echo')).toBe('mine again');
  const names = await createScriptedModel({ scriptsDirectory: directory }).listScripts();
  expect(names.filter((name) => name === 'echo')).toHaveLength(1);
});

it('[K3] a malformed file is a 400 that names the file and the position', async () => {
  await write('bad.json', '{"turns":[[{"say":1}]]}');
  await expect(say('bad')).rejects.toThrow('400 the script bad: turns[0][0].say: must be a string, got a number');
  await write('worse.yaml', 'turns: [');
  await expect(say('worse')).rejects.toThrow('400 the script worse: is not valid YAML');
});

it('[K2] a name does not lead out of the directory', async () => {
  await write('one.json', '{"turns":[[]]}');
  const scripts = createUserScripts(join(directory, 'inside'));
  for (const name of ['../one', '..', '.hidden', 'a/b', '', `${directory}/one`, 'one\0']) {
    expect(await scripts.read(name)).toBeUndefined();
  }
});

it('[K21] a missing directory is an error that states what to do', async () => {
  const scripts = createUserScripts(join(directory, 'nowhere'));
  await expect(scripts.list()).rejects.toThrow(FleetloomError);
  await expect(scripts.list()).rejects.toThrow('name a directory that exists');
});

it('[K22] names have their length, files their size, and directories their number', async () => {
  const longest = 'a'.repeat(limits.nameCharsMax);
  await write(`${longest}.json`, '{"turns":[[]]}');
  await write(`${longest}a.json`, '{"turns":[[]]}');
  const scripts = createUserScripts(directory);
  expect((await scripts.read(longest))?.type).toBe('script');
  expect(await scripts.read(`${longest}a`)).toBeUndefined();
  expect(await scripts.list()).toEqual([longest]);

  const rest = '{"turns":[[{"say":""}]]}'.length;
  await write('big.json', `{"turns":[[{"say":"${'€'.repeat(limits.scriptCharsMax - rest)}"}]]}`);
  expect((await scripts.read('big'))?.type).toBe('script');
  await write('big.json', ' '.repeat(limits.scriptCharsMax * 3 + 1));
  expect(await scripts.read('big')).toMatchObject({ message: 'has 3000001 bytes, which is too big for a script' });

  for (let at = 0; at < limits.userScriptsMax; at++) await write(`s${at}.json`, '');
  expect(await scripts.list()).toHaveLength(limits.userScriptsMax);
});

async function write(file: string, text: string): Promise<void> {
  await writeFile(join(directory, file), text);
}

async function say(name: string): Promise<string> {
  const model = createScriptedModel({ scriptsDirectory: directory });
  const messages = [{ role: 'user', content: 'Hello' }];
  const { content } = await model.create({ model: `scripted/${name}`, max_tokens: 10, messages });
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
