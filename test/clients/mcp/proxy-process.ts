/** The proxy as a process, with a shorter patience than people have. */
import { runProxy } from '@consigliere/mcp';
import { Consigliere } from '@consigliere/sdk';

const { EFFECTS, LISTING, STUBBORN, WAIT_MS = '300', CALL_MS = '60000', PATH } = process.env;
const [name = 'box', command = process.execPath, ...args] = process.argv.slice(2);
// An address of its own, so that the limits of routes stay apart.
const headers = { 'X-Forwarded-For': `10.9.${process.pid % 250}.${(process.pid >> 8) % 250}` };
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const { by, reason } = await runProxy(new Consigliere({ maxRetries: 0, headers }), {
  name,
  command,
  args: args.length > 0 ? args : [new URL('box-server.ts', import.meta.url).pathname],
  env: { PATH, EFFECTS, LISTING, STUBBORN },
  waitMs: Number(WAIT_MS),
  callMs: Number(CALL_MS),
  signal: stop.signal,
});
console.error(`ended by the ${by}: ${reason}`);
