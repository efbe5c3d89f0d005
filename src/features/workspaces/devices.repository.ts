import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { ProfileDevice } from './profile.dto.js';

/** A member with more has the one that was away for longest forgotten; when it comes back it is known again. */
const DEVICES_OF_A_MEMBER = 20;

@Injectable()
export class Devices {
  constructor(private readonly db: Db) {}

  /** Notes in the open transaction that the caller's client was here. Each member's devices are written by one at a time. */
  async noteSeen({ workspaceId, memberId }: Caller, deviceId: string, at: number): Promise<void> {
    const member = [workspaceId, memberId];
    await this.db.unit.batch([
      {
        text: 'select 1 from members where workspace_id = $1 and member_id = $2 for no key update',
        values: member,
      },
      {
        text: `insert into devices (workspace_id, member_id, device_id, first_seen_at, last_seen_at)
               values ($1, $2, $3, $4, $4)
               on conflict (workspace_id, member_id, device_id)
               do update set last_seen_at = greatest(devices.last_seen_at, excluded.last_seen_at)`,
        values: [...member, deviceId, new Date(at)],
      },
      {
        text: `delete from devices where workspace_id = $1 and member_id = $2 and device_id in (
                 select device_id from devices where workspace_id = $1 and member_id = $2 and device_id <> $3
                 order by last_seen_at desc, device_id offset $4)`,
        values: [...member, deviceId, DEVICES_OF_A_MEMBER - 1],
      },
    ]);
  }

  /** The caller's devices, the one that was here last first. */
  list(caller: Caller): Promise<ProfileDevice[]> {
    return this.db.read<ProfileDevice>(
      scopeOf(caller),
      `select device_id, first_seen_at, last_seen_at from devices where workspace_id = $1 and member_id = $2
       order by last_seen_at desc, device_id`,
      [caller.workspaceId, caller.memberId],
    );
  }
}
