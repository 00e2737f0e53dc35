import type { ServerOptions } from '../server-options.ts';
import type { AuditOutput } from './audit-output.ts';
import { createSyslog, parseSyslogTarget } from './syslog.ts';

/** The outputs of a server's audit log in addition to the store. Throws if the address of a syslog daemon is not valid. */
export function toAuditOutputs(options: Pick<ServerOptions, 'onAuditEntry' | 'auditSyslog'>): readonly AuditOutput[] {
  const { onAuditEntry, auditSyslog } = options;
  return [
    ...(onAuditEntry === undefined ? [] : [toOutput(onAuditEntry)]),
    ...(auditSyslog === undefined ? [] : [createSyslog(parseSyslogTarget(auditSyslog))]),
  ];
}

function toOutput(onEntry: NonNullable<ServerOptions['onAuditEntry']>): AuditOutput {
  return {
    // The only output of earlier versions, which was stored without a name.
    name: '',
    write: async (entries) => entries.forEach((entry) => onEntry(entry)),
    close: () => {},
  };
}
