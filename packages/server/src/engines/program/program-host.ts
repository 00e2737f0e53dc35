import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Networking } from '@fleetloom/protocol/managed-agents';
import type { McpAuthorization } from '../../base/outgoing-http.ts';
import type { TreeRemover } from '../../base/files/remove-tree.ts';
import type { ProgramEngine } from './program.ts';
import type { ProgramNetwork } from './program-network.ts';
import type { ProgramSandbox, SandboxMounts } from './program-sandbox.ts';

/** Opens a program engine on a server. It throws a `FleetloomError` for a choice of the operator that cannot work. */
export type OpenProgramEngine = (host: ProgramHost) => ProgramEngine;

/** The operator's configuration of one program engine. */
export interface ProgramChoice {
  /** Workspaces whose agents may use the engine, for example `wrkspc_default`. By default none. */
  readonly workspaces?: readonly string[] | undefined;
  /** The path of the program, or its name on PATH. */
  readonly program?: string | undefined;
  /** The command of an ACP agent, with its arguments: `['opencode', 'acp']`. */
  readonly command?: readonly string[] | undefined;
  /** The environment that variables are taken from; by default this process's. Only variables that the program needs are passed on, no secrets. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Names of further variables that the program, and every command that it runs, receives. */
  readonly passedVariables?: readonly string[] | undefined;
  /**
   * The endpoint of a program with its own login. By default `ANTHROPIC_BASE_URL` of its environment, as for a program that
   * the operator starts.
   */
  readonly loginBaseURL?: string | undefined;
  /** The program uses its own login instead of the key of this server or, without a key, the scripted model. */
  readonly usesOwnLogin?: boolean | undefined;
  /** Runs the program as the user of this process with access to the whole machine, instead of in a sandbox. */
  readonly isUnsandboxed?: boolean | undefined;
}

/** The facts and functions that a server provides to a program engine. */
export interface ProgramHost {
  /** The engine's name, which is the prefix of its models: `codex`, `acp:opencode`. */
  readonly name: string;
  readonly choice: ProgramChoice;
  /** The data directory. Engines keep their files in sub-directories of it. */
  readonly directory: string;
  /** The endpoint of models, if the operator has set a credential. */
  readonly models?: { readonly credential: HostCredential; readonly baseURL?: string } | undefined;
  /** Answers requests of the Messages API with the scripted model. */
  readonly handleScripted: (request: IncomingMessage, response: ServerResponse) => void;
  readonly openSandbox: () => Promise<
    | { readonly type: 'ready'; readonly sandbox: ProgramSandbox }
    | { readonly type: 'unavailable'; readonly reason: string }
  >;
  /** Returns the mounts of a session's sandbox beside its workspace; by default none, and the workspace is writable. */
  readonly openMounts?: ((sessionId: string) => Promise<SandboxMounts>) | undefined;
  /** Returns the network of a session; `loginHosts` are allowed in addition to the hosts of its environment. */
  readonly openNetwork: (
    networking: Networking | undefined,
    loginHosts: readonly string[],
    sessionId: string,
  ) => Promise<ProgramNetwork>;
  /** The credentials of a session with vaults for its MCP servers. */
  readonly openAuthorization?: ((sessionId: string) => McpAuthorization) | undefined;
  /** Removes directories of deleted sessions. */
  readonly remover: Pick<TreeRemover, 'discard'>;
  /** Called with problems that do not stop the engine. */
  readonly onProblem: (problem: unknown) => void;
}

/** A key or a token of the operator. */
export type HostCredential = { readonly apiKey: string } | { readonly authToken: string };
