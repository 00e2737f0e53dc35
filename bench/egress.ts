import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAuthority } from '../packages/server/src/egress/authority.ts';
import { createConnectionLog } from '../packages/server/src/egress/connection-log.ts';
import { createEgressPolicy } from '../packages/server/src/egress/policy.ts';
import { createEgressProxy } from '../packages/server/src/egress/proxy.ts';
import { createSessionEgresses } from '../packages/server/src/egress/session-egresses.ts';
import { openSocketDirectory } from '../packages/server/src/base/files/open-socket-directory.ts';
import { systemClock } from '../packages/server/src/base/clock.ts';
import { ToolHosts } from '../packages/server/src/tools/host/server/tool-hosts.ts';
import { atMost, type Bench, comparePair, type Measured } from './harness.ts';
import { createWorkspace, openSession } from './tools-session.ts';

/** The cost of the egress proxy. */
export const egress: Bench = { name: 'egress', cases: [{ name: 'download', run: download }] };

const HOST = 'bench.example';
export const DOWNLOADED_BYTES: number = 64 * 1024 * 1024;

/** 64 MiB over TLS by curl in a sandbox, through the proxy, against the same curl on this machine without one. */
async function download(): Promise<Measured> {
  const { direct, proxied, close } = await openDownloads();
  const options = { rounds: 11, budgetMs: 20_000 };
  const times = await comparePair(
    { floor: async () => void (await direct()), ours: async () => void (await proxied()) },
    options,
  );
  await close();
  // At least half the throughput.
  return atMost(2, times);
}

/** Both ways to the same host, each of which returns how many bytes have come. */
export async function openDownloads() {
  const workspace = createWorkspace();
  const world = createAuthority();
  writeFileSync(join(workspace.path, 'ca.pem'), world.certificate);
  const origin = spawn(process.execPath, [join(process.cwd(), 'bench', 'egress-origin.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  origin.stdin.end(JSON.stringify(world.issue(HOST)));
  const [line] = (await once(origin.stdout, 'data')) as [Buffer];
  const url = `https://${HOST}:${Number(line)}/`;
  const egresses = createSessionEgresses(openSocketDirectory(join(workspace.path, '.sockets')));
  const sandbox = await egresses.open('sesn_1', async () => ({
    proxy: createEgressProxy({
      policy: createEgressPolicy({ networking: { ...limited, allowed_hosts: [`${HOST}:${Number(line)}`] } }),
      resolveHost: async () => ['127.0.0.1'],
      allowedPrivateHosts: [HOST],
      log: createConnectionLog({
        write: async () => {},
        clock: systemClock,
        nextId: () => 'x',
        onProblem: console.error,
      }),
      onProblem: console.error,
    }),
    owner: 'wrkspc_1',
    trusted: world.certificate,
    environment: {},
  }));
  const mounts = { isWritable: true, readOnlyPaths: [], writablePaths: [], egress: sandbox };
  const session = await openSession(workspace, new ToolHosts(), { openMounts: async () => mounts });
  const curl = ['-sS', '-o', '/dev/null', '-w', '%{size_download}', url];
  return {
    direct: async () => {
      const args = [
        '--noproxy',
        '*',
        '--cacert',
        join(workspace.path, 'ca.pem'),
        '--resolve',
        `${HOST}:${Number(line)}:127.0.0.1`,
      ];
      return Number((await promisify(execFile)('curl', [...args, ...curl])).stdout);
    },
    proxied: async () => Number(await session.bash(`curl ${curl.map((arg) => `'${arg}'`).join(' ')}`)),
    close: async () => {
      await session.close();
      await egresses.closeAll();
      origin.kill();
      workspace.remove();
    },
  };
}

const limited = { type: 'limited', allow_mcp_servers: false, allow_package_managers: false } as const;
