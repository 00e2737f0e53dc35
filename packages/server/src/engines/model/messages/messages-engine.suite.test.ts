import { engineSuite } from '../engine.suite.ts';
import { serveScriptedModel } from '../scripted/http.ts';
import { createGovernor } from './governor.ts';
import { createMessagesEngine } from './messages-engine.ts';

// Over real sockets, through the official SDK.
engineSuite('the messages engine', async () => {
  const server = await serveScriptedModel();
  // Time flies, so that a test does not wait for the pause that another one's failure asked for.
  let hours = 0;
  const clock = { now: Date.now, steady: () => (hours += 3_600_000) };
  const governor = createGovernor({ clock });
  const engine = createMessagesEngine({ baseURL: server.url, credential: { apiKey: 'any' }, governor });
  return { engine, close: async () => server.close() };
});
