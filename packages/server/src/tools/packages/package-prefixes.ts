import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Packages } from '@fleetloom/protocol/managed-agents';
import { runProgram } from '../../base/process/run-program.ts';
import { findSandboxedProgram } from '../host/server/host-program.ts';
import { toolLimits } from '../limits.ts';
import type { SandboxEgress } from '../sandbox/egress.ts';
import type { InstalledPackages } from '../sandbox/installed-packages.ts';
import { runLaunch } from '../sandbox/run-launch.ts';
import type { Sandbox, SandboxState } from '../sandbox/sandbox.ts';
import {
  findSecretVariable,
  MissingManager,
  type PackageCommand,
  PACKAGES,
  packageSearchPath,
  packageVariables,
  SYSTEM_PATH,
  toCommands,
  toInstallVariables,
} from './package-commands.ts';

/** The packages of environments, installed once for each set of them. */
export interface PackagePrefixes {
  /** Installs packages if they are not installed yet. Resolves with the reason of a failure; undefined on success. */
  install(packages: Packages, network: InstallNetwork): Promise<string | undefined>;
  /** The mounts and variables for sandboxes; undefined if the packages are not installed. */
  find(packages: Packages): Promise<InstalledPackages | undefined>;
  /** Aborts installations in progress. */
  close(): Promise<void>;
}

/** The network access to registries while packages are installed. */
export interface InstallNetwork {
  open(): Promise<SandboxEgress>;
  close(): Promise<void>;
}

export interface PackagePrefixesOptions {
  readonly directory: string;
  readonly openSandbox: () => Promise<SandboxState>;
  readonly timeoutMs?: number | undefined;
}

/** Creates the prefixes in a directory, and removes drafts that a crash has left there. */
export async function createPackagePrefixes(options: PackagePrefixesOptions): Promise<PackagePrefixes> {
  const { directory, openSandbox, timeoutMs = toolLimits.packagesMs } = options;
  const drafts = join(directory, '.drafts');
  await rm(drafts, { recursive: true, force: true });
  const stop = new AbortController();
  /** Builds in progress, by path: sessions that begin at the same time share a build. */
  const building = new Map<string, Promise<string | undefined>>();
  return {
    install: async (packages, network) => {
      const path = await toPath(packages);
      if (existsSync(path)) return undefined;
      const build = building.get(path) ?? build_(packages, path, network).finally(() => building.delete(path));
      building.set(path, build);
      return await build;
    },
    find: async (packages) => {
      const path = await toPath(packages);
      if (!existsSync(path)) return undefined;
      const environment = { ...packageVariables, PATH: [...packageSearchPath, SYSTEM_PATH].join(':') };
      return { readOnlyPaths: [{ path, at: PACKAGES }], environment, searchPath: packageSearchPath };
    },
    close: async () => {
      stop.abort();
      await Promise.allSettled(building.values());
    },
  };

  async function toPath(packages: Packages): Promise<string> {
    const parts = [packages, process.platform, process.arch, process.versions.modules, await findPython()];
    return join(directory, createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32));
  }

  /** Builds a prefix in a draft and renames it, so that a crash leaves no incomplete prefix. */
  async function build_(packages: Packages, path: string, network: InstallNetwork): Promise<string | undefined> {
    const state = await openSandbox();
    if (state.type === 'unavailable') return `packages are installed in a sandbox, and there is none: ${state.reason}`;
    const variable = findSecretVariable();
    if (variable !== undefined) {
      return `${variable} has a user name or password, which scripts of packages could read: start the server without it`;
    }
    await mkdir(drafts, { recursive: true, mode: 0o700 });
    const draft = await mkdtemp(join(drafts, 'build-'));
    try {
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(timeoutMs)]);
      const problem = await installAll(
        toCommands(packages, join(draft, 'prefix')),
        state.sandbox,
        draft,
        network,
        signal,
      );
      if (problem === undefined) await rename(join(draft, 'prefix'), path);
      return problem;
    } catch (error) {
      if (error instanceof MissingManager) return `packages of ${error.manager} are not installed: ${error.message}`;
      throw error;
    } finally {
      await network.close();
      await rm(draft, { recursive: true, force: true });
    }
  }

  async function installAll(
    commands: readonly PackageCommand[],
    sandbox: Sandbox,
    draft: string,
    network: InstallNetwork,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const egress = await network.open();
    const [prefix, scratch] = [join(draft, 'prefix'), join(draft, 'scratch')];
    await Promise.all([mkdir(prefix), mkdir(scratch)]);
    const { node, main, readOnlyPaths } = findSandboxedProgram();
    for (const { manager, program, args } of commands) {
      const launch = sandbox.launch({
        program: node,
        args: [main, egress.socketPath, String(egress.port), '--', program, ...args],
        workspace: draft,
        isWorkspaceWritable: true,
        readOnlyPaths: [...readOnlyPaths, ...egress.readOnlyPaths],
        environment: { ...egress.environment, ...toInstallVariables(prefix, scratch) },
      });
      const outputBytesMax = toolLimits.packagesOutputBytesMax;
      const { code, output } = await runLaunch(launch, { cwd: draft, timeoutMs, outputBytesMax, signal });
      if (code === 0) continue;
      if (signal.aborted) return `packages of ${manager} were not installed within ${timeoutMs / 1000} s`;
      return `packages of ${manager} could not be installed:\n${lastLines(output)}`;
    }
    return undefined;
  }
}

function lastLines(output: string): string {
  return output.trim().split('\n').slice(-LINES).join('\n') || 'it printed no reason';
}

const LINES = 8;

/** The version of Python, for which packages are built. Empty if Python is not installed. */
async function findPython(): Promise<string> {
  python ??= runProgram('/usr/bin/python3', ['--version'], { timeoutMs: 10_000, outputBytesMax: 1_000 }).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  return await python;
}

let python: Promise<string> | undefined;
