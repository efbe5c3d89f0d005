import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { isCurrency } from '../../platform/kernel/currency.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { cutText } from '../../platform/kernel/text.js';
import { deepWithoutUnseen, markUnseen } from '../../platform/kernel/unseen.js';
import { valueAt } from '../../platform/kernel/value-at.js';
import type { Reversibility, Risk } from '../terms/index.js';
import type { AmountUnit, ToolEntity } from './tool.entity.js';

/** What the fingerprint covers: everything that a person reads before they activate a tool. */
export type ToolContent = Omit<
  ToolEntity,
  'workspaceId' | 'fingerprint' | 'status' | 'createdBy' | 'updatedAt'
>;

type GivenContent = { [K in keyof ToolContent]?: ToolContent[K] | null | undefined };

const defaultsOf = (name: string): Omit<ToolContent, 'paramsSchema'> => ({
  name,
  title: name,
  description: '',
  audience: name,
  // What nobody has said is taken for the worst, as for a tool that is not registered.
  reversibility: 'irreversible',
  risk: 'high',
  amountPath: null,
  amountUnit: 'major',
  currencyPath: null,
  recipientsPath: null,
  titleTemplate: null,
  consumeInSeconds: 900,
  completeInSeconds: 900,
});

/** The content with what is given in it; what is left out stays as it was, and null is the default. */
export function contentOf(name: string, given: GivenContent, before?: ToolContent): ToolContent {
  const fallbacks = Object.entries({ ...defaultsOf(name), paramsSchema: undefined });
  const content = fallbacks.map(([field, fallback]) => {
    const key = field as keyof ToolContent;
    return [key, given[key] === undefined ? (before?.[key] ?? fallback) : (given[key] ?? fallback)];
  });
  return Object.fromEntries(content);
}

/** SHA-256 over the content as canonical JSON (RFC 8785). */
export function fingerprintOf(content: ToolContent): string {
  return sha256(canonicalJson(content));
}

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
/** The steps are names of properties and places in lists. */
export const PARAM_PATH = /^[^.{}\s\p{C}]+(?:\.[^.{}\s\p{C}]+){0,31}$/u;

/** What the parts of a content say of each other; `schema-check.ts` checks the schema itself. */
export function faultsOfContent(content: ToolContent): Fault[] {
  const { titleTemplate, paramsSchema, amountPath, currencyPath, recipientsPath } = content;
  const placeholders = [...(titleTemplate ?? '').matchAll(PLACEHOLDER)].map(([, path]) => path!.trim());
  const paths: [field: string, path: string | null][] = [
    ['amountPath', amountPath],
    ['currencyPath', currencyPath],
    ['recipientsPath', recipientsPath],
    ...placeholders.map((path): [string, string] => ['titleTemplate', path]),
  ];
  const faults = [
    ...Object.entries(content).flatMap(([field, value]) => unseenFault(field, value)),
    ...paths.flatMap(([field, path]) => (path === null ? [] : pathFault(field, path, paramsSchema))),
  ];
  if (/[{}]/.test((titleTemplate ?? '').replace(PLACEHOLDER, ''))) {
    const message = 'titleTemplate has a brace that belongs to no {{placeholder}}';
    faults.push({ path: 'titleTemplate', rule: 'template', message });
  }
  return faults;
}

/** An admin activates what they have read. */
function unseenFault(path: string, value: unknown): Fault[] {
  if (canonicalJson(value) === canonicalJson(deepWithoutUnseen(value))) return [];
  return [{ path, rule: 'unseen', message: `${path} contains characters that cannot be seen` }];
}

function pathFault(path: string, named: string, { properties }: Record<string, unknown>): Fault[] {
  if (!PARAM_PATH.test(named)) {
    const message = `${path} must name parameters as in customer.email, and ${JSON.stringify(named)} does not`;
    return [{ path, rule: 'path', message }];
  }
  const [first] = named.split('.');
  const isObject = typeof properties === 'object' && properties !== null;
  if (!isObject || Object.hasOwn(properties, first!)) return [];
  const message = `${path} names ${JSON.stringify(named)}, and paramsSchema has no property ${first}`;
  return [{ path, rule: 'unknownParameter', message }];
}

/** With any of these a schema may take more than its `properties` name. */
const OPENING = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas', 'patternProperties'];

/** The parameters that a tool takes; undefined where its schema does not list them all. */
export function parametersOf({ paramsSchema }: Pick<ToolEntity, 'paramsSchema'>): string[] | undefined {
  const { properties, additionalProperties, unevaluatedProperties } = paramsSchema;
  const isOpen = [additionalProperties, unevaluatedProperties].some((more) => typeof more === 'object');
  if (isOpen || OPENING.some((keyword) => Object.hasOwn(paramsSchema, keyword))) return undefined;
  return Object.keys(properties ?? {});
}

/** What orders and approvals go by. Nothing is converted: what is not well typed is not known. */
export interface ToolFacts {
  /** In the major unit of the currency. */
  amount: number | null;
  currency: string | null;
  recipients: number;
  /** There is an amount, and a currency of it. */
  amountIsKnown: boolean;
  recipientsAreKnown: boolean;
  reversibility: Reversibility;
  risk: Risk;
  title: string;
}

/** A tool as far as its facts go. */
type DescribedTool = Pick<
  ToolEntity,
  | 'name'
  | 'status'
  | 'reversibility'
  | 'risk'
  | 'amountPath'
  | 'amountUnit'
  | 'currencyPath'
  | 'recipientsPath'
  | 'titleTemplate'
>;

/**
 * The facts of one request. Nobody has vouched for what a proposed tool says of itself, so it counts as one that is not registered.
 * @param name for the title where there is no tool
 */
export function factsOf(
  tool: DescribedTool | undefined,
  params: object,
  name: string = tool?.name ?? 'Unregistered tool',
): ToolFacts {
  if (!tool || tool.status === 'proposed') {
    return {
      amount: null,
      currency: null,
      recipients: 0,
      amountIsKnown: false,
      recipientsAreKnown: false,
      reversibility: 'irreversible',
      risk: 'high',
      title: name,
    };
  }
  const { reversibility, risk, amountPath, amountUnit, currencyPath, recipientsPath, titleTemplate } = tool;
  const at = (path: string | null) => (path === null ? undefined : valueAt(params, path));
  const currency = currencyOf(at(currencyPath));
  const amount = amountOf(at(amountPath), amountUnit, currency);
  const recipients = recipientsOf(at(recipientsPath));
  return {
    amount,
    currency,
    recipients: recipients ?? 0,
    amountIsKnown: amount !== null && currency !== null,
    recipientsAreKnown: recipients !== null,
    reversibility,
    risk,
    title:
      titleTemplate === null
        ? tool.name
        : titleOf(titleTemplate, (path) =>
            path === amountPath && amountUnit === 'minor'
              ? inMajorUnits(at(path), amount, currency)
              : shown(at(path)),
          ),
  };
}

/** ISO 4217: currencies whose smallest unit is not a hundredth. */
const MINOR_DIGITS: Readonly<Record<string, number>> = Object.fromEntries(
  [
    ['BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF', 0] as const,
    ['BHD IQD JOD KWD LYD OMR TND', 3] as const,
    ['CLF UYW', 4] as const,
  ].flatMap(([codes, digits]) => codes.split(' ').map((code) => [code, digits])),
);

/** Services that count in cents often write the code in lower case; it is the same code. */
function currencyOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const code = /^[a-z]{3}$/.test(value) ? value.toUpperCase() : value;
  return isCurrency(code) ? code : null;
}

/** A negative amount would be below every bound, so it is not known. */
function amountOf(value: unknown, unit: AmountUnit, currency: string | null): number | null {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return null;
  if (unit === 'major') return value;
  if (currency === null || !Number.isSafeInteger(value)) return null;
  return value / 10 ** (MINOR_DIGITS[currency] ?? 2);
}

/** With the digits of the currency behind the point, and never rounded: 60.00, or 1,999 yen. */
export function amountInWords(amount: number, currency: string): string {
  const minimumFractionDigits = MINOR_DIGITS[currency] ?? 2;
  return new Intl.NumberFormat('en', { minimumFractionDigits, maximumFractionDigits: 20 }).format(amount);
}

/** A title that shows 6000 for 60.00 euros misleads the approver. */
function inMajorUnits(value: unknown, amount: number | null, currency: string | null): string {
  if (amount !== null && currency !== null) return amountInWords(amount, currency);
  return `${shown(value)} (smallest unit)`;
}

/** A text that may hold several addresses is one recipient to us and many to the tool, so their number is not known. */
function recipientsOf(value: unknown): number | null {
  const listed: unknown[] = Array.isArray(value) ? value : [value];
  const isOne = (each: unknown) =>
    typeof each === 'string'
      ? each.trim() !== '' && !/[,;\r\n]/.test(each)
      : Array.isArray(value) && each !== null && !Array.isArray(each);
  // A tool may take an empty list for everybody.
  return listed.length > 0 && listed.every(isOne) ? listed.length : null;
}

const MAX_TITLE = 200;
const MAX_VALUE = 80;

/** One line of plain text: each value is cut, and none of them can add a line, what cannot be seen or words of the template. */
function titleOf(template: string, valueOf: (path: string) => string): string {
  const title = template.replace(PLACEHOLDER, (_, path: string) => valueOf(path.trim()));
  return cutText(title, MAX_TITLE);
}

function shown(value: unknown): string {
  return Array.isArray(value) ? cutText(value.map(plainOf).join(', '), MAX_VALUE) : plainOf(value);
}

const LONG_VALUE = 40;

function plainOf(value: unknown): string {
  if (value === undefined || value === null) return '–';
  if (typeof value !== 'string') return typeof value === 'object' ? '…' : String(value as number | boolean);
  const text = cutText(markUnseen(value).replace(/\s+/g, ' ').trim(), MAX_VALUE);
  // Within marks, a value cannot pass for the words of the template around it.
  const isPlain = text !== '' && text.length <= LONG_VALUE && !/[\s,\p{Pi}\p{Pf}]/u.test(text);
  return isPlain ? text : `“${text.replace(/[\p{Pi}\p{Pf}"]/gu, "'")}”`;
}
