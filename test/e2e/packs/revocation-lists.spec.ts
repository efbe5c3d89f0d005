import { chmodSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Revocations } from '../../../src/features/packs/revocations.js';
import { createApplication } from '../../../src/application.js';
import { loadConfig } from '../../../src/platform/config/config.js';
import { signDocument } from '../../../src/platform/signatures/signed-document.js';
import { newPublisher, type Publisher, publishersOf } from '../../support/skill-packs.js';
import { eventually } from '../../support/test-app.js';
import { PackDesk } from './pack-desk.js';

let desk: PackDesk;
let lastNumber = 0;
/** How many lines the log had when the test began. */
let logged = 0;
beforeAll(async () => {
  desk = await PackDesk.open();
}, 60_000);
afterAll(() => desk.close());
/** Nothing is revoked when a test begins. */
beforeEach(async () => {
  await desk.revoke(listOf('acme', ++lastNumber));
  logged = desk.test.logs.length;
});

const REVOKED = { name: 'invoice-reminders', reason: 'The licence is disputed.' };
const PACK = { publisher: 'acme', name: 'invoice-reminders', version: '1.0.0' };

const listOf = (publisher: string, number: number, ...revoked: object[]) => ({ publisher, number, revoked });
const signed = (list: object, { key }: Publisher) => ({ list, signature: signDocument(list, key) });
const write = (...lists: unknown[]) => writeFile(desk.revocations, JSON.stringify(lists));
const code = async (publisher?: Publisher) => {
  const workspace = await desk.workspace();
  return (await workspace.post(undefined, publisher)).body.error?.code;
};
/** What the log has about the file, once it has as much. */
const complaints = (count: number) =>
  eventually(
    async () =>
      desk.test.logs
        .slice(logged)
        .filter(({ msg }) => String(msg).includes('SKILL_PACK_REVOCATIONS'))
        .map(({ reason }) => reason),
    ({ length }) => length >= count,
  );

/** Another process over the same database, or the same one after a restart, with this list of publishers. */
async function withProcess<T>(
  publishers: string,
  act: (process: { reason: () => Promise<string | undefined>; look: () => Promise<void> }) => Promise<T>,
): Promise<T> {
  const config = loadConfig({
    NODE_ENV: 'test',
    DATA_DIR: desk.test.dataDir,
    DATABASE_URL: desk.test.database.url,
    RATE_LIMIT_STORE: 'memory',
    LOG_LEVEL: 'silent',
    SKILL_PACK_PUBLISHERS: publishers,
    SKILL_PACK_REVOCATIONS: desk.revocations,
  });
  const app = await createApplication(config, desk.test.database.url);
  const scope = { workspaceId: desk.test.workspaceId, teamIds: 'all' as const };
  try {
    return await act({
      reason: () => app.get(Revocations, { strict: false }).reasonFor(scope, PACK),
      look: () => app.get(Revocations, { strict: false }).enqueueRevoked(),
    });
  } finally {
    await app.close();
  }
}

/** For root no file is unreadable. */
function asSomebody<T>(act: () => T): T {
  if (process.geteuid!() !== 0) return act();
  process.seteuid!(65_534);
  try {
    return act();
  } finally {
    process.seteuid!(0);
  }
}

describe('a list that cannot be used', () => {
  it('takes nothing from those beside it, and is complained about once', async () => {
    const stranger = newPublisher('initech');
    await write(
      signed(listOf('initech', 1), stranger),
      signed(listOf('globex', 1), stranger),
      { list: { publisher: 'globex' } },
      signed(listOf('acme', ++lastNumber, REVOKED), desk.acme),
    );
    await desk.look();
    await desk.look();
    expect(await code()).toBe('PACK_REVOKED');
    expect(await complaints(3)).toEqual([
      'initech is not one of SKILL_PACK_PUBLISHERS',
      'the signature of the list of globex does not match',
      expect.stringMatching(/^file\.\S+ .*\(list 3\)$/),
    ]);
  });

  it('does not keep a service from starting whose publisher was taken out of SKILL_PACK_PUBLISHERS', async () => {
    await write(
      signed(listOf('globex', 1), desk.globex),
      signed(listOf('acme', ++lastNumber, REVOKED), desk.acme),
    );
    await withProcess(publishersOf(desk.acme), async ({ reason }) => {
      expect(await reason()).toBe(REVOKED.reason);
    });
    await write(signed(listOf('globex', 2), desk.globex));
    await withProcess(publishersOf(desk.acme), ({ look }) => look());
  });

  it('says something else under a number that is known: the first one holds', async () => {
    await desk.revoke(listOf('acme', ++lastNumber, REVOKED));
    await desk.revoke(listOf('acme', lastNumber));
    expect(await code()).toBe('PACK_REVOKED');
    expect(await complaints(1)).toEqual([
      `list ${lastNumber} of acme says something else than the list ${lastNumber} that is known: a change takes a higher number`,
    ]);
  });
});

describe('a file that could not be read', () => {
  it('is read as soon as it can be, though nothing in it has changed', async () => {
    // Nobody but its owner may look into the folder of a test.
    chmodSync(desk.folder, 0o755);
    // All in one turn, before the look that the program makes by itself.
    writeFileSync(desk.revocations, JSON.stringify(signed(listOf('acme', ++lastNumber, REVOKED), desk.acme)));
    chmodSync(desk.revocations, 0o000);
    await asSomebody(() => desk.look());
    expect(await complaints(1)).toEqual(['it names a file that this user may not read']);
    chmodSync(desk.revocations, 0o644);
    await asSomebody(() => desk.look());
    expect(await code()).toBe('PACK_REVOKED');
  });
});

describe('the newest list of a publisher', () => {
  const kept = () =>
    desk.test.rows(
      `select number::int, list from revocation_lists where list ->> 'publisher' = 'acme' order by number`,
    );

  it('holds after a restart, in another process, and without the file', async () => {
    const newest = listOf('acme', ++lastNumber, REVOKED);
    await desk.revoke(newest);
    expect(await kept()).toEqual([{ number: lastNumber, list: newest }]);
    await write(signed(listOf('acme', lastNumber - 1), desk.acme));
    const publishers = publishersOf(desk.acme, desk.globex);
    await withProcess(publishers, async ({ reason, look }) => {
      expect(await reason()).toBe(REVOKED.reason);
      await look();
    });
    await write();
    await withProcess(publishers, async ({ reason }) => expect(await reason()).toBe(REVOKED.reason));
    expect(await kept()).toEqual([{ number: lastNumber, list: newest }]);

    // What another process has read counts here at once.
    await write(signed(listOf('acme', ++lastNumber), desk.acme));
    await withProcess(publishers, ({ look }) => look());
    await write();
    expect(await code()).toBeUndefined();
  });

  it('counts only while its key is one of the publisher', async () => {
    await desk.revoke(listOf('acme', 1_000, REVOKED));
    const successor = newPublisher('acme');
    await write(signed(listOf('acme', 1), successor));
    await withProcess(publishersOf(successor), async ({ reason, look }) => {
      expect(await reason()).toBeUndefined();
      await look();
      expect(await reason()).toBeUndefined();
    });
    expect(await kept()).toMatchObject([{ number: 1 }, { number: 1_000 }]);
    await withProcess(publishersOf(desk.acme, successor), async ({ reason }) =>
      expect(await reason()).toBe(REVOKED.reason),
    );
  });
});
