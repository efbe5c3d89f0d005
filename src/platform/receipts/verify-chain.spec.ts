import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chainAndIndex, chainOf, contents, kinds, signed, verify } from '../../../test/e2e/audit/chains.js';
import { type StoredReceipt } from './verify-chain.js';

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

describe('a chain that was rewritten', () => {
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
