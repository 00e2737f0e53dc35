import { type Fields } from '../../lines/json-rpc-line.ts';
import { nameIn, records } from '../../lines/values.ts';
import type { Decision } from '../../program.ts';

/** The reason of a denial; undefined where the call may run as it is. An agent cannot be given another input. */
export function toDenial(decision: Decision): string | undefined {
  if (decision.type === 'deny') return decision.message;
  if (decision.updatedInput === undefined) return undefined;
  return `Do not run this call. Make it again with this input instead: ${JSON.stringify(decision.updatedInput)}`;
}

/** The answer to a permission request: the narrowest option that says the same. */
export function toOutcome({ options }: Fields, isAllowed: boolean): object {
  const kinds = isAllowed ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  const offered = records(options);
  const chosen = kinds.flatMap((kind) => offered.filter((option) => option['kind'] === kind))[0];
  const optionId = nameIn(chosen?.['optionId']);
  return optionId === undefined ? CANCELLED : { outcome: { outcome: 'selected', optionId } };
}

/** The answer to a permission request of a turn that is stopped. */
export const CANCELLED = { outcome: { outcome: 'cancelled' } };
