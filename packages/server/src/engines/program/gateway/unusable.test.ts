import { expect, it } from 'vitest';
import { whyNoGateway } from './unusable.ts';
import type { Upstream } from './upstream.ts';

const anthropic: Upstream = { type: 'endpoint', baseURL: 'https://api.anthropic.com', credential: 'program' };
const local: Upstream = { type: 'endpoint', baseURL: 'http://localhost:8080/v1', credential: 'program' };
const scripted: Upstream = { type: 'handler', handle: () => undefined };

it.each([
  [{ CLAUDE_CODE_USE_BEDROCK: '1' }, anthropic, 'Amazon Bedrock (CLAUDE_CODE_USE_BEDROCK is set)'],
  [{ CLAUDE_CODE_USE_VERTEX: 'true' }, scripted, 'Vertex AI'],
  [{ CLAUDE_CODE_USE_FOUNDRY: '1' }, anthropic, 'Microsoft Foundry'],
  [{ HTTPS_PROXY: 'http://proxy:3128' }, anthropic, 'through a proxy (HTTPS_PROXY is set)'],
  [{ all_proxy: 'socks://proxy' }, anthropic, 'all_proxy'],
])('[J122] where the gateway cannot be used the reason is reported: %o', (environment, upstream, reason) => {
  expect(whyNoGateway(environment, upstream)?.message).toContain(reason);
  expect(whyNoGateway(environment, upstream)?.message).toContain('block by block');
});

it.each([
  [{}, anthropic],
  [{ CLAUDE_CODE_USE_BEDROCK: '0', CLAUDE_CODE_USE_VERTEX: ' false ' }, anthropic],
  [{ HTTP_PROXY: 'http://proxy:3128' }, anthropic],
  [{ HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'intranet, .anthropic.com' }, anthropic],
  [{ HTTPS_PROXY: 'http://proxy:3128', no_proxy: '*' }, anthropic],
  [{ HTTP_PROXY: 'http://proxy:3128' }, local],
  [{ HTTPS_PROXY: 'http://proxy:3128', HTTP_PROXY: 'http://proxy:3128' }, scripted],
])('[J122] otherwise there is none: %o', (environment, upstream) => {
  expect(whyNoGateway(environment, upstream)).toBeUndefined();
});
