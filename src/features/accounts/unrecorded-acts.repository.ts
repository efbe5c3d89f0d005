import { Injectable } from '@nestjs/common';
import type { Via } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { AccountAct } from './account-act.js';

/** An act as it waits for its receipt. */
export interface StoredAct extends AccountAct {
  via: Via | null;
  at: number;
}

/** What is kept of an act until each workspace of its account has the receipt. */
export interface NewStoredAct extends Pick<StoredAct, 'action' | 'details' | 'via' | 'at'> {
  userId: string;
  /** The workspace that has its receipt already. */
  recordedIn: string | null;
  /** Of the mail that tells the owner of the account; null: none does. */
  mailId: string | null;
}

/** Acts on accounts that have no receipt yet, one for each workspace that the account is in. */
@Injectable()
export class UnrecordedActs {
  constructor(private readonly db: Db) {}

  /** With the work of recording it, in the open transaction; answers the workspaces that have it to do. */
  async add(act: NewStoredAct): Promise<string[]> {
    const { userId, action, via, details, at, recordedIn, mailId } = act;
    const workspaces = await this.db.query<{ workspaceId: string }>(
      'select workspace_id from app.record_account_act($1, $2, $3, $4::jsonb, $5, $6, $7) workspace_id',
      [userId, action, via, JSON.stringify(details), new Date(at), recordedIn, mailId],
    );
    return workspaces.map(({ workspaceId }) => workspaceId);
  }

  /** Undefined when its workspace is gone by now, and its chain with it. */
  async take(workspaceId: string, actId: string): Promise<StoredAct | undefined> {
    const [act] = await this.db.query<StoredAct>(
      `delete from account_acts a using members m, users u
       where a.workspace_id = $1 and a.act_id = $2 and m.member_id = a.member_id and u.user_id = m.user_id
       returning a.action, a.member_id, u.display_name as name, a.via, a.details, a.at`,
      [workspaceId, actId],
    );
    return act;
  }
}
