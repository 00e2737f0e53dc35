import type { PageParams } from './page.ts';
import type { FileResourceParams, SourceResourceParams } from './resource.ts';

/** Where the tools of sessions run. All fields are always present. */
export interface Environment {
  readonly type: 'environment';
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly config: EnvironmentConfig;
  readonly metadata: Readonly<Record<string, string>>;
  readonly scope: EnvironmentScope;
  readonly created_at: string;
  readonly updated_at: string;
  readonly archived_at: string | null;
}

/** An environment with the default resources of sessions that are created without `resources`, if there are any. An extension of Fleetloom. */
export interface EnvironmentWithResources extends Environment {
  readonly resources?: readonly EnvironmentResource[];
}

/** A default resource of an environment, as a session would be created with it. It has no token. */
export type EnvironmentResource = FileResourceParams | SourceResourceParams;

/** The default resources as a client sends them. On an update they replace all of them, and null removes them. */
export interface EnvironmentResourcesParams {
  readonly resources?: readonly EnvironmentResource[] | null;
}

/** `cloud`: the server runs the tools itself. `self_hosted`: a worker does, which polls for work. */
export type EnvironmentConfig = CloudConfig | SelfHostedConfig;

/** An environment whose tools the server runs. */
export interface CloudConfig {
  readonly type: 'cloud';
  readonly networking: Networking;
  readonly packages: Packages;
}
/** An environment whose tools a worker runs. */
export interface SelfHostedConfig {
  readonly type: 'self_hosted';
}

/** The hosts that tools may reach. */
export type Networking =
  | { readonly type: 'unrestricted' }
  | {
      readonly type: 'limited';
      readonly allowed_hosts: readonly string[];
      readonly allow_mcp_servers: boolean;
      readonly allow_package_managers: boolean;
    };

/** The package managers that an environment can name packages for. */
export const packageManagers = ['apt', 'cargo', 'gem', 'go', 'npm', 'pip'] as const;
/** A package manager. */
export type PackageManager = (typeof packageManagers)[number];
/** Packages of an environment, by package manager. */
export type Packages = Readonly<Record<PackageManager, readonly string[]>> & { readonly type: 'packages' };

/** There are no accounts: every client of the server sees all environments. */
export type EnvironmentScope = 'organization';

/** The response to a deletion. */
export interface DeletedEnvironment {
  readonly type: 'environment_deleted';
  readonly id: string;
}

/** `POST /v1/environments`. The default config is `cloud`. */
export interface EnvironmentCreateParams {
  readonly name: string;
  readonly config?: EnvironmentConfigParams | null;
  readonly description?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly scope?: EnvironmentScopeParams | null;
}

/** A config as a client sends it. */
export type EnvironmentConfigParams = CloudConfigParams | SelfHostedConfig;
/** A cloud config as a client sends it. */
export interface CloudConfigParams {
  readonly type: 'cloud';
  readonly networking?: NetworkingParams | null;
  readonly packages?: PackagesParams | null;
}
/** The hosts that tools may reach, as a client sends them. */
export type NetworkingParams =
  | { readonly type: 'unrestricted' }
  | {
      readonly type: 'limited';
      readonly allowed_hosts?: readonly string[] | null;
      readonly allow_mcp_servers?: boolean | null;
      readonly allow_package_managers?: boolean | null;
    };
/** Packages as a client sends them. */
export type PackagesParams = Readonly<Partial<Record<PackageManager, readonly string[] | null>>> & {
  readonly type?: 'packages';
};
/** `account` is rejected, as the hosted API does for organizations that only use the API. */
export type EnvironmentScopeParams = 'organization' | 'account';

/** `POST /v1/environments/{id}`. Absent fields keep their value. */
export interface EnvironmentUpdateParams {
  readonly name?: string | null;
  readonly config?: EnvironmentConfigParams | null;
  readonly description?: string | null;
  /** Merged key by key; null or an empty string removes a key. */
  readonly metadata?: Readonly<Record<string, string | null>>;
  readonly scope?: EnvironmentScopeParams | null;
}

/** `GET /v1/environments` */
export interface EnvironmentListParams extends PageParams {
  readonly include_archived?: boolean;
}
