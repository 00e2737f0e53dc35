import { type Answer, type Call, textAnswer } from '../state/state.ts';

/** The result of a call that must not run: the tool is not available, or a person denied it with this message. */
export function toDeniedResult({ isAsked, name }: Call, message: string | null): Answer {
  if (!isAsked) return textAnswer(`The tool ${name} is not available.`, true);
  return textAnswer(message === null ? 'The user refused this call.' : `The user refused this call: ${message}`, true);
}
