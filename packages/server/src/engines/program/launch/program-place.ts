import type { ProgramOptions } from '../program.ts';
import type { ProgramSandbox } from '../program-sandbox.ts';

/** The sandbox, or why it is not available. */
export type ProgramSandboxState =
  | { readonly type: 'ready'; readonly sandbox: ProgramSandbox }
  | { readonly type: 'unavailable'; readonly reason: string };

/** The operator's choice of a sandbox. `none`: programs run on the machine as the user of this process. */
export type SandboxChoice = 'none' | (() => Promise<ProgramSandboxState>);

/** Whether a program can be started. `sandbox` is null if it runs without one. */
export type ProgramPlace =
  | { readonly type: 'ready'; readonly sandbox: ProgramSandbox | null }
  | { readonly type: 'unavailable'; readonly reason: string };

/** Finds the sandbox for programs. Programs run without one only if the operator has chosen that: an unavailable sandbox starts nothing. */
export async function findPlace(choice: SandboxChoice): Promise<ProgramPlace> {
  if (choice === 'none') return { type: 'ready', sandbox: null };
  const state = await choice();
  if (state.type === 'ready') return state;
  return { type: 'unavailable', reason: `${state.reason}, and programs run in a sandbox: ${INSTALL}` };
}

/**
 * Why this session cannot be started; null if it can. Without a sandbox a program cannot be limited to some hosts, and can read the files of
 * this server: a limit that cannot be enforced prevents the start.
 */
export function whyUnenforceable(asked: ProgramOptions, isSandboxed: boolean): string | null {
  const { networking, settings, hasVaults = false } = asked;
  if (isSandboxed && settings === 'user') return 'a program in the sandbox does not see the settings of the operator';
  if (!isSandboxed && hasVaults) return NO_VAULTS;
  if (isSandboxed || networking?.type !== 'limited') return null;
  return 'without a sandbox it cannot be kept to the hosts that this environment allows: use one with unrestricted networking, or the sandbox';
}

/** Why a program without a sandbox does not start in a session with vaults. */
export const NO_VAULTS =
  'without a sandbox a program could read the secrets of the vaults of this session: use the sandbox, or a session without vaults';

/** Why a program without a sandbox does not start in a workspace that is read-only. */
export const READ_ONLY =
  'the workspace is read-only, which nothing but a sandbox makes sure of: use the sandbox, or mode copy';

/** Why nothing starts after the engine was closed. */
export const CLOSED = 'the engine is closed';

const INSTALL =
  'on Linux install bubblewrap, elsewhere the operator can allow programs without one (--unsandboxed-programs)';
