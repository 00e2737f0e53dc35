import { limits } from './limits.ts';

/** One delegation: to one agent by its name, or to several at once. */
export type Delegation = { readonly agent: string } | { readonly children: number };

/** The line that replaces the text of a coordinator while it delegates: each agent, or the number of parallel children. */
export function toStatusLine(delegations: readonly Delegation[]): string {
  const names = delegations.slice(0, limits.statusNamesMax).map(describe);
  const rest = delegations.length - names.length;
  return `→ delegating: ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}\n`;
}

/** Describes a delegation on one line, even if the name of an agent contains line breaks. */
function describe(delegation: Delegation): string {
  if ('children' in delegation) return `${delegation.children} in parallel`;
  const characters = Array.from(delegation.agent.replace(/[\s\p{Cc}]+/gu, ' ').trim());
  const isLong = characters.length > limits.statusNameCharsMax;
  return isLong ? `${characters.slice(0, limits.statusNameCharsMax - 1).join('')}…` : characters.join('');
}
