import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { PageFacts, TeamPageQuery } from '../../platform/kernel/pages.dto.js';

/** Which acts are listed. */
export class SentQuery extends TeamPageQuery {
  /** Only what this directive sent. @example 'dir_01khqw6q00fxnmknzshzb1k8yc' */
  @IsOptional()
  @Matches(/^dir_[0-9a-z]{26}$/, { message: 'directiveId must be the id of a directive' })
  directiveId?: string;
  /** Only what this standing order let go without a person, in the last 30 days. @example 'so_01kerr2kg0xaen9f9sdsg8py4z' */
  @IsOptional()
  @Matches(/^so_[0-9a-z]{26}$/, { message: 'standingOrderId must be the id of a standing order' })
  standingOrderId?: string;
}

/** A standing order that allowed an act. */
export class AllowingOrder {
  /** The standing order. @example 'so_01kerr2kg0xaen9f9sdsg8py4z' */
  standingOrderId!: string;
  /** Its name. @example 'Answers to customers' */
  name!: string;
}

/** One act that reached the outside. */
export class SentItem {
  /** The receipt of it. @example 'rcp_01khqw9gmry8wb9w8h9vccsbm7' */
  receiptId!: string;
  /** The number of the receipt. @example 1204 */
  seq!: number;
  /** When it left, Unix milliseconds. @example 1771401691800 */
  at!: number;
  /** What was done, in one line. @example 'Mail to jane@acme.example: Your delivery' */
  title!: string;
  /** The action type, or the tool of an agent from outside. @example 'email.send' */
  type!: string;
  /**
   * Whom or what it reached, at most 500 characters; null where the title says it all.
   * @example 'jane@acme.example'
   */
  target!: string | null;
  /**
   * Of a mail: `file` where it was written to a file, since no mail server is configured, and nobody has received it. Null for
   * everything else, and where only a person has said that a mail arrived.
   * @example 'smtp'
   */
  transport!: 'smtp' | 'file' | null;
  /** Who asked for it and carried it out, where that was an agent from outside. */
  agent!: string | null;
  /** The directive that it belongs to; null: none. */
  directiveId!: string | null;
  /** The approval that allowed it; null: nobody was asked. */
  approvalId!: string | null;
  /** Who approved it, by name; empty where nobody was asked. @example ['Mira Novak'] */
  approvedBy!: string[];
  /** The standing orders that allowed it without a question; empty where somebody approved it, or the mode of the guardian let it go. */
  @ApiProperty({ example: [] })
  allowedBy!: AllowingOrder[];
}

export class SentPage extends PageFacts {
  /** The acts of this page, newest first. */
  items!: SentItem[];
}
