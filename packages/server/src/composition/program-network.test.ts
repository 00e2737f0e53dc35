import { expect, it } from 'vitest';
import { LOGIN_HOSTS } from '../engines/program/claude-code/open-claude-code.ts';
import { createProgramNetwork } from './program-network.ts';

const addresses: Record<string, readonly string[]> = {
  'public.example': ['93.184.216.34'],
  'private.example': ['10.1.2.3'],
  'rebound.example': ['127.0.0.1', '93.184.216.34'],
  'platform.claude.com': ['160.79.104.10'],
};
const resolveHost = async (name: string) => addresses[name] ?? [];
const https = (target: string) => new URL(`https://${target}`);

it('[J195] with an open environment every public host is reached on port 443, and nothing on this machine or a private network', async () => {
  const network = createProgramNetwork({ networking: undefined, resolveHost });
  expect(await network.findHost(https('public.example:443'))).toEqual(['93.184.216.34']);
  // Of a name with both only what is public.
  expect(await network.findHost(https('rebound.example:443'))).toEqual(['93.184.216.34']);
  await expect(network.findHost(https('public.example:22'))).rejects.toThrow('only port 443');
  for (const host of [
    'private.example',
    'unknown.example',
    '127.0.0.1',
    '[::1]',
    '169.254.169.254',
    '0.0.0.0',
    '[::ffff:7f00:1]',
    '2130706433',
    '0x7f.1',
  ]) {
    await expect(network.findHost(https(`${host}:443`))).rejects.toThrow('not on the public internet');
  }
});

it('[J195] a limited environment allows only its hosts, and those of the login if that is used', async () => {
  const networking = {
    type: 'limited',
    allowed_hosts: ['public.example'],
    allow_mcp_servers: false,
    allow_package_managers: false,
  } as const;
  const network = createProgramNetwork({ networking, resolveHost });
  expect(await network.findHost(https('public.example:443'))).toEqual(['93.184.216.34']);
  await expect(network.findHost(https('platform.claude.com:443'))).rejects.toThrow(
    /limits its network \(allowed_hosts: public.example\)/,
  );
  const withLogin = createProgramNetwork({ networking, resolveHost, loginHosts: LOGIN_HOSTS });
  expect(await withLogin.findHost(https('platform.claude.com:443'))).toEqual(['160.79.104.10']);
  await expect(withLogin.findHost(https('platform.claude.com:22'))).rejects.toThrow('limits its network');
});

it('[J194] an MCP server is reached if the environment allows it, on the public internet or on hosts that the operator allows', async () => {
  const open = createProgramNetwork({ networking: undefined, resolveHost, allowedPrivateHosts: ['10.9.9.9:8080'] });
  expect(await open.findMcpServer(new URL('http://public.example:8080/mcp'))).toEqual(['93.184.216.34']);
  await expect(open.findMcpServer(new URL('http://private.example/mcp'))).rejects.toThrow('not on the public internet');
  expect(await open.findMcpServer(new URL('http://10.9.9.9:8080/mcp'))).toEqual(['10.9.9.9']);
  const networking = {
    type: 'limited',
    allowed_hosts: [],
    allow_mcp_servers: false,
    allow_package_managers: false,
  } as const;
  const closed = createProgramNetwork({ networking, resolveHost });
  await expect(closed.findMcpServer(new URL('https://public.example/mcp'))).rejects.toThrow('limits its network');
});
