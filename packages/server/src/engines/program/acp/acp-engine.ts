import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { TreeRemover } from '../../../base/files/remove-tree.ts';
import {
  createProgramEngine,
  type EngineOptions,
  type EngineParts,
  type EngineShared,
} from '../engine/create-program-engine.ts';
import type { Upstream } from '../gateway/upstream.ts';
import { findInstallation, type Installation } from '../launch/find-installation.ts';
import { createProgramHomes, type ProgramHomes } from '../launch/program-homes.ts';
import { findPlace, type ProgramPlace } from '../launch/program-place.ts';
import { toLaunch } from '../launch/to-launch.ts';
import { listMcpServers } from '../list-mcp-servers.ts';
import type { ProgramEngine } from '../program.ts';
import type { ProgramOwner } from '../program-owner.ts';
import { toProgramModelName } from '../program-model-name.ts';
import { acpCapabilities } from './acp-capabilities.ts';
import { openAcpProgram } from './acp-program.ts';
import { permissionModes } from './approvals/call-policy.ts';
import { type AcpAgent, findAgent } from './find-agent.ts';
import { TEMPORARY, toEnvironment } from './launch/to-environment.ts';

/** Options of the engine of one ACP agent. */
export interface AcpOptions extends EngineOptions {
  /** Its name in models: `acp:<name>/<model>`. Empty: the engine only removes files that agents have left behind. */
  readonly name: string;
  /** The command that starts the agent, and its arguments. Empty: no agent of this name is configured. */
  readonly command: readonly string[];
  /** The endpoint of requests of the Messages API. Null: the agent's own endpoint, with the operator's own login. */
  readonly upstream: Upstream | null;
}

/**
 * Any agent that speaks version 1 of the Agent Client Protocol, one process for each session.
 *
 * @example
 * const engine = createAcpEngine({ name: 'own', command: ['own-agent', '--acp'], directory, sandbox, openNetwork, upstream, remover });
 */
export function createAcpEngine(options: AcpOptions): ProgramEngine {
  const names = { programs: 'acp-programs', sockets: `acp-sockets-${options.name}` };
  return createProgramEngine(names, options, (shared) => toParts(options, shared));
}

function toParts(options: AcpOptions, shared: EngineShared): EngineParts<AcpAgent> {
  const { isSandboxed, environment, passed, register, schedule } = shared;
  const { name, command, upstream, directory } = options;
  const homes = createProgramHomes(join(directory, HOMES, name), options.remover, LAYOUT);

  return {
    find: () => findAgent(name, command, environment),
    findPlace: findOwnPlace,
    findProblem: ({ settings }) => (settings === undefined || settings === 'none' ? null : NO_SETTINGS),
    describe: () => ({ permissionModes, depths: [], settings: ['none'], controls: [], capabilities: acpCapabilities }),
    start: async ({ asked, mounts, installed: { path, args }, sandbox }) => {
      const home = upstream === null ? null : await openHome(asked);
      const passage = await shared.openPassage(asked, { upstream });
      return await shared.startWith(passage, async () => {
        const inherited = toEnvironment({ inherited: environment, passed, isSandboxed, home });
        const launch = toLaunch({
          sandbox,
          path,
          installation: toInstallation(path, args),
          args,
          env: { ...inherited, ...passage.environment(inherited) },
          directory: asked.directory,
          mounts,
          home: home === null ? { type: 'operator' } : { type: 'own', path: home },
          socketPath: passage.socketPath,
          login: null,
        });
        const mcpUrlOf = (server: { readonly name: string; readonly url: string }) =>
          passage.socketPath === null ? server.url : passage.mcpUrlOf(server.name);
        return openAcpProgram({
          ...asked,
          launch,
          register,
          schedule,
          model: toProgramModelName(asked.agent.model.id),
          mcpServers: listMcpServers([asked.agent]).map((server) => ({ name: server.name, url: mcpUrlOf(server) })),
          onEnd: () => passage.close(),
        });
      });
    },
    kept: name === '' ? findAllHomes(join(directory, HOMES), options.remover) : homes,
  };

  async function openHome(owner: ProgramOwner): Promise<string> {
    const home = await homes.open(owner);
    if (!isSandboxed) await mkdir(join(home, TEMPORARY), { recursive: true, mode: 0o700 });
    return home;
  }

  async function findOwnPlace(): Promise<ProgramPlace> {
    if (command.length === 0)
      return { type: 'unavailable', reason: `no ACP agent ${name} is configured: ${CONFIGURE}` };
    if (isSandboxed && upstream === null) return { type: 'unavailable', reason: NO_LOGIN };
    return await findPlace(options.sandbox);
  }
}

/** The directory below the data directory with the homes of each agent and session. */
const HOMES = 'acp-homes';

/** The files of an agent in its home. Agents have no common path of a login, so it is not mounted. */
const LAYOUT = { config: '.config', login: 'auth.json', userSettings: [] };

/** The homes of all agents, including agents that are no longer configured. */
function findAllHomes(directory: string, remover: Pick<TreeRemover, 'discard'>): Pick<ProgramHomes, 'remove' | 'list'> {
  const open = async () => {
    const names = await readdir(directory).catch(() => []);
    return names.map((name) => createProgramHomes(join(directory, name), remover, LAYOUT));
  };
  return {
    remove: async (sessionId) => void (await Promise.all((await open()).map((homes) => homes.remove(sessionId)))),
    list: async () => (await Promise.all((await open()).map((homes) => homes.list()))).flat(),
  };
}

const CONFIGURE = "start the server with --acp 'name=command'";

const NO_SETTINGS = 'an ACP agent decides on its own which settings it loads: use `none`';

const NO_LOGIN =
  'an ACP agent in the sandbox does not see the login of the operator: pass its key with --program-env, or use --unsandboxed-programs';

/** The files of an agent. If its command is an interpreter with a script, the sandbox must show the script as well. */
function toInstallation(path: string, args: readonly string[]): Installation {
  const { program, paths } = findInstallation(path);
  const files = args.filter((arg) => isAbsolute(arg) && existsSync(arg));
  return {
    program,
    paths: [...new Set([...paths, ...files.flatMap((file) => [file, ...findInstallation(file).paths])])],
  };
}
