import { randomInt } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type RouteEntry, RouteTable } from '../../src/platform/http/route-table.js';
import { atOnce } from '../support/at-once.js';
import { FULL_SIZE } from '../support/full-size.js';
import type { TestApp } from '../support/test-app.js';
import {
  covers,
  type Expected,
  expectedOf,
  type Membership,
  MEMBERSHIPS,
  nameOf,
  type Place,
  type Right,
  sees,
} from './matrix-rights.js';
import { MatrixRows, missing, type Row, type RowKind } from './matrix-rows.js';

/** What is sent, with the row that it is about. */
export interface Sent {
  /** By the name of the path's parameter; left out, each is the row's id. */
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Answered {
  status: number;
  body: any;
  text: string;
  headerNames: string[];
}

/** One thing that a route does: who may, about which rows, and a valid request for it. */
export interface Act {
  /** Where a route does several things. */
  what?: string;
  right: Right;
  places: readonly Place[];
  /** What the request names; nothing for a route of the whole workspace. */
  row?: RowKind;
  /** What it is about is one member's alone, who is none of the matrix: nobody in it may. */
  isPersonal?: boolean;
  /** To whoever may not, it is as if the row were not there: a 404 where a 403 would tell of it. */
  isHidden?: boolean;
  /** The code that whoever may is told where the matrix lacks what it takes, such as a code of their authenticator. */
  lacks?: string;
  /** The act ends its row, so each that may has one of its own. */
  spends?: boolean;
  /** The program does one of these at a time. */
  alone?: boolean;
  /** The act ends the credentials that it is done with. */
  endsCredentials?: boolean;
  request?: (row: Row) => Sent;
  /** The status of a decision that stands in the answer, where the answer itself is about several. */
  statusOf?: (answer: Answered) => number;
  /** What has to be so beforehand, and is undone afterwards, each time that it may. */
  before?: (rows: MatrixRows) => Promise<unknown>;
  after?: (rows: MatrixRows) => Promise<unknown>;
}

/** By `METHOD /path` below the prefix, with the names of parameters as in the route. */
export type Acts = Record<string, Act | Act[]>;

/** Somebody who is no member, or does not prove it. */
export interface Outsider {
  credentials: Record<string, string>;
  status: number;
  reason: string;
  /** Only what changes something is refused. */
  ofChanges?: boolean;
}

export interface MatrixSetting {
  test: TestApp;
  /** The paths that it is about: `/api/pro`. Spellings of a route below other prefixes are left to another matrix. */
  prefixes: readonly string[];
  acts: Acts;
  /** The headers that prove who calls. */
  credentialsOf: (member: MadeMember) => Promise<Record<string, string>>;
  outsiders: (rows: MatrixRows) => Promise<Record<string, Outsider>>;
  /** Times of last use and the like, which requests leave by themselves. */
  besideThePoint?: Record<string, string[]>;
}

/** One path of a route: its spellings are told apart. */
interface Target {
  name: string;
  path: string;
  route: RouteEntry;
}

interface MadeMember {
  memberId: string;
  token: string;
}

type Snapshot = readonly { name: string; content: string }[];

interface Refused {
  answers: Record<string, unknown>;
  changed: string[];
}

interface Cell {
  name: string;
  target: Target;
  act: Act;
  place: Place;
  member: Membership;
  expected: Expected;
}

const BELOW = /^\/api\/[a-z]+/;
/** What requests leave whether or not they are refused: counts of the day, signatures under the chain. */
const UNCOUNTED = ['tier_days', 'receipt_checkpoints'];
const LAST_USE: Record<string, string[]> = {
  tokens: ['last_used_at'],
  members: ['last_seen_at'],
  sessions: ['last_seen_at'],
};
const AT_ONCE = 12;

/**
 * Every role in the workspace with every role in a team, against every act of every route, about rows of every place:
 * generated from the route table. A route without an act fails by its name.
 */
export class Matrix {
  readonly targets: Target[];
  readonly cells: Cell[];
  rows!: MatrixRows;
  outsiders!: Record<string, Outsider>;
  readonly #members = new Map<string, MadeMember>();
  readonly #credentials = new Map<string, Record<string, string>>();
  #statement = '';
  #last: Snapshot | undefined;

  constructor(private readonly setting: MatrixSetting) {
    const { prefixes, test } = setting;
    this.targets = test.app
      .get(RouteTable)
      .entries.filter(({ policy }) => policy.auth === 'member')
      .flatMap((route) => route.paths.map((path) => ({ name: `${route.method} ${path}`, path, route })))
      .filter(({ path }) => prefixes.some((prefix) => path.startsWith(`${prefix}/`)));
    this.cells = this.targets.flatMap((target) => this.cellsOf(target));
  }

  /** Routes that nothing is known of, and acts that no route does any more. */
  get gaps(): { routes: string[]; acts: string[] } {
    const all = this.setting.test.app.get(RouteTable).entries;
    const known = new Set(all.flatMap(({ method, paths }) => paths.map((path) => keyOf(method, path))));
    return {
      routes: this.targets.filter((target) => this.actsOf(target).length === 0).map(({ name }) => name),
      acts: Object.keys(this.setting.acts).filter((key) => !known.has(key)),
    };
  }

  async prepare(): Promise<void> {
    const { test, credentialsOf, outsiders } = this.setting;
    const needed = new Map(
      this.cells.flatMap(({ act: { row }, place }) =>
        row === undefined ? [] : [[`${row} ${place}`, { row, place }] as const],
      ),
    );
    this.rows = await MatrixRows.prepare(test, needed.values());
    for (const membership of MEMBERSHIPS) {
      const member = await this.rows.member(membership);
      this.#members.set(nameOf(membership), member);
      this.#credentials.set(nameOf(membership), await credentialsOf(member));
    }
    this.outsiders = await outsiders(this.rows);
    this.#statement = await this.snapshotStatement();
  }

  /** Each table with what is in it. */
  snapshot(): Promise<Snapshot> {
    return this.setting.test.rows(this.#statement);
  }

  /** Sends what must be refused; answers how it was, by cell, and what is another row afterwards, and by whom. */
  async refuse(cells: readonly Cell[]): Promise<Refused> {
    const before = await this.lastSnapshot();
    const answers = await atOnce(
      AT_ONCE,
      cells,
      async (cell) => [cell.name, await this.refusal(cell)] as const,
    );
    const changed = changesOf(before, await this.takeSnapshot());
    if (changed.length > 0) changed.push(...(await this.changers(cells)));
    return { answers: Object.fromEntries(answers), changed };
  }

  /** Sends what may be done, and looks that it is. */
  async allow(cell: Cell): Promise<void> {
    const { act, place, target } = cell;
    await act.before?.(this.rows);
    const isSpent = act.spends === true && act.row !== undefined;
    const row = isSpent ? await this.rows.another(act.row!, place) : this.rows.of(act.row, place);
    const answer = await this.send(cell, row);
    await act.after?.(this.rows);
    const who = nameOf(cell.member);
    if (act.endsCredentials) {
      this.#credentials.set(who, await this.setting.credentialsOf(this.#members.get(who)!));
    }
    if (act.lacks !== undefined) {
      expect(answer.body.error?.code, `${cell.name}: ${answer.text.slice(0, 300)}`).toBe(act.lacks);
      return;
    }
    const status = statusOf(act, answer);
    const done = Object.keys(target.route.policy.returns).map(Number);
    expect(done, `${cell.name}: ${status} ${answer.text.slice(0, 300)}`).toContain(status);
  }

  /** Sends a request of each of these; answers how each was refused, and which tables are others afterwards. */
  async turnAway(target: Target, outsiders: Record<string, Outsider>): Promise<Refused> {
    const [act] = this.actsOf(target);
    const sent = requestOf(act!, this.rows.of(act!.row, act!.places[0]!));
    const before = await this.snapshot();
    const answers = await atOnce(
      AT_ONCE,
      Object.entries(outsiders).filter(([, outsider]) => concerns(outsider, target)),
      async ([who, { credentials }]) => {
        const { status, body } = await this.call(target, credentials, sent);
        return [who, `${status} ${body.reason}`] as const;
      },
    );
    return { answers: Object.fromEntries(answers), changed: changesOf(before, await this.snapshot()) };
  }

  /** What the refusal is; one of a row that is not seen must not differ from that of one that does not exist. */
  private async refusal(cell: Cell): Promise<unknown> {
    const { act, place, member } = cell;
    const row = this.rows.of(act.row, place);
    const answer = await this.send(cell, row);
    const status = statusOf(act, answer);
    if (status !== cell.expected) return `${status} ${answer.text.slice(0, 300)}`;
    const code =
      answer.status === status
        ? answer.body.error.code
        : (answer.body.results?.[0].error.code ?? 'NOT_FOUND');
    if (code !== (status === 403 ? 'FORBIDDEN' : 'NOT_FOUND')) return code;
    if (answer.status === 403 && !answer.body.error.details?.requiredRoles) return 'no roles are required';
    if (row.id === '' || (sees(member, place) && !act.isHidden)) return status;
    const none = missing(row);
    const [said, expected] = [
      shown(answer, row),
      shown(await this.send({ ...cell, name: `${cell.name}, missing` }, none), none),
    ];
    return said === expected ? status : `not as of a missing row: ${said} and not ${expected}`;
  }

  /** Those that change something when they are sent one by one. */
  private async changers(cells: readonly Cell[]): Promise<string[]> {
    const found: string[] = [];
    for (const cell of cells) {
      const before = await this.snapshot();
      await this.refusal(cell);
      const changed = changesOf(before, await this.snapshot());
      if (changed.length > 0) found.push(`${cell.name}: ${changed.join(', ')}`);
    }
    return found;
  }

  /** Between two refusals nothing happens, so what was found after one is what was there before the next. */
  private async lastSnapshot(): Promise<Snapshot> {
    return this.#last ?? this.takeSnapshot();
  }

  private async takeSnapshot(): Promise<Snapshot> {
    this.#last = await this.snapshot();
    return this.#last;
  }

  private send({ act, member, target }: Cell, row: Row): Promise<Answered> {
    return this.call(target, this.#credentials.get(nameOf(member))!, requestOf(act, row));
  }

  /** Each call comes from an address of its own, so that no limit of a route is met. */
  private async call(
    { path, route: { method } }: Target,
    credentials: Record<string, string>,
    { params, query, body, headers, id }: Sent & { id: string },
  ): Promise<Answered> {
    const called = new URL(
      this.setting.test.url + path.replace(/:(\w+)/g, (_, name: string) => params?.[name] ?? id),
    );
    called.search = new URLSearchParams(query).toString();
    const response = await fetch(called, {
      method,
      headers: {
        'X-Forwarded-For': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...credentials,
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status } = response;
    const headerNames = [...response.headers.keys()].toSorted();
    const type = response.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream')) {
      await response.body?.cancel();
      return { status, body: undefined, text: '', headerNames };
    }
    const text = await response.text();
    return { status, body: type.startsWith('application/json') ? JSON.parse(text) : text, text, headerNames };
  }

  private actsOf({ path, route }: Target): Act[] {
    return [this.setting.acts[keyOf(route.method, path)] ?? []].flat();
  }

  private cellsOf(target: Target): Cell[] {
    return this.actsOf(target).flatMap((act) =>
      act.places.flatMap((place) =>
        MEMBERSHIPS.map((member) => {
          const what = act.what === undefined ? '' : `${act.what}, `;
          const name = `${nameOf(member)}: ${what}${place}`;
          const expected = expectedOf(member, place, act.right);
          const told = expected === 403 && act.isHidden ? 404 : expected;
          return { name, target, act, place, member, expected: told };
        }),
      ),
    );
  }

  private async snapshotStatement(): Promise<string> {
    const { test, besideThePoint } = this.setting;
    const beside = { ...LAST_USE, ...besideThePoint };
    const tables = await test.rows<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
    );
    return tables
      .filter(({ name }) => !UNCOUNTED.includes(name))
      .map(({ name }) => {
        const row = ['to_jsonb(t)', ...(beside[name] ?? []).map((column) => `'${column}'`)].join(' - ');
        return `select '${name}' as name, md5(coalesce(string_agg(r, ',' order by r), '')) as content
          from (select (${row})::text as r from "${name}" t) rows`;
      })
      .join(' union all ');
  }
}

function concerns({ ofChanges }: Outsider, { route: { method } }: Target): boolean {
  return ofChanges !== true || method !== 'GET';
}

/** How these are turned away. */
export function turnedAway(target: Target, outsiders: Record<string, Outsider>): Refused {
  const all = Object.entries(outsiders).filter(([, outsider]) => concerns(outsider, target));
  return {
    answers: Object.fromEntries(all.map(([who, { status, reason }]) => [who, `${status} ${reason}`])),
    changed: [],
  };
}

function keyOf(method: string, path: string): string {
  return `${method} ${path.replace(BELOW, '')}`;
}

function requestOf({ request }: Act, row: Row): Sent & { id: string } {
  return { ...request?.(row), id: row.id };
}

function statusOf({ statusOf: within }: Act, answer: Answered): number {
  return answer.status === 200 && within ? within(answer) : answer.status;
}

/** Without what differs from call to call: the id of the request, and the ids that were asked for. */
function shown({ status, body, headerNames }: Answered, { id, teamId }: Row): string {
  const { requestId: _requestId, ...rest } = body;
  const text = JSON.stringify({ status, rest, headerNames }).replaceAll(id, 'the row');
  return teamId === null ? text : text.replaceAll(teamId, 'the team');
}

function changesOf(before: Snapshot, after: Snapshot): string[] {
  return after.filter(({ content }, index) => content !== before[index]!.content).map(({ name }) => name);
}

/**
 * All cells at full size. Otherwise of each act, place and answer those at the border: the memberships that hold the most and
 * still may not, and those that hold the least and may.
 */
function chosen(cells: readonly Cell[]): readonly Cell[] {
  if (FULL_SIZE) return cells;
  const isFurther = (one: Cell, other: Cell) =>
    one !== other &&
    one.act === other.act &&
    one.place === other.place &&
    one.expected === other.expected &&
    (one.expected === 'may' ? covers(other.member, one.member) : covers(one.member, other.member));
  return cells.filter((cell) => !cells.some((other) => isFurther(other, cell)));
}

/** Declares the tests of a matrix. */
export function describeMatrix(setting: MatrixSetting): Matrix {
  const matrix = new Matrix(setting);
  const { targets, cells } = matrix;
  const of = (target: Target) => chosen(cells.filter((cell) => cell.target === target));
  const named = targets.map((target) => [target.name, target] as const);
  beforeAll(() => matrix.prepare(), 120_000);

  describe('the matrix', () => {
    it(`knows every route: ${cells.length} cells of ${targets.length} paths and ${MEMBERSHIPS.length} memberships`, () => {
      expect(matrix.gaps).toEqual({ routes: [], acts: [] });
    });

    it('would see a change', async () => {
      const before = await matrix.snapshot();
      await matrix.rows.desk.mode('supervised');
      const changed = changesOf(before, await matrix.snapshot());
      expect(changed).toEqual(['guardians', 'receipt_heads', 'receipts']);
      await matrix.rows.desk.mode('guardrailed');
    });
  });

  describe.each(named)('%s', (_name, target) => {
    const refused = of(target).filter(({ expected }) => expected !== 'may');

    it.runIf(refused.length > 0)(
      `refuses ${refused.length} of ${of(target).length} cells, and nothing changes`,
      { timeout: 60_000 },
      async () => {
        const answers = Object.fromEntries(refused.map(({ name, expected }) => [name, expected]));
        expect(await matrix.refuse(refused)).toEqual({ answers, changed: [] });
      },
    );

    it('turns everybody else away, with the reason, and nothing changes', async () => {
      const { outsiders } = matrix;
      expect(await matrix.turnAway(target, outsiders)).toEqual(turnedAway(target, outsiders));
    });
  });

  // Behind all refusals: what is done here changes the rows that those are about.
  describe.each(named)('%s', (_name, target) => {
    const allowed = of(target).filter(({ expected }) => expected === 'may');
    const isPersonal = of(target).every(({ act }) => act.isPersonal);
    it.skipIf(isPersonal)(`lets ${allowed.length} cells pass`, { timeout: 120_000 }, async () => {
      expect(allowed.length).toBeGreaterThan(0);
      // What leaves everything as it is may be read by all at once.
      const isReading =
        target.route.method === 'GET' && allowed.every(({ act }) => !act.alone && !act.before && !act.after);
      await atOnce(isReading ? AT_ONCE : 1, allowed, (cell) => matrix.allow(cell));
    });
  });
  return matrix;
}
