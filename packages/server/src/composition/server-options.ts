import type { FleetAuditEntry } from '@fleetloom/protocol/fleet';
import type { RequestLog } from '../base/request-log.ts';
import type { Engine } from '../engines/model/engine.ts';
import type { RateLimit } from '../http/auth/rate-limit.ts';
import type { TlsFiles } from '../http/server/tls.ts';
import type { KeepDeltas } from '../sessions/index.ts';
import type { ProgramServerOptions } from './open-programs.ts';
import type { DatabaseTls } from '../store/postgres/database-tls.ts';
import type { GitPush } from '../workspaces/relay/git-proxy.ts';
import type { WebhookChoice } from './open-webhooks.ts';

/** How long entries of the audit log are kept. */
export type KeepAudit = 'all' | { readonly days: number };

/** The options of `startServer`. Only `dataDirectory` is required. */
export interface ServerOptions extends ProgramServerOptions {
  /** The directory for the database, keys, files and workspaces. Created if it does not exist. */
  readonly dataDirectory: string;
  /**
   * The URL of a PostgreSQL database, `postgres://…`, that any number of servers (nodes) share. Shared state is stored there;
   * the data directory keeps what belongs to this node. Without it, a SQLite database in the data directory is used.
   */
  readonly database?: string | undefined;
  /** A direct URL of the same database for LISTEN, if `database` points to a pooler in transaction mode. */
  readonly databaseListen?: string | undefined;
  /**
   * Encrypts the secrets that the nodes share in the database; required with `database`. At least 32 characters and the same
   * on every node. Default: the environment variable `FLEETLOOM_SECRET`.
   */
  readonly secret?: string | undefined;
  /**
   * The key that stored secrets of users are encrypted with: 32 bytes in base64, the same on every node. Default: the environment
   * variable `FLEETLOOM_MASTER_KEY`, else `masterKeyFile`, else, without `database`, a file that is created in the data directory.
   */
  readonly masterKey?: string | undefined;
  /** A file with the master key. */
  readonly masterKeyFile?: string | undefined;
  /**
   * Master keys that are only used to decrypt, separated by commas. Default: the environment variable
   * `FLEETLOOM_MASTER_KEY_OLD`.
   */
  readonly olderMasterKeys?: string | undefined;
  /** A directory on a disk that every node mounts, for the workspaces of sessions. */
  readonly sharedWorkspaces?: string | undefined;
  /** The number of sessions that run on this node at the same time, if nodes share a database. */
  readonly busySessionsMax?: number | undefined;
  /**
   * How long a node may be offline before the workspaces on its disk count as lost. At least 8,000 ms, and the same on every
   * node. Default: 60,000 ms.
   */
  readonly homeGoneMs?: number | undefined;
  /**
   * Directories below which sessions may work on files of this machine, with resources of the type `directory`. Links that
   * lead out of them are rejected. Default: none.
   */
  readonly allowedDirectories?: readonly string[] | undefined;
  /** The address to listen on. Default: loopback. */
  readonly host?: string | undefined;
  /** The port to listen on. Default: 0, which takes any free port. */
  readonly port?: number | undefined;
  /** Host names under which a load balancer or proxy addresses the server. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Addresses and networks of reverse proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted. Default: none. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** The number of simultaneous connections. Default: half of the file descriptors of the process. */
  readonly connectionsMax?: number | undefined;
  /** The number of simultaneous connections from one address other than loopback. Default: half of `connectionsMax`. */
  readonly connectionsPerAddressMax?: number | undefined;
  /** Accepts requests without a key. Only possible on loopback. */
  readonly isOpen?: boolean | undefined;
  /** The endpoint and credential of the Messages API. Without it, only scripted models are available. */
  readonly models?: {
    readonly credential: { readonly apiKey: string } | { readonly authToken: string };
    readonly baseURL?: string;
  };
  /** Answers all model requests, whatever their model, instead of the built-in engines. */
  readonly engine?: Engine | undefined;
  /** The id or name of the coordinator for requests to `/v1/orchestrate` that do not name one. */
  readonly defaultAgent?: string | undefined;
  /** A directory of scripts for the scripted model. */
  readonly scriptsDirectory?: string | undefined;
  /** Private hosts that `web_fetch`, MCP and push messages may reach, as `host` or `host:port`. */
  readonly allowedPrivateHosts?: readonly string[] | undefined;
  /**
   * Hosts that repositories may be cloned from in addition to github.com: `gitlab.example.com`, `git.example.com:8443`,
   * `http://10.0.0.7:3000`, or `*` for every public host. A host in a private network must be listed.
   */
  readonly gitHosts?: readonly string[] | undefined;
  /** Which pushes of agents are forwarded to git hosts. Default: `no-delete`, all pushes except deletions of refs. */
  readonly gitPush?: GitPush | undefined;
  /**
   * The hosts that programs in the sandbox reach through the egress proxy. `limited`: hosts that environments with limited networking allow. `open`:
   * also every public host, if the networking of an environment is unrestricted. `none`: no hosts. Default: `limited`.
   */
  readonly bashNetwork?: 'none' | 'limited' | 'open' | undefined;
  /** Whether `web_fetch` is also limited to the hosts of the environment, which otherwise apply to its sandbox only. */
  readonly strictNetwork?: boolean | undefined;
  /** The hosts of registries that `allow_package_managers` of an environment allows. Default: the public registries. */
  readonly packageHosts?: readonly string[] | undefined;
  /** Bytes of a recorded file: changes of larger files are listed, but cannot be applied. Default: 10 MiB; at most 100 MiB. */
  readonly snapshotFileBytesMax?: number | undefined;
  /** A file with certificates of further authorities, in PEM, that programs in the sandbox and the egress proxy trust. */
  readonly egressCa?: string | undefined;
  /** Lets bash run without a sandbox on machines where no sandbox is available. */
  readonly allowUnsandboxedBash?: boolean | undefined;
  /** Certificates: the server uses https, with TLS 1.2 or newer. Absent: http. */
  readonly tls?: TlsFiles | undefined;
  /** The file with the OpenID providers at which people sign in to the dashboard, see docs/single-sign-on.md. */
  readonly oidcConfigFile?: string | undefined;
  /** How connections to the database are encrypted. By default the certificate of a host other than this machine is verified. */
  readonly databaseTls?: DatabaseTls | undefined;
  /** How long entries of the audit log are kept. By default forever. */
  readonly keepAudit?: KeepAudit | undefined;
  /** Receives every entry of the audit log at least once, in the order of its chain, also those of other nodes. */
  readonly onAuditEntry?: ((entry: FleetAuditEntry) => void) | undefined;
  /** The address to which entries of the audit log are also sent as syslog messages: `udp://host:514`, `tcp://host:601` or `unix:/path`. */
  readonly auditSyslog?: string | undefined;
  /** How long text deltas are kept after their turn ended. The whole messages are always kept. Default: forever. */
  readonly keepDeltas?: KeepDeltas | undefined;
  /** The rate limit of each key. Default: no limit. */
  readonly rateLimit?: RateLimit | undefined;
  /** URLs that receive events of sessions. */
  readonly webhooks?: WebhookChoice | undefined;
  /**
   * The operator of this server, as push services can contact them: a `mailto:` or `https:` URL. Default: the environment variable
   * `FLEETLOOM_PUSH_CONTACT`.
   */
  readonly pushContact?: string | undefined;
  /** The directory of the built dashboard. Default: the dashboard in this package. */
  readonly dashboardDirectory?: string | undefined;
  /** Receives a record of each request, and unexpected errors. */
  readonly log?: RequestLog | undefined;
  /** Receives errors of background work, which are not part of a response. Default: a process warning. */
  readonly onProblem?: ((problem: unknown) => void) | undefined;
}
