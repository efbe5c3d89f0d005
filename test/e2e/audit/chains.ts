import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import {
  GENESIS_HASH,
  receiptBody,
  type ReceiptContent,
  receiptHash,
} from '../../../src/platform/receipts/receipt.js';
import {
  ChainVerifier,
  checkpointText,
  type SignedCheckpoint,
  type StoredReceipt,
} from '../../../src/platform/receipts/verify-chain.js';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const KEYS = [{ keyId: 'k1', publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() }];
const WORKSPACE = 'wks_1';

export const contents = fc.record({
  receiptId: fc.string({ minLength: 1 }),
  workspaceId: fc.constant(WORKSPACE),
  at: fc.nat(),
  actor: fc.record({
    type: fc.constantFrom('member', 'agent', 'capo', 'system'),
    id: fc.string(),
    name: fc.string({ unit: 'grapheme' }),
    via: fc.constant('api'),
  }),
  action: fc.constantFrom('directive.created', 'approval.approved'),
  entity: fc.record({ type: fc.constant('directive'), id: fc.string() }),
  directiveId: fc.option(fc.string()),
  teamId: fc.option(fc.string()),
  capo: fc.option(fc.constantFrom('ceo', 'capo_ops')),
  outcome: fc.constant('success'),
  summary: fc.string({ unit: 'grapheme' }),
  details: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }),
  guardianEpoch: fc.option(fc.nat()),
  requestId: fc.constant(null),
}) as fc.Arbitrary<ReceiptContent>;

function append(chain: readonly StoredReceipt[], content: ReceiptContent): StoredReceipt {
  const prevHash = chain.at(-1)?.hash ?? GENESIS_HASH;
  const body = receiptBody(content);
  const { workspaceId, receiptId, at, actor, action, entity, directiveId, teamId, capo } = content;
  return {
    ...{
      workspaceId,
      receiptId,
      at,
      actorType: actor.type,
      actorId: actor.id,
      action,
      directiveId,
      teamId,
      capo,
    },
    ...{ entityType: entity.type, entityId: entity.id, seq: chain.length + 1, body, prevHash },
    hash: receiptHash(prevHash, body),
  };
}

export function chainOf(all: readonly ReceiptContent[]): StoredReceipt[] {
  const chain: StoredReceipt[] = [];
  for (const content of all) chain.push(append(chain, content));
  return chain;
}

export function signed({ seq, hash }: { seq: number; hash: string }, key = privateKey): SignedCheckpoint {
  const checkpoint = { workspaceId: WORKSPACE, seq, hash, signedAt: 1_763_600_000_000 };
  const signature = sign(null, Buffer.from(checkpointText(checkpoint)), key).toString('base64url');
  return { ...checkpoint, keyId: 'k1', signature };
}

/** Verifies `chain`; its end is its own head unless another is given. */
export function verify(
  chain: readonly StoredReceipt[],
  given: {
    checkpoints?: SignedCheckpoint[];
    held?: { seq: number; hash: string };
    head?: { seq: number; hash: string };
  } = {},
): ChainVerifier {
  const verifier = new ChainVerifier(KEYS);
  if (given.held) verifier.expectKept(given.held);
  for (const checkpoint of given.checkpoints ?? []) verifier.checkpoint(checkpoint);
  for (const receipt of chain) verifier.receipt(receipt);
  verifier.finish(given.head ?? chain.at(-1) ?? { seq: 0, hash: GENESIS_HASH });
  return verifier;
}

export const kinds = (verifier: ChainVerifier) => verifier.faults.map(({ kind, seq }) => `${kind} ${seq}`);

/** A chain and the index of one of its receipts. */
export const chainAndIndex = (minLength: number) =>
  fc
    .array(contents, { minLength, maxLength: 12 })
    .chain((all) => fc.tuple(fc.constant(chainOf(all)), fc.nat(all.length - 1)));
