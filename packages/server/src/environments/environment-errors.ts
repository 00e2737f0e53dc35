import { FleetloomError } from '../base/errors.ts';

/** An error about an environment that the caller can fix. */
export function environmentError(code: EnvironmentErrorCode, problem: string): FleetloomError {
  return new FleetloomError({ code, kind: 'caller', problem, advice: codes[code] });
}

export type EnvironmentErrorCode = keyof typeof codes;

/**
 * Every code with what to do about it. What is not found is a 404 on the wire, what was too late for
 * an item of work a 409, all others are 400. For the first
 * four the official SDK has error classes of its own, which it chooses by these very words.
 */
export const codes = {
  environment_not_found: 'check the id, and that it was not deleted',
  environment_archived: 'use another environment, or create a new one',
  invalid_config_type_change: 'create another environment with the other type',
  invalid_metadata: 'remove keys with null, or keep the rest elsewhere',
  invalid_name: 'give it a name, or leave the field out',
  definition_too_large: 'name fewer hosts and packages',
  resources_not_supported: 'let the worker fetch what it needs',
  packages_not_supported: 'install them on the machine of the server, and leave apt out',
  invalid_packages: 'name packages as their manager does, without options, spaces, quotes, ";", "|" and "$"',
  packages_need_network: 'set networking.allow_package_managers to true, or name no packages',
  environment_not_self_hosted: 'use an environment with config.type self_hosted',
  work_not_found: 'check the id, and that its session was not deleted',
  work_not_queued: 'poll for another item, this one has a worker',
  work_stopped: 'poll for another item',
  scope_not_supported: 'leave scope out: there are no accounts here',
} as const satisfies Record<string, string>;
