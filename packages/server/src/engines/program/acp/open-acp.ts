import { toMessagesUpstream } from '../engine/to-messages-upstream.ts';
import type { ProgramEngine } from '../program.ts';
import type { ProgramHost } from '../program-host.ts';
import { createAcpEngine } from './acp-engine.ts';

/** An ACP agent as the operator has configured it for this server. */
export function openAcp(host: ProgramHost): ProgramEngine {
  const { isUnsandboxed = false, usesOwnLogin = false, command = [], environment, passedVariables } = host.choice;
  return createAcpEngine({
    name: /^acp:(.+)$/.exec(host.name)?.[1] ?? '',
    command,
    environment,
    passedVariables,
    directory: host.directory,
    sandbox: isUnsandboxed ? 'none' : host.openSandbox,
    openMounts: host.openMounts,
    openAuthorization: host.openAuthorization,
    openNetwork: (networking, sessionId) => host.openNetwork(networking, [], sessionId),
    upstream: usesOwnLogin ? null : toMessagesUpstream(host),
    remover: host.remover,
    onProblem: host.onProblem,
  });
}
