import { toMessagesUpstream } from '../engine/to-messages-upstream.ts';
import type { ProgramEngine } from '../program.ts';
import type { ProgramHost } from '../program-host.ts';
import { createOpencodeEngine } from './opencode-engine.ts';

/** opencode as the operator has configured it for this server. Without a model key of the server, it uses the scripted model. */
export function openOpencode(host: ProgramHost): ProgramEngine {
  const { isUnsandboxed = false, program, environment, passedVariables } = host.choice;
  return createOpencodeEngine({
    program,
    environment,
    passedVariables,
    directory: host.directory,
    sandbox: isUnsandboxed ? 'none' : host.openSandbox,
    openMounts: host.openMounts,
    openAuthorization: host.openAuthorization,
    openNetwork: (networking, sessionId) => host.openNetwork(networking, [], sessionId),
    upstream: toMessagesUpstream(host),
    remover: host.remover,
    onProblem: host.onProblem,
  });
}
