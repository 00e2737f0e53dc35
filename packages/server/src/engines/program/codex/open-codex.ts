import { FleetloomError } from '../../../base/errors.ts';
import type { Upstream } from '../gateway/upstream.ts';
import type { ProgramEngine } from '../program.ts';
import type { ProgramChoice, ProgramHost } from '../program-host.ts';
import { createCodexEngine } from './codex-engine.ts';

/** Codex as the operator has configured it for this server. */
export function openCodex(host: ProgramHost): ProgramEngine {
  const { usesOwnLogin = false, isUnsandboxed = false, program, passedVariables, environment } = host.choice;
  const loginHosts = usesOwnLogin ? LOGIN_HOSTS : [];
  return createCodexEngine({
    directory: host.directory,
    program,
    passedVariables,
    environment,
    sandbox: isUnsandboxed ? 'none' : host.openSandbox,
    openMounts: host.openMounts,
    openAuthorization: host.openAuthorization,
    openNetwork: (networking, sessionId) => host.openNetwork(networking, loginHosts, sessionId),
    upstream: usesOwnLogin ? null : toModelUpstream(host.handleScripted, environment),
    remover: host.remover,
    onProblem: host.onProblem,
  });
}

/** Hosts that Codex connects to with a login: the model endpoint, and the hosts that renew the login. */
const LOGIN_HOSTS = ['chatgpt.com', 'auth.openai.com', 'api.openai.com'];

/** The upstream of model requests. The key of the server's environment never reaches the program: the gateway adds it. */
export function toModelUpstream(
  handle: ProgramHost['handleScripted'],
  environment: ProgramChoice['environment'] = process.env,
): Upstream {
  const { OPENAI_API_KEY: key, OPENAI_BASE_URL: given } = environment;
  if (key === undefined || key === '') return { type: 'handler', handle };
  const baseURL = (given || OPENAI).replace(/\/v1\/?$/, '');
  if (!URL.canParse(baseURL) || !/^https?:$/.test(new URL(baseURL).protocol)) {
    const problem = `${JSON.stringify(given)} is not the URL of an endpoint for Codex`;
    const advice = 'set OPENAI_BASE_URL to an http or https URL, or leave it out';
    throw new FleetloomError({ code: 'invalid_base_url', kind: 'caller', problem, advice });
  }
  return { type: 'endpoint', baseURL, credential: { authToken: key } };
}

const OPENAI = 'https://api.openai.com';
