import { expect, it } from 'vitest';
import { withServer } from '../server.suite.ts';

interface OpenApi {
  readonly openapi: string;
  readonly paths: Record<
    string,
    Record<string, { operationId: string; parameters?: readonly { name: string; in: string }[] }>
  >;
  readonly components: { readonly schemas: object };
}

async function readDocument(url: string): Promise<{ document: OpenApi; text: string }> {
  const text = await (await fetch(`${url}/openapi.json`)).text();
  return { document: JSON.parse(text) as OpenApi, text };
}

it('[H22] the document of the whole server can be made, and every reference in it leads somewhere', async () => {
  await withServer(async ({ url }) => {
    const { document, text } = await readDocument(url);
    const { openapi, paths, components } = document;
    expect(openapi).toBe('3.1.0');
    for (const path of ['/v1/agents', '/v1/sessions/{session_id}/events', '/v1/files', '/v1/orchestrate']) {
      expect(Object.keys(paths)).toContain(path);
    }
    const names = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!);
    expect([...text.matchAll(/"\$ref":/g)]).toHaveLength(names.length);
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !(name in components.schemas))).toEqual([]);
  });
}, 240_000);

it('[H152] the document has every operation of the server, with its method, path and path parameters', async () => {
  await withServer(async ({ url }) => {
    const { paths } = (await readDocument(url)).document;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    expect(
      Object.fromEntries(
        operations.map(({ path, method, operation }) => [operation.operationId, `${method.toUpperCase()} ${path}`]),
      ),
    ).toEqual(OPERATIONS);
    expect(operations).toHaveLength(Object.keys(OPERATIONS).length);
    for (const { path, operation } of operations) {
      const given = (operation.parameters ?? []).filter((each) => each.in === 'path').map(({ name }) => `{${name}}`);
      expect([path, given]).toEqual([path, path.match(/\{\w+\}/g) ?? []]);
    }
  });
}, 240_000);

it('[H152] fields that may be left out are not required, and fields with a default are not required in requests', async () => {
  await withServer(async ({ url }) => {
    const { document } = await readDocument(url);
    const { get } = document.paths['/v1/agents/{agent_id}']!;
    expect(get).toMatchObject({
      parameters: [
        { name: 'agent_id', required: true },
        { name: 'version', required: false },
      ],
    });
    const { post } = document.paths['/v1/environments']!;
    expect(post).toMatchObject({
      requestBody: { content: { 'application/json': { schema: { required: ['name'] } } } },
    });
    expect(document.paths['/v1/environments/{environment_id}/work/poll']!['get']).toMatchObject({
      responses: {
        200: {
          content: {
            'application/json': { schema: { anyOf: [{ $ref: '#/components/schemas/Work' }, { type: 'null' }] } },
          },
        },
      },
    });
  });
}, 240_000);

const OPERATIONS = {
  'agents.create': 'POST /v1/agents',
  'agents.list': 'GET /v1/agents',
  'agents.retrieve': 'GET /v1/agents/{agent_id}',
  'agents.update': 'POST /v1/agents/{agent_id}',
  'agents.archive': 'POST /v1/agents/{agent_id}/archive',
  'agents.versions.list': 'GET /v1/agents/{agent_id}/versions',
  'environments.create': 'POST /v1/environments',
  'environments.list': 'GET /v1/environments',
  'environments.retrieve': 'GET /v1/environments/{environment_id}',
  'environments.update': 'POST /v1/environments/{environment_id}',
  'environments.delete': 'DELETE /v1/environments/{environment_id}',
  'environments.archive': 'POST /v1/environments/{environment_id}/archive',
  'environment_keys.create': 'POST /v1/environments/{environment_id}/keys',
  'environment_keys.list': 'GET /v1/environments/{environment_id}/keys',
  'environment_keys.revoke': 'DELETE /v1/environments/{environment_id}/keys/{key_id}',
  'work.poll': 'GET /v1/environments/{environment_id}/work/poll',
  'work.stats': 'GET /v1/environments/{environment_id}/work/stats',
  'work.list': 'GET /v1/environments/{environment_id}/work',
  'work.retrieve': 'GET /v1/environments/{environment_id}/work/{work_id}',
  'work.update': 'POST /v1/environments/{environment_id}/work/{work_id}',
  'work.ack': 'POST /v1/environments/{environment_id}/work/{work_id}/ack',
  'work.heartbeat': 'POST /v1/environments/{environment_id}/work/{work_id}/heartbeat',
  'work.stop': 'POST /v1/environments/{environment_id}/work/{work_id}/stop',
  'models.list': 'GET /v1/models',
  'models.retrieve': 'GET /v1/models/{model_id}',
  'models.retrieve_scripted': 'GET /v1/models/{family}/{name}',
  metrics: 'GET /metrics',
  'sessions.create': 'POST /v1/sessions',
  'sessions.list': 'GET /v1/sessions',
  'sessions.retrieve': 'GET /v1/sessions/{session_id}',
  'sessions.update': 'POST /v1/sessions/{session_id}',
  'sessions.delete': 'DELETE /v1/sessions/{session_id}',
  'sessions.archive': 'POST /v1/sessions/{session_id}/archive',
  'sessions.fork': 'POST /v1/sessions/{session_id}/fork',
  'programs.list': 'GET /v1/programs',
  'programs.retrieve': 'GET /v1/programs/{program_id}',
  'sessions.program.diff': 'GET /v1/sessions/{session_id}/program/diff',
  'sessions.program.rewind': 'POST /v1/sessions/{session_id}/program/rewind',
  'sessions.program.usage': 'GET /v1/sessions/{session_id}/program/usage',
  'sessions.egress.list': 'GET /v1/sessions/{session_id}/egress',
  'sessions.events.send': 'POST /v1/sessions/{session_id}/events',
  'sessions.events.list': 'GET /v1/sessions/{session_id}/events',
  'sessions.events.stream': 'GET /v1/sessions/{session_id}/events/stream',
  'sessions.resources.list': 'GET /v1/sessions/{session_id}/resources',
  'sessions.resources.add': 'POST /v1/sessions/{session_id}/resources',
  'sessions.resources.retrieve': 'GET /v1/sessions/{session_id}/resources/{resource_id}',
  'sessions.resources.update': 'POST /v1/sessions/{session_id}/resources/{resource_id}',
  'sessions.resources.delete': 'DELETE /v1/sessions/{session_id}/resources/{resource_id}',
  'files.upload': 'POST /v1/files',
  'files.list': 'GET /v1/files',
  'files.retrieve_metadata': 'GET /v1/files/{file_id}',
  'files.delete': 'DELETE /v1/files/{file_id}',
  'files.download': 'GET /v1/files/{file_id}/content',
  'sessions.threads.list': 'GET /v1/sessions/{session_id}/threads',
  'sessions.threads.retrieve': 'GET /v1/sessions/{session_id}/threads/{thread_id}',
  'sessions.threads.archive': 'POST /v1/sessions/{session_id}/threads/{thread_id}/archive',
  'sessions.threads.messages.send': 'POST /v1/sessions/{session_id}/threads/{thread_id}/messages',
  'sessions.threads.events.list': 'GET /v1/sessions/{session_id}/threads/{thread_id}/events',
  'sessions.threads.stream': 'GET /v1/sessions/{session_id}/threads/{thread_id}/stream',
  'sessions.export': 'GET /v1/sessions/{session_id}/export',
  'sessions.changes.list': 'GET /v1/sessions/{session_id}/changes',
  'sessions.changes.diffs': 'GET /v1/sessions/{session_id}/changes/diffs',
  'sessions.changes.steps': 'GET /v1/sessions/{session_id}/changes/steps',
  'sessions.changes.diff': 'GET /v1/sessions/{session_id}/changes/diff',
  'sessions.changes.apply': 'POST /v1/sessions/{session_id}/changes/apply',
  'sessions.changes.discard': 'POST /v1/sessions/{session_id}/changes/discard',
  'sessions.changes.merge': 'POST /v1/sessions/{session_id}/changes/merge',
  'sessions.changes.restore': 'POST /v1/sessions/{session_id}/changes/restore',
  'sessions.tree': 'GET /v1/sessions/{session_id}/tree',
  'sessions.files.content': 'GET /v1/sessions/{session_id}/files/content',
  'login_links.create': 'POST /v1/login_links',
  'imports.create': 'POST /v1/imports',
  'sessions.fleet': 'GET /v1/sessions/{session_id}/fleet',
  fleet: 'GET /v1/fleet',
  'fleet.audit': 'GET /v1/fleet/audit',
  'fleet.costs': 'GET /v1/fleet/costs',
  'fleet.settings': 'GET /v1/fleet/settings',
  'sessions.health': 'GET /v1/sessions/{session_id}/health',
  'fleet.approval_rules.create': 'POST /v1/fleet/approval_rules',
  'fleet.approval_rules.preview': 'POST /v1/fleet/approval_rules/preview',
  'fleet.approval_rules.list': 'GET /v1/fleet/approval_rules',
  'fleet.approval_rules.revoke': 'DELETE /v1/fleet/approval_rules/{rule_id}',
  'fleet.keys.create': 'POST /v1/fleet/keys',
  'fleet.keys.revoke': 'DELETE /v1/fleet/keys/{key_id}',
  'fleet.keys.rotate': 'POST /v1/fleet/keys/{key_id}/rotate',
  'fleet.load': 'GET /v1/fleet/load',
  'fleet.sessions': 'GET /v1/fleet/sessions',
  'push.key': 'GET /v1/fleet/push',
  'push_subscriptions.create': 'POST /v1/fleet/push_subscriptions',
  'push_subscriptions.list': 'GET /v1/fleet/push_subscriptions',
  'push_subscriptions.test': 'POST /v1/fleet/push_subscriptions/{push_subscription_id}/test',
  'push_subscriptions.delete': 'DELETE /v1/fleet/push_subscriptions/{push_subscription_id}',
  'oauth_flows.create': 'POST /v1/vaults/{vault_id}/oauth_flows',
  'oauth_flows.retrieve': 'GET /v1/vaults/{vault_id}/oauth_flows/{flow_id}',
  orchestrate: 'POST /v1/orchestrate',
  'requests.list': 'GET /v1/requests',
  'requests.retrieve': 'GET /v1/requests/{request_id}',
  'requests.events': 'GET /v1/requests/{request_id}/events',
  'requests.cancel': 'POST /v1/requests/{request_id}/cancel',
  'credentials.create': 'POST /v1/vaults/{vault_id}/credentials',
  'credentials.list': 'GET /v1/vaults/{vault_id}/credentials',
  'credentials.retrieve': 'GET /v1/vaults/{vault_id}/credentials/{credential_id}',
  'credentials.update': 'POST /v1/vaults/{vault_id}/credentials/{credential_id}',
  'credentials.archive': 'POST /v1/vaults/{vault_id}/credentials/{credential_id}/archive',
  'credentials.delete': 'DELETE /v1/vaults/{vault_id}/credentials/{credential_id}',
  'credentials.validate': 'POST /v1/vaults/{vault_id}/credentials/{credential_id}/mcp_oauth_validate',
  'fleet.logins.list': 'GET /v1/fleet/logins',
  'fleet.logins.revoke': 'DELETE /v1/fleet/logins/{login_id}',
  'fleet.secrets': 'GET /v1/fleet/secrets',
  'fleet.secrets.rotate': 'POST /v1/fleet/secrets/rotate',
  'vaults.create': 'POST /v1/vaults',
  'vaults.list': 'GET /v1/vaults',
  'vaults.retrieve': 'GET /v1/vaults/{vault_id}',
  'vaults.update': 'POST /v1/vaults/{vault_id}',
  'vaults.archive': 'POST /v1/vaults/{vault_id}/archive',
  'vaults.delete': 'DELETE /v1/vaults/{vault_id}',
};
