import { toFile } from '@anthropic-ai/sdk';
import { expect, it } from 'vitest';
import { fileLimits } from './limits.ts';
import { outcomeOf } from '../http/routes/records.suite.ts';
import { toScript, withServer } from '../../../../test/server/server.suite.ts';

it("[H103] a file is mounted at the path of the SDK's example, and other absolute paths are rooted at the uploads", () =>
  withServer(async ({ client }) => {
    const paths = ['/uploads/receipt.pdf', '/mnt/session/uploads/uploads/receipt.pdf', '/mnt/session/uploads/data.csv'];
    const turns = [...paths.map((file_path) => [{ call: 'read', input: { file_path } }]), [{ say: 'done' }]];
    const agent = await client.beta.agents.create({
      name: 'reader',
      model: 'scripted/reader',
      system: toScript(turns),
      tools: [{ type: 'agent_toolset_20260401' }],
    });
    const { id: environment_id } = await client.beta.environments.create({ name: 'here' });
    const upload = async (text: string, name: string) =>
      (await client.beta.files.upload({ file: await toFile(Buffer.from(text), name) })).id;
    const receipt = await upload('a receipt', 'receipt.pdf');
    const session = await client.beta.sessions.create({
      agent: agent.id,
      environment_id,
      resources: [{ type: 'file', file_id: receipt, mount_path: '/uploads/receipt.pdf' }],
    });
    expect(session.resources).toMatchObject([{ mount_path: '/uploads/receipt.pdf' }]);
    const data = await upload('some data', 'data.csv');
    const mount = (file_id: string, mount_path?: string) =>
      client.beta.sessions.resources.add(session.id, {
        type: 'file',
        file_id,
        ...(mount_path === undefined ? {} : { mount_path }),
      });
    expect(await mount(data, '/data.csv')).toMatchObject({ mount_path: '/mnt/session/uploads/data.csv' });
    await client.beta.sessions.events.send(session.id, {
      events: [{ type: 'user.message', content: [{ type: 'text', text: 'read' }] }],
    });
    await expect.poll(async () => (await client.beta.sessions.retrieve(session.id)).status).toBe('idle');
    const results: string[] = [];
    for await (const event of client.beta.sessions.events.list(session.id)) {
      if (event.type === 'agent.tool_result') results.push(JSON.stringify(event.content));
    }
    expect(results).toEqual([
      expect.stringContaining('a receipt'),
      expect.stringContaining('a receipt'),
      expect.stringContaining('some data'),
    ]);
    // The path of the answer names the same file.
    expect(await outcomeOf(mount(data, '/mnt/session/uploads/data.csv'))).toBe('400 invalid_request_error');
    expect(await mount(data, '/etc/passwd')).toMatchObject({ mount_path: '/mnt/session/uploads/etc/passwd' });
    const longest = `/workspace/${'n'.repeat(fileLimits.pathNameBytesMax)}`;
    expect(await outcomeOf(mount(data, longest))).toBe('ok');
    expect(await outcomeOf(mount(data, `${longest}n`))).toBe('400 invalid_request_error');
  }));

it('[H103] a file without mount_path is mounted by its name, or by its id where the name is taken or too long', () =>
  withServer(async ({ client }) => {
    const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
    const { id: environment_id } = await client.beta.environments.create({ name: 'here' });
    const session = await client.beta.sessions.create({ agent: agent.id, environment_id });
    const mount = async (name: string) => {
      const { id } = await client.beta.files.upload({ file: await toFile(Buffer.from(name), name) });
      const { mount_path } = await client.beta.sessions.resources.add(session.id, { type: 'file', file_id: id });
      return mount_path.replace(id, 'its id');
    };
    expect(await mount('same.txt')).toBe('/mnt/session/uploads/same.txt');
    expect(await mount('same.txt')).toBe('/mnt/session/uploads/its id');
    expect(await mount('长'.repeat(255))).toBe('/mnt/session/uploads/its id');
  }));
