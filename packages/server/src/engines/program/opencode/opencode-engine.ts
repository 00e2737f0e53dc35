import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../../base/clock.ts';
import {
  createProgramEngine,
  type EngineOptions,
  type EngineParts,
  type EngineSession,
  type EngineShared,
  type ProgramHandle,
} from '../engine/create-program-engine.ts';
import type { GatewaySession } from '../gateway/gateway.ts';
import { serveMcp } from '../gateway/serve-mcp.ts';
import { whyNoGateway } from '../gateway/unusable.ts';
import type { Upstream } from '../gateway/upstream.ts';
import type { InstalledProgram } from '../launch/find-installed.ts';
import { PROXIES, pickVariables } from '../launch/inherited-variables.ts';
import { createProgramHomes } from '../launch/program-homes.ts';
import { findPlace, type ProgramPlace } from '../launch/program-place.ts';
import { toLaunch } from '../launch/to-launch.ts';
import { programLimits } from '../limits.ts';
import { listCustomTools } from '../mcp/mcp-tools.ts';
import type { ProgramEngine } from '../program.ts';
import type { SandboxMounts } from '../program-sandbox.ts';
import { findServerNameProblem } from './approvals/tool-policy.ts';
import { opencodeCapabilities } from './capabilities.ts';
import { findOpencode } from './find-program.ts';
import { copyConversations } from './launch/copy-conversations.ts';
import { listModels, toConfig } from './launch/to-config.ts';
import { DATA, toEnvironment } from './launch/to-environment.ts';
import { openOpencodeProgram, opencodeControls, CLOSED_MODE } from './opencode-program.ts';
import { openDialer } from './server/dialer.ts';
import { Refusals } from './server/refusals.ts';
import { ToolServer } from './server/tool-server.ts';
import { createDeclarations } from './server/model-declarations.ts';

/** Options of the opencode engine. */
export interface OpencodeOptions extends EngineOptions {
  /** The endpoint of model requests. */
  readonly upstream: Upstream;
  /** How many times a model request is retried, by default 10. opencode itself would not stop. */
  readonly retriesMax?: number | undefined;
  readonly clock?: Pick<Clock, 'now'> | undefined;
}

/**
 * The user's own `opencode` program: one server process for each session, because each session has its own sandbox, roster and
 * permissions.
 *
 * @example
 * const engine = createOpencodeEngine({ directory: dataDirectory, sandbox, openNetwork, upstream, remover });
 */
export function createOpencodeEngine(options: OpencodeOptions): ProgramEngine {
  const names = { programs: 'opencode-programs', sockets: 'opencode-sockets' };
  return createProgramEngine(names, options, (shared) => toParts(options, shared));
}

function toParts(options: OpencodeOptions, shared: EngineShared): EngineParts<InstalledProgram> {
  const { isSandboxed, environment, passed, register, sockets, schedule, onProblem } = shared;
  const { upstream, clock = systemClock, retriesMax = programLimits.opencodeRetriesMax } = options;
  const homes = createProgramHomes(join(options.directory, 'opencode-homes'), options.remover, LAYOUT);
  const noGateway = whyNoGateway(pickVariables(environment, [...PROXIES, ...passed]), upstream);
  let dialed = 0;

  return {
    find: () => findOpencode({ program: options.program, environment }),
    findPlace: findOwnPlace,
    findProblem: ({ agent, members, settings }) =>
      settings === 'user' ? NO_USER_SETTINGS : findServerNameProblem([agent, ...members]),
    describe: () => ({
      permissionModes: ['default', CLOSED_MODE],
      depths: [1, 2, 3, 4],
      settings: ['none', 'project'],
      controls: opencodeControls,
      capabilities: opencodeCapabilities,
    }),
    start: async (session) => {
      const { asked } = session;
      const home = await homes.open(asked);
      if (!isSandboxed) await mkdir(join(home, 'tmp'), { recursive: true, mode: 0o700 });
      const tools = new ToolServer(listCustomTools([asked.agent, ...asked.members]));
      const refusals = new Refusals();
      const passage = await shared.openPassage(asked, {
        upstream,
        serve: serveMcp((message, signal) => tools.handle(message, signal), onProblem),
        onEvent: (event) => refusals.take(event),
      });
      return await shared.startWith(passage, () => start(session, { home, passage, tools, refusals }));
    },
    kept: homes,
    copyConversation: async ({ message, from, to }) => {
      const [source, target] = await Promise.all(
        [from, to].map(async (owner) => join(await homes.open(owner), LAYOUT.config)),
      );
      return await copyConversations({ message, from: source!, to: target!, schedule });
    },
  };

  async function start(
    { asked, mounts, installed: { path }, sandbox }: EngineSession<InstalledProgram>,
    { home, passage, tools, refusals }: SessionParts,
  ): Promise<ProgramHandle> {
    const { agent, members, depthMax, settings = 'none' } = asked;
    const { baseURL } = passage;
    const mcpUrlOf = (name: string, url: string) => (isSandboxed ? passage.mcpUrlOf(name) : url);
    const toolsUrl = tools.isEmpty ? null : passage.servedUrl;
    const password = randomBytes(32).toString('base64url');
    const inherited = toEnvironment({
      inherited: environment,
      passed,
      isSandboxed,
      home,
      config: toConfig({ agent, members, depthMax, baseURL, mcpUrlOf, toolsUrl }),
      password,
      hasProjectSettings: settings === 'project',
    });
    const socketPath = sandbox === null ? null : join(await sockets.open(), `d${(dialed++).toString(36)}.sock`);
    const dialer = socketPath === null ? null : await openDialer({ socketPath, port: INSIDE_PORT });
    const models = listModels([agent, ...members]);
    try {
      const launch = toLaunch({
        sandbox,
        path,
        args: ['serve', '--hostname', '127.0.0.1', '--port', String(sandbox === null ? 0 : INSIDE_PORT)],
        env: { ...inherited, ...passage.environment(inherited) },
        directory: asked.directory,
        mounts: socketPath === null ? mounts : withSocket(mounts, socketPath),
        home: { type: 'own', path: home },
        socketPath: passage.socketPath,
        login: null,
      });
      return openOpencodeProgram({
        ...asked,
        launch,
        register,
        password,
        dialer,
        tools,
        statusOf: (message) => refusals.statusOf(message),
        retriesMax,
        schedule,
        clock,
        model: models[0]!,
        declarations: createDeclarations(models, baseURL),
        onGone: () => passage.close(),
      });
    } catch (error) {
      dialer?.close();
      throw error;
    }
  }

  /** Where sessions can start. A sandbox can reach the model through the gateway only. */
  async function findOwnPlace(): Promise<ProgramPlace> {
    const place = await findPlace(options.sandbox);
    if (place.type === 'unavailable' || !isSandboxed || noGateway === undefined) return place;
    return { type: 'unavailable', reason: noGateway.message };
  }
}

/** The parts of a session beside its process. */
interface SessionParts {
  readonly home: string;
  readonly passage: GatewaySession;
  readonly tools: ToolServer;
  readonly refusals: Refusals;
}

/** The files of opencode in its home. It keeps conversations and a login in its data directory. */
const LAYOUT = { config: join(DATA, 'opencode'), login: 'auth.json', userSettings: [] };

/** The port on which opencode listens in its sandbox, which has a loopback interface of its own. */
const INSIDE_PORT = 4286;

function withSocket(mounts: SandboxMounts | undefined, socketPath: string): SandboxMounts {
  const usual: SandboxMounts = { isWritable: true, readOnlyPaths: [], writablePaths: [], covers: [] };
  const known = mounts ?? usual;
  return { ...known, readOnlyPaths: [...known.readOnlyPaths, socketPath] };
}

const NO_USER_SETTINGS = 'opencode does not load the settings of the operator: use `none` or `project`';
