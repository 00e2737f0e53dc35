import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { programLimits } from '../limits.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import { systemSchedule } from '../../../base/schedule.ts';
import { type ProcessExit, type ProcessOptions, ProgramProcess } from './process.ts';
import { createProcessRegister } from './process-register.ts';

it('[J13] an exit is reported with its reason and the end of stderr, up to the limit', async () => {
  const { exit } = start(
    `process.stderr.write('x'.repeat(${programLimits.programStderrChars + 10}) + 'the end'); process.exitCode = 3`,
  );
  const { message, isWanted } = await exit;
  expect(isWanted).toBe(false);
  expect(message).toMatch(/^it ended with exit code 3: x+the end$/);
  expect(message.length).toBe('it ended with exit code 3: '.length + programLimits.programStderrChars);
});

it('[J13] a program that cannot be started, or that a signal ends, says so', async () => {
  expect((await start('', { launch: { ...plain, file: '/nowhere/claude' } }).exit).message).toMatch(
    /^it cannot be started: .*ENOENT/,
  );
  expect((await start(`process.kill(process.pid, 'SIGABRT')`).exit).message).toBe('it was ended by SIGABRT');
});

it('[U403] an error while its output, or its end, is handled ends the program with the reason, and no other error escapes', async () => {
  const fail = () => {
    throw new RangeError('too deep');
  };
  const { exit } = start(`console.log('x'); setInterval(() => {}, 1000)`, { onOutput: fail });
  expect((await exit).message).toBe('its output could not be handled (too deep)');
  const { process } = start('', { onExit: fail });
  await process.gone;
});

it('[J14] an idle program that does not end on its own receives SIGTERM and then SIGKILL, each after its time', async () => {
  const clock = createManualClock();
  const { schedule, advance } = createManualSchedule(clock);
  const { process, exit, output } = start(
    `process.on('SIGTERM', () => console.log('asked')); setInterval(() => {}, 1000); console.log('up')`,
    { schedule },
  );
  await vi.waitFor(() => expect(output()).toBe('up\n'), { timeout: 20_000 });
  const closing = process.close({ isResting: true });
  advance(programLimits.programEndMs - 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(output()).toBe('up\n');
  advance(1);
  await vi.waitFor(() => expect(output()).toBe('up\nasked\n'), { timeout: 20_000 });
  advance(programLimits.programTermMs);
  await closing;
  expect(await exit).toEqual({ message: 'it was ended by SIGKILL', isWanted: true });
});

it('[J339] a program that is closed in the middle of a turn receives SIGTERM, and its input stays open until then', async () => {
  const { schedule, advance } = createManualSchedule(createManualClock());
  const { process, exit, output } = start(
    `process.stdin.on('end', () => console.log('denied')).resume();
     process.on('SIGTERM', () => console.log('asked')); setInterval(() => {}, 1000); console.log('up')`,
    { schedule },
  );
  await vi.waitFor(() => expect(output()).toBe('up\n'), { timeout: 20_000 });
  const closing = process.close({ isResting: false });
  advance(0);
  await vi.waitFor(() => expect(output()).toContain('asked\n'), { timeout: 20_000 });
  expect(output()).toBe('up\nasked\n');
  advance(programLimits.programEndMs + programLimits.programTermMs);
  await closing;
  expect(await exit).toEqual({ message: 'it was ended by SIGKILL', isWanted: true });
});

it.each([{ isResting: false }, { isResting: true }])(
  '[J405] a program that is overdue receives SIGTERM at once and SIGKILL 3 s later ($isResting)',
  async ({ isResting }) => {
    const { schedule, advance } = createManualSchedule(createManualClock());
    const { process, exit, output } = start(
      `process.stdin.on('end', () => console.log('input ended')).resume();
       process.on('SIGTERM', () => console.log('asked')); setInterval(() => {}, 1000); console.log('up')`,
      { schedule },
    );
    await vi.waitFor(() => expect(output()).toBe('up\n'), { timeout: 20_000 });
    const closing = process.close({ isResting, isOverdue: true });
    advance(0);
    await vi.waitFor(() => expect(output()).toBe('up\nasked\n'), { timeout: 20_000 });
    advance(2_999);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(process.vitals.isAlive).toBe(true);
    advance(1);
    await closing;
    expect(await exit).toEqual({ message: 'it was ended by SIGKILL', isWanted: true });
    expect(output()).toBe('up\nasked\n');
  },
);

it('[J14] whatever the program has started goes with it, also what has left its group', async () => {
  const code = `const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
    console.log(child.pid); setInterval(() => {}, 1000)`;
  const { process: program, output, exit } = start(code);
  await vi.waitFor(() => expect(Number(output())).toBeGreaterThan(1), { timeout: 20_000 });
  process.kill(program.pid!, 'SIGKILL');
  await exit;
  await vi.waitFor(() => expect(isAlive(Number(output()))).toBe(false), 20_000);
});

it('[W82] of a process it is known whether it lives and when it last wrote, on either of its outputs', async () => {
  const clock = createManualClock(1_000);
  const {
    process: program,
    exit,
    output,
  } = start(
    `console.log('up'); process.stdin.once('data', () => console.error('complaint')); setInterval(() => {}, 1000)`,
    { clock },
  );
  const pid = program.pid!;
  expect(program.vitals).toEqual({ pid, isAlive: true, lastByteAt: null });
  await vi.waitFor(() => expect(output()).toBe('up\n'), { timeout: 20_000 });
  expect(program.vitals).toEqual({ pid, isAlive: true, lastByteAt: 1_000 });
  clock.advance(5_000);
  expect(program.vitals.lastByteAt).toBe(1_000);
  program.write('go\n');
  await vi.waitFor(() => expect(program.vitals.lastByteAt).toBe(6_000), { timeout: 20_000 });
  process.kill(pid, 'SIGSTOP');
  expect(program.vitals.isAlive).toBe(true);
  process.kill(pid, 'SIGKILL');
  await exit;
  expect(program.vitals).toEqual({ pid, isAlive: false, lastByteAt: 6_000 });
  const nowhere = start('', { launch: { ...plain, file: '/nowhere/claude' } });
  await nowhere.exit;
  expect(nowhere.process.vitals).toEqual({ pid: null, isAlive: false, lastByteAt: null });
});

it('[J15] a program that does not read its input is ended before the input fills the memory', async () => {
  const { process, exit } = start(`setInterval(() => {}, 1000)`);
  const half = 'x'.repeat(programLimits.programInputCharsMax / 2);
  process.write(half);
  process.write(half);
  expect(isAlive(process.pid!)).toBe(true);
  process.write('x');
  expect((await exit).message).toBe('it was ended by SIGKILL');
});

it('[J16] programs are written down while they run, and what was left behind is ended at the next start', async () => {
  const { directory, register } = openRegister();
  const { process: program, output } = start(`console.log('up'); setInterval(() => {}, 1000)`, { register });
  await vi.waitFor(() => expect(output()).toBe('up\n'), { timeout: 20_000 });
  expect(readdirSync(directory)).toEqual([`${program.pid}.json`]);
  expect(await createProcessRegister(directory).reap()).toBe(1);
  await vi.waitFor(() => expect(isAlive(program.pid!)).toBe(false), 20_000);
  await vi.waitFor(() => expect(readdirSync(directory)).toEqual([]), 20_000);
  expect(await createProcessRegister(directory).reap()).toBe(0);
});

it('[J16] a program that cannot be written down is ended at once, with the reason', async () => {
  const directory = join(mkdtempSync(join(tmpdir(), 'fleetloom-register-')), 'programs');
  onTestFinished(() => rmSync(join(directory, '..'), { recursive: true, force: true }));
  // A file where the directory should be.
  writeFileSync(directory, '');
  const { process: program, exit } = start('setInterval(() => {}, 1000)', {
    register: createProcessRegister(directory),
  });
  expect((await exit).message).toMatch(/^it cannot be started: .*(EEXIST|ENOTDIR)/);
  expect(isAlive(program.pid!)).toBe(false);
});

it('[J16] a process id that another process has by now is left alone, and a truncated entry is ignored', async () => {
  const { directory, register } = openRegister();
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => void other.kill('SIGKILL'));
  register.add(other.pid!, 'unknown');
  const file = join(directory, `${other.pid}.json`);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"started":"\d+"/, '"started":"1"'));
  writeFileSync(join(directory, '999999999.json'), '{"pid":');
  expect(await createProcessRegister(directory).reap()).toBe(0);
  expect(isAlive(other.pid!)).toBe(true);
  expect(readdirSync(directory)).toEqual([]);
});

const plain = {
  file: process.execPath,
  args: [],
  env: { PATH: process.env['PATH'] ?? '' },
  data: [],
  hasRelay: false,
};

function start(code: string, changes: Partial<ProcessOptions> = {}) {
  let said = '';
  let onExit: (exit: ProcessExit) => void = () => {};
  const exit = new Promise<ProcessExit>((resolve) => (onExit = resolve));
  const program = new ProgramProcess({
    launch: { ...plain, args: ['-e', code] },
    directory: tmpdir(),
    register: changes.register ?? openRegister().register,
    schedule: systemSchedule,
    onOutput: (bytes) => (said += Buffer.from(bytes).toString()),
    onExit,
    ...changes,
  });
  onTestFinished(() => program.kill());
  return { process: program, exit, output: () => said };
}

function openRegister() {
  const directory = join(mkdtempSync(join(tmpdir(), 'fleetloom-register-')), 'programs');
  onTestFinished(() => rmSync(join(directory, '..'), { recursive: true, force: true }));
  return { directory, register: createProcessRegister(directory) };
}

function isAlive(pid: number): boolean {
  const status = `/proc/${pid}/status`;
  if (existsSync(status) && /^State:\s+Z/m.test(readFileSync(status, 'utf8'))) return false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
