import { describe, expect, it } from 'vitest';
import { httpLimits } from '../limits.ts';
import { environment as environmentForm } from '../schemas/environment.ts';
import { outcomeOf, withRecords } from './records.suite.ts';

const bad = '400 invalid_request_error';
const packages = { type: 'packages', apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] };

describe('environments', () => {
  it('[H64] an environment created with a name has all keys, and is a cloud environment with defaults', () =>
    withRecords(async ({ client }) => {
      const made = await client.beta.environments.create({ name: 'here' });
      expect(made).toEqual({
        type: 'environment',
        id: expect.stringMatching(/^env_01/),
        name: 'here',
        description: null,
        config: { type: 'cloud', networking: { type: 'unrestricted' }, packages },
        metadata: {},
        scope: 'organization',
        created_at: '2026-01-01T00:00:00.000Z',
        updated_at: '2026-01-01T00:00:00.000Z',
        archived_at: null,
      });
      environmentForm.parse(made);
      expect(await client.beta.environments.retrieve(made.id)).toEqual(made);
      const limited = await client.beta.environments.create({
        name: 'here',
        config: {
          type: 'cloud',
          networking: { type: 'limited', allowed_hosts: ['example.com'], allow_package_managers: true },
          packages: { pip: ['numpy'] },
        },
        description: 'twice the same name',
        metadata: { team: 'a' },
      });
      environmentForm.parse(limited);
      expect(limited.config).toEqual({
        type: 'cloud',
        networking: {
          type: 'limited',
          allowed_hosts: ['example.com'],
          allow_mcp_servers: false,
          allow_package_managers: true,
        },
        packages: { ...packages, pip: ['numpy'] },
      });
    }));

  it('[H64] a missing, unknown or too long field is a 400 that names it', () =>
    withRecords(async ({ call }) => {
      const messageOf = async (body: object) =>
        (await call('POST', '/v1/environments', body)).json.error?.message ?? 'ok';
      expect(await messageOf({})).toBe('environments.create: name: is missing: add it: a string');
      expect(await messageOf({ name: 'a', config: { type: 'moon' } })).toContain('environments.create: config.type: ');
      expect(await messageOf({ name: 'a', config: { type: 'self_hosted', packages: {} } })).toContain(
        'config.packages: ',
      );
      expect(await messageOf({ name: 'a', config: { type: 'cloud', packages: { brew: [] } } })).toContain(
        'config.packages.brew: is not known here',
      );
      const pip = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);
      const withPip = (count: number) => ({ name: 'a', config: { type: 'cloud', packages: { pip: pip(count) } } });
      expect(await messageOf(withPip(httpLimits.environmentEntriesMax))).toBe('ok');
      expect(await messageOf(withPip(httpLimits.environmentEntriesMax + 1))).toContain(
        'config.packages.pip: is too much',
      );
    }));

  it('[H65] an update keeps absent fields; metadata is merged by key, and null or an empty string removes a key', () =>
    withRecords(async ({ client, clock }) => {
      const { id } = await client.beta.environments.create({ name: 'a', metadata: { a: '1', b: '2', c: '3' } });
      clock.advance(1);
      const changed = await client.beta.environments.update(id, { name: 'b', metadata: { a: null, b: '', d: '4' } });
      environmentForm.parse(changed);
      expect(changed).toMatchObject({
        name: 'b',
        metadata: { c: '3', d: '4' },
        updated_at: '2026-01-01T00:00:00.001Z',
      });
    }));

  it('[H65] changing the type of a config, or an archived environment, is refused with the error codes of the official client', () =>
    withRecords(async ({ client, call }) => {
      const { id } = await client.beta.environments.create({ name: 'a' });
      const codeOf = async (body: object) => {
        const { status, json } = await call('POST', `/v1/environments/${id}`, body);
        return [status, json.error?.details.error_code];
      };
      expect(await codeOf({ config: { type: 'self_hosted' } })).toEqual([400, 'invalid_config_type_change']);
      const archived = await client.beta.environments.archive(id);
      expect(archived.archived_at).toBe('2026-01-01T00:00:00.000Z');
      expect(await client.beta.environments.archive(id)).toEqual(archived);
      expect(await codeOf({ name: 'b' })).toEqual([400, 'environment_archived']);
      const error = await client.beta.environments.update(id, { name: 'b' }).catch((each: unknown) => each);
      expect((error as Error).constructor.name).toMatch(/EnvironmentArchived/);
    }));

  it('[H66] a deleted environment is gone', () =>
    withRecords(async ({ client }) => {
      const { id } = await client.beta.environments.create({ name: 'a' });
      expect(await client.beta.environments.delete(id)).toEqual({ type: 'environment_deleted', id });
      expect(await outcomeOf(client.beta.environments.retrieve(id))).toBe('404 not_found_error');
      expect(await outcomeOf(client.beta.environments.delete(id))).toBe('404 not_found_error');
    }));

  it('[H67] the list is paged, the newest first, without archived ones unless requested', () =>
    withRecords(async ({ client, clock }) => {
      const made: string[] = [];
      for (let index = 0; index < 5; index++) {
        clock.advance(1);
        made.push((await client.beta.environments.create({ name: `e${index}` })).id);
      }
      await client.beta.environments.archive(made[2]!);
      const idsOf = async (query: object) => {
        const ids: string[] = [];
        for await (const { id } of client.beta.environments.list({ limit: 2, ...query })) ids.push(id);
        return ids;
      };
      expect(await idsOf({})).toEqual(made.toReversed().filter((id) => id !== made[2]));
      expect(await idsOf({ include_archived: true })).toEqual(made.toReversed());
      expect(await outcomeOf(client.beta.environments.list({ limit: 101 }))).toBe(bad);
    }));

  it('[H63] environments of another workspace do not exist', () =>
    withRecords(async ({ client, stranger }) => {
      const { id } = await client.beta.environments.create({ name: 'a' });
      const { environments } = stranger.beta;
      const attempts = [
        () => environments.retrieve(id),
        () => environments.update(id, { name: 'b' }),
        () => environments.archive(id),
        () => environments.delete(id),
      ];
      for (const attempt of attempts) expect(await outcomeOf(attempt())).toBe('404 not_found_error');
      expect((await environments.list()).data).toEqual([]);
    }));
});
