import { IsString } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { MaxLength } from '../../platform/kernel/text-length.js';

/** Body of `POST /api/admin/workspace/deletion`: the workspace is named twice. */
export class DeletionBody {
  /** The name of the workspace, exactly. @example 'Northwind Retail' */
  @IsString()
  @MaxLength(1_000)
  name!: string;

  /** The name of the workspace once more. @example 'Northwind Retail' */
  @IsString()
  @MaxLength(1_000)
  confirm!: string;
}

/** An export that was read to its end. */
export class ExportView {
  /** The id of the export; it stands in the first line. @example 'exp_01kerq9p3v5x7z9b1d3f5h7k9m' */
  exportId!: string;
  /** Who asked for it. */
  askedBy!: ActorView;
  /** When its last byte was sent, Unix milliseconds. @example 1768209000000 */
  completedAt!: number;
  /**
   * The SHA-256 that its last line gives.
   * @example '9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f'
   */
  sha256!: string;
  /** How many lines it has. @example 18204 */
  lines!: number;
  /** How many bytes it has. @example 22518043 */
  bytes!: number;
}

/** A deletion that was asked for. */
export class DeletionView {
  /** Who asked for it. */
  requestedBy!: ActorView;
  /** When, Unix milliseconds. @example 1768209000000 */
  requestedAt!: number;
  /**
   * Until when an owner can take it back, Unix milliseconds; then everything is deleted.
   * @example 1768813800000
   */
  dueAt!: number;
}

/** Whether the workspace is going to be deleted, and its newest export. */
export class DeletionStatus {
  /**
   * active, or deleting: it can be read and not changed, and is deleted when the grace is over.
   * @example 'deleting'
   */
  state!: 'active' | 'deleting';
  /** The deletion; null: nobody asked for it. */
  deletion!: DeletionView | null;
  /** The newest export that was read to its end; null: there is none. */
  export!: ExportView | null;
}
