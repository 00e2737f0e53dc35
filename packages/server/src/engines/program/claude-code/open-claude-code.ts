import { FleetloomError } from '../../../base/errors.ts';
import { ANTHROPIC, toMessagesUpstream } from '../engine/to-messages-upstream.ts';
import type { ProgramEngine } from '../program.ts';
import type { ProgramChoice, ProgramHost } from '../program-host.ts';
import { createClaudeCodeEngine } from './claude-code-engine.ts';
import type { Upstream } from '../gateway/upstream.ts';

/** The claude program as the operator has configured it for this server. */
export function openClaudeCode(host: ProgramHost): ProgramEngine {
  const { usesOwnLogin = false, isUnsandboxed = false, loginBaseURL, workspaces: _, ...choice } = host.choice;
  const loginHosts = usesOwnLogin ? LOGIN_HOSTS : [];
  return createClaudeCodeEngine({
    ...choice,
    directory: host.directory,
    usesOwnLogin,
    sandbox: isUnsandboxed ? 'none' : host.openSandbox,
    openMounts: host.openMounts,
    openAuthorization: host.openAuthorization,
    openNetwork: (networking, sessionId) => host.openNetwork(networking, loginHosts, sessionId),
    upstream: usesOwnLogin
      ? toLoginUpstream(loginBaseURL ?? host.models?.baseURL, choice.environment)
      : toMessagesUpstream(host),
    remover: host.remover,
    onProblem: host.onProblem,
  });
}

/** Hosts that Claude Code connects to when it logs in or renews a login. */
export const LOGIN_HOSTS = ['api.anthropic.com', 'platform.claude.com', 'console.anthropic.com', 'claude.ai'];

function toLoginUpstream(given: string | undefined, environment: ProgramChoice['environment'] = process.env): Upstream {
  const baseURL = given || environment['ANTHROPIC_BASE_URL'] || ANTHROPIC;
  if (!URL.canParse(baseURL) || !/^https?:$/.test(new URL(baseURL).protocol)) {
    const problem = `${JSON.stringify(baseURL)} is not the URL of an endpoint for --claude-login`;
    const advice = 'set ANTHROPIC_BASE_URL or --model-base-url to an http or https URL, or leave both out';
    throw new FleetloomError({ code: 'invalid_base_url', kind: 'caller', problem, advice });
  }
  return { type: 'endpoint', baseURL, credential: 'program' };
}
