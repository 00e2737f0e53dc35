import {
  type CloudConfig,
  type CloudConfigParams,
  type EnvironmentConfig,
  type EnvironmentConfigParams,
  type Networking,
  type NetworkingParams,
  type PackageManager,
  type Packages,
  type PackagesParams,
  packageManagers,
} from '@fleetloom/protocol/managed-agents';
import { environmentError } from './environment-errors.ts';

/** The config with its defaults. On an update `before` is what it was, and what is left out stays. */
export function toConfig(params: EnvironmentConfigParams, before?: EnvironmentConfig): EnvironmentConfig {
  if (before !== undefined && before.type !== params.type) {
    const problem = `the environment is ${before.type} and cannot become ${params.type}`;
    throw environmentError('invalid_config_type_change', problem);
  }
  if (params.type === 'self_hosted') return { type: params.type };
  return toCloud(params, before?.type === 'cloud' ? before : undefined);
}

function toCloud({ type, networking, packages }: CloudConfigParams, before: CloudConfig | undefined): CloudConfig {
  const config = {
    type,
    networking: toNetworking(networking ?? before?.networking ?? { type: 'unrestricted' }, before?.networking),
    packages: toPackages(packages ?? before?.packages ?? {}),
  };
  if (packages != null) checkSpecs(packages);
  checkPackages(config);
  return config;
}

/** A limited network is closed except for what is opened. */
function toNetworking(params: NetworkingParams, before: Networking | undefined): Networking {
  if (params.type === 'unrestricted') return { type: params.type };
  const kept = before?.type === 'limited' ? before : undefined;
  return {
    type: params.type,
    allowed_hosts: params.allowed_hosts ?? kept?.allowed_hosts ?? [],
    allow_mcp_servers: params.allow_mcp_servers ?? kept?.allow_mcp_servers ?? false,
    allow_package_managers: params.allow_package_managers ?? kept?.allow_package_managers ?? false,
  };
}

/** All lists, whichever of them were named. A new set of packages replaces the old one: how else would one be removed? */
function toPackages(params: PackagesParams): Packages {
  const lists = packageManagers.map((manager): [PackageManager, readonly string[]] => [manager, params[manager] ?? []]);
  // Made of all the keys that the type asks for.
  return { type: 'packages', ...(Object.fromEntries(lists) as Record<PackageManager, readonly string[]>) };
}

/** Rejects names that a package manager would read as an option, or a shell as several words. */
function checkSpecs(params: PackagesParams): void {
  if ((params.apt ?? []).length > 0) {
    const problem = 'config.packages.apt: apt installs into the system as root, and sandboxes have neither';
    throw environmentError('packages_not_supported', problem);
  }
  for (const manager of packageManagers) {
    const odd = (params[manager] ?? []).find((spec) => !SPEC.test(spec));
    if (odd === undefined) continue;
    const problem = `config.packages.${manager}: ${JSON.stringify(odd)} is not a package`;
    throw environmentError('invalid_packages', problem);
  }
}

const SPEC = /^(?!-)[^\s'"`;|$\p{Cc}]+$/u;

function checkPackages({ networking, packages }: CloudConfig): void {
  if (networking.type !== 'limited' || networking.allow_package_managers) return;
  const manager = packageManagers.find((name) => packages[name].length > 0);
  if (manager === undefined) return;
  const problem = `the packages of ${manager} cannot be installed, because the network does not reach their registry`;
  throw environmentError('packages_need_network', problem);
}
