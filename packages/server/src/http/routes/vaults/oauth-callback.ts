import { CALLBACK_PATH, CLIENT_DOCUMENT_PATH, toClientMetadata } from '../../../vaults/oauth/find-client.ts';
import type { CallbackResult } from '../../../vaults/oauth/finish-flow.ts';
import type { OAuthFlows } from '../../../vaults/oauth/flows.ts';
import { toOwnUrl } from '../../own-url.ts';
import type { Exchange } from '../../routing/exchange.ts';
import { sendAnswer } from '../../response/answer.ts';
import type { Endpoint } from '../../routing/endpoint.ts';

/** Shows a person the result of a flow. */
export type ShowResult = (exchange: Exchange, result: { status: number; problem: string }) => Promise<void>;

/**
 * The endpoints to which authorization servers redirect browsers, and the client metadata that they read. Without a key: a browser does not send its
 * cookie after a redirect from another site. The `state` identifies the flow.
 */
export function createOAuthCallback(flows: Pick<OAuthFlows, 'finish'>, show: ShowResult): readonly Endpoint[] {
  return [
    {
      method: 'GET',
      path: CALLBACK_PATH,
      name: 'oauth.callback',
      handle: async (exchange) => {
        const { incoming } = exchange;
        const { searchParams: query } = new URL(incoming.url ?? '', 'http://here');
        // Link checkers send HEAD. Only a visit of a browser counts.
        if (incoming.method === 'HEAD') return sendAnswer(exchange.outgoing, { status: 200, body: null });
        const result = await flows.finish({
          state: query.get('state') ?? '',
          code: query.get('code') ?? undefined,
          error: query.get('error') ?? undefined,
          errorDescription: query.get('error_description') ?? undefined,
          issuer: query.get('iss') ?? undefined,
          address: exchange.address ?? null,
        });
        await show(exchange, toPage(result));
      },
    },
    {
      method: 'GET',
      path: CLIENT_DOCUMENT_PATH,
      name: 'oauth.client',
      isOffline: true,
      handle: async ({ incoming, outgoing }) => {
        const url = toOwnUrl(incoming);
        const body = { client_id: `${url}${CLIENT_DOCUMENT_PATH}`, ...toClientMetadata(url, 'none') };
        sendAnswer(outgoing, { status: 200, body });
      },
    },
  ];
}

function toPage(result: CallbackResult): { status: number; problem: string } {
  if (result.type === 'completed') {
    return { status: 200, problem: `${result.url} is connected. You can close this page.` };
  }
  if (result.type === 'failed') return { status: 400, problem: `Nothing was connected: ${result.error.message}.` };
  return { status: 400, problem: 'This attempt to connect has ended or expired. Begin again.' };
}
