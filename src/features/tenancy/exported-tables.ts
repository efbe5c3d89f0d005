/**
 * What an export leaves out, each with its reason; everything else of every table with rows of the workspace is in it, also
 * of tables that nobody has thought of here. What looks like a secret is left out until somebody says that it is none.
 */
export const LEFT_OUT_TABLES: Readonly<Record<string, string>> = {
  chat_turns: 'which questions a model is being asked at the moment',
  idempotency_keys: 'answers that are kept for a day, so that a request that is sent again is not done again',
  partner_secrets: 'the secret of the partner',
  receipts: 'they follow in their order, with the exact bytes that were hashed',
  receipt_checkpoints: 'they follow, each before the receipt that it signs',
  receipt_heads: 'the head stands in the first line',
  sessions: 'who is signed in at the moment',
  tallies: 'counted from what is exported',
  tally_notes: 'counted from what is exported',
  tier_days: 'how much of the day of the tier is used',
  work_breakers: 'which work the service lets wait at the moment',
  work_items: 'which work the service does at the moment',
};

/** Columns, as `table.column`. */
export const LEFT_OUT_COLUMNS: Readonly<Record<string, string>> = {
  'webhook_destinations.url':
    'an address may contain a secret; everything else names the destination by its description or id',
};

/** Columns with a name like a secret's that are none: hashes of contents, keys of sums, ids. */
const NO_SECRETS = new Set([
  'approvals.content_hash',
  'partner_events.content_hash',
  'policies.hash',
  'report_comments.section_key',
  'standing_orders.hash',
  'simulations.hash',
  'standing_order_versions.hash',
  'skill_pack_orders.order_key',
  'skill_pack_orders.shipped_hash',
  'skill_packs.manifest_hash',
  'skill_packs.name_key',
  'teams.name_key',
  'tokens.agent_name_key',
  'work_packets.allowed_hash',
  'reports.head_hash',
  'model_charges.tokens_in',
  'model_charges.tokens_out',
  'model_usage.tokens',
  'model_usage.reserved_tokens',
  'workspace_exports.head_hash',
]);

/** Whole words of a column's name. */
const LIKE_A_SECRET =
  /(?:^|_)(?:sealed|secrets?|tokens?|passwords?|passphrase|hash|hashes|keys?|recovery|totp|seed|csrf)(?:_(?!id$|ids$)|$)/;

/** Whether an export shows this column. */
export function isExported(table: string, column: string): boolean {
  const name = `${table}.${column}`;
  if (name in LEFT_OUT_TABLES || name in LEFT_OUT_COLUMNS) return false;
  return !LIKE_A_SECRET.test(column) || NO_SECRETS.has(name);
}
