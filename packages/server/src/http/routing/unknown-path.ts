import { cutText } from '@fleetloom/protocol/fleet';
import { type RequestError, requestError } from '../../base/request-error.ts';

/** The error of an unknown path. For paths of the Messages and Responses APIs it names the server that has them. */
export function unknownPath(method: string | undefined, path: string): RequestError {
  const problem = `there is no ${method} ${cutText(path, 200)}`;
  const elsewhere = ELSEWHERE.find(({ paths }) => paths.test(path));
  return elsewhere === undefined
    ? requestError('unknown_path', problem)
    : requestError('unknown_path', problem, { advice: elsewhere.advice });
}

const ELSEWHERE: readonly { readonly paths: RegExp; readonly advice: string }[] = [
  {
    paths: /^\/v1\/(?:messages|complete)(?:\/|$)/,
    advice:
      'this server runs agents and forwards no model requests; start one with POST /v1/sessions or POST /v1/orchestrate, or send model requests to your Messages endpoint (/scripted/v1/messages answers as the scripted model)',
  },
  {
    paths: /^\/v1\/responses(?:\/|$)/,
    advice:
      'this server runs agents and forwards no model requests; start one with POST /v1/sessions or POST /v1/orchestrate, or send the request to /scripted/v1/responses, which answers as the scripted model',
  },
];
