import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAdminPath } from '../../src/platform/http/admin-path.js';
import { newId } from '../../src/platform/kernel/ids.js';
import { AdminClient, Client } from '../support/client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** An operation as the OpenAPI document has it. */
interface Operation {
  method: string;
  path: string;
  statuses: string[];
}

/** Who cannot sign is told nothing about the body; test/e2e/partner has what a signed one is told. */
const UNSIGNED = ['POST /api/pro/partner/induction: 401'];
/** Who signs in is a stranger until the body says otherwise; test/e2e/accounts has what a wrong password is told. */
const UNSAID = ['POST /api/admin/session: 422'];

let test: TestApp;
let operations: Operation[];

beforeAll(async () => {
  test = await startTestApp();
  const { paths } = (await new Client(test.url, undefined).get('/openapi.json')).body as {
    paths: Record<string, Record<string, { responses: object }>>;
  };
  operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { responses }]) => ({
      method: method.toUpperCase(),
      path: path.replace(/\{\w+\}/g, newId('apr')),
      statuses: Object.keys(responses),
    })),
  );
});
afterAll(() => test.close());

/** Whoever calls an operation, by what it wants to see: an operator token, or the cookie of a session. */
interface Credentials {
  token: string;
  secret: string;
}

const stranger = async (): Promise<Credentials> => ({ token: 'a stranger', secret: 'a-stranger' });

/** The owner, in a session of its own each time: some operations end theirs. */
const owner = async (): Promise<Credentials> => ({
  token: test.owner.token!,
  secret: (await test.signIn()).secret,
});

/** A client with an address of its own. */
const clientOf = ({ path }: Operation, { token, secret }: Credentials) =>
  isAdminPath(path) ? new AdminClient(test.url, secret) : new Client(test.url, token);

/** Sends to each operation that documents `status`, from an address of its own; names those that answer another. */
async function others(
  status: number,
  send: (client: Client, operation: Operation) => Promise<{ status: number }>,
  who: () => Promise<Credentials> = owner,
): Promise<string[]> {
  const documenting = operations.filter(({ statuses }) => statuses.includes(String(status)));
  expect(documenting.length).toBeGreaterThan(20);
  const answers = await Promise.all(
    documenting.map(async (operation) => {
      const answer = await send(clientOf(operation, await who()), operation);
      return answer.status === status ? [] : [`${operation.method} ${operation.path}: ${answer.status}`];
    }),
  );
  return answers.flat();
}

const NEEDS_A_BODY = [
  'POST /api/pro/partner/induction',
  'POST /api/pro/invites/accept',
  'POST /api/admin/session',
  'POST /api/admin/password/forgotten',
  'POST /api/admin/password/reset',
];

/** It is answered from the settings. */
const NEEDS_NO_DATABASE = ['GET /api/admin/oidc'];

const bodyOf = ({ method }: Operation) => (method === 'GET' ? undefined : {});

describe('every operation that documents it answers', () => {
  it('400 to a version that there is not', async () => {
    const headers = { 'X-Service-API-Version': '1999-01' };
    expect(
      await others(400, (client, one) => client.send(one.method, one.path, bodyOf(one), headers)),
    ).toEqual([]);
  });

  it('401 to a stranger', async () => {
    expect(await others(401, (client, { method, path }) => client.send(method, path), stranger)).toEqual(
      UNSAID,
    );
  });

  it('413 to a body over 1 MB', async () => {
    const body = JSON.stringify({ text: 'x'.repeat(1_100_000) });
    expect(await others(413, (client, { method, path }) => client.send(method, path, body))).toEqual([]);
  });

  it('415 to a body that is no JSON by its type', async () => {
    const headers = { 'Content-Type': 'text/plain' };
    expect(
      await others(415, (client, { method, path }) => client.send(method, path, 'text', headers)),
    ).toEqual(UNSIGNED);
  });

  it('422 to a query that holds a reserved name', async () => {
    expect(
      await others(422, (client, one) => client.send(one.method, `${one.path}?constructor=1`, bodyOf(one))),
    ).toEqual(UNSIGNED);
  });

  it('429 to an address that calls too often', { timeout: 240_000 }, async () => {
    const untilRefused = async (client: Client, { method, path }: Operation) => {
      for (let count = 0; count < 1_200; count++) {
        const answer = await client.send(method, path);
        if (answer.status === 429) return answer;
      }
      return client.send(method, path);
    };
    // No window ends while its requests are counted out.
    test.clock.stopAtMinute();
    expect(await others(429, untilRefused, stranger)).toEqual([]);
    test.clock.goOn();
  });
});

describe('without its database', () => {
  it('every operation that needs it answers 503 with Retry-After, and a shape', async () => {
    const credentials = await owner();
    const address = new URL(test.database.url);
    const name = address.pathname.slice(1);
    address.pathname = '/postgres';
    const beside = new pg.Client({ connectionString: address.href });
    await beside.connect();
    await beside.query(`alter database ${name} with allow_connections false`);
    await beside.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and usename like 'consigliere\\_login%'`,
      [name],
    );
    try {
      const answers = await Promise.all(
        operations
          // Signatures, invites and passwords are asked about after the body is checked.
          .filter(({ path }) => path.startsWith('/api/'))
          .filter(
            ({ method, path }) => ![...NEEDS_A_BODY, ...NEEDS_NO_DATABASE].includes(`${method} ${path}`),
          )
          .map(async (operation) => {
            const client = clientOf(operation, credentials);
            const { status, headers, body } = await client.send(
              operation.method,
              operation.path,
              bodyOf(operation),
            );
            return { operation, status, retryAfter: headers.get('retry-after'), code: body?.error?.code };
          }),
      );
      const wrong = answers.filter(
        ({ status, retryAfter, code }) => status !== 503 || retryAfter !== '1' || code !== 'UNAVAILABLE',
      );
      expect(wrong).toEqual([]);
    } finally {
      await beside.query(`alter database ${name} with allow_connections true`);
      await beside.end();
    }
  });
});
