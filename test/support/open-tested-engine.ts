import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTreeRemover } from '../../packages/server/src/base/files/remove-tree.ts';
import { createProgramNetwork } from '../../packages/server/src/composition/program-network.ts';
import { serveScriptedModel } from '../../packages/server/src/engines/model/scripted/index.ts';
import type { EngineOptions } from '../../packages/server/src/engines/program/engine/create-program-engine.ts';
import type { ProgramEngine } from '../../packages/server/src/engines/program/program.ts';
import type { TestedPrograms } from '../../packages/server/src/engines/program/suite/conversation.suite.ts';
import { findProgram } from '../../packages/server/src/tools/find-program.ts';
import { HostResolver } from '../../packages/server/src/tools/network/host-resolver.ts';
import { openBubblewrap } from '../../packages/server/src/tools/sandbox/bubblewrap.ts';
import { noSandbox } from '../../packages/server/src/tools/sandbox/sandbox.suite.ts';

/** How an engine under test is opened. */
export interface TestedEngineOptions {
  /** By default as this machine allows. */
  readonly isSandboxed?: boolean | undefined;
  readonly model?: string | undefined;
  /** The engine in front of the scripted model at this URL. */
  readonly create: (options: EngineOptions, modelUrl: string) => ProgramEngine | Promise<ProgramEngine>;
  /** Processes of sessions below this data directory. */
  readonly countProcesses: (directory: string) => number;
}

/** A program engine in front of the scripted model, in the sandbox where there is one, with directories that are gone after `close`. */
export async function openTestedEngine(options: TestedEngineOptions): Promise<TestedPrograms> {
  const { isSandboxed = noSandbox === undefined, model } = options;
  const home = await realpath(await mkdtemp(join(tmpdir(), 'fleetloom-program-')));
  const directory = join(home, 'work');
  await mkdir(directory);
  const endpoint = await serveScriptedModel();
  const remover = createTreeRemover({ onProblem: () => {} });
  const common: EngineOptions = {
    directory: home,
    sandbox: isSandboxed ? () => openBubblewrap({ findProgram }) : 'none',
    openNetwork: (networking) => createProgramNetwork({ networking, resolveHost: new HostResolver().forSession() }),
    remover,
  };
  const engine = await options.create(common, endpoint.url);
  const close = async () => {
    await engine.close();
    await remover.close();
    await endpoint.close();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  return { engine, directory, model, countProcesses: () => options.countProcesses(home), close };
}
