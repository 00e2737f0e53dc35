import { check, defineChecks } from '../../harness/check.ts';
import type { Context } from '../../harness/context.ts';
import {
  type Auth,
  bearerOf,
  CANARY,
  createCredential,
  oauthOf,
  refreshOf,
  variableOf,
} from '../../harness/credentials.ts';
import { expectEqual, expectRefusal, expectRefused, expectThat } from '../../harness/expect.ts';

const limited = (...allowed_hosts: string[]) => ({ networking: { type: 'limited', allowed_hosts } }) as const;

/** Changes `auth` of a credential without the types of the SDK. */
function updateAuth(t: Context, vaultId: string, id: string, auth: object) {
  return t.raw({ method: 'POST', path: `/v1/vaults/${vaultId}/credentials/${id}`, body: { auth } });
}

export const credentialChecks = defineChecks('Credentials of vaults', [
  check(201, 'C', 'No response contains a secret', [], async (t) => {
    const { id: vault_id } = await t.vault();
    const { credentials } = t.client.beta.vaults;
    const auths: Auth[] = [
      bearerOf('https://mcp.example.com/one'),
      oauthOf('https://mcp.example.com/two', { refresh: refreshOf(`${CANARY}-client`) }),
      variableOf('CONFORMANCE_KEY'),
    ];
    const seen: unknown[] = [];
    for (const auth of auths) {
      const created = await createCredential(t, vault_id, auth);
      seen.push(created, await credentials.retrieve(created.id, { vault_id }));
      seen.push(await credentials.update(created.id, { vault_id, display_name: 'renamed' }));
    }
    for await (const credential of credentials.list(vault_id)) seen.push(credential);
    expectEqual(seen.length, 12, 'responses');
    expectThat(!JSON.stringify(seen).includes(CANARY), 'no secret in the responses', seen);
  }),

  check(211, 'C', 'Each kind of credential is returned as it was created, without its secrets', [], async (t) => {
    const { id } = await t.vault();
    const shown = async (auth: Auth) => (await createCredential(t, id, auth)).auth as unknown;
    const url = 'https://mcp.example.com/kinds';
    expectEqual(await shown(bearerOf(url)), { type: 'static_bearer', mcp_server_url: url }, 'static_bearer');
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const { refresh_token: _, ...refresh } = { ...refreshOf(), resource: null, scope: 'a b' };
    expectEqual(
      await shown(oauthOf(`${url}/oauth`, { expires_at, refresh: { ...refreshOf(), scope: 'a b' } })),
      { type: 'mcp_oauth', mcp_server_url: `${url}/oauth`, expires_at, refresh },
      'mcp_oauth',
    );
    const bare = { type: 'mcp_oauth', mcp_server_url: `${url}/bare`, refresh: null };
    expectEqual(await shown(oauthOf(`${url}/bare`)), bare, 'mcp_oauth without expires_at');
    expectEqual(
      await shown(variableOf('KINDS_KEY', { networking: { type: 'unrestricted' } })),
      {
        type: 'environment_variable',
        secret_name: 'KINDS_KEY',
        networking: { type: 'unrestricted' },
        injection_location: { header: true, body: true },
      },
      'environment_variable',
    );
  }),

  check(
    212,
    'C',
    'injection_location: omitted is both, what it omits is off, null and both off are 400',
    [],
    async (t) => {
      const { id } = await t.vault();
      const create = (name: string, injection_location: object | null) =>
        createCredential(t, id, variableOf(name, { injection_location } as never));
      const { auth } = await create('LOCATION_A', { header: true });
      expectEqual(
        (auth as { injection_location?: object }).injection_location,
        { header: true, body: false },
        'header',
      );
      for (const wrong of [null, { header: null }, { header: false, body: false }, { header: false }])
        await expectRefusal(create('LOCATION_B', wrong), 400, `injection_location ${JSON.stringify(wrong)}`);
    },
  ),

  check(213, 'C', 'An update of injection_location keeps the other field, and cannot turn both off', [], async (t) => {
    const { id } = await t.vault();
    const created = await createCredential(t, id, variableOf('MERGED'));
    const update = (injection_location: object) =>
      updateAuth(t, id, created.id, { type: 'environment_variable', injection_location });
    const { json } = await update({ body: false });
    const { auth } = json as { auth: { injection_location: object } };
    expectEqual(auth.injection_location, { header: true, body: false }, 'the merged locations');
    expectRefused(await update({ header: false }), 400, 'both off');
  }),

  check(214, 'C', 'allowed_hosts takes 1 to 16 host names, and no URL, port, path or IPv6 address', [], async (t) => {
    const { id } = await t.vault();
    const many = Array.from({ length: 17 }, (_, at) => `h${at}.example.com`);
    for (const hosts of [['https://a.com'], ['a.com:443'], ['a.com/x'], ['[::1]'], ['::1'], many, []])
      await expectRefusal(
        createCredential(t, id, variableOf('HOSTS', limited(...hosts))),
        400,
        `hosts ${hosts.join()}`,
      );
    await createCredential(t, id, variableOf('HOSTS', limited(...many.slice(1, 15), '*.example.com', '192.0.2.7')));
  }),

  check(
    215,
    'C',
    'A secret_name is unique among active credentials: 409, without a retry of the SDK',
    [],
    async (t) => {
      const { id } = await t.vault();
      const first = await createCredential(t, id, variableOf('UNIQUE'));
      const before = t.requests.length;
      await expectRefusal(createCredential(t, id, variableOf('UNIQUE')), 409, 'the same secret_name');
      expectEqual(t.requests.length - before, 1, 'requests of the SDK');
      await t.client.beta.vaults.credentials.archive(first.id, { vault_id: id });
      await createCredential(t, id, variableOf('UNIQUE'));
    },
  ),

  check(216, 'C', 'Two spellings of one MCP server URL are one server', [], async (t) => {
    const { id } = await t.vault();
    await createCredential(t, id, bearerOf('https://MCP.example.com:443/mcp/'));
    await expectRefusal(createCredential(t, id, bearerOf('https://mcp.example.com/mcp')), 409, 'the same server');
    await createCredential(t, id, bearerOf('https://mcp.example.com/MCP'));
    await createCredential(t, id, bearerOf('https://mcp.example.com:8443/mcp'));
  }),

  check(217, 'E', 'static_bearer and mcp_oauth of one server in one vault are 409', [], async (t) => {
    const { id } = await t.vault();
    await createCredential(t, id, bearerOf('https://mcp.example.com/both'));
    await expectRefusal(createCredential(t, id, oauthOf('https://mcp.example.com/both')), 409, 'both kinds');
  }),

  check(218, 'E', 'A vault has up to 20 active credentials', [], async (t) => {
    const { id } = await t.vault();
    const create = (at: number) => createCredential(t, id, bearerOf(`https://mcp.example.com/${at}`));
    const [first] = await Promise.all(Array.from({ length: 20 }, (_, at) => create(at)));
    await expectRefusal(create(20), 400, 'the 21st credential');
    await t.client.beta.vaults.credentials.archive(first!.id, { vault_id: id });
    await create(20);
  }),

  check(219, 'C', 'An update cannot change the type or the MCP server of a credential', [], async (t) => {
    const { id } = await t.vault();
    const mcp_server_url = 'https://mcp.example.com/fixed';
    const created = await createCredential(t, id, bearerOf(mcp_server_url));
    const update = (auth: object) => updateAuth(t, id, created.id, auth);
    expectRefused(await update({ type: 'mcp_oauth', access_token: 'x' }), 400, 'another type');
    expectRefused(await update({ type: 'static_bearer', mcp_server_url }), 400, 'mcp_server_url');
  }),

  check(220, 'C', 'expires_at in the past is 400', [], async (t) => {
    const { id } = await t.vault();
    const expires_at = new Date(Date.now() - 60_000).toISOString();
    await expectRefusal(
      createCredential(t, id, oauthOf('https://mcp.example.com/past', { expires_at })),
      400,
      'the past',
    );
  }),

  check(221, 'E', 'A new client_secret keeps the method with which it was stored', [], async (t) => {
    const { id } = await t.vault();
    const url = 'https://mcp.example.com/method';
    const created = await createCredential(t, id, oauthOf(url, { refresh: refreshOf('secret') }));
    const token_endpoint_auth = { type: 'client_secret_post', client_secret: 'other' };
    const { json } = await updateAuth(t, id, created.id, { type: 'mcp_oauth', refresh: { token_endpoint_auth } });
    const { auth } = json as { auth: { refresh: { token_endpoint_auth: object } } };
    expectEqual(auth.refresh.token_endpoint_auth, { type: 'client_secret_basic' }, 'the method');
  }),

  check(
    222,
    'E',
    'A client_secret for the method none, and refresh without one at creation, are 400',
    [],
    async (t) => {
      const { id } = await t.vault();
      const update = async (auth: Auth, refresh: object) =>
        await updateAuth(t, id, (await createCredential(t, id, auth)).id, { type: 'mcp_oauth', refresh });
      const token_endpoint_auth = { type: 'client_secret_post', client_secret: 'x' };
      const none = oauthOf('https://mcp.example.com/none', { refresh: refreshOf() });
      expectRefused(await update(none, { token_endpoint_auth }), 400, 'a secret for none');
      expectRefused(
        await update(oauthOf('https://mcp.example.com/bare'), { refresh_token: 'x' }),
        400,
        'a new refresh',
      );
    },
  ),

  check(223, 'C', "A credential under another vault's path is 404 on every verb", [], async (t) => {
    const { credentials } = t.client.beta.vaults;
    const { id } = await t.vault();
    const created = await createCredential(t, id, bearerOf('https://mcp.example.com/home'));
    const { id: vault_id } = await t.vault();
    await expectRefusal(credentials.retrieve(created.id, { vault_id }), 404, 'retrieve');
    await expectRefusal(credentials.update(created.id, { vault_id, display_name: 'x' }), 404, 'update');
    await expectRefusal(credentials.archive(created.id, { vault_id }), 404, 'archive');
    await expectRefusal(credentials.delete(created.id, { vault_id }), 404, 'delete');
    const deleted = await credentials.delete(created.id, { vault_id: id });
    expectEqual(deleted, { id: created.id, type: 'vault_credential_deleted' }, 'the deletion in its own vault');
  }),
]);
