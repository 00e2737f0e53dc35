/** Where a chain of entries of the audit log ends. */
export interface AuditChainEnd {
  readonly seq: number;
  readonly hash: string;
}

/** The problem with the end of an audit log whose last entry is `last` and whose newest recorded entry is `head`, if there is one. */
export function describeChainEnd(last: AuditChainEnd, head: AuditChainEnd): string | undefined {
  if (last.seq > head.seq) return `entry ${last.seq} was inserted: the newest is ${head.seq}`;
  if (last.seq < head.seq) return `the log ends at entry ${last.seq} of ${head.seq}: its end was removed`;
  return last.hash === head.hash ? undefined : `entry ${head.seq} was rewritten: its hash differs`;
}
