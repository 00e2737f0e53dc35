import { limits } from '../base/limits.ts';

/** The numbers of `limits` that bound the tools. */
export type ToolLimits = { readonly [Name in ToolLimitName]: number };

export type ToolLimitName = Extract<
  keyof typeof limits,
  `${'tool' | 'bash' | 'file' | 'glob' | 'walk' | 'grep' | 'webFetch' | 'mcp'}${Capitalize<string>}`
>;

/** Tests make them small to reach their edges. */
export function toToolLimits(changed?: Partial<ToolLimits>): ToolLimits {
  return changed === undefined ? limits : { ...limits, ...changed };
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
