import { IsString, IsIn } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import type { Tier } from '../../platform/auth/caller.js';
import { IsCurrency } from '../../platform/kernel/currency.js';
import { IsMailAddress } from '../../platform/kernel/mail-address.js';
import { IsOmittable } from '../../platform/kernel/decorators.js';
import { PageFacts } from '../../platform/kernel/pages.dto.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { IsIanaZone } from '../../platform/kernel/time-zone.js';
import { IsVisibleName } from '../../platform/kernel/visible-name.js';
import { InviteView } from '../teams/index.js';
import { IsNoneOfOurs } from '../workspaces/index.js';

/** Body of `POST /api/admin/workspace/deletion`: the workspace is named twice. */
export class DeletionBody {
  /** The name of the workspace, exactly. @example 'Northwind Retail' */
  @IsString()
  @MaxLength(1_000)
  name!: string;

  /** The name of the workspace once more. @example 'Northwind Retail' */
  @IsString()
  @MaxLength(1_000)
  confirm!: string;
}

/** An export that was read to its end. */
class ExportView {
  /** The id of the export; it stands in the first line. @example 'exp_01kerq9p3v5x7z9b1d3f5h7k9m' */
  exportId!: string;
  /** Who asked for it. */
  askedBy!: ActorView;
  /** When its last byte was sent, Unix milliseconds. @example 1768209000000 */
  completedAt!: number;
  /** The SHA-256 that its last line gives. @example '9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f' */
  sha256!: string;
  /** How many lines it has. @example 18204 */
  lines!: number;
  /** How many bytes it has. @example 22518043 */
  bytes!: number;
}

/** A deletion that was asked for. */
class DeletionView {
  /** Who asked for it. */
  requestedBy!: ActorView;
  /** When, Unix milliseconds. @example 1768209000000 */
  requestedAt!: number;
  /** Until when an owner can take it back, Unix milliseconds; then everything is deleted. @example 1768813800000 */
  dueAt!: number;
}

/** Whether the workspace is going to be deleted, and its newest export. */
export class DeletionStatus {
  /** active, or deleting: it can be read and not changed, and is deleted when the grace is over. @example 'deleting' */
  state!: 'active' | 'deleting';
  /** The deletion; null: nobody asked for it. */
  deletion!: DeletionView | null;
  /** The newest export that was read to its end; null: there is none. */
  export!: ExportView | null;
}

const MAX_NAME = 60;
const MAX_OWNER_NAME = 80;
const TIERS = ['free', 'pro', 'enterprise'] as const;

/** Body of `POST /api/admin/workspaces/{workspaceId}/invite`. */
export class OwnerBody {
  /** Who is invited, by mail, to be its owner. @example 'ines@northwind.example' */
  @IsMailAddress()
  ownerEmail!: string;

  /**
   * What the invite calls them, one line of 1 to 80 characters; they may choose another name when they accept.
   * @example 'Ines Marlow'
   */
  @IsOmittable()
  @IsVisibleName(MAX_OWNER_NAME)
  @IsNoneOfOurs('member')
  ownerName?: string;
}

/** The parameter of the path, as it is documented. */
export const WORKSPACE_PARAM = {
  name: 'workspaceId',
  description: 'The id of the workspace.',
  example: 'wks_01kerpxzkz8m1c3v5b7n9q2w4e',
};

/** Body of `POST /api/admin/workspaces`. */
export class NewWorkspaceBody extends OwnerBody {
  /** One line of 1 to 60 characters, unlike the name of any other workspace of the service. @example 'Northwind Retail' */
  @IsVisibleName(MAX_NAME)
  name!: string;

  /**
   * free, pro or enterprise; left out, that of the first workspace. Where licences are issued it must be left out.
   * @example 'pro'
   */
  @IsOmittable()
  @IsIn(TIERS)
  tier?: Tier;

  /** The IANA zone in which its days begin; left out, UTC. @example 'Europe/Vienna' */
  @IsOmittable()
  @IsIanaZone()
  timezone?: string;

  /** ISO 4217: the currency in which its sums are given; left out, USD. @example 'EUR' */
  @IsOmittable()
  @IsCurrency()
  currency?: string;
}

/** A workspace, as the owner of the first one sees it: nothing of what is in it. */
export class ListedWorkspace {
  /** The id of the workspace. @example 'wks_01kerpxzkz8m1c3v5b7n9q2w4e' */
  workspaceId!: string;
  /** Its name. @example 'Northwind Retail' */
  name!: string;
  /** free, pro or enterprise @example 'pro' */
  tier!: Tier;
  /** invited: nobody is its owner yet; deleting: its deletion was requested; active otherwise. @example 'active' */
  state!: 'active' | 'invited' | 'deleting';
  /** How many active members it has. @example 12 */
  members!: number;
  /** When it was made, Unix milliseconds. @example 1768209000000 */
  createdAt!: number;
  /** When it is to be deleted, Unix milliseconds; null: nobody asked for that. */
  deleteAt!: number | null;
}

export class WorkspacePage extends PageFacts {
  /** The workspaces of this page, newest first. */
  items!: ListedWorkspace[];
}

/** A workspace that was just made, and the invite of its owner. */
export class NewWorkspace {
  /** The workspace. */
  workspace!: ListedWorkspace;
  /** The invite; its link stands in the mail alone. */
  invite!: InviteView;
}
