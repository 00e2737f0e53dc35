import { limits } from '../base/limits.ts';

/** The numbers of `limits` that bound the tools. */
export type ToolLimits = { readonly [Name in ToolLimitName]: number };

export type ToolLimitName = Extract<
  keyof typeof limits,
  `${'tool' | 'bash' | 'file' | 'glob' | 'walk' | 'grep' | 'webFetch' | 'mcp'}${Capitalize<string>}`
>;

/** Tests make them small to reach their edges. */
export function toToolLimits(changed: Partial<ToolLimits> = {}): ToolLimits {
  return { ...limits, ...changed };
}
