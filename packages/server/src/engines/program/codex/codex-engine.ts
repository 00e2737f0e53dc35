import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  createProgramEngine,
  type EngineOptions,
  type EngineParts,
  type EngineShared,
} from '../engine/create-program-engine.ts';
import type { GatewaySession } from '../gateway/gateway.ts';
import { serveMcp } from '../gateway/serve-mcp.ts';
import type { Upstream } from '../gateway/upstream.ts';
import { findInstallation } from '../launch/find-installation.ts';
import { createProgramHomes, PROGRAM_HOMES, type ProgramHome } from '../launch/program-homes.ts';
import { findPlace, type ProgramPlace } from '../launch/program-place.ts';
import { toLaunch } from '../launch/to-launch.ts';
import { listCustomTools } from '../mcp/mcp-tools.ts';
import { findServerNameProblem } from '../mcp/server-names.ts';
import { listMcpServers } from '../list-mcp-servers.ts';
import type { ProgramEngine, ProgramOptions } from '../program.ts';
import type { ProgramOwner } from '../program-owner.ts';
import { toProgramModelName } from '../program-model-name.ts';
import { permissionModes } from './approvals/call-policy.ts';
import { codexCapabilities } from './codex-capabilities.ts';
import { openCodexProgram } from './codex-program.ts';
import { type CodexProgram, findCodex } from './find-program.ts';
import { copyConversation } from './launch/copy-conversation.ts';
import { CONFIG_FILE, homeLayout } from './launch/home-layout.ts';
import { findOperatorHome, findOperatorLogin } from './launch/operator-login.ts';
import { toArguments, toConfigFile, toRole } from './launch/to-config.ts';
import { TEMPORARY, toEnvironment } from './launch/to-environment.ts';
import { ToolServer } from './server/tool-server.ts';

/** Options of the codex engine. */
export interface CodexOptions extends EngineOptions {
  /** The endpoint of model requests. Null: the program's own endpoint, with the operator's own login. */
  readonly upstream: Upstream | null;
  /** How many times Codex retries a failed model request. */
  readonly retriesMax?: number | undefined;
}

/**
 * The user's own Codex, one `codex app-server` for each session.
 *
 * @example
 * const engine = createCodexEngine({ directory: dataDirectory, sandbox, openNetwork, upstream, remover });
 */
export function createCodexEngine(options: CodexOptions): ProgramEngine {
  const names = { programs: 'codex-programs', sockets: 'codex-sockets' };
  return createProgramEngine(names, options, (shared) => toParts(options, shared));
}

function toParts(options: CodexOptions, shared: EngineShared): EngineParts<CodexProgram> {
  const { isSandboxed, environment, passed, register, schedule, onProblem } = shared;
  const { upstream, retriesMax = RETRIES_MAX } = options;
  const usesOwnLogin = upstream === null;
  const homes = createProgramHomes(join(options.directory, PROGRAM_HOMES), options.remover, homeLayout);

  return {
    find: () => findCodex({ program: options.program, environment }),
    findPlace: findPlaceWithLogin,
    findProblem: ({ agent, members }) =>
      findServerNameProblem(
        [agent, ...members],
        (name) => name,
        () => 'Codex',
      ),
    describe: () => ({
      permissionModes,
      depths: DEPTHS,
      settings: ['none', 'project'],
      controls: [],
      capabilities: codexCapabilities,
    }),
    start: async ({ asked, mounts, installed: { path }, sandbox }) => {
      const { agent, members } = asked;
      const agents = [agent, ...members];
      const home = await openHome(asked);
      const tools = new ToolServer(listCustomTools(agents));
      const serve = serveMcp((message, signal) => tools.handle(message, signal), onProblem);
      const passage = await shared.openPassage(asked, { upstream, wire: 'responses', serve });
      return await shared.startWith(passage, async () => {
        const roleFiles = await writeFiles(asked, home, passage);
        const inherited = toEnvironment({ inherited: environment, passed, isSandboxed, home });
        const launch = toLaunch({
          sandbox,
          path,
          installation: toInstallation(path),
          args: toArguments({ ...asked, roleFiles }),
          env: { ...inherited, ...passage.environment(inherited) },
          directory: asked.directory,
          mounts,
          home,
          socketPath: passage.socketPath,
          login: toLoginMount(home),
        });
        return openCodexProgram({
          ...asked,
          launch,
          register,
          schedule,
          tools,
          model: toProgramModelName(agent.model.id),
          mcpServers: listMcpServers(agents).map(({ name, url }) => ({
            name,
            url: passage.socketPath === null ? url : passage.mcpUrlOf(name),
          })),
          toolsUrl: tools.isEmpty ? null : passage.servedUrl,
          onEnd: () => passage.close(),
        });
      });
    },
    kept: homes,
    copyConversation: async ({ conversation, message, from, to }) => {
      const [source, target] = await Promise.all([configOf(from), configOf(to)]);
      return await copyConversation({ conversation, turnId: message, from: source, to: target });
    },
  };

  /** Writes the configuration of the session's own Codex and the roles of its roster. Returns the role files by agent name. */
  async function writeFiles(
    asked: ProgramOptions,
    home: ProgramHome,
    passage: GatewaySession,
  ): Promise<ReadonlyMap<string, string>> {
    const files = new Map<string, string>();
    if (home.type === 'operator') return files;
    const endpoint = upstream === null ? null : { baseURL: passage.baseURL, retriesMax };
    await homes.write(asked, CONFIG_FILE, toConfigFile(endpoint));
    await mkdir(join(home.path, TEMPORARY), { recursive: true, mode: 0o700 });
    for (const member of asked.members) {
      const role = toRole(member);
      if (role === null) continue;
      files.set(member.name, await homes.write(asked, role.name, role.content));
    }
    return files;
  }

  async function findPlaceWithLogin(): Promise<ProgramPlace> {
    const login = usesOwnLogin ? findOperatorLogin(environment) : null;
    if (login !== null && 'problem' in login) return { type: 'unavailable', reason: login.problem };
    return await findPlace(options.sandbox);
  }

  /** Each program has its own home directory, except that without a sandbox the operator's login is used in the operator's home. */
  async function openHome(owner: ProgramOwner): Promise<ProgramHome> {
    if (usesOwnLogin && !isSandboxed) return { type: 'operator' };
    return { type: 'own', path: await homes.open(owner) };
  }

  async function configOf(owner: ProgramOwner): Promise<string> {
    const home = await openHome(owner);
    return home.type === 'operator' ? findOperatorHome(environment) : join(home.path, homeLayout.config);
  }

  function toLoginMount(home: ProgramHome): { readonly file: string; readonly at: string } | null {
    const login = usesOwnLogin ? findOperatorLogin(environment) : null;
    if (login === null || 'problem' in login || home.type === 'operator') return null;
    return { file: login.file, at: join(home.path, homeLayout.config, homeLayout.login) };
  }
}

/** The default of Codex. */
const RETRIES_MAX = 5;

const DEPTHS = [1, 2, 3, 4];

/** A release with `codex-package.json` has helpers in folders beside the folder of the program, which the sandbox must show. */
function toInstallation(path: string) {
  const { program, paths } = findInstallation(path);
  const release = dirname(dirname(program));
  const hasHelpers = existsSync(join(release, 'codex-package.json'));
  return { program, paths: hasHelpers ? [...paths, release] : paths };
}
