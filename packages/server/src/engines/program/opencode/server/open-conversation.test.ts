import { expect, it } from 'vitest';
import { openConversation } from './open-conversation.ts';

const fork = { resume: 'ses_old', forkAt: 'msg_2', directory: '/repo', title: 'main' };
const messages = ['msg_1', 'msg_2', 'msg_3'].map((id) => ({ info: { id } }));

it('[MX220] a fork has the messages up to its turn, and it and the conversations of sub-agents get its workspace', async () => {
  const { server, sent } = createServer();
  const opened = await openConversation(server, fork);
  expect(opened).toEqual({ conversation: 'ses_new', version: '1.18.33', history: new Set(['msg_n']) });
  const moves = ['ses_new', 'ses_old', 'ses_kid', 'ses_deep'];
  expect(sent).toEqual([
    ['/session/ses_old/fork', { messageID: 'msg_3' }],
    ...moves.map((sessionID) => [
      '/experimental/control-plane/move-session',
      { sessionID, destination: { directory: '/repo' }, moveChanges: false },
    ]),
  ]);
  const last = createServer();
  await openConversation(last.server, { ...fork, forkAt: 'msg_3' });
  expect(last.sent[0]).toEqual(['/session/ses_old/fork', {}]);
});

it('[MX221] a message that is not there, and a refusal to fork or to move, are errors that say so', async () => {
  const why = (changes: Readonly<Record<string, Answer>>, options: object = {}) =>
    openConversation(createServer(changes).server, { ...fork, ...options }).catch((error: Error) => error.message);
  expect(await why({}, { forkAt: 'msg_9' })).toMatch(/ses_old has no message msg_9/);
  expect(await why({ 'POST /session/ses_old/fork': { status: 500, body: null } })).toMatch(/did not fork.*500/);
  const refused = { status: 400, body: { name: 'MoveSessionError', data: { message: 'Another project' } } };
  expect(await why({ 'POST /experimental/control-plane/move-session': refused })).toMatch(
    /did not move.*Another project/,
  );
  expect(await why({ 'POST /experimental/control-plane/move-session': { status: 404, body: null } })).toMatch(
    /status 404/,
  );
});

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A server that answers from a table, and what was sent to it. */
function createServer(changes: Readonly<Record<string, Answer>> = {}) {
  const ok = (body: unknown) => ({ status: 200, body });
  const answers: Readonly<Record<string, Answer>> = {
    'GET /global/health': ok({ version: '1.18.33' }),
    'GET /session/ses_old/message': ok(messages),
    'GET /session/ses_new/message': ok([{ info: { id: 'msg_n' } }]),
    'GET /session/ses_old/children': ok([{ id: 'ses_kid' }]),
    'GET /session/ses_kid/children': ok([{ id: 'ses_deep' }]),
    'POST /session/ses_old/fork': ok({ id: 'ses_new' }),
    'POST /experimental/control-plane/move-session': { status: 204, body: null },
    ...changes,
  };
  const sent: [string, unknown][] = [];
  const send = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    if (method === 'POST') sent.push([path, body]);
    return answers[`${method} ${path}`] ?? { status: 200, body: [] };
  };
  return { server: { send }, sent };
}
