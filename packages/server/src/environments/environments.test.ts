import {
  detailStatuses,
  type EnvironmentConfigParams,
  type NetworkingParams,
} from '@fleetloom/protocol/managed-agents';
import { describe, expect, it } from 'vitest';
import { type AgentsSample, onEachStore, workspaceId } from '../agents/sample.suite.ts';
import { baseLimits } from '../base/limits.ts';
import { storeError } from '../store/store-errors.ts';
import { codeOf } from '../store/suite/samples.suite.ts';
import { codes } from './environment-errors.ts';
import { createEnvironments, type Environments } from './environments.ts';

const noPackages = { type: 'packages', apt: [], cargo: [], gem: [], go: [], npm: [], pip: [] };
const open = { type: 'unrestricted' } as const;

onEachStore((withAgents) => {
  describe('creating', () => {
    it(
      '[A43] an environment of a name is a cloud with an open network and six empty lists of packages',
      withAgents(async ({ environments }) => {
        const made = await environments.create(workspaceId, { name: 'here' });
        expect(made).toEqual({
          type: 'environment',
          id: 'env_0101kdvdna00g00000g00000',
          name: 'here',
          description: null,
          config: { type: 'cloud', networking: open, packages: noPackages },
          metadata: {},
          scope: 'organization',
          created_at: '2026-01-01T00:00:00.000Z',
          updated_at: '2026-01-01T00:00:00.000Z',
          archived_at: null,
        });
        expect(await environments.get(workspaceId, made.id)).toEqual(made);
        const nulls = { name: 'here', config: null, description: null, scope: null };
        expect(await environments.create(workspaceId, nulls)).toMatchObject({ config: made.config, scope: made.scope });
        const empty = { type: 'cloud', networking: null, packages: null } as const;
        expect(await configOf(environments, empty)).toEqual(made.config);
      }),
    );

    it(
      '[A44] a limited network allows only listed hosts, and packages need their registries',
      withAgents(async ({ environments }) => {
        const cloud = (networking: NetworkingParams, packages = {}) =>
          configOf(environments, { type: 'cloud', networking, packages });
        const closed = {
          type: 'limited',
          allowed_hosts: [],
          allow_mcp_servers: false,
          allow_package_managers: false,
        } as const;
        expect(await cloud({ type: 'limited' })).toMatchObject({ networking: closed });
        expect(await cloud({ type: 'limited', allowed_hosts: ['a.org'], allow_mcp_servers: true })).toMatchObject({
          networking: { ...closed, allowed_hosts: ['a.org'], allow_mcp_servers: true },
        });
        expect(await codeOf(cloud({ type: 'limited' }, { pip: ['numpy'] }))).toBe('packages_need_network');
        expect(await codeOf(cloud({ type: 'limited' }, { pip: [] }))).toBe('ok');
        const opened = { type: 'limited', allow_package_managers: true } as const;
        expect(await cloud(opened, { pip: ['numpy'], apt: null })).toEqual({
          type: 'cloud',
          networking: { ...closed, allow_package_managers: true },
          packages: { ...noPackages, pip: ['numpy'] },
        });
        expect(await codeOf(cloud(open, { npm: ['left-pad'] }))).toBe('ok');
      }),
    );

    it(
      '[EG105, EG106] a package that a manager or a shell could misread is refused, and so is apt, which would need root',
      withAgents(async ({ environments }) => {
        const withPackages = (packages: object) => configOf(environments, { type: 'cloud', packages });
        const odd = [
          '-r',
          '--index-url=x',
          'a b',
          'a;b',
          'a|b',
          'a$b',
          'a`b',
          "a'b",
          'a"b',
          'a\nb',
          'a\u0000b',
          'a\u007f',
          '',
        ];
        for (const spec of odd) {
          expect([spec, await codeOf(withPackages({ pip: ['six', spec] }))]).toEqual([spec, 'invalid_packages']);
        }
        const usual = [
          'requests[socks]>=2,<3',
          '@scope/name@^1.2.3',
          'rails:7.1.0',
          'example.com/x/cmd@v1.2.3',
          'six==1.0',
        ];
        expect(await codeOf(withPackages({ npm: usual }))).toBe('ok');
        expect(await codeOf(withPackages({ apt: ['ripgrep'] }))).toBe('packages_not_supported');
        expect(await codeOf(withPackages({ apt: [] }))).toBe('ok');
      }),
    );

    it(
      '[A45] a self-hosted environment has nothing else to configure, and never becomes a cloud',
      withAgents(async ({ environments }) => {
        const config = { type: 'self_hosted' } as const;
        const { id } = await environments.create(workspaceId, { name: 'worker', config });
        expect((await environments.get(workspaceId, id)).config).toEqual(config);
        expect((await environments.update(workspaceId, id, { config, name: 'w' })).config).toEqual(config);
        const cloud = { type: 'cloud' } as const;
        expect(await codeOf(environments.update(workspaceId, id, { config: cloud }))).toBe(
          'invalid_config_type_change',
        );
        const other = await environments.create(workspaceId, { name: 'here' });
        expect(await codeOf(environments.update(workspaceId, other.id, { config }))).toBe('invalid_config_type_change');
      }),
    );

    it(
      '[A49] two environments may have the same name, and none belongs to an account',
      withAgents(async ({ environments }) => {
        const first = await environments.create(workspaceId, { name: 'here', scope: 'organization' });
        const second = await environments.create(workspaceId, { name: 'here' });
        expect(second.id).not.toBe(first.id);
        const scope = 'account';
        expect(await codeOf(environments.create(workspaceId, { name: 'here', scope }))).toBe('scope_not_supported');
        expect(await codeOf(environments.update(workspaceId, first.id, { scope }))).toBe('scope_not_supported');
        expect(await codeOf(environments.create(workspaceId, { name: '' }))).toBe('invalid_name');
      }),
    );
  });

  describe('updating', () => {
    it(
      '[A46] fields absent from an update stay, also inside the config; packages are replaced together',
      withAgents(async ({ environments, clock }) => {
        const networking = { type: 'limited', allowed_hosts: ['a.org'], allow_package_managers: true } as const;
        const config = { type: 'cloud', networking, packages: { pip: ['numpy'], npm: ['x'] } } as const;
        const made = await environments.create(workspaceId, { name: 'here', description: 'd', config });
        clock.advance(1000);
        const renamed = await environments.update(workspaceId, made.id, { name: 'there' });
        expect(renamed).toEqual({ ...made, name: 'there', updated_at: '2026-01-01T00:00:01.000Z' });
        expect(await environments.get(workspaceId, made.id)).toEqual(renamed);
        const update = async (given: object) =>
          (await environments.update(workspaceId, made.id, { config: { type: 'cloud', ...given } })).config;
        expect(await update({})).toEqual(made.config);
        expect(await update({ networking: { type: 'limited', allow_mcp_servers: true } })).toEqual({
          ...made.config,
          networking: { ...networking, allow_mcp_servers: true },
        });
        expect(await update({ packages: { pip: ['scipy'] } })).toMatchObject({
          networking: { ...networking, allow_mcp_servers: true },
          packages: { ...noPackages, pip: ['scipy'] },
        });
        const closed = { type: 'limited', allow_package_managers: false };
        expect(await codeOf(update({ networking: closed }))).toBe('packages_need_network');
        expect(await codeOf(update({ networking: closed, packages: {} }))).toBe('ok');
        expect(await update({ networking: open })).toMatchObject({ networking: open });
        expect(await update({ networking: { type: 'limited' } })).toMatchObject({ networking: { allowed_hosts: [] } });
      }),
    );

    it(
      '[A47] null clears a description and leaves a name or a config unchanged; an empty name is refused',
      withAgents(async ({ environments }) => {
        const { id, config } = await environments.create(workspaceId, { name: 'here', description: 'd' });
        const update = (params: object) => environments.update(workspaceId, id, params);
        expect(await update({ name: null, config: null })).toMatchObject({ name: 'here', config, description: 'd' });
        expect(await update({ description: '' })).toMatchObject({ description: '' });
        expect(await update({ description: null })).toMatchObject({ description: null });
        expect(await codeOf(update({ name: '' }))).toBe('invalid_name');
      }),
    );

    it(
      '[A48] metadata is changed key by key, null and the empty text remove a key, and sixteen are the most',
      withAgents(async ({ environments }) => {
        const { id } = await environments.create(workspaceId, { name: 'here', metadata: { a: '1', b: '2', c: '3' } });
        const update = async (metadata: Record<string, string | null>) =>
          (await environments.update(workspaceId, id, { metadata })).metadata;
        expect(await update({ a: null, b: '', c: '4', d: '5' })).toEqual({ c: '4', d: '5' });
        const more = Object.fromEntries(
          Array.from({ length: baseLimits.metadataPairsMax - 2 }, (_, at) => [`k${at}`, 'v']),
        );
        expect(Object.keys(await update(more))).toHaveLength(baseLimits.metadataPairsMax);
        expect(await codeOf(update({ one: 'more' }))).toBe('invalid_metadata');
        const metadata = { ...more, x: '1', y: '2', z: '3' };
        expect(await codeOf(environments.create(workspaceId, { name: 'here', metadata }))).toBe('invalid_metadata');
      }),
    );

    it(
      '[A52] an update that changes nothing leaves the time of the last one',
      withAgents(async ({ environments, clock }) => {
        const made = await environments.create(workspaceId, { name: 'here', metadata: { a: '1' } });
        clock.advance(1000);
        const { name, description, config, metadata, scope } = made;
        expect(await environments.update(workspaceId, made.id, {})).toEqual(made);
        const same = { name, description, config, metadata, scope };
        expect(await environments.update(workspaceId, made.id, same)).toEqual(made);
      }),
    );

    it(
      '[A52] updates at the same time are all applied, and one that is always too late gives up',
      withAgents(async (sample) => {
        const { environments } = sample;
        const { id } = await environments.create(workspaceId, { name: 'here' });
        const keys = Array.from({ length: 10 }, (_, at) => `k${at}`);
        await Promise.all(keys.map((key) => environments.update(workspaceId, id, { metadata: { [key]: 'v' } })));
        expect(Object.keys((await environments.get(workspaceId, id)).metadata).sort()).toEqual(keys);
        const lucky = withConflicts(sample, baseLimits.updateAttemptsMax - 1);
        expect(await codeOf(lucky.update(workspaceId, id, { name: 'a' }))).toBe('ok');
        const unlucky = withConflicts(sample, baseLimits.updateAttemptsMax);
        expect(await codeOf(unlucky.update(workspaceId, id, { name: 'b' }))).toBe('version_conflict');
      }),
    );
  });

  describe('archiving, deleting and listing', () => {
    it(
      '[A50] archiving sets its time once; an archived environment is read, but not updated and not used',
      withAgents(async ({ environments, clock }) => {
        const made = await environments.create(workspaceId, { name: 'here' });
        expect(await environments.getForSession(workspaceId, made.id)).toEqual(made);
        clock.advance(1000);
        const archived = await environments.archive(workspaceId, made.id);
        expect(archived).toEqual({ ...made, archived_at: '2026-01-01T00:00:01.000Z' });
        clock.advance(1000);
        expect(await environments.archive(workspaceId, made.id)).toEqual(archived);
        expect(await environments.get(workspaceId, made.id)).toEqual(archived);
        expect(await codeOf(environments.update(workspaceId, made.id, {}))).toBe('environment_archived');
        expect(await codeOf(environments.getForSession(workspaceId, made.id))).toBe('environment_archived');
      }),
    );

    it(
      '[A51] a deleted environment, archived or not, does not exist, nor does one of another workspace',
      withAgents(async ({ environments }) => {
        const [a, b] = [
          await environments.create(workspaceId, { name: 'a' }),
          await environments.create(workspaceId, { name: 'b' }),
        ];
        await environments.archive(workspaceId, b.id);
        expect(await codeOf(environments.delete('wrkspc_2', a.id))).toBe('environment_not_found');
        for (const { id } of [a, b]) {
          expect(await environments.delete(workspaceId, id)).toEqual({ type: 'environment_deleted', id });
          for (const promise of [
            environments.get(workspaceId, id),
            environments.getForSession(workspaceId, id),
            environments.update(workspaceId, id, { name: 'c' }),
            environments.archive(workspaceId, id),
            environments.delete(workspaceId, id),
          ]) {
            expect(await codeOf(promise)).toBe('environment_not_found');
          }
        }
      }),
    );

    it(
      '[A50] an update that meets an archiving is refused as one of an archived environment',
      withAgents(async (sample) => {
        const { id } = await sample.environments.create(workspaceId, { name: 'here' });
        const racing = withStore(sample, async () => {
          await sample.environments.archive(workspaceId, id);
        });
        expect(await codeOf(racing.update(workspaceId, id, { name: 'a' }))).toBe('environment_archived');
      }),
    );

    it(
      '[A51] an update that meets a deletion finds nothing',
      withAgents(async (sample) => {
        const { id } = await sample.environments.create(workspaceId, { name: 'here' });
        const racing = withStore(sample, async () => {
          await sample.environments.delete(workspaceId, id);
        });
        expect(await codeOf(racing.update(workspaceId, id, { name: 'a' }))).toBe('environment_not_found');
      }),
    );

    it(
      '[A53] lists are sorted newest first in pages, hide archived environments unless requested, and exclude other workspaces',
      withAgents(async ({ environments, clock }) => {
        const ids: string[] = [];
        for (const name of ['a', 'b', 'c', 'd']) {
          clock.advance(10);
          ids.push((await environments.create(workspaceId, { name })).id);
        }
        await environments.create('wrkspc_2', { name: 'e' });
        await environments.archive(workspaceId, ids[1]!);
        const first = await environments.list({ workspaceId, limit: 2 });
        const rest = await environments.list({ workspaceId, limit: 2, cursor: first.next! });
        expect([...first.items, ...rest.items].map(({ name }) => name)).toEqual(['d', 'c', 'a']);
        expect(rest.next).toBeNull();
        const all = await environments.list({ workspaceId, limit: 9, includeArchived: true });
        expect(all.items.map(({ name }) => name)).toEqual(['d', 'c', 'b', 'a']);
      }),
    );
  });
});

it('[A54] each code of an environment has its advice, and the codes that the SDK knows are among them', () => {
  const advices = Object.values(codes);
  expect(advices.every((advice) => advice.length > 10 && !advice.endsWith('.'))).toBe(true);
  const known = Object.keys(detailStatuses).filter((code) => code !== 'heartbeat_precondition_failed');
  expect(Object.keys(codes)).toEqual(expect.arrayContaining(known));
});

async function configOf(environments: Environments, config: EnvironmentConfigParams) {
  return (await environments.create(workspaceId, { name: 'here', config })).config;
}

/** Environments on a store in which another writer comes first so many times. */
function withConflicts(sample: AgentsSample, count: number): Environments {
  let left = count;
  return withStore(sample, async () => {
    if (left-- > 0) throw storeError('version_conflict', 'another writer came first');
  });
}

function withStore({ store, clock }: AgentsSample, beforeUpdate: () => Promise<void>): Environments {
  const update: typeof store.environments.update = async (change) => {
    await beforeUpdate();
    return store.environments.update(change);
  };
  const ids = {
    next: () => {
      throw new Error('nothing is created here');
    },
  };
  return createEnvironments({ store: { environments: { ...store.environments, update } }, clock, ids });
}
