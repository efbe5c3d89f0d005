// Run by sdk-package.spec.ts under each program, against a real service behind a network that loses and cuts.
import assert from 'node:assert/strict';
import { Consigliere, NotFoundError, TimeoutError } from '@consigliere/sdk';

const [name = ''] = process.argv.slice(2);
const { MEMBER_TOKEN, AGENT_TOKEN, STEADY_URL } = process.env;
/** CONSIGLIERE_BASE_URL is where the network is bad. */
const client = new Consigliere({ token: MEMBER_TOKEN, timeout: 1_500 });

for (let n = 0; n < 12; n++)
  await client.revenueEvents.record({ amount: 1, currency: 'USD', source: `${name} ${n}` });
const found = await client.revenueEvents.list({ limit: 5 }).toArray({ limit: 7 });
assert.equal(found.length, 7);
await assert.rejects(client.directives.get('dir_00000000000000000000000000'), NotFoundError);

const steady = new Consigliere({ token: MEMBER_TOKEN, baseUrl: STEADY_URL });
const stop = new AbortController();
const seen = [];
for await (const { seq } of steady.feed.stream({ lastEventId: 0, signal: stop.signal })) {
  if (seen.push(seq) === 3) stop.abort();
}
assert.deepEqual(seen, [1, 2, 3]);
const hasty = new Consigliere({ token: MEMBER_TOKEN, baseUrl: STEADY_URL, timeout: 1, maxRetries: 0 });
await assert.rejects(hasty.auditFeed.list({ limit: 100 }), TimeoutError);

const agent = new Consigliere({ token: AGENT_TOKEN });
let acts = 0;
const refund = agent.actions.guard('shop.refund', ({ order }) => ({ refunded: order, times: ++acts }));
assert.deepEqual(await refund({ order: name, amount: 20 }), { refunded: name, times: 1 });
assert.match(await refund({ order: name, amount: 2_000 }), /The standing orders do not allow this/);
assert.equal(acts, 1);
console.log('runs');
