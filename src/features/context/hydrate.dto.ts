import { IsOptional, IsString, Matches } from 'class-validator';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { ReceiptItem } from '../audit/index.js';
import { BootstrapView } from './bootstrap.dto.js';
import { ContextView } from './context.dto.js';

/** Body of `POST /api/local/hydrate`. */
export class HydrateBody {
  /**
   * What the client calls itself: the same at each call, and another on each device.
   * @example 'mira-laptop'
   */
  @Matches(/^[\x21-\x7e]{1,64}$/, { message: '$property must be 1 to 64 visible ASCII characters' })
  deviceId!: string;

  /** The `cursor` of the answer before; left out at the first call. @example 'v1.pQ2xS0o3.Yk9fT1dB' */
  @IsOptional()
  @IsString()
  @MaxLength(1_000)
  since?: string;
}

/** What a client that works offline keeps, and what it missed. */
export class Hydration {
  /** What `GET /bootstrap` answers. */
  bootstrap!: BootstrapView;
  /** What `GET /context` answers. */
  context!: ContextView;
  /**
   * The receipts since the cursor that the caller may see, oldest first: each once, and none left out. At the first call
   * the last 100.
   */
  receipts!: ReceiptItem[];
  /** What to send as `since` next time. @example 'v1.pQ2xS0o3.Yk9fT1dB' */
  cursor!: string;
  /** True when there are more receipts than one answer holds: call again with the cursor. @example false */
  more!: boolean;
  /**
   * True when these receipts do not follow on those of the cursor, since the caller sees other teams by now, or the
   * service was restored from a backup: forget what you have and keep this.
   * @example false
   */
  reset!: boolean;
}
