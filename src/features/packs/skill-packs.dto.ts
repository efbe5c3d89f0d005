import { ApiProperty, PickType } from '@nestjs/swagger';
import { IsIn, IsObject, IsOptional, Matches } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { FreeForm, MaxJsonBytes } from '../../platform/http/free-form.js';
import { PageFacts, PageQuery } from '../../platform/kernel/pages.dto.js';
import type { CapoRole } from '../terms/index.js';
import { InstalledPackView } from '../workspaces/index.js';
import { MAX_MANIFEST_BYTES } from './pack-manifest.js';
import { PACK_STATUSES, type PackStatus } from './skill-pack.entity.js';

/** The parameter of the paths, as it is documented. */
export const PACK_PARAM = {
  name: 'packId',
  description: 'The id of the skill pack.',
  example: 'pck_01kerr2kg0s8c5m2v7x4z9b1nd',
};

/** Body of `POST /skill-packs`: a signed manifest, as its publisher hands it out. */
export class InstallSkillPackBody {
  /**
   * What the pack contains, at most 256 KB as JSON (docs/guides/skill-packs.md).
   * @example { "name": "invoice-reminders", "version": "1.0.0", "publisher": "acme", "description": "Reminders of overdue invoices.", "skills": [], "standingOrders": [{ "key": "reminders-ask", "name": "Invoice reminders ask", "effect": "require_approval", "capos": ["capo_revenue"], "match": { "actionTypes": ["email.send"] } }] }
   */
  @ApiProperty({ type: Object })
  @FreeForm()
  @IsObject()
  @MaxJsonBytes(MAX_MANIFEST_BYTES)
  manifest!: Record<string, unknown>;

  /**
   * The publisher's Ed25519 signature over the manifest as canonical JSON (RFC 8785), in base64url.
   * @example 'hZ3bQ4G1y0m3v2cT9o8XkWq5jJ6uL7sNfRdEpAiBzKxYtVwUgHnMlCrOaPeSqDT0F1G2H3J4K5L6M7N8P9Q0Rw'
   */
  @Matches(/^[\w-]{86}$/, { message: '$property must be 64 bytes in base64url' })
  signature!: string;
}

/** Query of `GET /skill-packs`; what is left out does not narrow it. */
export class SkillPacksQuery extends PageQuery {
  /** Only packs of this status. @example 'installed' */
  @IsOptional()
  @IsIn(PACK_STATUSES)
  status?: PackStatus;
}

/** How far a pack has got. */
export class PackProgress {
  /** How many of its skills and standing orders have arrived, or were refused. @example 3 */
  done!: number;
  /** How many there are; 0 for a pack that was removed and had only skills. @example 3 */
  total!: number;
}

/** A skill pack as lists show it. */
export class SkillPackSummary extends PickType(InstalledPackView, [
  'packId',
  'name',
  'version',
  'publisher',
]) {
  /** Its purpose. @example 'Reminders of overdue invoices.' */
  description!: string;
  /**
   * installing, installed, failed (an admin may install the same version again), uninstalled or revoked
   * @example 'installed'
   */
  status!: PackStatus;
  /** How far the installation has got. */
  progress!: PackProgress;
  /** Who installed this version. */
  installedBy!: ActorView;
  /** When this version was installed, Unix milliseconds. @example 1768209600000 */
  installedAt!: number;
  /** When its last part had arrived, Unix milliseconds; null: it has not. @example 1768209601000 */
  completedAt!: number | null;
  /** Who uninstalled or revoked it; null: nobody. */
  removedBy!: ActorView | null;
  /** When that was, Unix milliseconds; null: it was not. */
  removedAt!: number | null;
  /** Why it failed or was revoked; null: it is as it should be. */
  reason!: string | null;
}

/** A skill of a pack. */
export class PackSkillView {
  /** Its name, which it has in the workspace alone. @example 'payment-reminder' */
  name!: string;
  /** The capo that has it. @example 'capo_revenue' */
  capo!: CapoRole;
  /** waiting, arrived or refused @example 'arrived' */
  status!: string;
  /** Why it was refused; null: it was not. */
  reason!: string | null;
  /**
   * What its capo is given; null: it has not arrived. Its form is docs/reference/skill.schema.json.
   * @example { "name": "payment-reminder", "schemaVersion": 1, "capo": "capo_revenue", "inputs": { "type": "object", "properties": {} }, "outputs": { "type": "object", "properties": { "mail": { "type": "string", "description": "The mail." } } } }
   */
  @ApiProperty({ type: Object, nullable: true })
  definition!: Record<string, unknown> | null;
  /**
   * The eval run that it arrived with; null: it has not arrived.
   * @example 'evl_01kerr2kg0b6y3v9m5d8q1tzxw'
   */
  evalRunId!: string | null;
  /** The score of that run, 0 to 1. @example 1 */
  score!: number | null;
}

/** A standing order of a pack. */
export class PackOrderView {
  /** Its key in the manifest. @example 'reminders-ask' */
  key!: string;
  /**
   * waiting; arrived (as a draft); archived (it arrived, and is archived by now); kept (a person had archived it, so it was left
   * out); refused; leaving or dropped (this version of the pack has it no longer)
   * @example 'arrived'
   */
  status!: string;
  /** Why it was refused or kept; null: nothing of the kind. */
  reason!: string | null;
  /**
   * The order that it arrived as; null: there is none, or the caller may not see it.
   * @example 'so_01kerr2kg0xaen9f9sdsg8py4z'
   */
  standingOrderId!: string | null;
}

/** A skill pack with what it contains. */
export class SkillPackView extends SkillPackSummary {
  /** Its skills; none once it was removed. */
  skills!: PackSkillView[];
  /** Its standing orders. */
  standingOrders!: PackOrderView[];
}

export class SkillPackPage extends PageFacts {
  /** The packs of this page, the one that was installed last first. */
  items!: SkillPackSummary[];
}
