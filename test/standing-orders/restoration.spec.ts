import { describe, expect, it } from 'vitest';
import { type FormerVersion, restorationOf } from '../../src/features/standing-orders/restoration.js';
import type { StandingOrderEntity } from '../../src/features/standing-orders/standing-order.entity.js';

const AT = 1_000_000;
const BY = { type: 'member', id: 'mbr_1', name: 'Ada', via: 'api' } as const;

const CONTENT = {
  standingOrderId: 'so_1' as const,
  workspaceId: 'wks_1',
  teamId: null,
  name: 'Notes',
  text: 'Notes may be filed.',
  capos: null,
  effect: 'allow' as const,
  match: { actionTypes: ['document.file' as const] },
  when: null,
  limits: null,
  budget: null,
  approval: null,
  expiresAt: null,
  hash: 'former',
  createdBy: BY,
  createdAt: 1,
};

function anOrder(given: Partial<StandingOrderEntity> = {}): StandingOrderEntity {
  return {
    ...CONTENT,
    status: 'active',
    version: 2,
    heldBecause: null,
    simulation: null,
    evalRunId: 'evl_1',
    updatedAt: 2,
    activatedAt: 2,
    ...given,
  };
}

/** What the order said then, in its first version of three. */
function aVersion(given: Partial<FormerVersion> = {}): FormerVersion {
  return { ...CONTENT, version: 1, newest: 3, ...given };
}

interface Case {
  now?: Partial<StandingOrderEntity>;
  /** Null: it was not in force. */
  was?: 'active' | 'shadow' | null;
  /** Null: that version is gone. */
  version?: Partial<FormerVersion> | null;
  objection?: string;
  isOwner?: boolean;
  allowsIrreversible?: boolean;
}

function restored({ now, was = 'active', version = {}, objection, ...asking }: Case) {
  const { isOwner = false, allowsIrreversible = false } = asking;
  return restorationOf(
    {
      now: [anOrder(now)],
      inForceThen: was === null ? [] : [{ standingOrderId: 'so_1', version: 1, hash: 'former', status: was }],
      former: new Map(version === null ? [] : [['so_1', aVersion(version)]]),
      objections: new Map(objection === undefined ? [] : [['so_1', objection]]),
    },
    { at: AT, isOwner, allowsIrreversible: () => allowsIrreversible },
  );
}

const CHANGED = { hash: 'later' };

describe('restorationOf', () => {
  it.each<[string, Case]>([
    ['is as it was', {}],
    ['was not in force and has expired by itself', { was: null, now: { expiresAt: AT } }],
  ])('leaves out an order that %s', (_what, given) => {
    expect(restored(given)).toEqual([]);
  });

  it.each<[string, Case, object]>([
    ['was not in force', { was: null }, { outcome: 'paused', to: { version: 2, status: 'paused' } }],
    [
      'says something else by now',
      { now: CHANGED },
      { outcome: 'restored', isNewVersion: true, to: { version: 4, status: 'active' } },
    ],
    [
      'has another name by now',
      { now: { name: 'Files' } },
      { outcome: 'restored', isNewVersion: true, to: { version: 4, status: 'active' } },
    ],
    [
      'was paused since',
      { now: { status: 'paused' } },
      { outcome: 'restored', isNewVersion: false, to: { version: 2, status: 'active' } },
    ],
    [
      'was archived since it was tried out',
      { now: { status: 'archived' }, was: 'shadow' },
      { outcome: 'restored', isNewVersion: false, to: { version: 2, status: 'shadow' } },
    ],
    [
      'allows again what cannot be undone, for an owner',
      { now: CHANGED, allowsIrreversible: true, isOwner: true },
      { outcome: 'restored', to: { version: 4, status: 'active' } },
    ],
    [
      'only tries out again what cannot be undone',
      { now: CHANGED, was: 'shadow', allowsIrreversible: true },
      { outcome: 'restored', to: { version: 4, status: 'shadow' } },
    ],
  ])('changes an order that %s', (_what, given, expected) => {
    const from = { version: 2, status: given.now?.status ?? 'active' };
    expect(restored(given)).toMatchObject([
      { standingOrderId: 'so_1', from, reason: null, row: { updatedAt: AT }, ...expected },
    ]);
  });

  it.each<[string, Case, string]>([
    ['whose version is gone', { version: null }, 'The version that was in force is gone.'],
    [
      'of another team',
      { now: { ...CHANGED, teamId: 'team_1' as never } },
      'It belongs to another team by now.',
    ],
    ['that something speaks against', { now: CHANGED, objection: 'Its pack is gone.' }, 'Its pack is gone.'],
    ['that has expired', { now: CHANGED, version: { expiresAt: AT } }, 'It has expired meanwhile.'],
    [
      'that only an owner may put back',
      { now: CHANGED, allowsIrreversible: true },
      'It allows work packets that cannot be undone, so only an owner may put it back.',
    ],
  ])('leaves an order %s as it is, and says why', (_what, given, reason) => {
    expect(restored(given)).toMatchObject([{ outcome: 'skipped', to: null, row: null, reason }]);
  });

  it('takes the former content, without what was found of the later one', () => {
    const simulation = {} as StandingOrderEntity['simulation'];
    const [change] = restored({ now: { ...CHANGED, text: 'All goes.', simulation, heldBecause: 'New.' } });
    expect(change!.row).toMatchObject({
      text: CONTENT.text,
      hash: 'former',
      simulation: null,
      evalRunId: null,
      heldBecause: null,
      createdAt: 1,
      activatedAt: AT,
    });
  });
});
