import { describeChainEnd, type FleetAuditEntry } from '@fleetloom/protocol/fleet';
import { ChainCheck, type ChainEnd } from '@fleetloom/server';

/** A page of `GET /v1/fleet/audit`. */
export interface AuditPage {
  readonly data: readonly FleetAuditEntry[];
  /** The last entry that retention has removed, and the newest entry, as the log records them. */
  readonly start: ChainEnd;
  readonly head: ChainEnd;
  readonly next_after: number | null;
}

/** The problems of a log, one sentence each, and its newest entry. */
export interface AuditFindings {
  readonly problems: readonly string[];
  readonly head: ChainEnd;
}

/** Reads a whole audit log and checks each entry, both ends, and an entry that is known from an earlier verification. */
export async function verifyAudit(
  readPage: (after: number) => Promise<AuditPage>,
  anchor?: ChainEnd,
): Promise<AuditFindings> {
  let page = await readPage(0);
  const { start } = page;
  const check = new ChainCheck(start);
  const problems: string[] = [];
  let known = start.seq === anchor?.seq ? start : undefined;
  for (;;) {
    for (const entry of page.data) {
      const problem = check.add(entry);
      if (problem !== undefined) problems.push(problem);
      if (entry.seq === anchor?.seq) known = entry;
    }
    if (page.next_after === null) break;
    page = await readPage(page.next_after);
  }
  // The head of the last page, because entries may have been appended while the log was read.
  const { head } = page;
  const end = describeChainEnd(check.last ?? start, head);
  if (end !== undefined) problems.push(end);
  const wrong = anchor === undefined ? undefined : compareAnchor(anchor, start, known);
  if (wrong !== undefined) problems.push(wrong);
  return { problems, head };
}

function compareAnchor(anchor: ChainEnd, start: ChainEnd, known: ChainEnd | undefined): string | undefined {
  if (anchor.seq >= start.seq) return ChainCheck.compare(anchor, known);
  return `retention has removed entry ${anchor.seq}: pass an anchor from entry ${start.seq} on`;
}
