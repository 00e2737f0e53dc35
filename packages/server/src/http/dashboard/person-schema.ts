import type { FleetPerson } from '@fleetloom/protocol/fleet';
import { z } from 'zod';
import type { Person } from '../../keys/person.ts';

/** A person, identified by an OpenID provider, in responses. */
export const personSchema = z
  .strictObject({
    issuer: z.string(),
    subject: z.string(),
    email: z.string().nullable(),
    name: z.string().nullable(),
  })
  .meta({ id: 'Person' });

/** The person as responses show it. */
export function toFleetPerson({ issuer, subject, email, name }: Person): FleetPerson {
  return { issuer, subject, email: email ?? null, name: name ?? null };
}
