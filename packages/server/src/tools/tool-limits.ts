import { baseLimits } from '../base/limits.ts';
import { toolLimits } from './limits.ts';

/** The numbers that bound the tools of one server. */
export type ToolLimits = { readonly [Name in keyof typeof standardLimits]: number };

const standardLimits = {
  ...toolLimits,
  webFetchUrlCharsMax: baseLimits.webFetchUrlCharsMax,
  toolNameCharsMax: baseLimits.toolNameCharsMax,
};

/** The limits with changes applied. Tests lower limits to reach their edges. */
export function toToolLimits(changed?: Partial<ToolLimits>): ToolLimits {
  return changed === undefined ? standardLimits : { ...standardLimits, ...changed };
}

/** Builds something once for each set of limits. All sessions of a server share theirs, so for them it is built once. */
export function oncePerLimits<Built>(build: (limits: ToolLimits) => Built): (limits: ToolLimits) => Built {
  const built = new WeakMap<ToolLimits, Built>();
  return (given) => {
    const known = built.get(given) ?? build(given);
    built.set(given, known);
    return known;
  };
}
