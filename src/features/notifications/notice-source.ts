import { Injectable } from '@nestjs/common';
import type { Role } from '../../platform/auth/caller.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { NotificationKind } from './notification.entity.js';
import type { Block } from '../mail/index.js';

/** Something that somebody has to decide or to know, as far as it decides who is told of it and when. */
export interface Notice {
  /** What members are told of once: another content of it is told of again. */
  revision: string;
  teamId: string | null;
  /** The least role in that team that can decide it, or is told of it. */
  role: Role;
  isUrgent: boolean;
  /** It is mailed at once and by itself, whatever the member has chosen and however much else waits. */
  isImposed?: boolean;
  /** Left out, or null: everybody with the role. */
  onlyTo?: readonly string[] | null | undefined;
  /** Members who cannot decide it whatever their role is, or know of it since it is their own doing. */
  notTo: readonly string[];
}

/** Whom a mail is for. */
export interface Addressee {
  workspaceId: string;
  workspaceName: string;
  /** The workspace's. */
  zone: string;
  memberId: string;
  mailId: string;
  /** Where the service is reached; without a slash at the end. */
  publicUrl: string;
}

/** A mail about one thing. */
export interface Message {
  subject: string;
  blocks: Block[];
  /** For the receipt: what it is about. */
  about: { title: string; directiveId: string | null };
}

/** One of many in a digest. */
export interface DigestEntry {
  title: string;
  blocks: Block[];
}

/** What members are mailed about. */
export interface NoticeSource {
  kinds: readonly NotificationKind[];
  /** The setting that says whether. */
  setting: 'approvals' | 'escalations';
  /** Those of these that can still be decided or are still so, by id. */
  current(scope: Scope, ids: readonly string[], at: number): Promise<Map<string, Notice>>;
  /** The mail about one of them; undefined when it is gone. */
  message(to: Addressee, id: string): Promise<Message | undefined>;
  /** By id, without those that are gone. */
  entries(to: Addressee, ids: readonly string[]): Promise<Map<string, DigestEntry>>;
}

@Injectable()
export class NoticeSources {
  readonly #sources = new Map<NotificationKind, NoticeSource>();

  register(source: NoticeSource): void {
    for (const kind of source.kinds) this.#sources.set(kind, source);
  }

  of(kind: NotificationKind): NoticeSource {
    const source = this.#sources.get(kind);
    if (!source) throw new Error(`nothing registered for notifications of the kind ${kind}`);
    return source;
  }
}
