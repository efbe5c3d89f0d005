import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Db } from '../../../src/platform/database/db.js';
import { Receipts } from '../../../src/platform/receipts/receipts.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { ADA } from '../audit/ledger.js';
import { Device } from './hydrate-desk.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
});
afterAll(() => test.close());

/** A transaction in which something was done and which has not been committed. */
interface LongAct {
  commit: () => void;
  done: Promise<unknown>;
}

/** More would have all connections, and nobody else one. */
const LONG_ACTS = 3;

/** A workspace with two teams and somebody who looks at each part of it. */
class Scene {
  readonly long: LongAct[] = [];
  readonly #busy = new Map<Device, Promise<unknown>>();

  private constructor(
    readonly workspaceId: string,
    /** Team one, team two, none. */
    readonly teams: readonly (string | null)[],
    readonly members: readonly TestMember[],
    /** Of somebody in each of the teams, in none, and the owner. */
    readonly devices: readonly Device[],
  ) {}

  static async begin(): Promise<Scene> {
    const { workspaceId, owner } = await test.createWorkspace();
    const one = await test.createTeam(workspaceId, 'One');
    const two = await test.createTeam(workspaceId, 'Two');
    const members = [
      await test.createMember(workspaceId, 'operator', [one]),
      await test.createMember(workspaceId, 'operator', [two]),
      await test.createMember(workspaceId, 'operator'),
    ];
    const tokens = [...members.map(({ token }) => token), owner.token!];
    const devices = tokens.map((token, index) => new Device(test, token, `device-${index}`));
    // What comes after the first call is what counts: that one answers the last 100 alone.
    for (const device of devices) await device.once();
    return new Scene(workspaceId, [one, two, null], members, devices);
  }

  /** An act of that team, which ends at once. */
  async write(team: number): Promise<void> {
    const { done, commit } = this.act(team);
    commit();
    await done;
  }

  beginLong(team: number): void {
    if (this.long.length < LONG_ACTS) this.long.push(this.act(team));
  }

  async endLong(index: number): Promise<void> {
    if (this.long.length === 0) return;
    const [act] = this.long.splice(index % this.long.length, 1);
    act!.commit();
    await act!.done;
  }

  async handIn(team: number): Promise<void> {
    const answer = await this.members[team]!.post('/directive', { text: 'Write a note about tea.' });
    expect(answer.status).toBe(201);
  }

  /** Beside whatever else happens; one device does one thing at a time. */
  hydrate(index: number): void {
    const device = this.devices[index]!;
    this.#busy.set(
      device,
      (this.#busy.get(device) ?? Promise.resolve()).then(() => device.once()),
    );
  }

  async end(): Promise<void> {
    while (this.long.length > 0) await this.endLong(0);
    await Promise.all(this.#busy.values());
    for (const device of this.devices) await device.all();
  }

  /** What whoever has the device may see, by the rows. */
  async visible(index: number) {
    const sees = ['team_id = $2', 'team_id = $2', 'team_id is null and $2::text is null', '$2::text is null'][
      index
    ];
    return test.rows<{ seq: number; hash: string }>(
      `select seq::int, hash from receipts where workspace_id = $1 and (${sees}) order by seq`,
      [this.workspaceId, this.teams[index] ?? null],
    );
  }

  private act(team: number): LongAct {
    const { promise, resolve: commit } = Promise.withResolvers<void>();
    const db = test.app.get(Db);
    const done = db.transaction({ workspaceId: this.workspaceId, teamIds: 'all' }, async () => {
      test.app.get(Receipts).append({
        actor: ADA,
        action: 'thing.done',
        entity: { type: 'thing', id: 'thing_1' },
        teamId: this.teams[team]!,
        summary: 'Ada did a thing.',
      });
      await promise;
    });
    return { commit, done };
  }
}

const team = fc.nat({ max: 2 });
const commands = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: team.map((of) => ({ name: 'write', run: (scene: Scene) => scene.write(of) })) },
    {
      weight: 2,
      arbitrary: team.map((of) => ({ name: 'begin', run: (scene: Scene) => scene.beginLong(of) })),
    },
    {
      weight: 2,
      arbitrary: fc.nat({ max: 2 }).map((index) => ({
        name: 'end',
        run: (scene: Scene) => scene.endLong(index),
      })),
    },
    {
      weight: 1,
      arbitrary: team.map((of) => ({ name: 'hand in', run: (scene: Scene) => scene.handIn(of) })),
    },
    {
      weight: 4,
      arbitrary: fc.nat({ max: 3 }).map((index) => ({
        name: `hydrate ${index}`,
        run: (scene: Scene) => scene.hydrate(index),
      })),
    },
  ),
  { minLength: 10, maxLength: 60, size: 'max' },
);

describe('a client that hydrates at any moments', () => {
  it(
    'ends up with exactly the receipts that it may see: in order, none twice, none lost',
    { timeout: 120_000 },
    async () => {
      let receipts = 0;
      await fc.assert(
        fc.asyncProperty(commands, async (steps) => {
          const scene = await Scene.begin();
          for (const { run } of steps) await run(scene);
          await scene.end();
          for (const [index, device] of scene.devices.entries()) {
            const kept = device.receipts.map(({ seq, hash }) => ({ seq, hash }));
            expect(kept).toEqual(await scene.visible(index));
            expect(device.resets).toBe(0);
            receipts += kept.length;
          }
        }),
        { numRuns: 12 },
      );
      expect(receipts).toBeGreaterThan(100);
    },
  );
});
