import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PackageManager, Packages } from '@fleetloom/protocol/managed-agents';

/** The path of the packages in a sandbox. */
export const PACKAGES = '/fleetloom/packages';
/** The search path of every sandbox. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A command that installs packages, without a shell. */
export interface PackageCommand {
  readonly manager: PackageManager;
  readonly program: string;
  readonly args: readonly string[];
}

/** The commands that install packages into a directory, in the order of the managers. Throws if a manager is not installed. */
export function toCommands(packages: Packages, prefix: string): readonly PackageCommand[] {
  return ORDER.flatMap((manager) => {
    const specs = packages[manager];
    if (specs.length === 0) return [];
    const { program, toArgs } = managers[manager];
    const path = findSystemProgram(program);
    if (path === undefined) throw new MissingManager(manager, program);
    const into = join(prefix, manager);
    return toArgs(into, specs).map((args) => ({ manager, program: path, args }));
  });
}

/** The error for a manager that is not installed on the machine of the server, or that cannot work in a sandbox. */
export class MissingManager extends Error {
  override readonly name = 'MissingManager';
  readonly manager: PackageManager;

  constructor(manager: PackageManager, program: string) {
    super(
      program === ''
        ? `${manager} installs into the system as root, and sandboxes have neither`
        : `${program} is not installed in the directories of the system on the machine of the server (${SYSTEM_PATH})`,
    );
    this.manager = manager;
  }
}

/** Lists the managers, each with its path if sandboxes have it. */
export function listManagers(): readonly { readonly manager: PackageManager; readonly path: string | undefined }[] {
  return ORDER.map((manager) => ({ manager, path: findSystemProgram(managers[manager].program) }));
}

/** Finds a program in the system directories: sandboxes do not have programs in other directories. */
function findSystemProgram(name: string): string | undefined {
  if (name === '') return undefined;
  return SYSTEM_PATH.split(':')
    .map((directory) => join(directory, name))
    .find((path) => existsSync(path));
}

const ORDER: readonly PackageManager[] = ['apt', 'cargo', 'gem', 'go', 'npm', 'pip'];

interface Manager {
  /** The program; empty if the manager does not work in a sandbox. */
  readonly program: string;
  readonly toArgs: (into: string, specs: readonly string[]) => readonly (readonly string[])[];
}

const managers: Readonly<Record<PackageManager, Manager>> = {
  apt: { program: '', toArgs: () => [] },
  cargo: { program: 'cargo', toArgs: (into, specs) => [['install', '--root', into, ...specs]] },
  gem: {
    program: 'gem',
    toArgs: (into, specs) => [['install', '--no-document', '--install-dir', into, '--bindir', `${into}/bin`, ...specs]],
  },
  // Go installs into GOBIN, and cannot install packages of different modules with one command.
  go: { program: 'go', toArgs: (_, specs) => specs.map((spec) => ['install', spec]) },
  npm: {
    program: 'npm',
    toArgs: (into, specs) => [
      ['install', '--prefix', into, '--no-audit', '--no-fund', '--no-update-notifier', ...specs],
    ],
  },
  pip: {
    program: 'python3',
    toArgs: (into, specs) => [
      ['-m', 'pip', 'install', '--target', into, '--no-input', '--disable-pip-version-check', '--quiet', ...specs],
    ],
  },
};

/** Variables of the managers while they install. Caches are below `scratch`, which is removed afterwards. */
export function toInstallVariables(prefix: string, scratch: string): Record<string, string> {
  return {
    TMPDIR: scratch,
    XDG_CACHE_HOME: join(scratch, 'cache'),
    PIP_NO_CACHE_DIR: '1',
    npm_config_cache: join(scratch, 'npm'),
    CARGO_HOME: join(scratch, 'cargo'),
    CARGO_TARGET_DIR: join(scratch, 'target'),
    GOBIN: join(prefix, 'go', 'bin'),
    GOPATH: join(scratch, 'go'),
    GOCACHE: join(scratch, 'go-build'),
    // Makes the module cache writable; otherwise it could not be removed afterwards.
    GOFLAGS: '-modcacherw',
    ...pickConfigured(),
  };
}

/** The registries that the managers are configured with on the machine of the server. */
function pickConfigured(): Record<string, string> {
  return Object.fromEntries(
    CONFIGURED.flatMap((name) => {
      const value = process.env[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}

/** The first variable that has a user name or password, which scripts of packages could read. */
export function findSecretVariable(): string | undefined {
  return CONFIGURED.find((name) => /:\/\/[^/\s]*@/.test(process.env[name] ?? ''));
}

const CONFIGURED = [
  'PIP_INDEX_URL',
  'PIP_EXTRA_INDEX_URL',
  'NPM_CONFIG_REGISTRY',
  'npm_config_registry',
  'GOPROXY',
  'GOSUMDB',
];

/** Variables with which programs find what was installed. */
export const packageVariables: Readonly<Record<string, string>> = {
  PYTHONPATH: `${PACKAGES}/pip`,
  NODE_PATH: `${PACKAGES}/npm/node_modules`,
  GEM_PATH: `${PACKAGES}/gem`,
};

export const packageSearchPath: readonly string[] = [
  'pip/bin',
  'npm/node_modules/.bin',
  'cargo/bin',
  'gem/bin',
  'go/bin',
].map((inside) => `${PACKAGES}/${inside}`);
