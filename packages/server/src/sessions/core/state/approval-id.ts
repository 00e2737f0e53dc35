/** The approval id of a tool result that a client brings: one call may first need a decision, and then a result. */
export function resultApprovalId(toolUseId: string): string {
  return `${toolUseId}:result`;
}
