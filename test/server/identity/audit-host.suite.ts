import { startServer } from '../../../packages/server/src/server.ts';

// A server with keys in a process of its own, to be killed: `node <this> <data directory>`.
const [dataDirectory = ''] = process.argv.slice(2);
const { url, firstKey = null } = await startServer({ dataDirectory });
console.log(JSON.stringify({ url, key: firstKey }));
