import type { PageParams } from './page.ts';

/** Where the tools of sessions run. All keys are always there. */
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

/** `cloud`: the server runs the tools itself. `self_hosted`: a worker does, which polls for work. */
export type EnvironmentConfig = CloudConfig | SelfHostedConfig;

export interface CloudConfig {
  readonly type: 'cloud';
  readonly networking: Networking;
  readonly packages: Packages;
}
export interface SelfHostedConfig {
  readonly type: 'self_hosted';
}

export type Networking =
  | { readonly type: 'unrestricted' }
  | {
      readonly type: 'limited';
      readonly allowed_hosts: readonly string[];
      readonly allow_mcp_servers: boolean;
      readonly allow_package_managers: boolean;
    };

export const packageManagers = ['apt', 'cargo', 'gem', 'go', 'npm', 'pip'] as const;
export type PackageManager = (typeof packageManagers)[number];
export type Packages = Readonly<Record<PackageManager, readonly string[]>> & { readonly type: 'packages' };

/** There are no accounts here: whoever may use the server sees all. */
export type EnvironmentScope = 'organization';

export interface DeletedEnvironment {
  readonly type: 'environment_deleted';
  readonly id: string;
}

/** `POST /v1/environments`. Without a config it is a cloud. */
export interface EnvironmentCreateParams {
  readonly name: string;
  readonly config?: EnvironmentConfigParams | null;
  readonly description?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly scope?: EnvironmentScopeParams | null;
}

export type EnvironmentConfigParams = CloudConfigParams | SelfHostedConfig;
export interface CloudConfigParams {
  readonly type: 'cloud';
  readonly networking?: NetworkingParams | null;
  readonly packages?: PackagesParams | null;
}
export type NetworkingParams =
  | { readonly type: 'unrestricted' }
  | {
      readonly type: 'limited';
      readonly allowed_hosts?: readonly string[] | null;
      readonly allow_mcp_servers?: boolean | null;
      readonly allow_package_managers?: boolean | null;
    };
export type PackagesParams = Readonly<Partial<Record<PackageManager, readonly string[] | null>>> & {
  readonly type?: 'packages';
};
/** `account` is refused, as the original does for organizations that only use the API. */
export type EnvironmentScopeParams = 'organization' | 'account';

/** `POST /v1/environments/{id}`. What is left out keeps its value. */
export interface EnvironmentUpdateParams {
  readonly name?: string | null;
  readonly config?: EnvironmentConfigParams | null;
  readonly description?: string | null;
  /** Key by key; null and the empty text remove one. */
  readonly metadata?: Readonly<Record<string, string | null>>;
  readonly scope?: EnvironmentScopeParams | null;
}

/** `GET /v1/environments` */
export interface EnvironmentListParams extends PageParams {
  readonly include_archived?: boolean;
}
