import { mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { programLimits } from '../../limits.ts';
import type { Schedule } from '../../../../base/schedule.ts';
import { copyConversation, toProjectName } from './copy-conversation.ts';

it('[J321] a transcript is copied in whole lines to where the other program looks for it', async () => {
  const { from, to, source, target } = await prepare();
  const copy = (message: string, schedule = atOnce) =>
    copyConversation({ conversation: 'c1', message, from, to }, schedule);
  await writeFile(source, '{"uuid":"1"}\n{"uuid":"2"}\n{"uuid":');
  expect(await copy('2')).toBe(true);
  expect(await readFile(target, 'utf8')).toBe('{"uuid":"1"}\n{"uuid":"2"}\n');
  // The program writes the message only now.
  const whole = '{"uuid":"1"}\n{"uuid":"2"}\n{"uuid":"3"}\n';
  let waits = 0;
  const later: Schedule = (run) => {
    waits += 1;
    void writeFile(source, whole).then(run);
    return () => {};
  };
  expect(await copy('3', later)).toBe(true);
  expect(waits).toBe(1);
  expect(await readFile(target, 'utf8')).toBe(whole);
});

it('[J321] links that agents have made are not followed, and what is missing, empty or too long is not copied', async () => {
  const { root, from, to, source, project } = await prepare();
  let waitedMs = 0;
  const counting: Schedule = (run, ms) => {
    waitedMs += ms;
    return atOnce(run, ms);
  };
  const copy = (conversation = 'c1') => copyConversation({ conversation, message: '1', from, to }, counting);
  expect(await copy()).toBe(false);
  expect(waitedMs).toBeGreaterThanOrEqual(programLimits.programTranscriptMs);
  expect(await copy('../c1')).toBe(false);
  await writeFile(join(root, 'secret.jsonl'), '{"uuid":"1"}\n');
  await symlink(join(root, 'secret.jsonl'), source);
  expect(await copy()).toBe(false);
  await rm(project, { recursive: true });
  await mkdir(join(root, 'elsewhere'));
  await writeFile(join(root, 'elsewhere', 'c1.jsonl'), '{"uuid":"1"}\n');
  await symlink(join(root, 'elsewhere'), project);
  expect(await copy()).toBe(false);
  await rm(project);
  await mkdir(project);
  await writeFile(source, 'no line');
  expect(await copy()).toBe(false);
  await writeFile(source, '{"uuid":"2"}\n');
  expect(await copy()).toBe(false);
  await writeFile(source, '{"uuid":"1"}\n');
  expect(await copy()).toBe(true);
  await truncate(source, programLimits.programTranscriptBytesMax);
  await writeFile(source, '\n', { flag: 'a' });
  expect(await copy()).toBe(false);
});

const atOnce: Schedule = (run) => {
  setImmediate(run);
  return () => {};
};

async function prepare() {
  const root = await mkdtemp(join(tmpdir(), 'fleetloom-copy-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const from = { config: join(root, 'one', '.claude'), directory: '/w/sesn_one' };
  const to = { config: join(root, 'two', '.claude'), directory: '/w/sesn_two' };
  const project = join(from.config, 'projects', toProjectName(from.directory));
  await mkdir(project, { recursive: true });
  const target = join(to.config, 'projects', toProjectName(to.directory), 'c1.jsonl');
  return { root, from, to, project, source: join(project, 'c1.jsonl'), target };
}
