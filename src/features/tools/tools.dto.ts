import { ApiProperty, OmitType, PartialType } from '@nestjs/swagger';
import { IsIn, IsInt, IsObject, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { FreeForm, MaxJsonBytes } from '../../platform/http/free-form.js';
import { PageFacts, PageQuery } from '../../platform/kernel/pages.dto.js';
import { IsPlainText } from '../../platform/kernel/plain-text.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { REVERSIBILITIES, RISKS, type Reversibility, type Risk, TOOL_NAME } from '../terms/index.js';
import { PARAM_PATH } from './tool.js';
import { AMOUNT_UNITS, type AmountUnit, TOOL_STATUSES, type ToolStatus } from './tool.entity.js';

/** The parameter of the paths, as it is documented. */
export const TOOL_PARAM = {
  name: 'name',
  description: 'The name of the tool; a slash in it is written %2F.',
  example: 'payments.refund',
};

/** The header of what changes a tool, as it is documented. */
export const TOOL_IF_MATCH = {
  name: 'if-match',
  required: false,
  description:
    'The `fingerprint` of the tool as it was read, in quotes or bare: another one is 412, none or `*` is 428. Only a pause needs none.',
  schema: { type: 'string', example: '"7369949b47ef2c6ba26fbbee659cedc76123a75c17d321a52d8d1ef35e948042"' },
} as const;

const MAX_SCHEMA_BYTES = 32 * 1024;
const PATH = { message: '$property must name a parameter, as in customer.email' };

/** Body of `POST /tools`. What is left out, or null, has its default. */
export class RegisterToolBody {
  /**
   * What agents call it: words with dots between them, the first in lower case, at most 255 characters; none of our own action types.
   * @example 'payments.refund'
   */
  @MaxLength(255)
  @Matches(TOOL_NAME, {
    message:
      '$property must be words with dots between them that begin with a lower-case letter, as in payments.refund',
  })
  name!: string;

  /** One line of at most 120 characters; the name unless said. @example 'Refund a payment' */
  @IsOptional()
  @IsPlainText(120, { oneLine: true })
  title?: string | null;

  /**
   * What it does, for the person who decides; at most 4,000 characters.
   * @example 'Pays an amount back to the customer.'
   */
  @IsOptional()
  @IsPlainText(4_000)
  description?: string | null;

  /** Who checks the permit: its `aud`. The name unless said. @example 'payments.refund' */
  @IsOptional()
  @Matches(/^[\x21-\x7e]{1,255}$/, { message: '$property must be 1 to 255 visible ASCII characters' })
  audience?: string | null;

  /**
   * read_only, reversible, externally_reversible or irreversible; irreversible unless said
   * @example 'irreversible'
   */
  @IsOptional()
  @IsIn(REVERSIBILITIES)
  reversibility?: Reversibility | null;

  /** low, medium, high or critical; high unless said @example 'high' */
  @IsOptional()
  @IsIn(RISKS)
  risk?: Risk | null;

  /**
   * What the tool takes: JSON Schema 2020-12 of the type object, at most 32 KB (docs/guides/tools.md).
   * @example { "type": "object", "properties": { "amount": { "type": "integer" }, "currency": { "type": "string" }, "customer": { "type": "string" } }, "required": ["amount", "currency"] }
   */
  @ApiProperty({ type: Object })
  @FreeForm()
  @IsObject()
  @MaxJsonBytes(MAX_SCHEMA_BYTES)
  paramsSchema!: Record<string, unknown>;

  /** The parameter that is the amount. @example 'amount' */
  @IsOptional()
  @MaxLength(200)
  @Matches(PARAM_PATH, PATH)
  amountPath?: string | null;

  /** major or minor: whether 1999 means 1,999 euros or 19.99; major unless said @example 'minor' */
  @IsOptional()
  @IsIn(AMOUNT_UNITS)
  amountUnit?: AmountUnit | null;

  /** The parameter that is the currency of the amount, a code of ISO 4217. @example 'currency' */
  @IsOptional()
  @MaxLength(200)
  @Matches(PARAM_PATH, PATH)
  currencyPath?: string | null;

  /** The parameter that is whom it reaches: a text, or a list. @example 'customer' */
  @IsOptional()
  @MaxLength(200)
  @Matches(PARAM_PATH, PATH)
  recipientsPath?: string | null;

  /**
   * The title of an approval, with parameters in double braces; one line of at most 200 characters. The name of the tool unless said.
   * @example 'Refund {{amount}} {{currency}} to {{customer}}'
   */
  @IsOptional()
  @IsPlainText(200, { oneLine: true })
  titleTemplate?: string | null;

  /** How long a decision may be used, 60 to 86,400 seconds; 900 unless said. @example 900 */
  @IsOptional()
  @IsInt()
  @Min(60)
  @Max(86_400)
  consumeInSeconds?: number | null;

  /** How long the agent has for its result, 60 to 604,800 seconds; 900 unless said. @example 900 */
  @IsOptional()
  @IsInt()
  @Min(60)
  @Max(604_800)
  completeInSeconds?: number | null;
}

/** Body of `PATCH /tools/{name}`: what is left out stays, null is the default. */
export class ChangeToolBody extends PartialType(OmitType(RegisterToolBody, ['name']), {
  skipNullProperties: false,
}) {
  /** active or paused @example 'active' */
  @IsOptional()
  @IsIn(['active', 'paused'])
  @IsString()
  status?: 'active' | 'paused';
}

/** Query of `GET /tools`; what is left out does not narrow it. */
export class ToolsQuery extends PageQuery {
  /** Only tools with this status. @example 'proposed' */
  @IsOptional()
  @IsIn(TOOL_STATUSES)
  status?: ToolStatus;
}

/** A tool without its description and its schema. */
export class ToolSummary {
  /** What agents call it. @example 'payments.refund' */
  name!: string;
  /** What people call it. @example 'Refund a payment' */
  title!: string;
  /** Who checks the permit: its `aud`. @example 'payments.refund' */
  audience!: string;
  /** read_only, reversible, externally_reversible or irreversible @example 'irreversible' */
  reversibility!: Reversibility;
  /** low, medium, high or critical @example 'high' */
  risk!: Risk;
  /** The parameter that is the amount; null: none is. @example 'amount' */
  amountPath!: string | null;
  /** major or minor @example 'minor' */
  amountUnit!: AmountUnit;
  /** The parameter that is the currency of the amount; null: none is. @example 'currency' */
  currencyPath!: string | null;
  /** The parameter that is whom it reaches; null: none is. @example 'customer' */
  recipientsPath!: string | null;
  /**
   * The title of an approval, with parameters in double braces; null: the name.
   * @example 'Refund {{amount}} {{currency}} to {{customer}}'
   */
  titleTemplate!: string | null;
  /** How long a decision may be used, in seconds. @example 900 */
  consumeInSeconds!: number;
  /** How long the agent has for its result, in seconds. @example 900 */
  completeInSeconds!: number;
  /**
   * SHA-256 over all of the above with the description and the schema, as canonical JSON (RFC 8785).
   * @example '7369949b47ef2c6ba26fbbee659cedc76123a75c17d321a52d8d1ef35e948042'
   */
  fingerprint!: string;
  /** proposed, active or paused @example 'active' */
  status!: ToolStatus;
  /** Who registered or proposed it. */
  createdBy!: ActorView;
  /** When it was changed last, Unix milliseconds. @example 1771402200000 */
  updatedAt!: number;
}

/** Something that agents may ask to do. */
export class ToolView extends ToolSummary {
  /** What it does, for the person who decides. @example 'Pays an amount back to the customer.' */
  description!: string;
  /**
   * What it takes, JSON Schema 2020-12.
   * @example { "type": "object", "properties": { "amount": { "type": "integer" }, "currency": { "type": "string" }, "customer": { "type": "string" } }, "required": ["amount", "currency"] }
   */
  @ApiProperty({ type: Object })
  paramsSchema!: Record<string, unknown>;
}

export class ToolPage extends PageFacts {
  /** The tools of this page, by name. */
  items!: ToolSummary[];
}
