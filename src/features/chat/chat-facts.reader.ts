import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { cutText } from '../../platform/kernel/text.js';
import type { ChatSource } from './chat.dto.js';
import { recordIdsIn } from './intents.js';
import { plainWords } from './reply-text.js';
import { type LookUp, TOPICS } from './topics.js';

const MAX_TEXT = 6_000;
const STATE = `select app.workspace_zone($1) as timezone, mode = 'killed' as is_killed from guardians where workspace_id = $1`;

const LONGEST_TITLE = 120;
const TITLES = /* sql */ `
select directive_id as id, text as title from directives where workspace_id = $1 and directive_id = any($2)
union all select work_packet_id, title from work_packets where workspace_id = $1 and work_packet_id = any($2)
union all select approval_id, title from approvals where workspace_id = $1 and approval_id = any($2)
union all select standing_order_id, name from standing_orders where workspace_id = $1 and standing_order_id = any($2)
union all select escalation_id, reason from escalations where workspace_id = $1 and escalation_id = any($2)
union all select signal_id, title from signals where workspace_id = $1 and signal_id = any($2)`;

/** An answer to a question, with the ids of the records that it was made from. */
export interface Found extends LookUp {
  text: string;
  ids: string[];
}

/**
 * Answers from the database. Row-level security narrows every statement to what the member may see, so nothing that a message or a
 * model asks for can show more than the same member's own reads do.
 */
@Injectable()
export class ChatFacts {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  /** Answers to questions, in one round trip; with the zone of the workspace, and whether its kill switch is engaged. */
  async find(scope: Scope, ...lookUps: LookUp[]) {
    const { workspaceId } = scope;
    const now = new Date(this.clock.now());
    const statements = lookUps.map(({ subject, about }) => {
      const values = TOPICS[subject].values?.(about ?? '', now) ?? [];
      return { text: TOPICS[subject].statement, values: [workspaceId, ...values] };
    });
    const [[state], ...answers] = (await this.db.readAll(scope, [
      { text: STATE, values: [workspaceId] },
      ...statements,
    ])) as [[{ timezone: string; isKilled: boolean }], ...object[][]];
    const found: Found[] = lookUps.map(({ subject, about }, nth) => {
      const rows = answers[nth]!;
      const text = TOPICS[subject].tell(rows, { about, zone: state.timezone });
      // Titles, texts and names in it are those of others.
      return { subject, about, text: cutText(plainWords(text), MAX_TEXT), ids: recordIdsIn(rows) };
    });
    return { ...state, found };
  }

  /** The titles of those of these records that have one and that the member may see. */
  async titles(scope: Scope, ids: readonly string[]): Promise<ChatSource[]> {
    if (ids.length === 0) return [];
    const rows = await this.db.read<ChatSource>(scope, TITLES, [scope.workspaceId, ids]);
    return rows.map(({ id, title }) => ({
      id,
      title: cutText(plainWords(title.replaceAll(/\s+/g, ' ').trim()), LONGEST_TITLE),
    }));
  }
}
