import { type Fields } from '../../lines/json-rpc-line.ts';
import { nameIn, records } from '../../lines/values.ts';
import type { Decision } from '../../program.ts';

/** The reason of a denial; undefined if the call may run unchanged. An ACP agent cannot run another input, so such a decision is a denial. */
export function toDenial(decision: Decision): string | undefined {
  if (decision.type === 'deny') return decision.message;
  if (decision.updatedInput === undefined) return undefined;
  return `Do not run this call. Make it again with this input instead: ${JSON.stringify(decision.updatedInput)}`;
}

/** The response to a permission request: the narrowest option for the decision. */
export function toOutcome({ options }: Fields, isAllowed: boolean): object {
  const kinds = isAllowed ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  const offered = records(options);
  const chosen = kinds.flatMap((kind) => offered.filter((option) => option['kind'] === kind))[0];
  const optionId = nameIn(chosen?.['optionId']);
  return optionId === undefined ? CANCELLED : { outcome: { outcome: 'selected', optionId } };
}

/** The response to a permission request of a stopped turn. */
export const CANCELLED = { outcome: { outcome: 'cancelled' } };
