import type { ServerOptions } from '../server-options.ts';
import type { AuditOutput } from './audit-output.ts';
import { createSyslog, parseSyslogTarget } from './syslog.ts';

/** Where a server writes its audit log beside the store. Throws if the address of a syslog daemon is not one. */
export function toAuditOutputs(options: Pick<ServerOptions, 'onAuditEntry' | 'auditSyslog'>): readonly AuditOutput[] {
  const { onAuditEntry, auditSyslog } = options;
  return [
    ...(onAuditEntry === undefined ? [] : [toOutput(onAuditEntry)]),
    ...(auditSyslog === undefined ? [] : [createSyslog(parseSyslogTarget(auditSyslog))]),
  ];
}

function toOutput(onEntry: NonNullable<ServerOptions['onAuditEntry']>): AuditOutput {
  return {
    // The only one of earlier versions, which had no name.
    name: '',
    write: async (entries) => entries.forEach((entry) => onEntry(entry)),
    close: () => {},
  };
}
