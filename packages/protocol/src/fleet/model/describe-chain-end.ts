/** The end of a chain of audit log entries. */
export interface AuditChainEnd {
  readonly seq: number;
  readonly hash: string;
}

/** The problem with the end of an audit log, if any. `last`: its last entry; `head`: the newest entry that the log has recorded. */
export function describeChainEnd(last: AuditChainEnd, head: AuditChainEnd): string | undefined {
  if (last.seq > head.seq) return `entry ${last.seq} is behind the newest one, which is ${head.seq}: it was inserted`;
  if (last.seq < head.seq)
    return `the log ends at entry ${last.seq}, and ${head.seq} was the newest: its end was removed`;
  return last.hash === head.hash
    ? undefined
    : `entry ${head.seq} is not the one that the log was left with: it was rewritten`;
}
