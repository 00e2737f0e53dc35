import { createHash } from 'node:crypto';

/** A person, identified by an OpenID provider. Issuer and subject are the identity; email and name are for people. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
}

/** The id of a person, in places where keys have their id. */
export function toPersonId({ issuer, subject }: Person): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('hex');
  return `${PREFIX}${digest.slice(0, DIGEST_CHARS)}`;
}

/** Whether the id of a credential is that of a person. */
export function isPersonId(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** The display name of a person. */
export function toPersonName({ email, name, subject }: Person): string {
  return email ?? name ?? subject;
}

const PREFIX = 'person_';
const DIGEST_CHARS = 24;
