import { PickType } from '@nestjs/swagger';
import type { Tier } from '../../platform/auth/caller.js';
import { MemberView } from './members.dto.js';
import { QuietHours } from './workspace.dto.js';

export class ProfileOperator extends PickType(MemberView, ['memberId', 'email', 'displayName', 'role']) {
  /** How the caller is called. @example 'Mira Novak' */
  handle!: string;
  /** free, pro or enterprise @example 'pro' */
  tier!: Tier;
}

export class ProfileAutonomy {
  /** The guardian's mode. @example 'guardrailed' */
  mode!: string;
  /** Whether the operator is present or away. @example 'present' */
  presence!: 'present' | 'away';
  /** When nobody is to be disturbed; null: there are none. */
  quietHours!: QuietHours | null;
}

export class ProfileDevice {
  /** What the client calls itself (`POST /api/local/hydrate`). @example 'mira-laptop' */
  deviceId!: string;
  /** When it was here for the first time, Unix milliseconds. @example 1771228800000 */
  firstSeenAt!: number;
  /** When it was here last, Unix milliseconds. @example 1771401690000 */
  lastSeenAt!: number;
}

/** A skill pack that the workspace has. */
export class InstalledPackView {
  /** The id of the pack; it stays through upgrades. @example 'pck_01kerr2kg0s8c5m2v7x4z9b1nd' */
  packId!: string;
  /** What its publisher calls it. @example 'invoice-reminders' */
  name!: string;
  /** Who signed it, by the name in SKILL_PACK_PUBLISHERS. @example 'acme' */
  publisher!: string;
  /** The version that was installed last. @example '1.0.0' */
  version!: string;
  /** installing, installed or failed @example 'installed' */
  status!: string;
}

/** Who calls, and how far the workspace acts by itself. */
export class Profile {
  /** Who calls. */
  operator!: ProfileOperator;
  /** How far the workspace acts by itself. */
  autonomy!: ProfileAutonomy;
  /** The skill packs that the workspace has, by name. */
  packs!: InstalledPackView[];
  /** The tier of the workspace: free, pro or enterprise. @example 'pro' */
  tier!: Tier;
  /** The devices of the caller, at most 20, the one that was here last first. */
  devices!: ProfileDevice[];
}
