/** Where a chain of entries of the audit log ends. */
export interface AuditChainEnd {
  readonly seq: number;
  readonly hash: string;
}

/** What is wrong with the end of an audit log, of which `last` is the last entry and `head` the newest that the log knows of. */
export function describeChainEnd(last: AuditChainEnd, head: AuditChainEnd): string | undefined {
  if (last.seq > head.seq) return `entry ${last.seq} is behind the newest one, which is ${head.seq}: it was inserted`;
  if (last.seq < head.seq)
    return `the log ends at entry ${last.seq}, and ${head.seq} was the newest: its end was removed`;
  return last.hash === head.hash
    ? undefined
    : `entry ${head.seq} is not the one that the log was left with: it was rewritten`;
}
