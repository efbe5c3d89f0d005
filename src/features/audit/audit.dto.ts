import { IsIn, IsInt, IsOptional, Matches, Max, Min, ValidateIf } from 'class-validator';
import { PickType, ApiProperty } from '@nestjs/swagger';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { FromDigits, UNIX_MILLISECONDS } from '../../platform/kernel/decorators.js';
import { PageFacts, TeamPageQuery } from '../../platform/kernel/pages.dto.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { CAPO_ROLES, type CapoRole } from '../terms/index.js';

/** What one call answers at the most: a page as JSON, or a stretch as lines. */
export const MAX_PAGE = 100;
const MAX_LINES = 10_000;
const YEAR_9999 = 253_402_300_799_999;

/** Ids and roles are visible ASCII; anything else can be told to match nothing without a look. */
const NAME = /^[\x21-\x7e]{1,100}$/;
const NAME_MESSAGE = { message: '$property must be 1 to 100 visible characters' };

const FEED_FORMATS = ['json', 'jsonl', 'csv'] as const;
export type FeedFormat = (typeof FEED_FORMATS)[number];

/** Query of `GET /audit-feed`; what is left out does not narrow it. */
export class AuditFeedQuery {
  /** The id of who acted: a member, a capo, or `system`. @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd' */
  @IsOptional()
  @Matches(NAME, NAME_MESSAGE)
  actor?: string;

  /**
   * An action such as `approval.approved`, or `approval.*` for every one that begins so; at most 100 characters.
   * @example 'approval.approved'
   */
  @IsOptional()
  @MaxLength(100)
  @Matches(/^[a-z_]+(\.[a-z_]+)*(\.\*)?$/, {
    message: '$property must be an action, or its beginning and .*',
  })
  action?: string;

  /** Only what concerns this capo. @example 'capo_ops' */
  @IsOptional()
  @IsIn(CAPO_ROLES)
  capo?: CapoRole;

  /** Only what concerns this team. @example 'team_01kerq74k0wtbyzq0h359nrdxj' */
  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: '$property must be the id of a team' })
  teamId?: string;

  /** The id of what was acted upon. @example 'apr_01khqw6q00tp9w1md2nw5hc13a' */
  @IsOptional()
  @Matches(NAME, NAME_MESSAGE)
  entity?: string;

  /** Only the receipt with this id. @example 'rcp_01khqw9ewg14azqhp5x4vkpz0a' */
  @IsOptional()
  @Matches(/^rcp_[0-7][0-9a-hjkmnp-tv-z]{25}$/, { message: '$property must be the id of a receipt' })
  receipt?: string;

  /** From then on, Unix milliseconds. @example 1771401600000 */
  @IsOptional()
  @FromDigits()
  @IsInt(UNIX_MILLISECONDS)
  @Min(0)
  @Max(YEAR_9999)
  from?: number;

  /** Before then, Unix milliseconds. @example 1771488000000 */
  @IsOptional()
  @FromDigits()
  @IsInt(UNIX_MILLISECONDS)
  @Min(0)
  @Max(YEAR_9999)
  to?: number;

  /** Only receipts with a smaller number; `nextBefore` of the page before. @example 1200 */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  before?: number;

  /**
   * How many receipts at most: up to 100 as json (20 unless said), up to 10,000 as jsonl and csv (all of them unless
   * said).
   * @example 20
   */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(MAX_LINES)
  limit?: number;

  /** The format of the answer, instead of an Accept header. @example 'json' */
  @IsOptional()
  @IsIn(FEED_FORMATS)
  format?: FeedFormat;
}

export class ReceiptEntity {
  /** What kind of record it is. @example 'approval' */
  type!: string;
  /** The id of the record. @example 'apr_01khqw6q00tp9w1md2nw5hc13a' */
  id!: string;
}

/** What happened, and where it stands in the chain. */
export class ReceiptItem {
  /** The id of the receipt. @example 'rcp_01khqw9ewg14azqhp5x4vkpz0a' */
  receiptId!: string;
  /** Its number in the chain of the workspace, counted from 1. @example 1204 */
  seq!: number;
  /** When it happened, Unix milliseconds. @example 1771401690000 */
  at!: number;
  /** Who acted. */
  actor!: ActorView;
  /** What was done. @example 'approval.approved' */
  action!: string;
  /** What was acted upon. */
  entity!: ReceiptEntity;
  /** The directive that it belongs to; null: none. @example 'dir_01khqw6q006hs686p8sr7arg9t' */
  directiveId!: string | null;
  /** The team that it belongs to; null: none. */
  teamId!: string | null;
  /** The capo that it concerns; null: none. @example 'capo_ops' */
  capo!: string | null;
  /** How it ended. @example 'success' */
  outcome!: 'success' | 'denied' | 'failure';
  /** One sentence for a person. @example 'Mira Novak approved the mail to jane@acme.example.' */
  summary!: string;
  /**
   * What else is recorded; the action says which fields there are.
   * @example { "contentHash": "9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f" }
   */
  details!: Record<string, unknown>;
  /** How many kills there had been; null where it does not matter. @example 0 */
  guardianEpoch!: number | null;
  /** The request that caused it; null: none did. @example 'req_01khqw6q00wy74pjf1avkzwmgz' */
  requestId!: string | null;
  /**
   * The hash of the receipt before this one, in hex.
   * @example '84fd9bac333ad79154348296204fa7f8c537a96e08983e5f73b3f5aca8e8edf7'
   */
  prevHash!: string;
  /**
   * SHA-256 over `prevHash` and the canonical JSON of the receipt, in hex.
   * @example 'd04b98f48e8f8bcc15c6ae5ac050801cd6dcfd428fb5f9e65c4e16e7807340fa'
   */
  hash!: string;
}

export class AuditPage {
  /** The receipts of this page, newest first. */
  items!: ReceiptItem[];
  /** Send it as `before` to read on; null behind the last page. @example 1204 */
  nextBefore!: number | null;
}

/** Query of `GET /audit-feed/verify`: what was kept elsewhere, or nothing. */
export class VerifyQuery {
  /** The `seq` of a `receiptHead` that was kept elsewhere; comes with `heldHash`. @example 1204 */
  @ValidateIf(isHeldNamed)
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  heldSeq?: number;

  /**
   * The `hash` of that head, 64 lower-case hex digits; comes with `heldSeq`.
   * @example 'd04b98f48e8f8bcc15c6ae5ac050801cd6dcfd428fb5f9e65c4e16e7807340fa'
   */
  @ValidateIf(isHeldNamed)
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be a SHA-256 in lower-case hex' })
  heldHash?: string;

  /**
   * The id of a signing key that was kept elsewhere: it must still be trusted. 16 lower-case hex digits.
   * @example '9deb65b8788f41ff'
   */
  @IsOptional()
  @Matches(/^[0-9a-f]{16}$/, {
    message: '$property must be the id of a signing key, 16 digits in lower-case hex',
  })
  heldKeyId?: string;
}

/** Half a head names nothing, so either half makes both required. */
function isHeldNamed({ heldSeq, heldHash }: VerifyQuery): boolean {
  return heldSeq !== undefined || heldHash !== undefined;
}

/** A receipt in a person's words. */
export class FeedItem extends PickType(ReceiptItem, [
  'seq',
  'at',
  'actor',
  'action',
  'entity',
  'directiveId',
  'capo',
  'outcome',
]) {
  /** What happened, in one sentence. @example 'Mira Novak approved the mail to jane@acme.example.' */
  text!: string;
}

export class FeedPage {
  /** The entries of this page, newest first. */
  items!: FeedItem[];
  /** Send it as `before` to read on; null behind the last page. @example 1204 */
  nextBefore!: number | null;
}

/** Query of `GET /feed/stream`. */
export class FeedStreamQuery {
  /** The number of the last receipt you have; the header `Last-Event-ID` goes before it. @example 1203 */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  lastEventId?: number;
}

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
class AllowingOrder {
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

/** A signed point of the chain: a kept one proves that the chain was cut or rewritten. */
class CheckpointView {
  /** The workspace whose chain it signs. @example 'wks_01kerpxzm02h8rz4dtvnsqab5g' */
  workspaceId!: string;
  /** The number of the last receipt that it covers. @example 1204 */
  seq!: number;
  /** The hash of that receipt, in hex. @example 'd04b98f48e8f8bcc15c6ae5ac050801cd6dcfd428fb5f9e65c4e16e7807340fa' */
  hash!: string;
  /** When it was signed, Unix milliseconds. @example 1771401720000 */
  signedAt!: number;
  /** The key that signed it, one of `GET /audit-feed/keys`. @example '9deb65b8788f41ff' */
  keyId!: string;
  /**
   * Ed25519 over the canonical JSON of hash, seq, signedAt and workspaceId; base64url.
   * @example '3Xz5mJ0c2bqkz7o0l8mX2rQ4vT9yB1nW6hE5dS3fG7aK8uLpC0iR4jN2xV6tYwZqM1oU9sH5eD7gF3bA8kP2Cg'
   */
  signature!: string;
}

export class ChainHead {
  /** The number of the last receipt; 0 before the first one. @example 1204 */
  seq!: number;
  /**
   * The hash of the last receipt, in hex. Keep a copy elsewhere.
   * @example 'd04b98f48e8f8bcc15c6ae5ac050801cd6dcfd428fb5f9e65c4e16e7807340fa'
   */
  hash!: string;
  /** When the last receipt was written, Unix milliseconds; null before the first one. @example 1771401690000 */
  at!: number | null;
  /** The newest signed checkpoint; null before the first one. */
  checkpoint!: CheckpointView | null;
}

class SigningKeyView {
  /** The id of the key. @example '9deb65b8788f41ff' */
  keyId!: string;
  /** The algorithm of the signatures. @example 'Ed25519' */
  algorithm!: 'Ed25519';
  /**
   * The public key, SPKI in PEM.
   * @example '-----BEGIN PUBLIC KEY----- MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE= -----END PUBLIC KEY-----'
   */
  publicKey!: string;
  /** When it was made, Unix milliseconds. @example 1768208400000 */
  createdAt!: number;
  /** The id of the key before this one; null for the first. */
  signedBy!: string | null;
  /**
   * Ed25519 by the key before it, over the canonical JSON of createdAt, keyId, publicKey and signedBy; base64url. Null
   * for the first.
   */
  signature!: string | null;
}

export class SigningKeyList {
  /** The trusted keys, oldest first; `GET /audit-feed/verify` names those that are not. */
  keys!: SigningKeyView[];
}

class ChainFaultView {
  /**
   * hash_mismatch, missing, prev_hash_mismatch, content_mismatch, head_mismatch, tail_cut, checkpoint_mismatch,
   * bad_signature, untrusted_key or dispatch_in_halt
   * @example 'hash_mismatch'
   */
  kind!: string;
  /** The number of the receipt; 0 for a fault of a signing key. @example 731 */
  seq!: number;
  /** What is wrong, for a person. @example 'The hash of receipt 731 does not match its content.' */
  message!: string;
  /** The signing key at fault; left out when none is. @example '9deb65b8788f41ff' */
  keyId?: string;
}

class VerifiedHead extends PickType(ChainHead, ['seq', 'hash']) {}

class VerifiedCheckpoints {
  /** How many signed checkpoints were checked. @example 12 */
  checked!: number;
  /** The newest of them; null: there is none. */
  latest!: CheckpointView | null;
}

export type Comparison = 'not_given' | 'matches' | 'differs';

/** What the comparison with copies outside of the database found, and what cannot be known without one. */
class KeptElsewhereView {
  /** Of the head in `heldSeq` and `heldHash`: not_given, matches or differs. @example 'matches' */
  head!: Comparison;
  /** Of the signing key in `heldKeyId`: not_given, matches or differs. @example 'not_given' */
  key!: Comparison;
  /**
   * How far this answer can be relied on, in a sentence or two.
   * @example 'The chain still holds the head that was kept elsewhere.'
   */
  notice!: string;
}

/** A dispatch that began, or an action request that was consumed, while the kill switch was engaged. */
class DispatchInHaltView {
  /** The number of the receipt that records it. @example 1198 */
  seq!: number;
  /** The number of the kill's receipt. @example 1190 */
  killedSeq!: number;
  /** The id of the receipt. @example 'rcp_01khqw9ewg14azqhp5x4vkpz0a' */
  receiptId!: string;
  /** The id of the work packet, or of the action request. @example 'pkt_01khqw8n1tb6q4m0v8wdjt5r2c' */
  workPacketId!: string;
}

/** A work packet that was being sent, or an action request that had been consumed, when the kill switch was engaged. */
class UnderWayView {
  /** The id of the work packet, or of the action request. @example 'pkt_01khqw8n1tb6q4m0v8wdjt5r2c' */
  workPacketId!: string;
  /** Since when it was being sent, Unix milliseconds. @example 1771401690000 */
  since!: number;
  /** The number of the receipt that says how it ended; null: there is none. @example 1193 */
  endedSeq!: number | null;
  /** How it ended; null: that is not known. @example 'executed' */
  ended!: 'executed' | 'failed' | null;
}

/** One use of the kill switch, and what the receipts show of the time until its revert. */
export class HaltView {
  /** Which kill of the workspace it was, counted from 1. @example 1 */
  epoch!: number;
  /** The number of the kill's receipt. @example 1190 */
  killedSeq!: number;
  /** When it was engaged, Unix milliseconds. @example 1771401690000 */
  killedAt!: number;
  /** The number of the revert's receipt; null while the kill switch is engaged. @example 1204 */
  revertedSeq!: number | null;
  /** When it was reverted, Unix milliseconds; null while it is engaged. @example 1771401750000 */
  revertedAt!: number | null;
  /**
   * The dispatches that began in between, the first 50 of them; there should be none. Those of teams that the caller
   * does not see are only counted.
   * @example []
   */
  dispatchesBetween!: DispatchInHaltView[];
  /** How many dispatches began in between, of every team. @example 0 */
  dispatchCount!: number;
  /**
   * The work packets that were being sent when it was engaged, as its receipts name them: the first 50 of those that the
   * caller may see.
   */
  unconfirmed!: UnderWayView[];
  /** How many were being sent when it was engaged, of every team. @example 1 */
  unconfirmedCount!: number;
}

export class ChainVerification {
  /** Whether no fault was found; `keptElsewhere.notice` says what that can mean. @example true */
  ok!: boolean;
  /** How many receipts were checked. @example 1204 */
  checked!: number;
  /** The end of the chain. */
  head!: VerifiedHead;
  /** What is wrong: the first 100 faults. @example [] */
  faults!: ChainFaultView[];
  /** The signed checkpoints that were checked. */
  checkpoints!: VerifiedCheckpoints;
  /** Each use of the kill switch, newest first: the last 50. */
  halts!: HaltView[];
  /** How often the kill switch was used. @example 1 */
  haltCount!: number;
  /** How what was kept elsewhere compares. */
  keptElsewhere!: KeptElsewhereView;
}
