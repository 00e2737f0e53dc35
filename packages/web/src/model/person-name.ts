import type { FleetPerson } from '@fleetloom/protocol/fleet';

/** The display name of a person who signed in at an identity provider. */
export function toPersonName(person: FleetPerson | null): string | undefined {
  return person === null ? undefined : (person.email ?? person.name ?? person.subject);
}
