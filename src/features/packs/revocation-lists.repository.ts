import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { PublisherKey } from './publisher-keys.js';
import type { RevocationList, SignedList } from './revocation-list.js';

/** The newest list of each publisher and key that any process has read; it belongs to no workspace. */
@Injectable()
export class RevocationLists {
  constructor(private readonly db: Db) {}

  /** Those that these keys have signed and that have higher numbers than are known; joins the open transaction if there is one. */
  async beyond(scope: Scope, known: readonly (PublisherKey & { number: number })[]): Promise<SignedList[]> {
    if (known.length === 0) return [];
    const rows = await this.db.read<{ publicKey: string; list: RevocationList }>(
      scope,
      'select public_key, list from app.revocation_lists_beyond($1::text[], $2::text[], $3::bigint[])',
      [
        known.map(({ publisher }) => publisher),
        known.map(({ publicKey }) => publicKey),
        known.map(({ number }) => number),
      ],
    );
    return rows.map(({ publicKey, list }) => ({ publicKey, list }));
  }

  /** Keeps a list for every process and every start, unless one with its number or a higher one is kept. */
  async keep({ list, publicKey }: SignedList): Promise<void> {
    await this.db.system('select app.keep_revocation_list($1, $2, $3, $4::jsonb)', [
      list.publisher,
      publicKey,
      list.number,
      JSON.stringify(list),
    ]);
  }
}
