import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsDefined,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { IsNotBlank } from '../../platform/kernel/plain-text.js';
import { ONE_LINE } from '../../platform/kernel/text.js';
import { MaxLength } from '../../platform/kernel/text-length.js';

const PACKET_ID = /^pkt_[0-9a-z]{26}$/;

/** New parameters for a work packet. */
export class PacketEditBody {
  /** The work packet. @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8' */
  @Matches(PACKET_ID, { message: 'workPacketId must be the id of a work packet' })
  workPacketId!: string;

  /**
   * All of its parameters: what is left out is removed. The action type says which there are. Beside `confirm` they may be
   * left out altogether: then they stay as they are.
   * @example { "to": ["jane@acme.example"], "subject": "Your delivery", "body": "Hello Jane, the delivery arrives on Thursday." }
   */
  @ValidateIf(({ params, confirm }: PacketEditBody) => params !== undefined || !confirm?.length)
  @IsObject()
  params?: Record<string, unknown>;

  /**
   * Which of the parameters that `needsInput` asks for are right as they stand: what looks like a placeholder
   * is sometimes the text that is meant.
   * @example ['params.body']
   */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(20)
  @IsString({ each: true })
  @MaxLength(100, { each: true })
  confirm?: string[];
}

/** What an added work packet does. */
export class AddedActionBody {
  /** The action type; one within the scope of the capo's engine. @example 'document.file' */
  @IsString()
  @MaxLength(100)
  type!: string;

  /**
   * Its parameters; the action type defines the fields.
   * @example { "title": "Delivery of order 17", "body": "Jane was told that it arrives on Thursday." }
   */
  @IsObject()
  params!: Record<string, unknown>;

  /** What it does, in one line; made from the parameters unless given. @example 'Note on order 17' */
  @IsOptional()
  @IsString()
  @MaxLength(200)
  @Matches(/\S/, { message: 'title must not be empty' })
  @IsNotBlank()
  @Matches(ONE_LINE, { message: 'title must be one line without control characters' })
  title?: string;
}

/** A work packet that the capo did not think of. */
export class AddedPacketBody {
  /** What it does. */
  @IsDefined()
  @IsObject()
  @ValidateNested()
  @Type(() => AddedActionBody)
  action!: AddedActionBody;
}

export class EditedOutputBody {
  /**
   * The new text of the draft, where the draft is a single document; a first line `# Title` is its title.
   * @example '# Memo on the delivery delays\n\nTwo of nine deliveries were late.'
   */
  @IsString()
  @MaxLength(101_000)
  body!: string;
}

/** What is to be sent instead; at least one of these. */
export class EditBody {
  /** New parameters for work packets of the draft. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(100)
  @IsObject({ each: true, message: '$property must contain objects' })
  @ValidateNested({ each: true })
  @Type(() => PacketEditBody)
  packets?: PacketEditBody[];

  /** Work packets to add, behind the others. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(100)
  @IsObject({ each: true, message: '$property must contain objects' })
  @ValidateNested({ each: true })
  @Type(() => AddedPacketBody)
  add?: AddedPacketBody[];

  /** Work packets to leave out. @example ['pkt_01khqw6sb0xg7v9zhwnqcrxds8'] */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(100)
  @Matches(PACKET_ID, { each: true, message: 'each value in remove must be the id of a work packet' })
  remove?: string[];

  /**
   * All parameters of what an agent from outside asks for: what is left out is removed. Nothing else of it can be changed.
   * @example { "order": "A-17", "amount": 20, "currency": "EUR" }
   */
  @IsOptional()
  @IsObject()
  params?: Record<string, unknown>;

  /** The new text, where the draft is a single document. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => EditedOutputBody)
  output?: EditedOutputBody;
}
