import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createProcessIo } from '../../packages/cli/src/base/process-io.ts';
import { SECRET_VARIABLES } from '../../packages/cli/src/config/read-secret-files.ts';
import { createProgram } from '../../packages/cli/src/program.ts';
import { httpLimits } from '../../packages/server/src/http/limits.ts';
import { sessionLimits } from '../../packages/server/src/sessions/core/limits.ts';
import { repositoryRoot } from '../support/root.ts';

const scaling = join(repositoryRoot, 'docs', 'scaling');
const read = (name: string) => readFileSync(join(scaling, name), 'utf8');
const load = createRequire(join(repositoryRoot, 'packages', 'server', 'package.json'));
const { parse } = load('yaml') as { parse: (text: string, options: { merge: boolean }) => unknown };

const serve = createProgram(createProcessIo(), () => {}).commands.find((command) => command.name() === 'serve')!;
const options = new Set(serve.options.map(({ long }) => long));
const unknownOptions = (text: string) => (text.match(/--[a-z-]+/g) ?? []).filter((option) => !options.has(option));
/** The seconds that a node drains and stops, at most. */
const STOP_S = 3 + (sessionLimits.handOverToolsMs + httpLimits.shutdownGraceMs) / 1_000;

const hasSystemd = spawnSync('systemd-analyze', ['--version']).error === undefined;
it.skipIf(!hasSystemd)('[P131] systemd finds no problem in the unit', () => {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', 'fleetloom.service'], {
    cwd: scaling,
    encoding: 'utf8',
  });
  const problems = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('fleetloom.service'));
  // Older versions report what they do not know and ignore it.
  expect(problems.filter((line) => !line.includes('DelegateSubgroup'))).toEqual([]);
  expect(status).toBe(0);
});

it('[P131] the unit starts the program with options that it has, and waits for its stop', () => {
  const unit = read('fleetloom.service');
  const valueOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
  expect(valueOf('ExecStart')).toMatch(/ fleetloom serve /);
  expect(unknownOptions(valueOf('ExecStart'))).toEqual([]);
  expect(Number.parseInt(valueOf('TimeoutStopSec'), 10)).toBeGreaterThan(STOP_S);
  expect([valueOf('User'), valueOf('RestartPreventExitStatus')]).toEqual(['fleetloom', '2']);
});

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: object;
  readonly volumes: object;
}

interface Service {
  readonly command?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck?: object;
  readonly stop_grace_period?: string;
}

it('[P132] the nodes of compose.yaml read secrets from files, keep workspaces, check health, and have time to stop', () => {
  const { services, secrets, volumes } = parse(read('compose.yaml'), { merge: true }) as Compose;
  const nodes = Object.entries(services).filter(([name]) => name.startsWith('node'));
  expect(nodes).toHaveLength(3);
  for (const [name, node] of nodes) {
    expect(unknownOptions(node.command!)).toEqual([]);
    for (const [variable, path] of Object.entries(node.environment!)) {
      expect(SECRET_VARIABLES.map((each) => `${each}_FILE`)).toContain(variable);
      expect(node.secrets!.map((secret) => `/run/secrets/${secret}`)).toContain(path);
    }
    const mounted = node.volumes!.map((volume) => volume.split(':') as [string, string]);
    expect(mounted).toEqual([
      [name, '/data'],
      ['workspaces', '/workspaces'],
    ]);
    for (const [, path] of mounted)
      expect(node.command).toMatch(new RegExp(`(--data|--shared-workspaces) ${path}( |$)`));
    expect(node.healthcheck).toBeDefined();
    expect(Number.parseInt(node.stop_grace_period!, 10)).toBeGreaterThan(STOP_S);
  }
  const named = Object.values(services).flatMap((service) => service.volumes ?? []);
  for (const volume of named.filter((each) => !each.startsWith('.')))
    expect(volumes).toHaveProperty(volume.split(':')[0]!);
  for (const secret of Object.values(services).flatMap((service) => service.secrets ?? []))
    expect(secrets).toHaveProperty(secret);
  expect(read('compose.yaml')).not.toMatch(/PASSWORD:|SECRET:|API_KEY:/);
});

it('[P132] the Dockerfile ends as a user without rights, with a health check, and without secrets', () => {
  const lines = read('Dockerfile')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const last = (word: string) => lines.findLastIndex((line) => line.startsWith(`${word} `));
  expect(lines[last('USER')]).toBe('USER node');
  expect(last('USER')).toBeGreaterThan(last('RUN'));
  const command = JSON.parse(lines[last('CMD')]!.slice('CMD '.length)) as string[];
  expect(command[0]).toBe('serve');
  expect(unknownOptions(command.join(' '))).toEqual([]);
  expect(last('HEALTHCHECK')).toBeGreaterThan(-1);
  expect(lines.filter((line) => /^(ENV|ARG) .*(SECRET|KEY|PASSWORD|TOKEN)/.test(line))).toEqual([]);
  // Each instruction is one that Docker knows.
  const known = ['FROM', 'RUN', 'COPY', 'USER', 'ENV', 'VOLUME', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'];
  expect(lines.map((line) => line.split(' ')[0]!).filter((word) => !known.includes(word) && word !== '')).toEqual([]);
});
