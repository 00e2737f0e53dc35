import { createSocket } from 'node:dgram';
import { createConnection, isIPv6, type Socket } from 'node:net';
import { hostname } from 'node:os';
import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import { FleetloomError } from '../../base/errors.ts';
import { compositionLimits } from '../limits.ts';
import type { AuditOutput } from './audit-output.ts';

/** The address of a syslog daemon. */
export type SyslogTarget =
  | { readonly type: 'udp' | 'tcp'; readonly host: string; readonly port: number }
  | { readonly type: 'unix'; readonly path: string };

/** Reads `udp://host:514`, `tcp://host:601` or `unix:/path`. Throws for anything else. */
export function parseSyslogTarget(text: string): SyslogTarget {
  const path = /^unix:(\/.+)$/.exec(text)?.[1];
  if (path !== undefined) return { type: 'unix', path };
  const [, type, bare, port] = /^(udp|tcp):\/\/([^/?#@:]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?$/.exec(text) ?? [];
  const number = Number(port ?? (type === 'udp' ? UDP_PORT : TCP_PORT));
  if (bare !== undefined && number > 0 && number <= PORT_MAX) {
    return { type: type === 'udp' ? 'udp' : 'tcp', host: bare.replace(/^\[|\]$/g, ''), port: number };
  }
  throw new FleetloomError({
    code: 'invalid_syslog',
    kind: 'caller',
    problem: `${text} is not an address of a syslog daemon`,
    advice: 'write it as udp://host:514, tcp://host:601 or unix:/path/of/a/stream/socket',
  });
}

/**
 * Sends entries as messages of RFC 5424, each with the JSON of one entry. Over TCP and streams they are framed by their length (RFC 6587).
 * Syslog has no acknowledgements: entries that were written to a connection count as sent once it has stayed open until the next poll.
 */
export function createSyslog(target: SyslogTarget, stallMs: number = compositionLimits.syslogStallMs): AuditOutput {
  return target.type === 'udp' ? createDatagrams(target) : createStream(target, stallMs);
}

/** One message of RFC 5424: facility 13 (log audit), severity 5 (notice). An entry that is too long is sent without its details. */
export function toSyslogMessage(entry: FleetAuditEntry): Buffer {
  const action = entry.entry.action.replaceAll(/[^\x21-\x7e]/g, '_').slice(0, MESSAGE_ID_CHARS);
  const header = `<${PRIORITY}>1 ${entry.recorded_at} ${hostname() || '-'} fleetloom ${process.pid} ${action} - `;
  const message = Buffer.from(header + JSON.stringify(entry));
  if (message.length <= compositionLimits.syslogBytesMax) return message;
  const { details: _details, ...short } = entry.entry;
  return Buffer.from(header + JSON.stringify({ ...entry, entry: { ...short, is_shortened: true } }));
}

function createDatagrams({ host, port }: { readonly host: string; readonly port: number }): AuditOutput {
  return {
    name: 'syslog',
    write: async (entries) => {
      const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
      try {
        await new Promise<void>((resolve, reject) => {
          socket.on('error', reject);
          let left = entries.length;
          for (const entry of entries) {
            socket.send(toSyslogMessage(entry), port, host, (error) => {
              if (error !== null) reject(error);
              else if (--left === 0) resolve();
            });
          }
        });
      } finally {
        socket.close();
      }
    },
    close: () => {},
  };
}

function createStream(target: Exclude<SyslogTarget, { type: 'udp' }>, stallMs: number): AuditOutput {
  let socket: Socket | undefined;
  return {
    name: 'syslog',
    isIntact: () => socket?.destroyed === false,
    write: async (entries) => {
      const open = socket?.destroyed === false ? socket : (socket = connect());
      const frames = entries.map(toSyslogMessage).flatMap((each) => [Buffer.from(`${each.length} `), each]);
      await new Promise<void>((resolve, reject) => {
        const fail = () => reject(new Error('the syslog daemon has closed the connection, or does not read'));
        open.once('close', fail);
        open.write(Buffer.concat(frames), () => {
          open.off('close', fail);
          // A connection that is destroyed reports its writes as done.
          if (open.destroyed) fail();
          else resolve();
        });
      });
    },
    close: () => socket?.destroy(),
  };

  function connect(): Socket {
    const opened = target.type === 'unix' ? createConnection(target.path) : createConnection(target.port, target.host);
    // A daemon that accepts connections but does not read, or an address that does not respond.
    opened.setTimeout(stallMs, () => {
      if (opened.connecting || opened.writableLength > 0) opened.destroy(new Error('the syslog daemon does not read'));
    });
    // The error also rejects the write in progress.
    opened.on('error', () => {});
    opened.on('end', () => opened.destroy());
    opened.resume();
    opened.unref();
    return opened;
  }
}

const PRIORITY = 13 * 8 + 5;
const MESSAGE_ID_CHARS = 32;
const UDP_PORT = 514;
const TCP_PORT = 601;
const PORT_MAX = 65_535;
