import { IsIn, IsInt, IsOptional, Matches, Max, MaxLength, Min, ValidateIf } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { FromDigits } from '../../platform/kernel/from-digits.js';
import { CAPO_ROLES, type CapoRole } from '../terms/terms.js';

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
  /** The id of who acted: a member, a capo, `system`. */
  @IsOptional()
  @Matches(NAME, NAME_MESSAGE)
  actor?: string;

  /** An action such as `approval.approved`, or `approval.*` for every one that begins so. */
  @IsOptional()
  @MaxLength(100)
  @Matches(/^[a-z_]+(\.[a-z_]+)*(\.\*)?$/, {
    message: '$property must be an action, or its beginning and .*',
  })
  action?: string;

  @IsOptional()
  @IsIn(CAPO_ROLES)
  capo?: CapoRole;

  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: '$property must be the id of a team' })
  teamId?: string;

  /** The id of what was acted upon. */
  @IsOptional()
  @Matches(NAME, NAME_MESSAGE)
  entity?: string;

  /** Unix milliseconds; from then on. */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(0)
  @Max(YEAR_9999)
  from?: number;

  /** Unix milliseconds; before then. */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(0)
  @Max(YEAR_9999)
  to?: number;

  /** Only receipts with a smaller number. */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  before?: number;

  /** How many at the most: up to 100 as json (20 unless said), up to 10,000 as jsonl and csv (all of them unless said). */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(MAX_LINES)
  limit?: number;

  /** Instead of an Accept header. */
  @IsOptional()
  @IsIn(FEED_FORMATS)
  format?: FeedFormat;
}

export class ReceiptEntity {
  type!: string;
  id!: string;
}

/** What happened, and where it stands in the chain. */
export class ReceiptItem {
  receiptId!: string;
  seq!: number;
  /** Unix milliseconds. */
  at!: number;
  actor!: ActorView;
  action!: string;
  entity!: ReceiptEntity;
  directiveId!: string | null;
  teamId!: string | null;
  capo!: string | null;
  outcome!: 'success' | 'denied' | 'failure';
  /** One sentence for a person. */
  summary!: string;
  details!: Record<string, unknown>;
  guardianEpoch!: number | null;
  requestId!: string | null;
  /** The hash of the receipt before this one. */
  prevHash!: string;
  /** SHA-256 over `prevHash` and the canonical JSON of the receipt. */
  hash!: string;
}

export class AuditPage {
  items!: ReceiptItem[];
  /** The number to page on with; null behind the last page. */
  nextBefore!: number | null;
}

/** A signed point of the chain: whoever keeps it can show that the chain was cut or written anew. */
export class CheckpointView {
  workspaceId!: string;
  seq!: number;
  hash!: string;
  /** Unix milliseconds. */
  signedAt!: number;
  keyId!: string;
  /** Ed25519 over the canonical JSON of hash, seq, signedAt and workspaceId; base64url. */
  signature!: string;
}

export class ChainHead {
  /** Zero before the first receipt. */
  seq!: number;
  hash!: string;
  /** Unix milliseconds. */
  at!: number | null;
  checkpoint!: CheckpointView | null;
}

/** Query of `GET /audit-feed/verify`: what was kept elsewhere, or nothing. */
export class VerifyQuery {
  /** The `seq` of a `receiptHead` that was kept elsewhere; goes with `heldHash`. */
  @ValidateIf(isHeldNamed)
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  heldSeq?: number;

  /** The `hash` of that head. */
  @ValidateIf(isHeldNamed)
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be a SHA-256 in lower-case hex' })
  heldHash?: string;

  /** The id of a signing key that was kept elsewhere: it must still be trusted. */
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

export class ChainFaultView {
  /**
   * hash_mismatch, missing, prev_hash_mismatch, content_mismatch, head_mismatch, tail_cut, checkpoint_mismatch,
   * bad_signature or untrusted_key
   */
  kind!: string;
  /** The number of the receipt; 0 for a fault of a signing key. */
  seq!: number;
  message!: string;
  /** The signing key at fault, if one is. */
  keyId?: string;
}

export class VerifiedHead {
  seq!: number;
  hash!: string;
}

export class VerifiedCheckpoints {
  checked!: number;
  latest!: CheckpointView | null;
}

export type Comparison = 'not_given' | 'matches' | 'differs';

/** What the comparison with copies outside of the database found, and what cannot be known without one. */
export class KeptElsewhereView {
  /** Of the head in `heldSeq` and `heldHash`. */
  head!: Comparison;
  /** Of the signing key in `heldKeyId`. */
  key!: Comparison;
  /** How far this answer can be relied on, in a sentence or two. */
  notice!: string;
}

export class ChainVerification {
  /** Whether no fault was found; `keptElsewhere.notice` says what that can mean. */
  ok!: boolean;
  /** How many receipts were checked. */
  checked!: number;
  head!: VerifiedHead;
  /** The first hundred. */
  faults!: ChainFaultView[];
  checkpoints!: VerifiedCheckpoints;
  keptElsewhere!: KeptElsewhereView;
}

export class SigningKeyView {
  keyId!: string;
  algorithm!: 'Ed25519';
  /** SPKI in PEM. */
  publicKey!: string;
  /** Unix milliseconds. */
  createdAt!: number;
  /** The key before this one; null for the first. */
  signedBy!: string | null;
  /** Ed25519 by the key before it, over the canonical JSON of createdAt, keyId, publicKey and signedBy; base64url. */
  signature!: string | null;
}

export class SigningKeyList {
  /** The trusted keys, oldest first; `GET /audit-feed/verify` names those that are not. */
  keys!: SigningKeyView[];
}
