import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import type { CapoRole } from '../terms/index.js';
import type { PackSkill } from './pack-manifest.js';
import { PRESENT, SkillPackEntity, SkillPackOrderEntity, SkillPackSkillEntity } from './skill-pack.entity.js';
import type { SignedList } from './revocation-list.js';
import type { SkillPacksQuery } from './skill-packs.dto.js';

/** How far the fan-out of a pack has come. */
interface FanOutFacts {
  done: number;
  total: number;
}

/** A pack as lists show it. */
export type ListedPack = Omit<
  SkillPackEntity,
  'workspaceId' | 'nameKey' | 'manifest' | 'manifestHash' | 'signature'
> & { description: string; progress: FanOutFacts };

/** What each part of a pack is counted by; a part that has left counts as done. */
const PROGRESS = /* sql */ `(select json_build_object('total', count(*), 'done', count(*) filter (where not is_open)) from (
  select s.status = 'waiting' as is_open from skill_pack_skills s
    where s.workspace_id = p.workspace_id and s.pack_id = p.pack_id
  union all
  select o.status in ('waiting', 'leaving') from skill_pack_orders o
    where o.workspace_id = p.workspace_id and o.pack_id = p.pack_id and o.status <> 'dropped') parts) as progress`;

const LISTED = `${columnsOf(SkillPackEntity, {
  of: 'p',
  without: ['workspaceId', 'nameKey', 'manifest', 'manifestHash', 'signature'],
})}, p.manifest->>'description' as description, ${PROGRESS}`;

/** A skill that is in force, with the pack that it belongs to. */
interface InstalledSkill {
  capo: CapoRole;
  packName: string;
  definition: PackSkill;
}

/** So many skills of one capo are read for a draft; the text of each is bounded, and so is what is given of them. */
const SKILLS_OF_CAPO = 100;

@Injectable()
export class SkillPacks {
  constructor(private readonly db: Db) {}

  /** Installs in one workspace wait for each other, so that each finds what the one before it has added. */
  async lockInstalls(): Promise<void> {
    await this.db.query(`select pg_advisory_xact_lock(hashtextextended('skill packs ' || $1, 1))`, [
      this.db.unit.scope.workspaceId,
    ]);
  }

  /** Keeps the pack for this transaction; undefined for one that the workspace never had. */
  async lock(packId: string): Promise<SkillPackEntity | undefined> {
    if (!isId('pck', packId)) return undefined;
    const { workspaceId } = this.db.unit.scope;
    return this.db.lockOne(SkillPackEntity, { workspaceId, packId }, 'for update');
  }

  /** {@link lock}, by what the manifest says. */
  lockNamed(publisher: string, name: string): Promise<SkillPackEntity | undefined> {
    const { workspaceId } = this.db.unit.scope;
    return this.db.lockOne(SkillPackEntity, { workspaceId, publisher, name }, 'for update');
  }

  /** The packs that the workspace has at the moment, by name. */
  present(
    scope: Scope,
  ): Promise<Pick<SkillPackEntity, 'packId' | 'publisher' | 'name' | 'nameKey' | 'version' | 'status'>[]> {
    return this.db.read(
      scope,
      `select pack_id, publisher, name, name_key, version, status from skill_packs
       where workspace_id = $1 and status = any($2) order by name, pack_id`,
      [scope.workspaceId, PRESENT],
    );
  }

  add(pack: SkillPackEntity): void {
    this.db.insert(SkillPackEntity, pack);
  }

  update(
    { workspaceId, packId }: Pick<SkillPackEntity, 'workspaceId' | 'packId'>,
    changes: Partial<SkillPackEntity>,
  ): void {
    this.db.update(SkillPackEntity, { workspaceId, packId }, changes);
  }

  /** Newest first. */
  list(scope: Scope, { status, ...paging }: SkillPacksQuery): Promise<Page<ListedPack>> {
    const listing = {
      name: 'skill-packs',
      select: LISTED,
      from: 'skill_packs p',
      ...where({ 'p.workspace_id': scope.workspaceId, 'p.status': status }),
      order: newestFirst('p.pack_id', 'p.installed_at'),
    };
    return readPage(this.db, scope, listing, paging);
  }

  /** @throws NotFound */
  async get(scope: Scope, packId: string): Promise<ListedPack> {
    const [pack] = isId('pck', packId)
      ? await this.db.read<ListedPack>(
          scope,
          `select ${LISTED} from skill_packs p where p.workspace_id = $1 and p.pack_id = $2`,
          [scope.workspaceId, packId],
        )
      : [];
    if (!pack) throw new NotFound();
    return pack;
  }

  skillsOf(scope: Scope, packId: string): Promise<SkillPackSkillEntity[]> {
    return this.db.read(
      scope,
      `select ${columnsOf(SkillPackSkillEntity)} from skill_pack_skills
       where workspace_id = $1 and pack_id = $2 order by position, name`,
      [scope.workspaceId, packId],
    );
  }

  ordersOf(scope: Scope, packId: string): Promise<SkillPackOrderEntity[]> {
    return this.db.read(
      scope,
      `select ${columnsOf(SkillPackOrderEntity)} from skill_pack_orders
       where workspace_id = $1 and pack_id = $2 order by position, order_key`,
      [scope.workspaceId, packId],
    );
  }

  /** Of these orders, those that came with a pack that was removed; of the open transaction. */
  async ordersOfRemoved(standingOrderIds: readonly string[]): Promise<string[]> {
    const rows = await this.db.query<{ id: string }>(
      `select wanted.id from unnest($2::text[]) as wanted (id) where exists (
         select from skill_packs p join skill_pack_orders o on o.workspace_id = p.workspace_id and o.pack_id = p.pack_id
         where p.workspace_id = $1 and p.status in ('uninstalled', 'revoked')
           and (o.standing_order_id = wanted.id or wanted.id = any (o.former_ids)))`,
      [this.db.unit.scope.workspaceId, standingOrderIds],
    );
    return rows.map(({ id }) => id);
  }

  /** Of these names of skills, those that other packs of the workspace have, each with its pack. */
  takenSkills(packId: string, names: readonly string[]): Promise<{ name: string; packName: string }[]> {
    return this.db.query(
      `select s.name, p.name as pack_name from skill_pack_skills s
       join skill_packs p on p.workspace_id = s.workspace_id and p.pack_id = s.pack_id
       where s.workspace_id = $1 and s.pack_id <> $2 and s.name = any($3) order by s.name`,
      [this.db.unit.scope.workspaceId, packId, names],
    );
  }

  /** What is in force of the skills of each of these capos, by pack and in its order. */
  skillsOfCapos(scope: Scope, capos: readonly CapoRole[]): Promise<InstalledSkill[]> {
    return this.db.read(
      scope,
      `select each.* from unnest($2::text[]) of (capo) cross join lateral (
         select s.capo, p.name as pack_name, s.position, s.definition from skill_pack_skills s
         join skill_packs p on p.workspace_id = s.workspace_id and p.pack_id = s.pack_id
         where s.workspace_id = $1 and s.capo = of.capo and s.definition is not null
         order by p.name, s.position limit ${SKILLS_OF_CAPO}) each
       order by each.pack_name, each.position`,
      [scope.workspaceId, capos],
    );
  }

  /** The skill of this name that is in force. */
  async findSkill(scope: Scope, name: string): Promise<PackSkill | undefined> {
    const [skill] = await this.db.read<{ definition: PackSkill }>(
      scope,
      'select definition from skill_pack_skills where workspace_id = $1 and name = $2 and definition is not null',
      [scope.workspaceId, name],
    );
    return skill?.definition;
  }

  /** Makes these the skills that are to arrive; those of a former version stay in force until then, or leave with it. */
  expectSkills(
    { workspaceId, packId }: SkillPackEntity,
    skills: readonly { name: string; capo: string }[],
  ): void {
    const names = skills.map(({ name }) => name);
    this.db.write(
      'delete from skill_pack_skills where workspace_id = $1 and pack_id = $2 and name <> all($3)',
      [workspaceId, packId, names],
    );
    this.db.write(
      `insert into skill_pack_skills (workspace_id, pack_id, name, position, capo, status)
       select $1, $2, name, position, capo, 'waiting'
       from unnest($3::text[], $4::text[]) with ordinality as wanted (name, capo, position)
       on conflict (workspace_id, pack_id, name) do update set status = 'waiting', position = excluded.position, reason = null`,
      [workspaceId, packId, names, skills.map(({ capo }) => capo)],
    );
  }

  /** The same of its orders. What a later version of the pack has no longer is to leave. */
  expectOrders({ workspaceId, packId }: SkillPackEntity, keys: readonly string[]): void {
    this.db.write(
      `update skill_pack_orders set status = 'leaving', reason = null
       where workspace_id = $1 and pack_id = $2 and order_key <> all($3) and status <> 'dropped'`,
      [workspaceId, packId, keys],
    );
    this.db.write(
      `insert into skill_pack_orders (workspace_id, pack_id, order_key, position, status)
       select $1, $2, order_key, position, 'waiting' from unnest($3::text[]) with ordinality as wanted (order_key, position)
       on conflict (workspace_id, pack_id, order_key) do update set status = 'waiting', position = excluded.position, reason = null`,
      [workspaceId, packId, keys],
    );
  }

  /** Forgets which orders came with a pack that the workspace had before; they are archived. */
  forgetOrders({ workspaceId, packId }: SkillPackEntity): void {
    this.db.write('delete from skill_pack_orders where workspace_id = $1 and pack_id = $2', [
      workspaceId,
      packId,
    ]);
  }

  deleteSkills({ workspaceId, packId }: SkillPackEntity): void {
    this.db.write('delete from skill_pack_skills where workspace_id = $1 and pack_id = $2', [
      workspaceId,
      packId,
    ]);
  }

  /** The next parts that are to arrive or to leave, at most one of each kind; the pack is locked. */
  async nextParts({ workspaceId, packId }: SkillPackEntity): Promise<{
    skill: SkillPackSkillEntity | undefined;
    order: SkillPackOrderEntity | undefined;
  }> {
    const of = 'where workspace_id = $1 and pack_id = $2';
    const [[skill], [order]] = (await this.db.unit.batch([
      {
        text: `select ${columnsOf(SkillPackSkillEntity)} from skill_pack_skills ${of} and status = 'waiting'
          order by position limit 1`,
        values: [workspaceId, packId],
      },
      {
        text: `select ${columnsOf(SkillPackOrderEntity)} from skill_pack_orders ${of}
          and status in ('waiting', 'leaving') order by position, order_key limit 1`,
        values: [workspaceId, packId],
      },
    ])) as [[SkillPackSkillEntity?], [SkillPackOrderEntity?]];
    return { skill, order };
  }

  saveSkill(
    { workspaceId, packId, name }: SkillPackSkillEntity,
    changes: Partial<SkillPackSkillEntity>,
  ): void {
    this.db.update(SkillPackSkillEntity, { workspaceId, packId, name }, changes);
  }

  saveOrder(
    { workspaceId, packId, orderKey }: SkillPackOrderEntity,
    changes: Partial<SkillPackOrderEntity>,
  ): void {
    this.db.update(SkillPackOrderEntity, { workspaceId, packId, orderKey }, changes);
  }

  /** Enqueues the revocation of installed packs that these lists revoke, in every workspace. */
  async enqueueRevoked(lists: readonly SignedList[], limit: number): Promise<void> {
    const revoked = lists.flatMap(({ list }) =>
      list.revoked.map(({ name, versions }) => ({
        publisher: list.publisher,
        name,
        versions: versions ?? null,
      })),
    );
    if (revoked.length === 0) return;
    await this.db.system('select app.enqueue_revoked_packs($1::jsonb, $2)', [JSON.stringify(revoked), limit]);
  }
}
