import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { AlreadyExists } from '../../platform/kernel/errors.js';
import { type Id, newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { CheckpointService, GUARDIAN } from '../guardian/index.js';
import { StandingOrders } from '../standing-orders/index.js';
import { CheckManifest } from './check-manifest.js';
import { compareVersions, contentHash, lookAlikeKey, type PackManifest } from './pack-manifest.js';
import { INSTALL_WORK } from './fan-out.js';
import { PackRevoked, PackVersionTaken, TooManyPacks } from './packs.errors.js';
import { Revocations } from './revocations.js';
import { PRESENT, type SkillPackEntity } from './skill-pack.entity.js';
import type { InstallSkillPackBody, SkillPackView } from './skill-packs.dto.js';
import { SkillPacks } from './skill-packs.repository.js';

/** As many packs a workspace has at a time. */
const MOST_PACKS = 50;

interface Installed {
  packId: Id<'pck'>;
  /** False for the version that the workspace has already. */
  isAccepted: boolean;
}

/** The skill packs of a workspace. */
@Injectable()
export class SkillPacksService {
  constructor(
    private readonly checkManifest: CheckManifest,
    private readonly revocations: Revocations,
    private readonly packs: SkillPacks,
    private readonly orders: StandingOrders,
    private readonly checkpoints: CheckpointService,
    private readonly work: Work,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /**
   * A pack with its skills, and with those of its standing orders that the caller may see.
   * @throws NotFound
   */
  async read(scope: Scope, packId: string): Promise<SkillPackView> {
    const pack = await this.packs.get(scope, packId);
    const skills = await this.packs.skillsOf(scope, packId);
    const orders = await this.packs.ordersOf(scope, packId);
    const visible = await this.orders.visible(
      scope,
      orders.flatMap(({ standingOrderId }) => standingOrderId ?? []),
    );
    return {
      ...pack,
      skills: skills.map(({ name, capo, status, reason, definition, evalRunId, score }) => ({
        name,
        capo,
        status,
        reason,
        definition: definition && { ...definition },
        evalRunId,
        score,
      })),
      standingOrders: orders.map(({ orderKey: key, status, reason, standingOrderId: id }) => ({
        key,
        // What came of it afterwards its own row says: archiving an order knows nothing of packs.
        status: status === 'arrived' && id !== null && visible.get(id) === 'archived' ? 'archived' : status,
        reason,
        standingOrderId: id !== null && visible.has(id) ? id : null,
      })),
    };
  }

  /**
   * Accepts a skill pack: checks it, keeps a checkpoint of what is in force, and enqueues the fan-out, which lets its skills and
   * orders arrive one by one. No older version than the newest that the workspace ever had is accepted.
   * @throws UnknownPublisher, InvalidPackSignature, ValidationFailed, PackRevoked, PackVersionTaken, AlreadyExists, TooManyPacks
   */
  async install(caller: Caller, { manifest: raw, signature }: InstallSkillPackBody): Promise<Installed> {
    const manifest = await this.checkManifest.execute(scopeOf(caller), raw, signature);
    const reason = await this.revocations.reasonFor(scopeOf(caller), manifest);
    if (reason !== undefined)
      throw new PackRevoked({ message: revokedBecause(manifest, reason), details: { reason } });
    await this.packs.lockInstalls();
    const former = await this.packs.lockNamed(manifest.publisher, manifest.name);
    const manifestHash = contentHash(raw);
    if (former) {
      assertNotReplayed(former, manifest, manifestHash);
      if (isThere(former, manifest)) return { packId: former.packId, isAccepted: false };
    }
    await this.assertRoom(caller, manifest, former);
    await this.checkpoints.take(GUARDIAN, { before: 'pack_install' });
    const pack = this.accept(caller, former, {
      publisher: manifest.publisher,
      name: manifest.name,
      nameKey: lookAlikeKey(manifest.name),
      version: manifest.version,
      manifest,
      manifestHash,
      signature,
    });
    return { packId: pack.packId, isAccepted: true };
  }

  /** @throws AlreadyExists, TooManyPacks */
  private async assertRoom(
    caller: Caller,
    { name, publisher, skills }: PackManifest,
    former: SkillPackEntity | undefined,
  ): Promise<void> {
    const others = (await this.packs.present(scopeOf(caller))).filter(
      ({ packId }) => packId !== former?.packId,
    );
    const alike = others.find(({ nameKey }) => nameKey === lookAlikeKey(name));
    if (alike) {
      throw new AlreadyExists({
        message: `The name ${name} of ${publisher} is easily taken for that of the installed skill pack ${alike.name} of ${alike.publisher}.`,
        details: { packId: alike.packId, name: alike.name, publisher: alike.publisher },
      });
    }
    if (others.length >= MOST_PACKS) {
      throw new TooManyPacks({ message: `A workspace has at most ${MOST_PACKS} skill packs at a time.` });
    }
    const names = skills.map((skill) => String(skill['name']));
    const [taken] = await this.packs.takenSkills(former?.packId ?? '', names);
    if (taken) {
      throw new AlreadyExists({
        message: `The skill ${taken.name} has come with the skill pack ${taken.packName} already.`,
        details: { skill: taken.name, pack: taken.packName },
      });
    }
  }

  private accept(
    caller: Caller,
    former: SkillPackEntity | undefined,
    content: Pick<
      SkillPackEntity,
      'publisher' | 'name' | 'nameKey' | 'version' | 'manifest' | 'manifestHash' | 'signature'
    >,
  ): SkillPackEntity {
    const by = actorOf(caller);
    const pack: SkillPackEntity = {
      workspaceId: caller.workspaceId,
      packId: former?.packId ?? newId('pck'),
      ...content,
      status: 'installing',
      installedBy: by,
      installedAt: this.clock.now(),
      completedAt: null,
      removedBy: null,
      removedAt: null,
      reason: null,
    };
    if (!former) this.packs.add(pack);
    else this.packs.update(pack, pack);
    // What came with it before it was removed is archived, and nothing of this installation's.
    if (former && !PRESENT.includes(former.status)) this.packs.forgetOrders(pack);
    const { name, version, publisher, manifest, manifestHash } = pack;
    const { skills, standingOrders } = manifest;
    this.packs.expectSkills(
      pack,
      skills.map((skill) => ({ name: String(skill['name']), capo: String(skill['capo']) })),
    );
    this.packs.expectOrders(
      pack,
      standingOrders.map(({ key }) => key),
    );
    const isUpgrade = former !== undefined && former.version !== version && PRESENT.includes(former.status);
    this.receipts.append({
      actor: by,
      action: 'skill_pack.accepted',
      entity: { type: 'skill_pack', id: pack.packId },
      summary: `${by.name} installs the skill pack ${name} ${version} of ${publisher}${isUpgrade ? `, in place of ${former.version}` : ''}.`,
      details: {
        name,
        version,
        publisher,
        manifestHash,
        replaces: isUpgrade ? former.version : null,
        skills: skills.map((skill) => skill['name']),
        standingOrders: standingOrders.map(({ key }) => key),
      },
    });
    this.work.enqueue(INSTALL_WORK, { id: pack.packId });
    return pack;
  }
}

/** @throws PackVersionTaken for what is older, or says something else under the same number */
function assertNotReplayed(former: SkillPackEntity, { name, version }: PackManifest, hash: string): void {
  const order = compareVersions(version, former.version);
  if (order > 0 || (order === 0 && hash === former.manifestHash)) return;
  const { packId, version: installedVersion, status } = former;
  const had = PRESENT.includes(status) ? 'has' : 'had';
  throw new PackVersionTaken({
    message:
      order < 0
        ? `The workspace ${had} version ${installedVersion} of ${name}; the older version ${version} is not installed.`
        : `The workspace ${had} version ${installedVersion} of ${name} with other content; a change takes a new version.`,
    details: { packId, installedVersion, status },
  });
}

/** The same version again; one that failed is begun anew. */
function isThere({ status, version }: SkillPackEntity, manifest: PackManifest): boolean {
  return version === manifest.version && (status === 'installed' || status === 'installing');
}

function revokedBecause({ name, version, publisher }: PackManifest, reason: string): string {
  return `${publisher} has revoked version ${version} of ${name}: ${reason}`;
}
