import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { signOnLimits } from './limits.ts';
import { readOidcConfig } from './read-oidc-config.ts';

const ISSUER = {
  id: 'acme',
  name: 'Acme',
  issuer: 'https://id.example.com',
  client_id: 'c',
  grants: [{ any_account: true, role: 'viewer' }],
};
const FILE = { public_url: 'https://fleet.example.com/', issuers: [ISSUER] };

async function open() {
  const directory = await mkdtemp(join(tmpdir(), 'fleetloom-oidc-config-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'oidc.yaml');
  const read = async (content: object | string, env: NodeJS.ProcessEnv = {}) => {
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    return await readOidcConfig(path, env);
  };
  const reject = async (content: object | string, env?: NodeJS.ProcessEnv) => {
    const error = await read(content, env).then(
      () => new Error('it was accepted'),
      (cause: Error) => cause,
    );
    return error.message.replace(`--oidc-config ${path}: `, '');
  };
  return { directory, path, read, reject };
}

it('[ID58] a configuration is YAML or JSON, has defaults, and takes secrets from a file or the environment', async () => {
  const { directory, read } = await open();
  const config = await read(
    'public_url: https://fleet.example.com/\nissuers:\n  - {id: a, name: A, issuer: "https://a.example", client_id: c, grants: [{groups: [x], role: admin}]}\n',
  );
  expect(config).toMatchObject({
    public_url: 'https://fleet.example.com',
    session_hours: 8,
    issuers: [
      { scopes: ['openid', 'email', 'profile'], groups_claim: 'groups', clock_skew_seconds: 30, userinfo: true },
    ],
  });
  expect(config.issuers[0]).not.toHaveProperty('clientSecret');
  await writeFile(join(directory, 'secret'), 'from a file\n');
  const ofFile = await read({ ...FILE, issuers: [{ ...ISSUER, client_secret_file: 'secret' }] });
  expect(ofFile.issuers[0]!.clientSecret).toBe('from a file');
  const ofVariable = { ...FILE, issuers: [{ ...ISSUER, client_secret_env: 'OIDC_SECRET' }] };
  expect((await read(ofVariable, { OIDC_SECRET: 'from a variable' })).issuers[0]!.clientSecret).toBe('from a variable');
});

it('[ID58] a configuration that cannot be used is an error of the start that names the file, the field and what to do', async () => {
  const { directory, path, reject } = await open();
  const issuer = (fields: object) => ({ ...FILE, issuers: [{ ...ISSUER, ...fields }] });
  const many = Array.from({ length: signOnLimits.issuersMax + 1 }, (_, index) => ({
    ...ISSUER,
    id: `i${index}`,
    issuer: `https://i${index}.example`,
  }));
  const cases: readonly [object | string, RegExp][] = [
    ['{', /^is not YAML or JSON: .*: correct it$/],
    ['a: &x 1\nb: *x', /is not YAML or JSON/],
    ['x', /^the file: .*docs\/single-sign-on\.md/],
    [{ issuers: [ISSUER] }, /^public_url: /],
    [{ ...FILE, public_url: 'http://fleet.example.com' }, /^public_url: must be the https URL/],
    [{ ...FILE, public_url: 'https://u@fleet.example.com' }, /^public_url: /],
    [{ ...FILE, session_hours: signOnLimits.sessionHoursMax + 1 }, /^session_hours: /],
    [{ ...FILE, session_hours: 0 }, /^session_hours: /],
    [{ ...FILE, issuers: [] }, /^issuers: /],
    [{ ...FILE, issuers: many }, /^issuers: /],
    [
      { ...FILE, issuers: [ISSUER, { ...ISSUER, issuer: 'https://b.example' }] },
      /^issuers: two of them have the same id/,
    ],
    [{ ...FILE, issuers: [ISSUER, { ...ISSUER, id: 'b', issuer: `${ISSUER.issuer}/` }] }, /^issuers: .* same issuer/],
    [issuer({ id: '../x' }), /^issuers\[0\]\.id: /],
    [issuer({ issuer: 'http://id.example.com' }), /^issuers\[0\]\.issuer: must be an https URL/],
    [
      issuer({ issuer: 'https://login.microsoftonline.com/common/v2.0' }),
      /^issuers\[0\]\.issuer: must name one tenant/,
    ],
    [issuer({ client_secret: 'x' }), /client_secret.*: keep the secret in a file or the environment/],
    [issuer({ client_secret_env: 'A', client_secret_file: 'b' }), /^issuers\[0\]: has client_secret_file and/],
    [issuer({ client_secret_env: 'NOT_SET' }), /^issuer acme: the environment variable NOT_SET is not set/],
    [issuer({ client_secret_file: 'none' }), /^issuer acme: .*none cannot be read \(ENOENT\)/],
    [issuer({ client_secret_file: 'empty' }), /^issuer acme: .*empty is empty/],
    [issuer({ scopes: ['email'] }), /^issuers\[0\]\.scopes: must contain openid/],
    [issuer({ clock_skew_seconds: signOnLimits.clockSkewSecondsMax + 1 }), /^issuers\[0\]\.clock_skew_seconds: /],
    [issuer({ grants: [] }), /^issuers\[0\]\.grants: /],
    [issuer({ grants: [{ role: 'viewer' }] }), /^issuers\[0\]\.grants\[0\]: needs groups, emails or claims/],
    [issuer({ grants: [{ any_account: true, groups: ['x'], role: 'viewer' }] }), /^issuers\[0\]\.grants\[0\]: needs/],
    [issuer({ grants: [{ any_account: true, role: 'king' }] }), /^issuers\[0\]\.grants\[0\]\.role: /],
    [' '.repeat(signOnLimits.configBytesMax + 1), /^has \d+ bytes, and \d+ are allowed/],
  ];
  await writeFile(join(directory, 'empty'), ' \n');
  for (const [content, message] of cases) expect(await reject(content)).toMatch(message);
  await rm(path);
  await expect(readOidcConfig(path, {})).rejects.toThrow(`--oidc-config ${path}: cannot be read (ENOENT)`);
});
