import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentTree } from '@fleetloom/protocol/stream-json/tree';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { toInspection } from '../../packages/cli/src/stream-json/inspect/to-inspection.ts';
import { recording } from '../support/recordings.ts';
import { repositoryRoot } from '../support/root.ts';
import { type Output, type Packed, pack, run, runNpm, tscPath } from './pack.ts';

const agents = recording('2.1.325/agents-forward-many');
let folder: string;
let packed: Packed[];

beforeAll(async () => {
  // Outside the repository: nothing is found there by looking upwards.
  folder = await realpath(await mkdtemp(join(tmpdir(), 'fleetloom-packed-')));
  packed = await pack(folder, ['protocol', 'client', 'server', 'cli']);
  await writeFile(join(folder, 'agents.ndjson'), agents.bytes());
  // Everything is compiled and the pages are built: on a busy machine that takes its time.
}, 240_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

it('[G11] a tarball holds what was compiled and the sources it was compiled from, and no tests or notes of tools', () => {
  expect(packed.map(({ name }) => name)).toEqual([
    '@fleetloom/protocol',
    '@fleetloom/client',
    '@fleetloom/server',
    'fleetloom',
  ]);
  for (const { files: all } of packed) {
    // The project that the demo's agents look after has tests of its own.
    const files = all.filter((file) => !file.startsWith('demo/'));
    expect(
      files.filter((file) => /\.test\.|\.test-d\.|\.suite\.|\/suite\/|test-support|\.tsbuildinfo$|\.map$/.test(file)),
    ).toEqual([]);
    // The pages of the dashboard are for browsers and have no types.
    const compiled = files.filter((file) => file.startsWith('dist/') && !file.startsWith('dist/web/'));
    const modules = compiled.filter((file) => file.endsWith('.js'));
    expect(modules).not.toEqual([]);
    const types = modules.map((file) => file.replace(/\.js$/, '.d.ts'));
    expect(compiled.sort()).toEqual([...modules, ...types].sort());
    const sources = files.filter((file) => file.startsWith('src/'));
    if (sources.length > 0) expect(sources.sort()).toEqual(modules.map(toSource).sort());
  }
});

it('[Z4] the tarball of the server contains the dashboard: pages, scripts, styles, the worker and nothing else', () => {
  const files = packed.flatMap(({ name, files: all }) => (name === '@fleetloom/server' ? all : []));
  const pages = files.filter((file) => file.startsWith('dist/web/'));
  expect(pages.filter((file) => !file.startsWith('dist/web/assets/')).sort()).toEqual(
    [
      'apple-touch-icon.png',
      'connected.html',
      'favicon-needs.svg',
      'favicon.svg',
      'icon-192.png',
      'icon-512.png',
      'icon-maskable.png',
      'index.html',
      'login.html',
      'manifest.webmanifest',
      'push-worker.js',
      'recording.html',
    ].map((name) => `dist/web/${name}`),
  );
  const assets = pages.filter((file) => file.startsWith('dist/web/assets/'));
  expect(assets.filter((file) => !/-[\w-]{8}\.(?:js|css)$/.test(file))).toEqual([]);
  expect(assets.some((file) => file.includes('shared-hub-'))).toBe(true);
});

describe('a program of a user', () => {
  let consumer: string;
  beforeAll(async () => {
    consumer = await createConsumer('library', ['@fleetloom/protocol', '@fleetloom/client']);
    await cp(join(import.meta.dirname, 'consumer'), consumer, { recursive: true });
    await runNpm(['install', '--offline', ...quietly], consumer);
  });

  it('[G11] the libraries install without a registry and without dependencies', async () => {
    expect(await readdir(join(consumer, 'node_modules', '@fleetloom'))).toEqual(['client', 'protocol']);
    const others = (await readdir(join(consumer, 'node_modules'))).filter((name) => !name.startsWith('.'));
    expect(others).toEqual(['@fleetloom']);
  });

  it('[G11] no file names a source map, since none is there', async () => {
    const files = await readdir(join(consumer, 'node_modules'), { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
    expect(texts.length).toBeGreaterThan(50);
    expect(texts.filter((text) => text.includes('sourceMappingURL'))).toEqual([]);
  });

  it('[G11] in Node, without types of browsers, it is checked strictly with our types included, and runs', async () => {
    const node = { module: 'nodenext', moduleResolution: 'nodenext', lib: ['ES2023'], types: ['node'] };
    await compile(consumer, ['main.ts'], { ...node, typeRoots: [join(repositoryRoot, 'node_modules', '@types')] });
    const { stdout, stderr } = await run(process.execPath, ['main.js', join(folder, 'agents.ndjson')], consumer);
    const { tree, greeting } = JSON.parse(stdout) as { tree: AgentTree; greeting: unknown };
    expect(toInspection(tree)).toEqual(agents.expected());
    expect(greeting).toEqual([{ type: 'event', event: 'message', data: 'hello', id: '1' }]);
    expect(stderr).toBe('');
  });

  it('[G11] for a bundler, without types of Node, it is checked strictly with our types included', async () => {
    const lib = ['ES2023', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'];
    await compile(consumer, ['page.ts'], { module: 'esnext', moduleResolution: 'bundler', lib, types: [] });
  });

  it('[G11] a module that is not exported cannot be imported', async () => {
    const importing = (specifier: string) =>
      run(process.execPath, ['--input-type=module', '-e', `await import('${specifier}')`], consumer);
    await importing('@fleetloom/protocol/sse');
    await importing('@fleetloom/protocol/stream-json/accelerator');
    await expect(importing('@fleetloom/protocol/dist/sse/index.js')).rejects.toThrow('ERR_PACKAGE_PATH_NOT_EXPORTED');
    await expect(importing('@fleetloom/protocol')).rejects.toThrow('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});

describe('the command', () => {
  let consumer: string;
  let command: string;
  beforeAll(async () => {
    const packages = ['@fleetloom/protocol', '@fleetloom/client', '@fleetloom/server', 'fleetloom'];
    consumer = await createConsumer('command', packages);
    await installFromRegistry(consumer);
    command = join(consumer, 'node_modules', '.bin', 'fleetloom');
  }, 180_000);

  it('[G12] installed from its tarball it inspects a recording, outside the repository', async () => {
    const { stdout, stderr } = await run(command, ['inspect', join(folder, 'agents.ndjson'), '--json'], consumer);
    expect(JSON.parse(stdout)).toEqual(agents.expected());
    expect(stderr).toBe('');
  });

  it('[Y95] it starts there: pages and scripts of the dashboard, the demo, and a clean end', async () => {
    const { stdout: version } = await runNpm(['exec', '--no', '--', 'fleetloom', '--version'], consumer);
    expect(version).toMatch(/^\d+\.\d+\.\d+\n$/);
    const args = ['start', '--json', '--port', '0', '--data', join(consumer, 'data')];
    const program = spawn(command, args, { cwd: consumer, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void program.kill('SIGKILL'));
    const [line] = (await once(program.stdout.setEncoding('utf8'), 'data')) as [string];
    const { url, key, dashboard } = JSON.parse(line) as Record<string, string>;

    const signedIn = await fetch(dashboard!, { redirect: 'manual' });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const page = await (await fetch(`${url}/`, { headers: { cookie } })).text();
    const script = /src="\.\/(assets\/index-[\w-]+\.js)"/.exec(page)?.[1];
    const answer = await fetch(`${url}/${script}`, { headers: { cookie } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringContaining('javascript')]);
    expect((await answer.text()).length).toBeGreaterThan(100_000);

    const readTitles = async () => {
      const response = await fetch(`${url}/v1/sessions`, { headers: { 'x-api-key': key! } });
      return ((await response.json()) as { data: { title: string }[] }).data.map(({ title }) => title);
    };
    const titles = ['Demo: 8 agents prepare a release of ferry'];
    await expect.poll(readTitles, { timeout: 60_000, interval: 100 }).toEqual(titles);
    const ended = once(program, 'close');
    program.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  }, 120_000);
});

const quietly = ['--no-audit', '--no-fund', '--ignore-scripts'];

/** A project that has these tarballs as its dependencies, not yet installed. */
async function createConsumer(name: string, dependencies: string[]): Promise<string> {
  const consumer = join(folder, name);
  await mkdir(consumer);
  const tarballs = dependencies.map((dependency) => {
    const found = packed.find((one) => one.name === dependency);
    return [dependency, `file:${found?.tarball}`];
  });
  const manifest = { name, private: true, type: 'module', dependencies: Object.fromEntries(tarballs) };
  await writeFile(join(consumer, 'package.json'), JSON.stringify(manifest));
  return consumer;
}

async function installFromRegistry(consumer: string): Promise<Output> {
  try {
    return await runNpm(['install', '--prefer-offline', ...quietly], consumer);
  } catch (cause) {
    throw new Error(
      'what the command depends on could not be installed. npm takes it from its cache, or from the registry: ' +
        'check the network and `npm config get registry`. the cause has the output of npm.',
      { cause },
    );
  }
}

async function compile(consumer: string, files: string[], options: object): Promise<void> {
  const compilerOptions = { target: 'ES2023', strict: true, skipLibCheck: false, ...options };
  await writeFile(join(consumer, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  await run(process.execPath, [tscPath, '-p', 'tsconfig.json'], consumer);
}

function toSource(module: string): string {
  return module.replace(/^dist\//, 'src/').replace(/\.js$/, '.ts');
}
