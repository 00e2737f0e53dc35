import { execFileSync } from 'node:child_process';
import { copyFile, link, mkdtemp, open as openFile, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import type { LoadedTls } from '../http/server/tls.ts';
import { compositionLimits } from './limits.ts';
import { openTls, watchTls } from './watch-tls.ts';

const fixture = (name: string) => new URL(`../../../../fixtures/tls/${name}`, import.meta.url);

/** A watch of certificate files in a directory of its own. */
async function open() {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-watch-tls-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const files = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
  const install = async (name: string) => {
    await copyFile(fixture(`${name}.pem`), files.cert);
    await copyFile(fixture(`${name}-key.pem`), files.key);
  };
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const { schedule, advance } = createManualSchedule(clock);
  const [served, problems]: [unknown[], unknown[]] = [[], []];
  const onProblem = (problem: unknown) => problems.push(problem);
  const onChange = ({ context: { cert } }: LoadedTls) => served.push(cert);
  const start = () => watchTls({ files, onChange, schedule, onProblem });
  return { files, install, clock, advance, served, problems, onProblem, start };
}

const read = (name: string) => readFile(fixture(name), 'utf8');

it('[ID47] certificates that are replaced while the server starts are used within seconds', async () => {
  const { files, install, clock, advance, served, problems, onProblem, start } = await open();
  await install('server');
  const tls = await openTls(files, clock, onProblem);
  await install('renewed');
  const watch = start();
  const renewed = await read('renewed.pem');
  await vi.waitFor(() => {
    advance(compositionLimits.tlsCheckMs);
    expect(served.at(-1)).toBe(renewed);
  }, 5_000);
  expect([tls?.context.cert === renewed, problems]).toEqual([false, []]);
  await watch.close();
});

it('[ID48] of two reloads at the same moment the newer files are used, also if the older ones were read more slowly', async () => {
  const { files, install, served, problems, start } = await open();
  await install('renewed');
  const watch = start();
  // A pipe is opened once it has a reader and a writer, and read until the writer closes it.
  const [pipe, renewed] = [`${files.cert}.pipe`, `${files.cert}.renewed`];
  await rename(files.cert, renewed);
  execFileSync('mkfifo', [pipe]);
  await link(pipe, files.cert);
  const slow = watch.reload();
  const writer = await openFile(pipe, 'w');
  await rename(renewed, files.cert);
  const fast = watch.reload();
  await Promise.race([fast, new Promise((resolve) => setTimeout(resolve, 300))]);
  // The same key belongs to both, so that the older one can be used as well.
  await writer.writeFile(`# older\n${await read('renewed.pem')}`);
  await writer.close();
  await Promise.all([slow, fast]);
  expect(served).toEqual([`# older\n${await read('renewed.pem')}`, await read('renewed.pem')]);
  expect(problems).toEqual([]);
  await watch.close();
});
