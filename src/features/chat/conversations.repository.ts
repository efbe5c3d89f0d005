import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { type Listing, newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId, newId } from '../../platform/kernel/ids.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import type { ChatMessageView, ConversationSummary } from './chat.dto.js';
import { ChatBusy } from './chat.errors.js';
import { ChatMessageEntity, ChatTurnEntity, ConversationEntity } from './chat.entity.js';

const LISTED = columnsOf(ConversationEntity, { without: ['workspaceId', 'memberId'] });
const MESSAGES = columnsOf(ChatMessageEntity, {
  without: ['workspaceId', 'conversationId', 'memberId', 'seenTeams', 'receiptId'],
});

/**
 * The same as row-level security says of a row: a member who sees all teams sees every message, others those that show nothing
 * but teams which they are in now. $3: whether the member sees all; $4: their teams.
 */
const STILL_SEEN = `($3::boolean or (seen_teams is not null and seen_teams <@ $4::text[]
  and (cardinality(seen_teams) > 0 or cardinality($4::text[]) = 0)))`;

/**
 * Conversations with their messages. They are the member's alone: each statement names the member, whatever the role, and
 * those of another member are as if they were not there.
 */
@Injectable()
export class Conversations {
  constructor(private readonly db: Db) {}

  /** The own conversations, the last used first. */
  list(caller: Caller, paging: PageQuery): Promise<Page<ConversationSummary>> {
    const { workspaceId, memberId } = caller;
    const listing: Listing = {
      name: 'conversations',
      select: LISTED,
      from: 'conversations',
      ...where({ workspace_id: workspaceId, member_id: memberId }),
      order: newestFirst('conversation_id', 'last_message_at'),
    };
    return readPage(this.db, scopeOf(caller), listing, paging);
  }

  /** @param isLocked until the open transaction ends: one message after the other. @throws NotFound for one of somebody else */
  async get(caller: Caller, conversationId: string, isLocked = false): Promise<ConversationEntity> {
    if (!isId('cnv', conversationId)) throw new NotFound();
    const own = { workspaceId: caller.workspaceId, conversationId, memberId: caller.memberId };
    const found = isLocked
      ? await this.db.lockOne(ConversationEntity, own, 'for no key update')
      : await this.db.findOne(scopeOf(caller), ConversationEntity, own);
    if (!found) throw new NotFound();
    return found;
  }

  /** The newest messages that the member may still see, newest first, before a position. */
  messages(
    caller: Caller,
    conversationId: string,
    { before, limit }: { before: number | undefined; limit: number },
  ): Promise<Omit<ChatMessageView, 'sources'>[]> {
    const { workspaceId, memberId } = caller;
    const scope = scopeOf(caller);
    const seesAll = scope.teamIds === 'all';
    const teamIds = seesAll ? [] : scope.teamIds;
    const end = Math.min(before ?? LAST_POSITION, LAST_POSITION);
    return this.db.read(
      scope,
      `select ${MESSAGES} from chat_messages
       where workspace_id = $1 and conversation_id = $2 and member_id = $7 and position < $5 and ${STILL_SEEN}
       order by position desc limit $6`,
      [workspaceId, conversationId, seesAll, teamIds, end, limit, memberId],
    );
  }

  /** Adds a conversation in the open transaction. */
  add(conversation: ConversationEntity): void {
    this.db.insert(ConversationEntity, conversation);
  }

  /** Adds a question and its answer to a conversation that the transaction has locked, or added. */
  addMessages(
    { workspaceId, conversationId, memberId }: ConversationEntity,
    both: ChatMessageEntity[],
  ): void {
    for (const message of both) this.db.insert(ChatMessageEntity, message);
    const { position, createdAt } = both.at(-1)!;
    this.db.update(
      ConversationEntity,
      { workspaceId, conversationId, memberId },
      { messages: position, lastMessageAt: createdAt },
    );
  }

  /**
   * Notes that a model is being asked for this member. A process that ends meanwhile leaves the row, which counts until it
   * expires. Answers the id to end it with. @throws ChatBusy while another question of the member is under way
   */
  async beginTurn(caller: Caller, now: number, expiresAt: number): Promise<string> {
    const { workspaceId, memberId } = caller;
    const turnId = newId('trn');
    await this.db.transaction(scopeOf(caller), async () => {
      const begun = await this.db.query(
        `insert into chat_turns as t (workspace_id, member_id, turn_id, expires_at) values ($1, $2, $3, $4)
         on conflict (workspace_id, member_id) do update set turn_id = excluded.turn_id, expires_at = excluded.expires_at
           where t.expires_at <= $5
         returning turn_id`,
        [workspaceId, memberId, turnId, new Date(expiresAt), new Date(now)],
      );
      if (begun.length === 0) throw new ChatBusy();
    });
    return turnId;
  }

  /** Ends it in the open transaction. */
  endTurn({ workspaceId, memberId }: Caller, turnId: string): void {
    const own = [workspaceId, memberId, turnId];
    this.db.write('delete from chat_turns where workspace_id = $1 and member_id = $2 and turn_id = $3', own);
  }

  /** @throws ChatBusy while a model is being asked for the member */
  async assertFree(caller: Caller, now: number): Promise<void> {
    const { workspaceId, memberId } = caller;
    const turn = await this.db.findOne(scopeOf(caller), ChatTurnEntity, { workspaceId, memberId });
    if (turn && turn.expiresAt > now) throw new ChatBusy();
  }
}

/** The largest that the column holds. */
const LAST_POSITION = 2 ** 31 - 1;
