import { generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkpointText } from './checkpoints.js';
import { GENESIS_HASH, receiptBody, type ReceiptContent, receiptHash } from './receipt.js';
import { ChainVerifier, pointFault, type SignedCheckpoint, type StoredReceipt } from './verify-chain.js';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const KEYS = [{ keyId: 'k1', publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() }];
const WORKSPACE = 'wks_1';

const contents = fc.record({
  receiptId: fc.string({ minLength: 1 }),
  workspaceId: fc.constant(WORKSPACE),
  at: fc.nat(),
  actor: fc.record({
    type: fc.constantFrom('member', 'capo', 'system'),
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

function chainOf(all: readonly ReceiptContent[]): StoredReceipt[] {
  const chain: StoredReceipt[] = [];
  for (const content of all) chain.push(append(chain, content));
  return chain;
}

function signed({ seq, hash }: { seq: number; hash: string }, key = privateKey): SignedCheckpoint {
  const checkpoint = { workspaceId: WORKSPACE, seq, hash, signedAt: 1_763_600_000_000 };
  const signature = sign(null, Buffer.from(checkpointText(checkpoint)), key).toString('base64url');
  return { ...checkpoint, keyId: 'k1', signature };
}

/** Verifies `chain`; its end is its own head unless another is given. */
function verify(
  chain: readonly StoredReceipt[],
  given: {
    checkpoints?: SignedCheckpoint[];
    held?: { seq: number; hash: string };
    head?: { seq: number; hash: string };
  } = {},
): ChainVerifier {
  const verifier = new ChainVerifier(KEYS);
  if (given.held) verifier.held(given.held);
  for (const checkpoint of given.checkpoints ?? []) verifier.checkpoint(checkpoint);
  for (const receipt of chain) verifier.receipt(receipt);
  verifier.finish(given.head ?? chain.at(-1) ?? { seq: 0, hash: GENESIS_HASH });
  return verifier;
}

const kinds = (verifier: ChainVerifier) => verifier.faults.map(({ kind, seq }) => `${kind} ${seq}`);

/** A chain and the index of one of its receipts. */
const chainAndIndex = (minLength: number) =>
  fc
    .array(contents, { minLength, maxLength: 12 })
    .chain((all) => fc.tuple(fc.constant(chainOf(all)), fc.nat(all.length - 1)));

describe('a chain as it was written', () => {
  it('has no fault, with every receipt under a checkpoint and its head held elsewhere', () => {
    fc.assert(
      fc.property(fc.array(contents, { maxLength: 12 }), (all) => {
        const chain = chainOf(all);
        const head = chain.at(-1);
        const verifier = verify(chain, {
          checkpoints: chain.map((point) => signed(point)),
          ...(head && { held: head }),
        });
        expect(verifier.faults).toEqual([]);
        expect(verifier).toMatchObject({ checked: all.length, checkpoints: all.length });
      }),
    );
  });

  it('must come in its order', () => {
    const [first, second] = chainOf(fc.sample(contents, 2));
    expect(() => verify([second!, first!])).toThrow('order');
  });
});

describe('one changed byte', () => {
  it('of the hashed text is named hash_mismatch', () => {
    fc.assert(
      fc.property(
        chainAndIndex(1),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        ([chain, index], at, mask) => {
          const bytes = Buffer.from(chain[index]!.body);
          bytes[at % bytes.length]! ^= mask;
          const body = bytes.toString();
          // PostgreSQL holds only text that is UTF-8 without NUL.
          fc.pre(Buffer.from(body).equals(bytes) && !body.includes('\0'));
          const changed = chain.with(index, { ...chain[index]!, body });
          expect(kinds(verify(changed))).toContain(`hash_mismatch ${index + 1}`);
        },
      ),
    );
  });

  it('of a hash is named hash_mismatch there and prev_hash_mismatch behind', () => {
    fc.assert(
      fc.property(chainAndIndex(2), fc.nat(63), ([chain, index], at) => {
        const { hash } = chain[index]!;
        const changed = chain.with(index, { ...chain[index]!, hash: flip(hash, at) });
        const found = kinds(verify(changed, { head: chain.at(-1)! }));
        expect(found).toContain(`hash_mismatch ${index + 1}`);
        expect(found).toContain(
          index + 1 < chain.length ? `prev_hash_mismatch ${index + 2}` : `head_mismatch ${chain.length}`,
        );
      }),
    );
  });

  it('of a prevHash is named prev_hash_mismatch', () => {
    fc.assert(
      fc.property(chainAndIndex(1), fc.nat(63), ([chain, index], at) => {
        const changed = chain.with(index, { ...chain[index]!, prevHash: flip(chain[index]!.prevHash, at) });
        expect(kinds(verify(changed))).toContain(`prev_hash_mismatch ${index + 1}`);
      }),
    );
  });

  it.each([
    'workspaceId',
    'receiptId',
    'actorType',
    'actorId',
    'action',
    'entityType',
    'entityId',
    'directiveId',
    'teamId',
    'capo',
  ] as const)('of the column %s is named content_mismatch', (column) => {
    fc.assert(
      fc.property(chainAndIndex(1), ([chain, index]) => {
        const changed = chain.with(index, { ...chain[index]!, [column]: `${chain[index]![column] ?? ''}x` });
        const { faults } = verify(changed);
        expect(faults).toEqual([expect.objectContaining({ kind: 'content_mismatch', seq: index + 1 })]);
        expect(faults[0]!.message).toContain(column);
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    [
      'a time that was moved by a millisecond',
      (receipt: StoredReceipt) => ({ ...receipt, at: receipt.at + 1 }),
    ],
    ['a team that was taken away', (receipt: StoredReceipt) => ({ ...receipt, teamId: null })],
  ])('also %s', (_case, change) => {
    const [content] = fc.sample(contents, 1);
    const [receipt] = chainOf([{ ...content!, teamId: 'team_1' }]);
    expect(kinds(verify([change(receipt!)]))).toEqual(['content_mismatch 1']);
  });

  it.each(['', 'null', '7', '{"receiptId":', '{"actor":null,"entity":7}'])(
    'that leaves %j for a body is named too',
    (body) => {
      const [receipt] = chainOf(fc.sample(contents, 1));
      expect(kinds(verify([{ ...receipt!, body }]))).toEqual(['hash_mismatch 1', 'content_mismatch 1']);
    },
  );
});

describe('a deleted receipt', () => {
  it('is named missing, with its neighbours blamed for nothing', () => {
    fc.assert(
      fc.property(chainAndIndex(2), ([chain, index]) => {
        fc.pre(index < chain.length - 1);
        const checkpoints = chain.map((point) => signed(point));
        expect(kinds(verify(chain.toSpliced(index, 1), { checkpoints }))).toEqual([`missing ${index + 1}`]);
      }),
    );
  });

  it('is named prev_hash_mismatch when those behind it were numbered anew', () => {
    fc.assert(
      fc.property(chainAndIndex(2), ([chain, index]) => {
        fc.pre(index < chain.length - 1);
        const renumbered = chain.toSpliced(index, 1).map((receipt, at) => ({ ...receipt, seq: at + 1 }));
        expect(kinds(verify(renumbered))).toContain(`prev_hash_mismatch ${index + 1}`);
      }),
    );
  });

  it('is told as a range when its neighbours are gone as well', () => {
    const chain = chainOf(fc.sample(contents, 5));
    const { faults } = verify(chain.toSpliced(1, 3));
    expect(faults).toEqual([{ kind: 'missing', seq: 2, message: 'Receipts 2 to 4 are missing.' }]);
  });
});

describe('a cut tail', () => {
  it('is named tail_cut by the head', () => {
    fc.assert(
      fc.property(chainAndIndex(1), ([chain, index]) => {
        expect(kinds(verify(chain.slice(0, index), { head: chain.at(-1)! }))).toEqual([
          `tail_cut ${index + 1}`,
        ]);
      }),
    );
  });

  it('with the head set back shows in no chain, and is named tail_cut by a checkpoint or a head held elsewhere', () => {
    fc.assert(
      fc.property(chainAndIndex(1), ([chain, index]) => {
        const cut = chain.slice(0, index);
        const known = chain.at(-1)!;
        expect(verify(cut).faults).toEqual([]);
        expect(kinds(verify(cut, { checkpoints: [signed(known)] }))).toEqual([`tail_cut ${index + 1}`]);
        expect(kinds(verify(cut, { held: known }))).toEqual([`tail_cut ${index + 1}`]);
      }),
    );
  });
});

describe('a chain that was written anew', () => {
  it('shows in no chain, and is named checkpoint_mismatch by a checkpoint or a head held elsewhere', () => {
    fc.assert(
      fc.property(
        fc.array(contents, { minLength: 1, maxLength: 12 }),
        fc.nat(),
        fc.nat(),
        (all, from, known) => {
          const before = chainOf(all);
          const index = from % all.length;
          const point = before[index + (known % (all.length - index))]!;
          const anew = chainOf(all.with(index, { ...all[index]!, receiptId: `${all[index]!.receiptId}x` }));
          expect(verify(anew).faults).toEqual([]);
          expect(kinds(verify(anew, { checkpoints: [signed(point)] }))).toEqual([
            `checkpoint_mismatch ${point.seq}`,
          ]);
          expect(kinds(verify(anew, { held: point }))).toEqual([`checkpoint_mismatch ${point.seq}`]);
        },
      ),
    );
  });
});

describe('a checkpoint', () => {
  const chain = chainOf(fc.sample(contents, 3));
  const checkpoint = signed(chain[1]!);

  it.each([
    ['of another key', signed(chain[1]!, generateKeyPairSync('ed25519').privateKey)],
    ['of an unknown key', { ...checkpoint, keyId: 'k2' }],
    ['that says another hash', { ...checkpoint, hash: chain[2]!.hash }],
    ['of another time', { ...checkpoint, signedAt: 1 }],
    ['of another workspace', { ...checkpoint, workspaceId: 'wks_2' }],
    ['with half a signature', { ...checkpoint, signature: checkpoint.signature.slice(0, 40) }],
    ['without one', { ...checkpoint, signature: '' }],
  ])('%s is named bad_signature and proves nothing else', (_case, forged) => {
    expect(kinds(verify(chain, { checkpoints: [forged] }))).toEqual(['bad_signature 2']);
  });

  it.each([
    ['no key at all', 'nonsense'],
    [
      'of another kind',
      generateKeyPairSync('ec', { namedCurve: 'P-256' })
        .publicKey.export({ type: 'spki', format: 'pem' })
        .toString(),
    ],
  ])('under a stored key that is %s is named bad_signature', (_case, pem) => {
    const verifier = new ChainVerifier([{ keyId: 'k1', publicKey: pem }]);
    verifier.checkpoint(checkpoint);
    expect(kinds(verifier)).toEqual(['bad_signature 2']);
  });
});

describe('the head', () => {
  const chain = chainOf(fc.sample(contents, 3));

  it('with another hash is named head_mismatch', () => {
    expect(kinds(verify(chain, { head: { seq: 3, hash: GENESIS_HASH } }))).toEqual(['head_mismatch 3']);
  });

  it('that lags behind the last receipt is named head_mismatch', () => {
    expect(kinds(verify(chain, { head: chain[1]! }))).toEqual(['head_mismatch 2']);
  });
});

describe('a point that was noted elsewhere', () => {
  it.each([
    ['is where it was', 'a', undefined],
    ['has another hash', 'b', 'checkpoint_mismatch'],
    ['is gone from the middle', undefined, 'missing'],
  ])('%s', (_case, stored, kind) => {
    expect(pointFault({ seq: 5, hash: 'a' }, stored, 9)?.kind).toBe(kind);
  });

  it('is gone with the tail', () => {
    expect(pointFault({ seq: 5, hash: 'a' }, undefined, 3)).toEqual({
      kind: 'tail_cut',
      seq: 4,
      message: 'Receipts 4 to 5 are missing from the end: the head held elsewhere knows of them.',
    });
  });
});

describe('many faults', () => {
  it('are kept to the first hundred', () => {
    const chain = chainOf(fc.sample(contents, 150)).map((receipt) => ({ ...receipt, action: 'other' }));
    const { faults, checked } = verify(chain);
    expect(checked).toBe(150);
    expect(faults).toHaveLength(100);
    expect(faults.at(-1)!.seq).toBe(100);
  });
});

function flip(hex: string, at: number): string {
  return hex.slice(0, at) + (hex[at] === '0' ? '1' : '0') + hex.slice(at + 1);
}
