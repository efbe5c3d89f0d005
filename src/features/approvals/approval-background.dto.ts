import { ApiProperty } from '@nestjs/swagger';
import type { FactKind } from '../capos/index.js';
import { ShownApproval } from './approvals.dto.js';

/** Where a fact comes from; `unverified` is in the words of its author alone, and so is what a standing order forbids. */
export type Origin =
  | 'directive'
  | 'delegation'
  | 'context'
  | 'workspace'
  | 'standing_order'
  | 'forbidden'
  | 'person'
  | 'unverified';

/** A recipient, address, link, account or amount in a work packet, and where it comes from. */
export class ApprovalSource {
  /** The work packet. @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8' */
  workPacketId!: string;
  /** The parameter that holds it. @example 'params.to' */
  path!: string;
  /** recipient, mail address, link, bank account, wallet address or amount @example 'recipient' */
  kind!: FactKind;
  /** The fact; a link without its scheme. @example 'jane@acme.example' */
  text!: string;
  /**
   * `directive`: a person's directive, or the wish with which a draft was sent back; `delegation`: a directive that a capo or an
   * agent handed in; `context`: the context of the directive; `workspace`: the workspace's settings or figures; `standing_order`: a
   * condition of an active order that allows; `forbidden`: a condition of one that denies; `person`: a person wrote it into the draft; `unverified`: it stands in none of these.
   * @example 'directive'
   */
  origin!: Origin;
  /**
   * Who handed in the directive or edited the draft, or the name of the standing order; null where there is no name.
   * @example 'Mira Novak'
   */
  name!: string | null;
}

/** A member who may approve. */
export class ApprovalApprover {
  /** The membership. @example 'mem_01kerq74k0wtbyzq0h359nrdxj' */
  memberId!: string;
  /** Their name. @example 'Tom Weber' */
  name!: string;
}

/** An approval with what a person should know before they decide; empty once it is decided. */
export class ApprovalView extends ShownApproval {
  /** Each recipient, address, link, account and amount of the draft, with where it comes from. */
  sources!: ApprovalSource[];
  /** The members who may approve it and have not, at most 50, by name. */
  mayApprove!: ApprovalApprover[];
  /** Why the caller may not approve it; null: they may, or it is not there to be decided. */
  @ApiProperty({ example: null })
  refusal!: string | null;
}

export type ApprovalBackground = Pick<ApprovalView, 'sources' | 'mayApprove' | 'refusal'>;
