import { check, defineChecks } from '../../harness/check.ts';
import { expectEqual, expectRefusal, expectRefused, expectThat } from '../../harness/expect.ts';
import { bearerOf, createCredential } from '../../harness/credentials.ts';

export const vaultChecks = defineChecks('Vaults', [
  check(209, 'C', 'A vault is created, read, changed, listed, archived and deleted', [], async (t) => {
    const { vaults } = t.client.beta;
    const created = await vaults.create({ display_name: 'first', metadata: { a: '1', b: '2' } });
    t.vaultIds.push(created.id);
    expectEqual([created.display_name, created.archived_at], ['first', null], 'the new vault');
    expectEqual(await vaults.retrieve(created.id), created, 'the vault as it is read');
    const changed = await vaults.update(created.id, { display_name: 'second', metadata: { a: null, c: '3' } });
    expectEqual([changed.display_name, changed.metadata], ['second', { b: '2', c: '3' }], 'the changed vault');
    const listed: string[] = [];
    for await (const vault of vaults.list()) listed.push(vault.id);
    expectThat(listed.includes(created.id), `${created.id} to be listed`, listed);
    const archived = await vaults.archive(created.id);
    expectThat(archived.archived_at !== null, 'archived_at to be set', archived);
    expectEqual(await vaults.archive(created.id), archived, 'a second archive');
    expectEqual(await vaults.delete(created.id), { id: created.id, type: 'vault_deleted' }, 'the deletion');
    await expectRefusal(vaults.retrieve(created.id), 404, 'a deleted vault');
  }),

  check(210, 'C', 'display_name has 1 to 255 characters, and there are up to 16 metadata pairs', [], async (t) => {
    const { vaults } = t.client.beta;
    for (const display_name of ['', 'x'.repeat(256)])
      await expectRefusal(vaults.create({ display_name }), 400, `a display_name of ${display_name.length}`);
    const metadata = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v']));
    await expectRefusal(vaults.create({ display_name: 'x', metadata }), 400, '17 pairs');
    const longest = await t.vault('x'.repeat(255));
    expectEqual(longest.display_name.length, 255, 'the longest name');
  }),

  check(
    224,
    'C',
    'An archived vault can be read, its credentials are archived, and nothing new can use it',
    [],
    async (t) => {
      const { vaults, sessions } = t.client.beta;
      const { id } = await t.vault();
      const credential = await createCredential(t, id, bearerOf('https://mcp.example.com/a'));
      await vaults.archive(id);
      expectThat((await vaults.retrieve(id)).archived_at !== null, 'the vault to be archived', id);
      const kept = await vaults.credentials.retrieve(credential.id, { vault_id: id });
      expectThat(kept.archived_at !== null, 'the credential to be archived', kept);
      await expectRefusal(createCredential(t, id, bearerOf('https://mcp.example.com/b')), 400, 'a new credential');
      const agent = (await t.agent()).id;
      const session = { agent, environment_id: await t.environment(), vault_ids: [id] };
      await expectRefusal(sessions.create(session), 400, 'a session with an archived vault');
    },
  ),

  check(
    225,
    'C',
    'Lists hide archived vaults unless asked, are newest first, and their pages have no gaps',
    [],
    async (t) => {
      const { vaults } = t.client.beta;
      const ids: string[] = [];
      for (let at = 0; at < 5; at++) ids.unshift((await t.vault(`page ${at}`)).id);
      await vaults.archive(ids[2]!);
      const read = async (include_archived: boolean) => {
        const found: string[] = [];
        for await (const { id } of vaults.list({ limit: 2, include_archived })) if (ids.includes(id)) found.push(id);
        return found;
      };
      const active = ids.filter((_, at) => at !== 2);
      expectEqual(await read(false), active, 'active vaults');
      expectEqual(await read(true), ids, 'all vaults');
    },
  ),

  check(237, 'C', 'A session with an unknown vault is 404, and a vault cannot be added later', [], async (t) => {
    const agent = (await t.agent()).id;
    const unknown = { agent, environment_id: await t.environment(), vault_ids: ['vlt_01unknown'] };
    await expectRefusal(t.client.beta.sessions.create(unknown), 404, 'an unknown vault');
    const { id } = await t.vault();
    const talk = await t.session({ create: { vault_ids: [id] } });
    expectEqual(talk.created.vault_ids, [id], 'vault_ids of the session');
    const answer = await t.raw({ method: 'POST', path: `/v1/sessions/${talk.id}`, body: { vault_ids: [id] } });
    expectRefused(answer, 400, 'vault_ids in an update', /vault_ids/);
  }),
]);
