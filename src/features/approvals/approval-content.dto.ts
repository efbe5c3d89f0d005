import { PickType } from '@nestjs/swagger';
import { ActorView } from '../../platform/auth/actor.dto.js';

export class RemarksEngine {
  /** `builtin`, or the provider of the model. @example 'builtin' */
  name!: string;
  /** The model in the words of its provider; null for the built-in runner. @example 'claude-sonnet-4-5' */
  model!: string | null;
}

export class OutputRemarks {
  /** Who said it. */
  engine!: RemarksEngine;
  /**
   * What the runner did, and what it could not do.
   * @example 'The address stands in the directive; the delivery date is from its context.'
   */
  text!: string;
}

export class ApprovalOutput {
  /** One sentence on what was made. @example 'A mail to jane@acme.example is ready.' */
  summary!: string;
  /** The format of `body`. @example 'markdown' */
  format!: 'markdown';
  /** The draft, Markdown. @example 'Hello Jane, the delivery arrives on Friday, 20 February.' */
  body!: string;
  /** SHA-256 of `body`, in hex. @example 'e0ee8bb50685e05fa0f47ed04203ae953fdfd055f5bd2892ea186504254f8c3a' */
  contentHash!: string;
  /** What the runner says about its draft in its own words; never sent, and null when it had nothing to add. */
  remarks!: OutputRemarks | null;
}

export class ApprovalAction {
  /** The action type, from the trusted registry. @example 'email.send' */
  type!: string;
  /**
   * Whom or what it acts upon; null when the parameters say it all. Standing orders read the destination of a post here as
   * `params.destination` has it, with its address.
   * @example 'jane@acme.example'
   */
  target!: string | null;
  /**
   * Its parameters; the action type defines the fields. Members who may not decide about it see a
   * destination without its address.
   * @example { "to": ["jane@acme.example"], "subject": "Your delivery", "body": "Hello Jane, the delivery arrives on Friday." }
   */
  params!: Record<string, unknown>;
}

export class ApprovalNeededInput {
  /** Where in the action. @example 'params.body' */
  path!: string;
  /** What a person has to supply, in a sentence. @example 'Word the message: the directive only describes it.' */
  message!: string;
}

export class ApprovalPacketEdit {
  /** What was changed or confirmed. @example 'params.body' */
  path!: string;
  /** By whom. */
  by!: ActorView;
  /** When, Unix milliseconds. @example 1771401660000 */
  at!: number;
}

export class ApprovalWorkPacket {
  /** The id of the work packet. @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8' */
  workPacketId!: string;
  /** What it does, in one line. @example 'Mail to jane@acme.example: Your delivery' */
  title!: string;
  /** What is carried out once it is approved. */
  action!: ApprovalAction;
  /** read_only, reversible, externally_reversible or irreversible @example 'irreversible' */
  reversibility!: string;
  /** Why the capo wants it. @example 'The instruction asks for a mail to jane@acme.example.' */
  rationale!: string;
  /**
   * SHA-256 of the action with its complete parameters, in hex.
   * @example '7426afc489d0eef99a0b438def226ad139f752350c25cf2c04900281afbb79e0'
   */
  contentHash!: string;
  /** What a person has to supply before it may be approved; empty when it is complete. */
  needsInput!: ApprovalNeededInput[];
  /** Who wrote it: the built-in runner of the capo, a model in its name, or a person who added it. @example 'capo' */
  writtenBy!: 'capo' | 'model' | 'person' | 'agent';
  /** What people have changed since, the last change of each part. */
  edits!: ApprovalPacketEdit[];
}

export class RevisionChange {
  /** The work packet. @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8' */
  workPacketId!: string;
  /** What was done to it. @example 'edited' */
  change!: 'edited' | 'added' | 'removed';
  /** What of it changed or was confirmed; empty when it was added or removed whole. @example ['params.body'] */
  paths!: string[];
  /** What stood there before, by path. @example { "params.body": "Hello Jane, the delivery arrives on Friday." } */
  before!: Record<string, unknown>;
}

export class ApprovalRevision extends PickType(ApprovalPacketEdit, ['by', 'at']) {
  /** The draft is 1. @example 2 */
  n!: number;
  /** Who wrote it: the built-in runner of a capo, a model in its name, or a person. @example 'person' */
  author!: 'capo' | 'model' | 'person' | 'agent';
  /** What the approval was bound to from then on. @example '9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f' */
  contentHash!: string;
  /** What changed since the revision before; empty for the draft. */
  changes!: RevisionChange[];
}
