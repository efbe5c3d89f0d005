import type { Role, Tier } from '../../platform/auth/caller.js';
import { QuietHours } from './settings.dto.js';

export class ProfileOperator {
  memberId!: string;
  handle!: string;
  email!: string;
  displayName!: string;
  /** viewer, operator, admin or owner */
  role!: Role;
  /** free, pro or enterprise */
  tier!: Tier;
}

export class ProfileAutonomy {
  /** The guardian's mode. */
  mode!: string;
  presence!: 'present' | 'away';
  quietHours!: QuietHours | null;
}

/** Who calls, and how far the workspace acts by itself. */
export class Profile {
  operator!: ProfileOperator;
  autonomy!: ProfileAutonomy;
  /** Installed skill packs. */
  packs!: string[];
  tier!: Tier;
  devices!: string[];
}
