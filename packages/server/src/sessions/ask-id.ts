/** Results are asked for under another id than consent: one call may need both, one after the other. */
export function resultAskId(toolUseId: string): string {
  return `${toolUseId}:result`;
}
